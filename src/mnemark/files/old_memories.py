"""Convert OpenAkita's `memories.json` to fact bullets."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from mnemark.files.ids import derived_id
from mnemark.types import Json

_TYPES = frozenset({"fact", "preference", "rule", "skill", "error"})
_PRIORITIES = {"transient": "transient", "short_term": "short", "long_term": "long", "permanent": "permanent"}

Memory = Mapping[str, Json]


class OldFacts(NamedTuple):
    """Bullets by id, in file order, and the number of entries skipped as invalid."""

    bullets: dict[str, str]
    unread: int


def fact_bullets(data: bytes) -> OldFacts:
    """Convert `memories.json` (a list, `{"memories": …}`, or an object by id) to a bullet for each memory.

    Ids are derived from the old ones, so that importing again gives the same bullets. A superseded memory is
    struck through and ends when the newer one begins. Raises ValueError for what is no JSON or no memories.
    """
    try:
        entries = _entries(json.loads(data.decode("utf-8-sig")))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    known = [entry for entry in entries if isinstance(entry, dict) and _words(entry.get("content"))]
    by_old_id = {str(entry["id"]): entry for entry in known if entry.get("id")}
    replaced = {
        str(entry["superseded_by"]): entry for entry in known if str(entry.get("superseded_by")) in by_old_id
    }
    bullets = {
        _id(entry): _bullet(
            entry, by_old_id.get(str(entry.get("superseded_by"))), replaced.get(str(entry.get("id")))
        )
        for entry in known
    }
    return OldFacts(bullets, len(entries) - len(known))


def _entries(value: Json) -> list[Json]:
    if isinstance(value, dict) and isinstance(value.get("memories"), (list, dict)):
        value = value["memories"]
    if isinstance(value, dict):
        return [{"id": key} | entry if isinstance(entry, dict) else entry for key, entry in value.items()]
    if isinstance(value, list):
        return value
    raise ValueError("holds no list of memories")


def _id(entry: Memory) -> str:
    # The id of a memory without one derives from its words.
    mark = str(entry.get("id") or f"{entry.get('subject')}\n{entry.get('predicate')}\n{entry['content']}")
    return derived_id(mark.encode("utf-8", "replace"), _moment(entry.get("created_at")))


def _bullet(entry: Memory, newer: Memory | None, older: Memory | None) -> str:
    content, predicate = _words(entry["content"]), _words(entry.get("predicate")).replace("*", "")
    text = f"**{predicate}**: {content}" if predicate else content
    until = None
    if newer is not None or entry.get("superseded_by"):
        text = f"~~{text}~~"
        until = (newer or {}).get("created_at") or entry.get("updated_at")
    kind = _enum_value(entry.get("type"))
    tags = entry.get("tags")
    fields = {
        "id": _id(entry),
        "type": kind if kind in _TYPES else "fact",
        "priority": _PRIORITIES.get(_enum_value(entry.get("priority"))),
        "subject": _field(entry.get("subject")),
        "since": _iso(entry.get("created_at")),
        "until": _iso(until),
        "origin": "import",
        "importance": _share(entry.get("importance_score")),
        "confidence": _share(entry.get("confidence")),
        "tags": ", ".join(filter(None, map(_field, tags))) if isinstance(tags, list) else "",
        "source": _field(entry.get("source")),
        "supersedes": _id(older) if older else None,
    }
    comment = " | ".join(f"{name}: {value}" for name, value in fields.items() if value)
    return f"- {text} <!-- {comment} -->"


def _words(value: Json) -> str:
    """Return a text on one line that cannot open or close a comment."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    text = text.encode("utf-8", "replace").decode()  # JSON may contain lone surrogates, UTF-8 may not
    return text.replace("<!--", "<! --").replace("-->", "-- >")


def _field(value: Json) -> str:
    """Return a text for the comment: `|` divides fields, and two hyphens could end it."""
    return re.sub(r"-{2,}", "-", _words(value).replace("|", "/").replace("-- >", "->")).strip("->")


def _enum_value(value: Json) -> str:
    """Return the value of an enumeration, written as `fact`, `FACT` or `MemoryType.FACT`."""
    return str(value or "").rsplit(".", 1)[-1].lower()


def _share(value: Json) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
    return f"{value:g}" if number else ""


def _moment(value: Json) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _iso(value: Json) -> str:
    moment = _moment(value)
    if moment is None:
        return ""
    return moment.date().isoformat() if len(value) <= len("2026-02-19") else moment.isoformat()
