"""Check an installation in a temporary folder: no memory of the user is opened, no network asked."""

import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from sysconfig import get_platform
from typing import Any, Final

from mnemark._version import __version__
from mnemark.errors import MnemarkError
from mnemark.extras import EXTRAS, Extra, how_to_add
from mnemark.files import trial
from mnemark.index.check import sqlite_version
from mnemark.memory.health.doctor import Finding
from mnemark.text.words.segment import query_terms
from mnemark_agents import daemon
from mnemark_agents.connect.caller import command
from mnemark_agents.connect.check import Place, moved, throw_away, try_hooks, try_tools
from mnemark_agents.connect.connect import host_of
from mnemark_agents.connect.connections import connections
from mnemark_agents.connect.hosts import words_of
from mnemark_agents.hook.command import LIMIT_SECONDS
from mnemark_interfaces import speech
from mnemark_interfaces.app import loaded
from mnemark_interfaces.output import printing_to

_DISK: Final = "keep memories on a disk of this machine; `mnemark self-check FOLDER` tries one"
_AGAIN: Final = "install mnemark again in a new environment"
_TEXTS: Final = (
    ("The spare key hangs behind the boat house.", "spare key"),
    ("备用钥匙挂在船屋后面。", "钥匙"),
)
"""What is written in each language, and what it is looked for by."""
_FAILS: Final = (
    ArithmeticError, AttributeError, ImportError, LookupError, MnemarkError, OSError, RuntimeError,
    subprocess.SubprocessError, TypeError, ValueError,
)  # fmt: skip
"""What a broken installation may raise: it is told, and the next check is made."""


def self_checked(beside: Path | None = None) -> Iterator[Finding]:
    """Yield what each check found, as it ends.

    Args:
        beside: a folder, on whose disk the temporary one is made.
    """
    yield from _tried(_versions)
    yield from _tried(_dictionaries)
    try:
        with throw_away(beside) as place:
            for check in (_files, _notes, _turns, _fact, _index, _hooks, _tools):
                yield from _tried(partial(check, place), _DISK if check is _files else _AGAIN)
    except _FAILS as error:
        yield Finding("error", f"a memory cannot be made: {_told(error)}", _DISK)
    yield from map(_extra, EXTRAS)
    for around in (_path, _daemon, _agents):
        yield from _tried(around)


def _tried(check: Callable[[], str | list[Finding]], fix: str = _AGAIN) -> Iterator[Finding]:
    """Yield what a check says, or why it failed."""
    try:
        found = check()
        yield from [Finding("ok", found)] if isinstance(found, str) else found
    except _FAILS as error:
        name = getattr(check, "func", check).__name__.strip("_")
        yield Finding("error", f"{name}: {_told(error)}", fix)


def _told(error: Exception) -> str:
    return " ".join(f"{error}".split()) or type(error).__name__


def _versions() -> str:
    python = ".".join(map(str, sys.version_info[:3]))
    sqlite, system = sqlite_version(), get_platform()
    return f"mnemark {__version__} runs with Python {python} and SQLite {sqlite} on {system}"


def _dictionaries() -> str:
    english, chinese = query_terms("running machines"), query_terms("数据库迁移")
    if "run" not in english or not {"数据库", "迁移"} <= set(chinese):
        raise ValueError(f"words are not taken apart as they should be: {english}, {chinese}")
    return "English and Chinese words are known"


def _files(place: Place) -> str:
    folder = place.root.parent
    if wrong := list(trial.faults(folder)):
        raise ValueError("; ".join(wrong))
    how = "" if trial.exchanges(folder) else " (an edit is compared with the file before it replaces it)"
    return f"files in {folder.parent} can be locked, flushed, replaced at once and kept private" + how


def _notes(place: Place) -> str:
    _written_and_found(place)
    return "a note is written and found, in English and Chinese"


def _turns(place: Place) -> str:
    _written_and_found(place, "--session", "check:1")
    return "a message is written and found, in English and Chinese"


def _written_and_found(place: Place, *more: str) -> None:
    for text, query in _TEXTS:
        ref = _run(place, "add", text, *more)["ref"]
        found = _run(place, "search", query)
        name = ref.partition("#")[0]
        if not any(hit["ref"].startswith(name) and text in hit["text"] for hit in found["hits"]):
            raise ValueError(f"{text!r} was written to {ref}, and is not found by {query!r}")
        if found["degraded"]:
            raise ValueError("; ".join(found["degraded"]))


def _fact(place: Place) -> str:
    for value in ("Leeds", "York"):
        _run(place, "remember", "city", value)
    if [fact["value"] for fact in _run(place, "facts")["facts"]] != ["York"]:
        raise ValueError("a fact does not take the place of its earlier value")
    return "a fact is remembered and changed"


