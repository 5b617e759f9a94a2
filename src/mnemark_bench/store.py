"""Store the units of a set as a user would have them: turns in sessions, notes as Markdown files."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

import msgspec

from mnemark.errors import UsageError
from mnemark.memory.memory import Memory
from mnemark.types import Hit
from mnemark_bench.data import SetUnit

FORM: Final = "1"
"""Raise it when units are stored in another way: kept workspaces are then made anew."""
_NOTES: Final = frozenset({"note", "passage", "memory"})
_UNSAFE: Final = re.compile(r"[^\w.-]+")


class StoredScope:
    """A scope of a set, stored in a workspace, and which unit a hit is.

    Args:
        root: the workspace.
        units: of one scope.
        paths: the unit of each note's file.
    """

    def __init__(self, root: Path, units: Sequence[SetUnit], paths: Mapping[str, str]) -> None:
        self.root = root
        self.session_of = {unit.id: unit.session_id for unit in units}
        self._by_path = paths
        self.path_of = {identifier: path for path, identifier in paths.items()}

    @classmethod
    def make(cls, root: Path, units: Sequence[SetUnit], *, names: bool = True) -> Self:
        """Write the units, unless `root` holds them already from an earlier run.

        Args:
            root: the workspace, kept or new.
            units: of one scope.
            names: call notes by their titles; else by numbers, so that the name gives nothing away.

        Raises:
            UsageError: `root` holds something else.
        """
        digest = hashlib.blake2b(msgspec.json.encode([FORM, names, units]), digest_size=16).hexdigest()
        done = root.with_name(f"{root.name}.json")
        if done.is_file():
            found = msgspec.json.decode(done.read_bytes())
            if found["digest"] != digest:
                raise UsageError(f"{root} was made from other data or in another way: delete {root.parent}")
            return cls(root, units, found["paths"])
        if root.exists() and any(root.iterdir()):
            raise UsageError(f"{root} is not empty and not whole: delete {root.parent}")
        paths = {_note_path(unit, names=names): unit for unit in units if unit.kind in _NOTES}
        for path, unit in paths.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(unit.text, encoding="utf-8")
        write_sessions(root, [unit for unit in units if unit.kind not in _NOTES])
        by_path = {path: unit.id for path, unit in paths.items()}
        done.write_bytes(msgspec.json.encode({"digest": digest, "paths": by_path}))
        return cls(root, units, by_path)

    def unit_of(self, hit: Hit) -> str | None:
        """The unit a hit belongs to."""
        found = hit.meta.get("unit")
        return str(found) if found else self._by_path.get(hit.path)

    def ranking(self, hits: Sequence[Hit]) -> list[str]:
        """The units of the hits, best first, each once."""
        return list(dict.fromkeys(unit for hit in hits if (unit := self.unit_of(hit))))

    def sessions(self, ranking: Sequence[str]) -> list[str]:
        """The sessions of ranked units, each at the place of its best unit."""
        return list(dict.fromkeys(self.session_of[unit] for unit in ranking))


def _note_path(unit: SetUnit, *, names: bool) -> str:
    """A dated memory goes into the day's notes, anything else into a note of its own."""
    tag = hashlib.blake2b(unit.id.encode(), digest_size=4).hexdigest()
    if unit.kind == "memory" and unit.time:
        return f"memory/{unit.time[:10]}-{tag}.md"
    if not names:
        return f"notes/{tag}.md"
    folder = _UNSAFE.sub("-", unit.session_id.rsplit("/", 1)[-1])[:40]
    if unit.kind == "passage":
        return f"notes/{folder}/{tag}.md"
    name = _UNSAFE.sub("-", unit.id).strip("-.")[:60].removesuffix(".md")
    return f"notes/{folder}/{name}-{tag}.md"


def write_sessions(root: Path, units: Sequence[SetUnit]) -> None:
    """Record units as the turns of their sessions."""
    with Memory.open(root, config={"embedder": "none"}, trusted=True) as memory:
        sessions: dict[str, list[SetUnit]] = {}
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
                        meta={"unit": unit.id} | ({"name": name} if (name := unit.meta.get("name")) else {}),
                    )
                    for unit in members
                ]
            )


def _time(text: str | None) -> datetime:
    return datetime.fromisoformat(text) if text else datetime(1970, 1, 1, tzinfo=UTC)
