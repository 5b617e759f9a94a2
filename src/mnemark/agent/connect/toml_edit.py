"""Append our table to an agent's TOML file between two comments, and cut it out again.

The rest of the file is never parsed into anything that is written back.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from mnemark.agent.connect.json_edit import NotJsonError
from mnemark.text import toml

BEGIN: Final = "# mnemark begin"
END: Final = "# mnemark end"
_ABOUT: Final = "written by `mnemark connect`, taken out by `mnemark connect AGENT --remove`"
_BLOCK: Final = re.compile(
    rf"(?:\r?\n)?^{BEGIN}\b[^\n]*\n(?:(?!{BEGIN}\b|{END}\b)[^\n]*\n)*{END}\b[^\n]*(?:\n|\Z)",
    re.MULTILINE,
)


def meaning(text: str) -> Any:
    """What a TOML text says.

    Raises:
        NotJsonError: it is not valid TOML.
    """
    try:
        return toml.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise NotJsonError(f"it is not valid TOML: {error}") from None


def value(text: str, keys: Sequence[str]) -> Any:
    """The value at a path of keys; None where there is none."""
    found = meaning(text)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def holds(text: str, keys: Sequence[str], wanted: Any) -> bool:
    """Whether the file says so already."""
    return bool(value(text, keys) == wanted)


def lines(keys: Sequence[str], table: dict[str, Any]) -> str:
    """A table as TOML; its values are texts and lists of texts, which TOML and JSON write alike."""
    rows = [f"[{'.'.join(keys)}]"]
    rows += [f"{name} = {json.dumps(one, ensure_ascii=False)}" for name, one in table.items()]
    return "\n".join(rows)


def without(text: str) -> str:
    """The text without our block.

    Raises:
        NotJsonError: it is not valid TOML.
    """
    meaning(text)
    return _BLOCK.sub("", text)


def added(text: str, keys: Sequence[str], table: dict[str, Any]) -> str:
    """The text with our block at its end.

    Raises:
        NotJsonError: it is not valid TOML, or says something else about the same table.
    """
    known = meaning(text)
    if value(text, keys) is not None:
        raise NotJsonError(f"it already has settings for {'.'.join(keys)}")
    stop = "\r\n" if "\r\n" in text else "\n"
    block = f"{BEGIN}: {_ABOUT}\n{lines(keys, table)}\n{END}\n".replace("\n", stop)
    gap = "" if not text or text.endswith("\n") else stop
    found = f"{text}{gap}{stop if text else ''}{block}"
    now = meaning(found)
    inner = now
    for key in keys[:-1]:
        inner = inner[key]
    inner.pop(keys[-1])
    if _pruned(now) != _pruned(known):
        raise NotJsonError("adding to it would change its meaning")
    return found


def _pruned(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: kept for key, one in found.items() if (kept := _pruned(one)) != {}}
    return found
