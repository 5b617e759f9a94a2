"""Run `mnemark hook EVENT`: read an event on stdin, answer on stdout, and always exit with 0.

An agent waits for its hooks, and stops where one fails: so a failure is logged, and the answer is empty. The
daemon answers if one runs, else `cold`, with few imports.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.errors import NotFoundError, UsageError
from mnemark_agents import daemon
from mnemark_agents.hook import agents
from mnemark_agents.hook.agents import Agent
from mnemark_agents.hook.start import load_msgspec

MAX_BYTES: Final = 64 * 1024 * 1024
"""Maximum size of an event."""
LIMIT_SECONDS: Final = 8.0
"""Seconds after which the agent gets an empty answer, whatever is still running."""
_DAEMON_SECONDS: Final = {"session-start": 0.5}
_WAIT: Final = 0.3
"""Seconds to wait for the daemon, by event or else: about what the hook takes alone on a busy machine."""

UsedIn = Callable[[Path], Path | None]


class CommandLine(NamedTuple):
    """The parsed arguments."""

    event: str
    agent: str = ""
    workspace: str = ""
    server: str = ""
    """The address of a server, whose memory is used instead of a folder."""
    alone: bool = False
    plugin: bool = False
    """Whether a plug-in calls: see `plugin`."""


def run(arguments: Sequence[str], used_in: UsedIn | None = None) -> int | None:
    """Answer one event; return 0, or None where the arguments ask for help.

    Args:
        arguments: of the command line.
        used_in: finds the memory that agents use in a folder around which there is none.
    """
    if not arguments or any(one in {"-h", "--help"} for one in arguments):
        return None
    if os.environ.get("MNEMARK_HOOKS") == "off":  # a program that mnemark itself asks (`llm.program`)
        _print(sys.stdout, {})
        return 0
    out, sys.stdout = sys.stdout, sys.stderr  # what a library prints must not spoil the answer
    watch = _watchdog(out)
    root: Path | None = None
    output: Mapping[str, Any] = {}
    line = CommandLine("")
    data: dict[str, Any] = {}
    try:
        line = _parsed(arguments)
        root = None if line.plugin or line.server else _named_folder(line)
        data = _event()
        if line.plugin and _is_connected(line, data):
            output = {}
        elif line.server:
            output = _from_server(line, data)
        else:
            root = _folder_of_plugin(line) if line.plugin else root or _folder_around(data, used_in)
            output = _answer(root, line, data)
    except BaseException as error:  # noqa: BLE001 - an agent must never stop because of its memory
        _failed(root, line, data, error)
    finally:
        sys.stdout = out
    watch.cancel()
    _print(out, output)
    return 0


def _failed(root: Path | None, line: CommandLine, data: dict[str, Any], error: BaseException) -> None:
    """Log a failure, and note the event for the next hook that can record; neither has to succeed."""
    with suppress(Exception):
        from mnemark_agents.hook.log import log

        log(root, f"{line.event or '?'} ({line.agent or '?'}): {type(error).__name__}: {error}")
    if root is not None:
        with suppress(Exception):
            from mnemark_agents.hook import missed

            missed.note(root, line.event, line.agent, data, error)


def _parsed(arguments: Sequence[str]) -> CommandLine:
    found: dict[str, Any] = {}
    words = list(arguments)
    names = {
        "--agent": "agent", "-a": "agent", "--workspace": "workspace", "-w": "workspace",
        "--server": "server",
    }  # fmt: skip
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name in names:
            found[names[name]] = value if equals else words.pop(0) if words else ""
        elif word in {"--alone", "--plugin"}:
            found[word.removeprefix("--")] = True
        elif not word.startswith("-") and "event" not in found:
            found["event"] = word
        else:
            raise ValueError(f"`mnemark hook` has no option {word!r}; see `mnemark hook --help`")
    line = CommandLine(**({"event": ""} | found))
    if line.plugin and not (line.server or line.workspace or os.environ.get("MNEMARK_WORKSPACE")):
        return line._replace(server=os.environ.get("MNEMARK_SERVER", ""))
    return line


def _event() -> dict[str, Any]:
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"the event is longer than {MAX_BYTES:,} bytes")
    found = json.loads(data.decode("utf-8-sig", "replace") or "{}")
    if not isinstance(found, dict):
        raise TypeError("the event is not a JSON object")
    return found


def _named_folder(line: CommandLine) -> Path | None:
    """Return the folder named on the command line or in the environment; it must exist."""
    given = line.workspace or os.environ.get("MNEMARK_WORKSPACE", "")
    if not given:
        return None
    root = Path(given).expanduser().absolute()
    if not root.is_dir():
        raise NotFoundError(f"the folder {root} does not exist; create it with `mnemark init {root}`")
    return root


def _is_connected(line: CommandLine, data: Mapping[str, Any]) -> bool:
    """Tell whether the agent's settings have a hook for the event: a plug-in leaves it to that."""
    load_msgspec()
    from mnemark_agents.hook import plugin

    folder = data.get("cwd")
    return plugin.is_connected(line.agent, line.event, folder if isinstance(folder, str) else "")


