"""Describe journal entries in words."""

import json
from collections.abc import Mapping
from typing import Any, Final

_NAMED: Final = ("title", "path", "session", "fact", "ref", "source", "note")
_COUNTED: Final = {"ids": "change", "turns": "turn", "lines": "place in notes", "edits": "edit"}


def describe_payload(payload: str) -> str:
    """Describe the payload of a change in one line; return an unknown one unchanged."""
    try:
        fields = json.loads(payload)
    except ValueError:
        return payload
    if not isinstance(fields, Mapping):
        return payload
    return _fact(fields) or _counts(fields) or _name(fields) or payload


def _fact(fields: Mapping[str, Any]) -> str:
    if not isinstance(fields.get("value"), str):
        return ""
    name = " ".join(str(fields[key]) for key in ("subject", "predicate") if fields.get(key))
    return f"{name}: {fields['value']}" if name else fields["value"]


def _name(fields: Mapping[str, Any]) -> str:
    found = next((fields[key] for key in _NAMED if isinstance(fields.get(key), str) and fields[key]), "")
    return f"{fields['step']}: {found}" if isinstance(fields.get("step"), str) else found


def _counts(fields: Mapping[str, Any]) -> str:
    """Return counts such as "5 changes" or "4 turns, 1 place in notes", summed over files."""
    found = []
    for key, name in _COUNTED.items():
        held = fields.get(key)
        groups = list(held.values()) if isinstance(held, Mapping) else [held]
        sizes = (len(one) if isinstance(one, list) else one for one in groups)
        count = sum(size for size in sizes if isinstance(size, int))
        first, _, rest = name.partition(" ")
        more = f" {rest}" if rest else ""
        if count or (key == "edits" and held == 0):
            found.append(f"{count:,} {first}{'' if count == 1 else 's'}{more}")
    return ", ".join(found)
