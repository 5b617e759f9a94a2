"""Store the units of a set as a user would have them: turns in sessions, notes as Markdown files."""

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mnemark.bench.data import Unit
from mnemark.memory.core import Memory
from mnemark.types import Hit

_NOTES: Final = frozenset({"note", "passage", "memory"})
_UNSAFE: Final = re.compile(r"[^\w.-]+")


class Stored:
    """A scope of a set, stored in a workspace, and which unit a hit is."""

    def __init__(self, root: Path, units: Sequence[Unit]) -> None:
        self.root = root
        self._by_path: dict[str, str] = {}
        self.session_of: dict[str, str] = {unit.id: unit.session_id for unit in units}
        self.texts: dict[str, str] = {unit.id: unit.text for unit in units}
        notes = [unit for unit in units if unit.kind in _NOTES]
        for unit in notes:
            self._note(unit)
        self._sessions([unit for unit in units if unit.kind not in _NOTES])

    def unit_of(self, hit: Hit) -> str | None:
        """The unit a hit belongs to."""
        found = hit.meta.get("unit")
        return str(found) if found else self._by_path.get(hit.path)

    def _note(self, unit: Unit) -> None:
        """A dated memory goes into the day's notes, anything else into a note of its own."""
        name = _UNSAFE.sub("-", unit.id).strip("-.")[:60]
        tag = hashlib.blake2b(unit.id.encode(), digest_size=4).hexdigest()
        folder = _UNSAFE.sub("-", unit.session_id.rsplit("/", 1)[-1])[:40]
        path = f"notes/{folder}/{name.removesuffix('.md')}-{tag}.md"
        if unit.kind == "memory" and unit.time:
            path = f"memory/{unit.time[:10]}-{tag}.md"
        elif unit.kind == "passage":
            path = f"notes/{folder}/{tag}.md"
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(unit.text, encoding="utf-8")
        self._by_path[path] = unit.id

    def _sessions(self, units: Sequence[Unit]) -> None:
        with Memory.open(self.root, config={"embedder": "none"}) as memory:
            sessions: dict[str, list[Unit]] = {}
            for unit in units:
                sessions.setdefault(unit.session_id, []).append(unit)
            for session_id, members in sessions.items():
                session = memory.session(session_id)
                session.add_many(
                    [
                        session.turn(
                            unit.role or "user",
                            unit.text,
                            time=_time(unit.time),
                            origin="owner",
                            meta={"unit": unit.id},
                        )
                        for unit in members
                    ]
                )


def _time(text: str | None) -> datetime:
    return datetime.fromisoformat(text) if text else datetime(1970, 1, 1, tzinfo=UTC)
