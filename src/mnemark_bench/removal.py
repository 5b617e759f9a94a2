"""Take units out of a stored scope and put them back, as a person deleting lines and files would."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from mnemark.memory.memory import Memory
from mnemark_bench.data import SetUnit
from mnemark_bench.store import StoredScope


class Removal:
    """The files of one stored scope by unit.

    Args:
        memory: the scope's workspace, which nobody else writes to.
        stored: what is in it.
        units: of the scope.
    """

    def __init__(self, memory: Memory, stored: StoredScope, units: Iterable[SetUnit]) -> None:
        self._memory = memory
        self._paths = dict(stored.path_of)
        logs: dict[str, str] = {}
        for unit in units:
            if unit.id not in self._paths:
                if unit.session_id not in logs:
                    logs[unit.session_id] = memory.session(unit.session_id).path
                self._paths[unit.id] = logs[unit.session_id]

    @contextmanager
    def without(self, identifiers: Iterable[str]) -> Iterator[None]:
        """The memory without these units, synced. The files are put back afterwards, without a sync."""
        gone = set(identifiers)
        files = {self._memory.root / self._paths[identifier] for identifier in gone}
        saved = {path: path.read_bytes() for path in files}
        try:
            for path, content in saved.items():
                _leave_out(path, content, gone)
            self._memory.sync()
            yield
        finally:
            for path, content in saved.items():
                path.write_bytes(content)


def _leave_out(path: Path, content: bytes, gone: set[str]) -> None:
    """Rewrite a log without the turns of these units; delete a note, or a log with nothing left."""
    kept = b""
    if path.suffix == ".jsonl":
        kept = b"".join(line for line in content.splitlines(keepends=True) if _unit(line) not in gone)
    if kept:
        path.write_bytes(kept)
    else:
        path.unlink()


def _unit(line: bytes) -> str | None:
    turn: Any = msgspec.json.decode(line)
    found = turn.get("meta", {}).get("unit")
    return str(found) if found else None