def _index(place: Place) -> str:
    _run(place, "sync")
    wrong = [one["what"] for one in _run(place, "verify", "--deep")["findings"] if one["level"] != "ok"]
    if wrong:
        raise ValueError("; ".join(wrong))
    return "the index takes up all files, and agrees with them"


def _hooks(place: Place) -> str:
    targets = host_of("claude-code").targets(place.root, None)
    entries = (entry for target in targets if target.what == "hooks" for entry in target.entries)
    lines = [words_of(entry.value) for entry in entries]
    seconds = try_hooks("claude-code", lines, place)
    return f"a hook answers from memory in {seconds:.1f} s (of {LIMIT_SECONDS:.0f}), and records the answer"


def _tools(place: Place) -> str:
    try_tools(command("mcp", "--workspace", str(place.root)), place)
    return "a tool is called over MCP"


def _run(place: Place, name: str, *words: str) -> Any:
    """Run a command in a memory with the default settings; return its JSON."""
    root = place.root.parent / "notes"
    printed = io.StringIO()
    with _inside(place.environment), printing_to(printed, io.StringIO()), speech.speaking("en"):
        if not root.is_dir():
            loaded("init").main([str(root)], standalone_mode=False)
            printed.truncate(printed.seek(0))
        loaded(name).main([*words, "-w", str(root), "--json"], standalone_mode=False)
    return json.loads(printed.getvalue())


@contextmanager
def _inside(environment: Mapping[str, str]) -> Iterator[None]:
    """Have these environment variables in the block, and no others."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _extra(extra: Extra) -> Finding:
    missing = extra.missing()
    if not missing:
        return Finding("ok", f"extra {extra.name} is installed: {extra.brings}")
    named = f"extra {extra.name} ({extra.brings})"
    if len(missing) < len(extra.modules):
        what = f"{named} lacks {', '.join(missing)}"
    else:
        what = f"{named} is not installed"
    return Finding("ok", what, how_to_add([extra.name]))


def _path() -> str | list[Finding]:
    """Tell whether a shell, and an agent's plug-in, find this installation."""
    here, found = command()[0], shutil.which("mnemark")
    if found is None and Path(here).stem == "mnemark":
        what = "`mnemark` is not on the PATH, so shells and plug-ins of agents do not find it"
        return _warned(what, f"put {Path(here).parent} on the PATH")
    if found is None:
        what = "the command `mnemark` is not installed, so plug-ins of agents do not find it"
        return _warned(what, f"use {shlex.join([here, '-m', 'mnemark'])}, or install it again")
    if os.path.realpath(found) != os.path.realpath(here) and (said := _version(found)) != __version__:
        what = f"the PATH has another mnemark: {found}, {said}; this is {__version__} in {sys.prefix}"
        return _warned(what, "remove one of them")
    return f"`mnemark` is on the PATH: {found}"


def _warned(what: str, fix: str) -> list[Finding]:
    return [Finding("warn", what, fix)]


def _version(program: str) -> str:
    """Return the version that a program tells; "which does not start" if it tells none."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError):
        return "which does not start"
    return done.stdout.strip().removeprefix("mnemark ") or "which does not start"


def _daemon() -> str | list[Finding]:
    at = daemon.find(any_version=True)
    if at is None:
        if daemon.is_alive():
            return _warned("a daemon is starting or ending", "try again in a moment")
        return "no daemon is running; all works without, and agents start one where they need it"
    stop = "end it with `mnemark serve --stop`"
    if at.version != __version__:
        return _warned(f"a daemon of version {at.version} is running, and is not used", stop)
    if not daemon.answers(at):
        return _warned(f"the daemon at {at.url} does not answer", stop)
    return f"a daemon is running and answers: {at.url}"


def _agents() -> str | list[Finding]:
    """Tell which agents are connected, and what they run that is gone; none of their memories is opened."""
    found = connections()
    wrong = [
        Finding("warn", one.problem or f"{one.title} is connected in part", f"`mnemark connect {one.agent}`")
        for one in found
        if one.problem or one.state == "partly connected"
    ]
    wrong += [Finding("warn", problem, "`mnemark connect --check` tries them all") for problem in moved()]
    names = ", ".join(one.title for one in found if one.state.startswith("connected"))
    if names:
        return [*wrong, Finding("ok", f"connected agents: {names}", "`mnemark connect --check` tries each")]
    return wrong or [Finding("ok", "no agent is connected", "`mnemark connect` lists those that are here")]