def _folder_of_plugin(line: CommandLine) -> Path:
    """Return the memory that a plug-in uses."""
    load_msgspec()
    from mnemark_agents.hook import plugin

    return plugin.memory(line.workspace)


def _folder_around(data: Mapping[str, Any], used_in: UsedIn | None) -> Path:
    """Return the memory around the folder that the agent works in, else the one that agents use there.

    Raises:
        NotFoundError: there is none, or its user does not trust it.
    """
    load_msgspec()
    from mnemark.files import layout, trust

    cwd = data.get("cwd")
    folder = Path(cwd) if isinstance(cwd, str) and Path(cwd).is_dir() else Path.cwd()
    try:
        root = layout.find_root(folder)
    except NotFoundError:
        if used_in is None or (used := used_in(folder)) is None:
            raise
        root = used
    if not trust.is_trusted(root):
        raise NotFoundError(f"{root} was not made here: to keep sessions there, run `mnemark trust {root}`")
    return root


def _known(line: CommandLine, data: dict[str, Any]) -> tuple[Agent | None, dict[str, Any]]:
    """Return the agent that sent an event, and the event with its number and its transcript."""
    agent = agents.agent_named(line.agent) if line.agent else agents.recognised(data)
    found = agents.event_of(agent, line.event, data) if agent is not None else None
    known = data if agent is None else agents.with_transcript(agent, data)
    if agent is not None and agent.transcript_of and found and found[0] in {"response", "session-end"}:
        agents.wait_for(known)
    return agent, {agents.CALL: f"{time.time_ns()}-{os.getpid()}", **known}


def _from_server(line: CommandLine, data: dict[str, Any]) -> Mapping[str, Any]:
    """Return the answer for a memory on a server."""
    agent, data = _known(line, data)
    if agent is None:
        raise UsageError(agents.unknown(line.agent))
    from mnemark_agents.hook.remote import handle

    return handle(line.server, line.event, agent, data)


def _answer(root: Path, line: CommandLine, data: dict[str, Any]) -> Mapping[str, Any]:
    agent, data = _known(line, data)
    found = agents.event_of(agent, line.event, data) if agent is not None else None
    at = None if line.alone or daemon.was_slow() else daemon.find()
    if at is not None and agent is not None and found is not None:
        event, _ = found
        seconds = _DAEMON_SECONDS.get(event, _WAIT)
        body = {"agent": agent.name, "workspace": str(root), "event": data | {"hook_event_name": found[1]}}
        try:
            answer = daemon.post(f"/hook/{event}", body, seconds, daemon=at)
        except daemon.UnreachableError as gone:
            if gone.slow:  # what it does with the event later is known by its number
                daemon.note_slow()
        else:
            output = answer.get("output") if isinstance(answer, dict) else None
            return output if isinstance(output, dict) else {}
    load_msgspec()
    from mnemark_agents.hook import cold
    from mnemark_agents.hook import event as events

    return cold.handle(root, events.parse_call(line.event, line.agent, data))


def _watchdog(out: Any) -> Any:
    """Start a timer that prints an empty answer and ends a hanging process."""
    import threading

    def give_up() -> None:
        _print(out, {})
        os._exit(0)

    timer = threading.Timer(LIMIT_SECONDS, give_up)
    timer.daemon = True
    timer.start()
    return timer


def _print(out: Any, output: Mapping[str, Any]) -> None:
    """Print one line of ASCII JSON, which any console encoding keeps intact."""
    try:
        out.write(json.dumps(output) + "\n")
        out.flush()
    except (OSError, ValueError, AttributeError):  # the agent has closed the pipe
        if out is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
