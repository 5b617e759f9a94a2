"""Append our table to an agent's TOML file between two comments, and remove it, keeping every other byte."""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from mnemark.text import toml
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_agents.connect.commands import WRITTEN
from mnemark_agents.connect.json_edit import NotJsonError

BEGIN: Final = "# mnemark begin"
END: Final = "# mnemark end"
_BLOCK: Final = lazy_pattern(
    rf"(?:\r?\n)?^{BEGIN}\b[^\n]*\n(?:(?!{BEGIN}\b|{END}\b)[^\n]*\n)*{END}\b[^\n]*(?:\n|\Z)",
    re.MULTILINE,
)


def meaning(text: str) -> Any:
    """Parse a TOML text; raise NotJsonError where it is invalid."""
    try:
        return toml.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise NotJsonError(f"it is not valid TOML: {error}") from None


def value(text: str, keys: Sequence[str]) -> Any:
    """Return the value at a path of keys, or None."""
    found = meaning(text)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def lines(keys: Sequence[str], table: dict[str, Any]) -> str:
    """Render a table as TOML, whose strings and lists of strings are as in JSON."""
    rows = [f"[{'.'.join(keys)}]"]
    rows += [f"{name} = {json.dumps(one, ensure_ascii=False)}" for name, one in table.items()]
    return "\n".join(rows)


def without(text: str) -> str:
    """Return the text without our block; raise NotJsonError where it is not TOML."""
    meaning(text)
    return _BLOCK.sub("", text)


def added(text: str, keys: Sequence[str], table: dict[str, Any]) -> str:
    """Return the text with our block at its end.

    Raises:
        NotJsonError: the text is not TOML, or contains the table already.
    """
    known = meaning(text)
    for depth in range(1, len(keys)):
        if not isinstance(value(text, keys[:depth]), dict | type(None)):
            raise NotJsonError(f"{'.'.join(keys[:depth])} is not a table")
    if value(text, keys) is not None:
        raise NotJsonError(f"it already has settings for {'.'.join(keys)}")
    newline = "\r\n" if "\r\n" in text else "\n"
    block = f"{BEGIN}: {WRITTEN}\n{lines(keys, table)}\n{END}\n".replace("\n", newline)
    gap = "" if not text or text.endswith("\n") else newline
    found = f"{text}{gap}{newline if text else ''}{block}"
    try:
        now = meaning(found)
    except NotJsonError:  # an inline table, which nothing can be added to below
        raise NotJsonError(f"{'.'.join(keys[:-1])} stands in one line, and cannot be added to") from None
    inner = now
    for key in keys[:-1]:
        inner = inner[key]
    inner.pop(keys[-1])
    if toml.without_empty_tables(now) != toml.without_empty_tables(known):
        raise NotJsonError("adding to it would change its meaning")
    return found
