"""Recognize in an agent's settings what `mnemark connect` wrote there."""

import re
import shlex
from pathlib import PureWindowsPath
from typing import Any, Final

from mnemark.text.lazy_pattern import lazy_pattern

SERVER: Final = "mnemark"
"""The name of our MCP server in an agent's settings."""
_OURS: Final = lazy_pattern(
    r"""(?:"[^"]*mnemark(?:\.exe)?"|'[^']*mnemark(?:\.exe)?'|\S*mnemark(?:\.exe)?|.*\s-m\s+mnemark)\s+hook(?:\s|$)""",
    re.IGNORECASE,
)
"""Pattern of our hooks' command lines: the program mnemark, then `hook`."""


def words_of(value: Any) -> list[str]:
    """Return the command line of an entry: of a server, of a hook, or of the first in a group of hooks."""
    if not isinstance(value, dict):
        return []
    inner, line, rest = value.get("hooks"), value.get("command"), value.get("args")
    if isinstance(inner, list):
        return words_of(inner[0]) if inner else []
    if isinstance(line, list):
        return list(map(str, line))
    if isinstance(rest, list):
        return [str(line), *map(str, rest)]
    try:
        return shlex.split(line) if isinstance(line, str) else []
    except ValueError:
        return []


def is_ours(value: Any) -> bool:
    """Tell whether a value in an agent's configuration is a hook written by `mnemark connect`."""
    if not isinstance(value, dict):
        return False
    inner, line = value.get("hooks"), value.get("command")
    if isinstance(inner, list):
        return bool(inner) and all(map(is_ours, inner))
    return isinstance(line, str) and _OURS.match(line) is not None


def has_own(value: Any) -> bool:
    """Tell whether a value contains a server of our name that we did not write."""
    if not isinstance(value, dict):
        return False
    server = value.get(SERVER)
    return (isinstance(server, dict) and not is_server(server)) or any(map(has_own, value.values()))


def contains_ours(value: Any) -> bool:
    """Tell whether a value contains a hook or a server that we wrote."""
    if isinstance(value, list):
        return any(map(contains_ours, value))
    if not isinstance(value, dict):
        return False
    return is_ours(value) or is_server(value.get(SERVER)) or any(map(contains_ours, value.values()))


def is_server(value: Any) -> bool:
    """Tell whether a server was written by us: this program, `mcp`, and a workspace."""
    words = words_of(value)
    if "mcp" not in words[1:]:
        return False
    at = words.index("mcp", 1)
    ours = PureWindowsPath(words[0]).stem == SERVER or words[:at][-2:] == ["-m", SERVER]
    return ours and words[at + 1 : at + 2] == ["--workspace"]
