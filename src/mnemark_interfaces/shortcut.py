"""Answer `search`, `recall` and `read` without loading the command line, from the daemon if one runs.

Imports stay light. Whatever is not certain here is left to the command line: an option it does not know, a
wrong value. Where the daemon has no whole answer, this process finds its own.
"""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.present.words import language_of_locale
from mnemark_agents import daemon
from mnemark_interfaces import output, speech
from mnemark_interfaces.process import SEARCH, debugging, load

_WAIT: Final = 2.0
"""Seconds to wait for the daemon."""
SETTINGS: Final = (
    "APPDATA", "CLAUDE_CONFIG_DIR", "CLINE_DIR", "CODEX_HOME", "COPILOT_HOME", "OPENCLAW_PROFILE",
    "OPENCLAW_STATE_DIR", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME",
)  # fmt: skip
"""Variables that say where agents keep settings, which say what memory they use."""
_ENVIRONMENT: Final = ("TZ", "HOME", "MNEMARK_CONFIG", "MNEMARK_HOSTS", *SETTINGS)
"""Variables that change answers: where the daemon has others, it is not used."""

Kind = Callable[[str], Any]
_COMMON: Final[dict[str, tuple[str, Kind]]] = {
    "-w": ("workspace", str), "--workspace": ("workspace", str), "--json": ("json", bool),
    "--lang": ("language", str),
}  # fmt: skip
_FOUND: Final[dict[str, tuple[str, Kind]]] = {
    **_COMMON, "-k": ("count", int), "--count": ("count", int), "--scope": ("scope", list),
    "--strict": ("strict", bool),
}  # fmt: skip
OPTIONS: Final[Mapping[str, Mapping[str, tuple[str, Kind]]]] = {
    "search": {
        **_FOUND, "--since": ("since", str), "--until": ("until", str), "--as-of": ("as_of", str),
        "--kind": ("kind", list), "--origin": ("origin", list), "--archived": ("archived", bool),
        "--preset": ("preset", str), "--explain": ("explain", bool),
    },
    "recall": {**_FOUND, "--budget": ("budget", int), "--deadline": ("deadline", float)},
    "read": {**_COMMON, "--raw": ("raw", bool)},
}  # fmt: skip
"""Name and type of the options of each command: a `bool` has no value, a `list` may be repeated."""


class QueryLine(NamedTuple):
    """A parsed command line."""

    command: str
    text: str
    workspace: str | None
    options: dict[str, Any]
    language: str = ""


def parsed(arguments: list[str]) -> QueryLine | None:
    """Return the parsed arguments; None for any that only the command line can judge."""
    known = OPTIONS.get(arguments[0]) if arguments else None
    if known is None:
        return None
    texts: list[str] = []
    options: dict[str, Any] = {}
    words = iter(arguments[1:])
    for word in words:
        if not word.startswith("-"):
            texts.append(word)
            continue
        option, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        name, kind = known.get(option, ("", bool))
        if not name or (kind is bool and equals):
            return None
        if kind is bool:
            options[name] = True
            continue
        value = value if equals else next(words, "")
        if not value or value.startswith("-"):
            return None
        if kind is list:
            options.setdefault(name, []).append(value)
            continue
        try:
            options[name] = kind(value)
        except ValueError:
            return None
    return _line(arguments[0], texts, options)


def _line(command: str, texts: list[str], options: dict[str, Any]) -> QueryLine | None:
    language = options.pop("language", "")
    if len(texts) != 1 or not (language == "" or speech.is_known(language)):
        return None
    return QueryLine(command, texts[0], options.pop("workspace", None), options, language)


def run(arguments: list[str]) -> bool:
    """Answer a query; return False where the command line has to.

    Raises:
        MnemarkError: as the command line reports it.
    """
    line = parsed(arguments)
    # On Windows, the command line expands patterns in arguments.
    if (
        line is None
        or debugging()
        or (sys.platform == "win32" and any(set("*?[~$%") & set("".join(arguments))))
    ):
        return False
    given = line.workspace or os.environ.get("MNEMARK_WORKSPACE") or None
    speech.use(line.language)
    if not _from_daemon(line, arguments, given):
        _run_here(line, given)
    return True


def _from_daemon(line: QueryLine, arguments: list[str], given: str | None) -> bool:
    """Print the daemon's answer; return False where it has none."""
    if line.options.get("raw") or sys.stdout is None or sys.stderr is None:
        return False
    if (running := daemon.find()) is None:
        return False
    try:
        body = {
            "arguments": arguments,
            "folder": str(Path.cwd()),
            "workspace": given and str(Path(given).expanduser().absolute()),
            "terminals": [sys.stdout.isatty(), sys.stderr.isatty()],
            "colour": output.has_colour(sys.stdout),
            "environment": environment(named=given is not None),
            "language": language_of_locale(),
        }
        answer = daemon.post("/query", body, _WAIT, daemon=running)
        printed = [(bool(to_stderr), str(text)) for to_stderr, text in answer["printed"]]
    except (daemon.UnreachableError, daemon.DaemonRefusedError, OSError, LookupError, TypeError, ValueError):
        return False
    for to_stderr, text in printed:
        (sys.stderr if to_stderr else sys.stdout).write(text)
    return True


def environment(*, named: bool = False) -> dict[str, str]:
    """Return the environment variables that change answers; without a named memory one may name it."""
    names = _ENVIRONMENT if named else (*_ENVIRONMENT, "MNEMARK_WORKSPACE")
    return {name: os.environ.get(name, "") for name in names}


def _run_here(line: QueryLine, given: str | None) -> None:
    load(*(() if line.command == "read" else SEARCH), "mnemark_interfaces.queries")
    from mnemark_interfaces import queries

    queries.run(line.command, line.text, given, **line.options)
