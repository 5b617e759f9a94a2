"""Check connected agents by a round trip: run what stands in their settings, in a throw-away memory.

Each command line is run as it is written there, with the throw-away folder in place of the memory: a hook has
to answer a prompt with a word from that memory and record a turn, a server of tools has to find the word.
"""

import json
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.errors import MnemarkError
from mnemark.files import server_keys, user_config
from mnemark.files.private import private
from mnemark.files.sessions import SessionLog, list_sessions
from mnemark_agents.connect import keys
from mnemark_agents.connect.caller import is_server_in, memory_in, with_folder
from mnemark_agents.connect.connections import lines_in
from mnemark_agents.connect.hosts import HOSTS, Host
from mnemark_agents.homes import workspace_for
from mnemark_agents.hook import agents

_SECONDS: Final = 20.0
"""Seconds that a command has for its answer."""
_PROTOCOL: Final = "2025-06-18"


class Checked(NamedTuple):
    """The result for the hooks or the tools of an agent."""

    agent: str
    title: str
    part: str
    """"hooks" or "tools"."""
    workspace: str
    """The workspace, or the address of the server, that its commands name."""
    seconds: float
    """Of all answers."""
    problem: str = ""
    """What is wrong and what to do; empty if it answers."""


def check(host: Host, project: Path | None = None) -> list[Checked]:
    """Run the hooks and the tools in an agent's settings; an agent that is not connected has none.

    Raises:
        MnemarkError: its settings cannot be read.
    """
    found = []
    for part in ("hooks", "tools"):
        lines = [words for kind, words in _commands(host, project) if kind == part]
        if lines:
            found.append(_checked(host, part, lines))
    return found


def moved(workspace: Path | None = None) -> list[str]:
    """Return what is wrong with the programs that agents of this user run, for one workspace if given."""
    _unanswered.cache_clear()  # a daemon goes on when a server is back
    found: list[str] = []
    for host in HOSTS:
        try:
            lines = [words for _, words in _commands(host, None)]
        except MnemarkError:  # `mnemark connect` says so
            continue
        mine = [words for words in lines if workspace is None or Path(memory_in(words)) == workspace]
        found += dict.fromkeys(problem for words in mine if (problem := _missing(host, words)))
    return found


def _commands(host: Host, project: Path | None) -> Iterator[tuple[str, list[str]]]:
    """Yield the part and the command line of each of our entries in an agent's settings."""
    for target in host.targets(workspace_for(None), project):
        if target.what != "commands":
            yield from ((target.what, words) for words in lines_in(target))


def _missing(host: Host, words: Sequence[str]) -> str:
    """Return why a command line cannot work; empty if nothing is missing."""
    memory = memory_in(words)
    named = "--server" if is_server_in(words) else "--workspace"
    again = f"run `mnemark connect {host.name} {named} {shlex.quote(memory)}` again"
    program = words[: next((at for at, word in enumerate(words) if word in {"hook", "mcp"}), 1)]
    if not _runs(tuple(program)):
        return f"{host.title} runs {shlex.join(program)}, which does not work any more; {again}"
    if is_server_in(words):
        return _unanswered(memory)
    if not Path(memory).is_dir():
        return f"{host.title} uses {memory}, which does not exist; {again} with another folder"
    return ""


@cache
def _unanswered(url: str) -> str:
    """Return why the memory on a server cannot be used; empty if it can."""
    try:
        keys.opened(url, server_keys.key_of(url).key)
    except MnemarkError as error:
        return str(error)
    return ""


