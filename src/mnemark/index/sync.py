"""Sync: make the index follow the files.

The plan is pure (`plan`); here it is carried out in batches. Files are read and cut outside the write
transaction; a batch is one transaction, so that a kill at any moment leaves an index that is right about
what it knows, and the next sync does the rest.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import BusyError
from mnemark.files import layout
from mnemark.files.layout import Place
from mnemark.files.locks import sync_lock
from mnemark.files.reading import Document, read
from mnemark.files.scan import Entry, scan
from mnemark.index import schema
from mnemark.index.batch import Batch, FileState, scope_number
from mnemark.index.logs import LogReader
from mnemark.index.merge import merge_due
from mnemark.index.plan import Known, Step, plan
from mnemark.index.store import Index
from mnemark.index.units import note_units, turn_units
from mnemark.types import Problem

Progress = Callable[[int, int, int], None]
"""Called with files done, files in all, passages so far."""

_LOG_CHUNK: Final = 4_096
"""Turns of a log taken between two looks at whether the batch is full."""


class SyncReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a sync did."""

    files: int
    """Files in the workspace that belong in the index."""
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    passages: int = 0
    """Passages written."""
    problems: tuple[Problem, ...] = ()
    """All files that are skipped or read with doubts, old ones included."""
    seconds: float = 0.0

    @property
    def touched(self) -> int:
        """Files whose content in the index changed."""
        return self.added + self.changed + self.moved + self.removed


def sync(
    index: Index,
    *,
    ignore: Sequence[str] = (),
    limit: int = 256,
    wait: float = 0.0,
    progress: Progress | None = None,
) -> SyncReport:
    """Bring the index to the state of the files.

    Args:
        index: opened for writing.
        ignore: shell patterns of relative paths that are no memory.
        limit: tokens in a passage.
        wait: seconds to wait for another process that is syncing.
        progress: told about long work.

    Raises:
        BusyError: another process is syncing.
    """
    started = time.monotonic()
    with sync_lock(index.root, timeout=wait), schema.translated(index.path):
        found = scan(index.root, ignore=ignore)
        entries = [entry for entry in found.entries if _searchable(entry)]
        known = index.known()
        if _rules_changed(index, limit):
            known = _forget_all(index, limit)
        steps = plan(entries, known)
        run = _Run(index, known, limit)
        for number, step in enumerate(steps):
            run.take(step)
            if progress is not None:
                progress(number + 1, len(steps), run.passages)
        run.finish()
        return SyncReport(
            files=len(entries),
            problems=(*found.problems, *copy_problems(found.entries), *_stored_problems(index)),
            passages=run.passages,
            seconds=time.monotonic() - started,
            **run.counts,
        )


def try_sync(index: Index, *, ignore: Sequence[str] = (), limit: int = 256) -> SyncReport | None:
    """`sync`, or None when another process is at it already: its work serves us too."""
    try:
        return sync(index, ignore=ignore, limit=limit)
    except BusyError:
        return None


def copy_problems(entries: Sequence[Entry]) -> list[Problem]:
    """Copies left by syncing tools: named, never indexed as memory."""
    problems = []
    for entry in entries:
        place = layout.place(entry.path)
        if place is not None and place.role == "copy":
            reason = "is a copy left by a syncing tool or a conflict: merge it by hand, then delete it"
            problems.append(Problem(entry.path, reason))
    return problems


def _searchable(entry: Entry) -> bool:
    place = layout.place(entry.path)
    return place is not None and place.searchable


def _rules_changed(index: Index, limit: int) -> bool:
    stored = schema.read_meta(index.connection).get("passage_tokens")
    return stored != limit


def _forget_all(index: Index, limit: int) -> dict[str, Known]:
    """Begin anew with another passage size; an empty index only notes it."""
    if index.known():
        index.reset()
    index.connection.execute("INSERT OR REPLACE INTO meta VALUES ('passage_tokens', ?)", (limit,))
    return {}


def _stored_problems(index: Index) -> list[Problem]:
    rows = schema.rows(
        index.connection, "SELECT problems FROM documents WHERE problems <> '[]' ORDER BY path"
    )
    return [problem for (text,) in rows for problem in msgspec.json.decode(text, type=list[Problem])]


