"""Describe lines of the journal in words, for `mnemark log`."""

import json
from collections.abc import Mapping
from typing import Any, Final

_NAMED: Final = ("title", "path", "session", "fact", "ref", "source", "note")
_COUNTED: Final = {"ids": "change", "turns": "turn", "lines": "place in notes", "edits": "edit"}


def words_of(payload: str) -> str:
    """What a change is about, in one line; its payload as it is where we have no words for it."""
    try:
        said = json.loads(payload)
    except ValueError:
        return payload
    return (_fact(said) or _counts(said) or _name(said) or payload) if isinstance(said, Mapping) else payload


def _fact(said: Mapping[str, Any]) -> str:
    if not isinstance(said.get("value"), str):
        return ""
    name = " ".join(str(said[key]) for key in ("subject", "predicate") if said.get(key))
    return f"{name}: {said['value']}" if name else said["value"]


def _name(said: Mapping[str, Any]) -> str:
    found = next((said[key] for key in _NAMED if isinstance(said.get(key), str) and said[key]), "")
    return f"{said['step']}: {found}" if isinstance(said.get("step"), str) else found


def _counts(said: Mapping[str, Any]) -> str:
    """As "5 changes" or "4 turns, 1 place in notes"; of what is grouped by file, all files together."""
    found = []
    for key, name in _COUNTED.items():
        held = said.get(key)
        groups = list(held.values()) if isinstance(held, Mapping) else [held]
        count = sum(
            len(one) if isinstance(one, list) else one if isinstance(one, int) else 0 for one in groups
        )
        first, _, rest = name.partition(" ")
        more = f" {rest}" if rest else ""
        if count or (key == "edits" and held == 0):
            found.append(f"{count:,} {first}{'' if count == 1 else 's'}{more}")
    return ", ".join(found)