@cache
def _runs(program: tuple[str, ...]) -> bool:
    """Tell whether a program is mnemark, of any version: its environment may have moved or be gone."""
    try:
        done = subprocess.run([*program, "--version"], capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0 and done.stdout.startswith(b"mnemark ")


def _checked(host: Host, part: str, lines: Sequence[list[str]]) -> Checked:
    begun = time.monotonic()
    problem = next((wrong for words in lines if (wrong := _missing(host, words))), "")
    if not problem:
        with throw_away() as place:
            begun = time.monotonic()
            try:
                if part == "hooks":
                    try_hooks(host.name, lines, place)
                else:
                    try_tools(lines[0], place)
            except (OSError, ValueError, subprocess.SubprocessError, MnemarkError) as error:
                problem = f"{host.title}: {part} do not answer: {error}"
    return Checked(
        host.name, host.title, part, memory_in(lines[0]), round(time.monotonic() - begun, 3), problem
    )


class Place(NamedTuple):
    """A memory to try things in, which is thrown away."""

    root: Path
    word: str
    """What it holds: a word that is found nowhere else."""
    environment: dict[str, str]
    """In which it is trusted, and no daemon and no settings of the user are found."""


@contextmanager
def throw_away(beside: Path | None = None) -> Iterator[Place]:
    """Make a memory that holds a word, in a new folder of a folder or of the system's for temporary files."""
    with tempfile.TemporaryDirectory(
        prefix="mnemark-check-", dir=beside, ignore_cleanup_errors=True
    ) as folder:
        root, word = Path(folder, "memory").resolve(), f"pelican{secrets.randbelow(10**6)}"
        root.mkdir()
        (root / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
        (root / "note.md").write_text(f"The code word of the harbour gate is {word}.\n", "utf-8")
        trusting = Path(folder, "config.toml")
        trusting.write_text(f"trusted = [{json.dumps(folder)}]\n", "utf-8")
        state = {"XDG_STATE_HOME": folder, "LOCALAPPDATA": folder, user_config.VARIABLE: str(trusting)}
        environment = {**os.environ, **state}
        _run([sys.executable, "-P", "-m", "mnemark", "sync", "--workspace", str(root)], "", environment)
        environment.pop("MNEMARK_HOOKS", None)
        yield Place(root, word, environment)


def try_hooks(name: str, lines: Sequence[list[str]], place: Place) -> float:
    """Run an agent's hooks for a prompt and its answer; return the seconds that the prompt waited.

    Raises:
        OSError, ValueError, subprocess.SubprocessError, MnemarkError: what they should do was not done.
    """
    root, word, environment = place
    agent = agents.agent_named(name)
    by_event = {words[words.index("hook") + 1]: words for words in lines if "hook" in words[:-1]}
    if agent is None or not {"prompt", "response"} <= by_event.keys():
        raise ValueError("the hooks for prompts and answers are missing")
    said = {"session_id": "check", "conversation_id": "check", "cwd": str(root), "transcript_path": None}
    question = {"prompt": "What is the code word of the harbour gate?"}
    begun = time.monotonic()
    answer = _run([*with_folder(by_event["prompt"], root), "--alone"], {**said, **question}, environment)
    if word not in answer:
        raise ValueError(f"a prompt is not answered from memory{_log(root)}")
    waited = time.monotonic() - begun
    reply = {"prompt_response": word, "text": word, "last_assistant_message": word}
    _run([*with_folder(by_event["response"], root), "--alone"], {**said, **question, **reply}, environment)
    logs = [SessionLog(root, one.id) for one in list_sessions(root)]
    if not any(placed.turn.content == word for log in logs for placed in log.turns()):
        raise ValueError(f"an answer is not recorded{_log(root)}")
    return waited


def try_tools(words: Sequence[str], place: Place) -> None:
    """Call a tool over MCP; raises as `try_hooks` does."""
    root, word, environment = place
    about = {"name": "check", "version": "1"}
    client = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": about}
    call = {"name": "memory_search", "arguments": {"query": "code word of the harbour gate"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    given = "".join(json.dumps(one) + "\n" for one in asked)
    if word not in _run([*with_folder(words, root), "--alone"], given, environment):
        raise ValueError("a search finds nothing")


def _run(words: Sequence[str], given: Any, environment: dict[str, str]) -> str:
    text = given if isinstance(given, str) else json.dumps(given)
    done = subprocess.run(
        words, input=text, env=environment, capture_output=True, text=True, encoding="utf-8",
        timeout=_SECONDS, check=False, cwd=environment["XDG_STATE_HOME"],
    )  # fmt: skip
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise ValueError(said)
    return done.stdout


def _log(root: Path) -> str:
    """Return the last line of the hooks' log, after a colon."""
    path = private(root) / "hook.log"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return f": {lines[-1]}" if lines else ""