class _Run:
    """One sync under way."""

    def __init__(self, index: Index, known: dict[str, Known], limit: int) -> None:
        self.index = index
        self.known = known
        self.limit = limit
        self.passages = 0
        self.counts = {"added": 0, "changed": 0, "moved": 0, "removed": 0}
        self.scopes = index.scopes()
        connection = index.connection
        self.next_document = int(schema.scalar(connection, "SELECT coalesce(max(id), 0) FROM documents")) + 1
        first = int(schema.scalar(connection, "SELECT coalesce(max(id), 0) FROM passages")) + 1
        self.batch = Batch(first)

    def take(self, step: Step) -> None:
        """Carry out one step, as far as it needs no write."""
        if step.action == "remove":
            self.batch.remove(self.known[step.path].document)
            self.counts["removed"] += 1
        elif step.entry is not None:
            place = layout.place(step.path)
            if place is not None and step.path.endswith(".jsonl"):
                self._log(step, step.entry, place)
            elif place is not None:
                self._note(step, step.entry, place)
        if self.batch.full:
            self.flush()

    def flush(self) -> None:
        """Write what has been collected."""
        if self.batch:
            self.batch.write(self.index.connection)
        self.batch = Batch(self.batch.next_passage)

    def finish(self) -> None:
        """Write the rest and keep the segments few."""
        self.flush()
        merge_due(self.index)

    def _document(self, step: Step) -> tuple[int, bool]:
        """The document's number, and whether it is new."""
        old = self.known.get(step.old or step.path)
        if old is not None:
            return old.document, False
        self.next_document += 1
        return self.next_document - 1, True

    def _scope(self, place: Place) -> int:
        return scope_number(self.index.connection, self.scopes, place.scope)

    def _count(self, step: Step, *, new: bool) -> None:
        kind = "moved" if step.action == "move" else "added" if new else "changed"
        self.counts[kind] += 1

    def _note(self, step: Step, entry: Entry, place: Place) -> None:
        checked = time.time_ns()
        found = read(self.index.root, step.path, entry)
        document, new = self._document(step)
        if isinstance(found, Problem):
            self._unreadable(document, entry, place, found, new=new)
            return
        scope = self._scope(place)
        old_digest = None if new else self._digest(document)
        if step.action == "read" and old_digest == found.digest:
            self._restat(document, found.entry, checked)
            return
        title, units = note_units(step.path, found.text, place, limit=self.limit)
        if not new:
            self.batch.replace(document)
        self.passages += self.batch.add(document, units, place, scope)
        self.batch.put(_state(document, found, checked, place, title))
        self._count(step, new=new)

    def _unreadable(self, document: int, entry: Entry, place: Place, problem: Problem, *, new: bool) -> None:
        """A file that cannot be read is known by name, so that it is told of and not tried at every sync."""
        if not new:
            self.batch.replace(document)
        self._scope(place)
        state = FileState(document, entry, 0, "00" * 16, place, problems=(problem,))
        self.batch.put(state)

    def _digest(self, document: int) -> str:
        found = self.index.connection.execute("SELECT digest FROM documents WHERE id = ?", (document,)).get
        return found.hex() if isinstance(found, bytes) else ""

    def _restat(self, document: int, entry: Entry, checked: int) -> None:
        """The bytes are the same: only remember the new stat."""
        self.index.connection.execute(
            "UPDATE documents SET mtime_ns=?, ctime_ns=?, checked_ns=? WHERE id=?",
            (entry.mtime_ns, entry.ctime_ns, checked, document),
        )

    def _log(self, step: Step, entry: Entry, place: Place) -> None:
        """Index what a log gained; all of it if its known part is not what it was."""
        checked = time.time_ns()
        document, new = self._document(step)
        scope = self._scope(place)
        tail, lines = self._log_position(document, new=new)
        reader = LogReader(self.index.root, step.path)
        if tail and reader.digest(tail) != self._digest(document):
            tail = lines = 0
        if step.action == "move" or (not tail and not new):
            tail = lines = 0
            self.batch.replace(document)
        gained = 0
        for turns in reader.chunks(tail, lines, _LOG_CHUNK):
            units = turn_units(turns.turns, limit=self.limit, title=reader.title)
            gained += self.batch.add(document, units, place, scope)
            tail, lines = turns.offset, turns.line
            if self.batch.full:
                state = FileState(document, entry, 0, reader.digest(tail), place, reader.title, tail, lines)
                self.batch.put(state)
                self.flush()
        problems = reader.problems
        digest = reader.digest(tail)
        self.batch.put(
            FileState(document, entry, checked, digest, place, reader.title, tail, lines, problems)
        )
        self.passages += gained
        if new or gained or step.action == "move":
            self._count(step, new=new)

    def _log_position(self, document: int, *, new: bool) -> tuple[int, int]:
        if new:
            return 0, 0
        sql = "SELECT tail, lines FROM documents WHERE id = ?"
        rows = schema.rows(self.index.connection, sql, (document,))
        return (int(rows[0][0]), int(rows[0][1])) if rows else (0, 0)


def _state(document: int, found: Document, checked: int, place: Place, title: str) -> FileState:
    return FileState(document, found.entry, checked, found.digest, place, title, problems=found.problems)


def index_path(root: Path) -> Path:
    """Where the index of a workspace lies."""
    return root / layout.PRIVATE / "index.db"
