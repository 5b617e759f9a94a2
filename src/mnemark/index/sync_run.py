"""Carry out the steps of a sync in batches.

Files are read and split outside the write transaction, and each batch is one transaction.
"""

import itertools
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from mnemark.errors import UsageError
from mnemark.facts.files import heard, pack, visible_facts
from mnemark.facts.model import Fact
from mnemark.facts.parse import ParsedFact
from mnemark.facts.visible import forgotten_lines
from mnemark.files import layout, platform
from mnemark.files.documents import converting
from mnemark.files.layout import Place
from mnemark.files.reading import Document, PassingProblem, digest, read
from mnemark.files.scan import FileEntry
from mnemark.files.sessions import is_journal
from mnemark.files.tombstones import Tombstones
from mnemark.index import schema
from mnemark.index.batch import Batch, FileState, scope_number
from mnemark.index.logs import Chunk, LogReader
from mnemark.index.merge import merge_due
from mnemark.index.passage import STORED, Unit, scope_of
from mnemark.index.plan import KnownFile, SyncStep, only_grew
from mnemark.index.store import Index
from mnemark.index.units import note_units, turn_units
from mnemark.index.workers import Workers
from mnemark.text.lines import encode
from mnemark.text.redaction import MARK
from mnemark.text.redaction.private import unpaired
from mnemark.types import Problem

_UNREAD: Final = "00" * 16
"""The digest stored for a file that could not be read."""
_PROBLEMS: Final = msgspec.json.Decoder(tuple[Problem, ...])
_UNUSED_SCOPES: Final = """
DELETE FROM scopes WHERE id <> 0 AND id NOT IN (SELECT scope FROM documents) AND name NOT IN (
  SELECT json_extract(meta, '$.scope') FROM passages WHERE json_extract(meta, '$.scope') IS NOT NULL
  AND document IN (SELECT id FROM documents WHERE path LIKE 'journal/%'))"""
_LOG_CHUNK: Final = 4_096
"""Turns of a log added between two checks whether the batch is full."""


class SyncRun:
    """The steps of a sync, carried out in batches."""

    def __init__(
        self,
        index: Index,
        known: Mapping[str, KnownFile],
        limit: int,
        hidden: Tombstones,
        reindex: frozenset[str],
        *,
        workers: Workers,
    ) -> None:
        self.index = index
        self.known = known
        self.limit = limit
        self.fingerprint = str(index.identity()["fingerprint"])
        self.passages = 0
        self.problems: list[Problem] = []
        """Problems of this sync that are not stored."""
        self.journals = 0
        self.replaced: list[str] = []
        self.counts = {"added": 0, "changed": 0, "moved": 0, "removed": 0}
        self.scopes = index.scopes()
        self.hidden = hidden
        self.reindex = reindex
        """Files to index again although their content is unchanged."""
        self.next_document = int(index.scalar("SELECT coalesce(max(id), 0) FROM documents")) + 1
        self.workers = workers
        self.batch = Batch(int(index.scalar("SELECT coalesce(max(id), 0) FROM passages")) + 1, workers)

    def carry_out(
        self, steps: Sequence[SyncStep], progress: Callable[[int, int, int], None] | None
    ) -> dict[str, Any]:
        """Carry out all steps; return the fields of the report that say what was done."""
        with converting():
            for number, step in enumerate(steps, 1):
                self._take(step)
                if progress is not None:
                    progress(number, len(steps), self.passages)
        self._finish()
        return {
            "passages": self.passages, "journals": self.journals, "problems": tuple(self.problems),
            "replaced": tuple(self.replaced),
            **self.counts,
        }  # fmt: skip

    def _take(self, step: SyncStep) -> None:
        """Add one step to the batch, and flush the batch if it is full."""
        if step.action == "remove":
            self.batch.remove(self.known[step.path].document)
            self.counts["removed"] += 1
        elif step.entry is not None:
            place = layout.place(step.path)
            is_log = step.path.lower().endswith(".jsonl")
            if place is not None and place.role in {"session", "journal"} and is_log:
                self._log(step, step.entry, place)
            elif place is not None:
                self._note(step, step.entry, place)
        if self.batch.full:
            self.flush()

    def flush(self) -> None:
        """Write the batch and start a new one."""
        if self.batch:
            self.batch.write(self.index.connection, self.fingerprint)
        self.batch = Batch(self.batch.next_passage, self.workers)

    def _finish(self) -> None:
        """Write the last batch, merge segments, and delete unused scopes."""
        self.flush()
        merge_due(self.index)
        if self.counts["removed"] or self.counts["moved"]:
            self.index.connection.execute(_UNUSED_SCOPES)

    def _document(self, step: SyncStep) -> tuple[int, bool]:
        """Return the document's id, and whether it is new."""
        old = self.known.get(step.old or step.path)
        if old is not None:
            return old.document, False
        self.next_document += 1
        return self.next_document - 1, True

    def _scope_id(self, place: Place) -> int:
        return scope_number(self.index.connection, self.scopes, place.scope)

    def _count(self, step: SyncStep, *, new: bool) -> None:
        if is_journal(step.path):
            self.journals += 1
            return
        kind = "moved" if step.action == "move" else "added" if new else "changed"
        self.counts[kind] += 1

    def _note(self, step: SyncStep, entry: FileEntry, place: Place) -> None:
        checked = time.time_ns()
        found = read(self.index.root, step.path, entry)
        if isinstance(found, Problem):
            self._unreadable(step, entry, place, found, checked)
            return
        document, new = self._document(step)
        known = step.action == "read" and step.path not in self.reindex
        if known and self._digest(document) == found.digest:
            self.batch.note_stat(document, found.entry, checked)
            return
        scope = self._scope_id(place)
        text = self.index.visible.text(step.path, found.text, self.hidden)
        own = visible_facts(text, found.text, step.path, "") if place.kind == "fact" else []
        facts = [(parsed, heard(self.index.root, fact)) for parsed, fact in own]
        self.replaced.append(step.path)
        title, units = note_units(step.path, text, place, limit=self.limit, facts=facts)
        kept: dict[int, Unit] = {}
        if not new:
            if text != found.text and _count_marks(text) > _marks_in(self.index, document):
                schema.ask_for_scrub(self.index.connection)  # newly private text is in the index
            if step.action == "read":
                kept, units = self.index.written.split(document, units, self.index.rows(STORED, (document,)))
            self.batch.replace(document, kept.keys())
        numbers = itertools.count(self.batch.next_passage)
        self.index.written.remember(document, kept | dict(zip(numbers, units, strict=False)))
        self.passages += self.batch.add(document, units, place, scope)
        unclosed = _private_problems(step.path, found.text) if text != found.text else []
        problems = (*found.problems, *unclosed)
        state = FileState(document, found.entry, checked, found.digest, place, title, problems=problems)
        self.batch.put(state._replace(facts=self._packed(facts, found, place)))
        self._count(step, new=new)

    def _packed(self, facts: Sequence[tuple[ParsedFact, Fact]], found: Document, place: Place) -> bytes:
        """Return the facts of a fact file to store; none if it is not plain UTF-8, or lines of it are hidden.

        Hidden facts stand in the file, too, but no forgotten text may stand in the index.
        """
        if place.role != "fact" or digest(encode(found.text)) != found.digest:
            return b""
        if forgotten_lines(self.hidden, found.path, found.text):
            return b""
        return pack(facts)

    def _unreadable(
        self, step: SyncStep, entry: FileEntry, place: Place, problem: Problem, checked: int
    ) -> None:
        """Insert an unreadable file with its problem, so that it is reported and not retried at every sync.

        If it changed since the scan, it is being written or gone, and what is short now may not be so later:
        leave its index entry for the next sync.
        """
        if isinstance(problem, PassingProblem) or not _unchanged_since_scan(self.index.root, entry):
            self.problems.append(problem)
            return
        document, new = self._document(step)
        if not new and step.action != "move" and self._digest(document) == _UNREAD:
            self.batch.note_stat(document, entry, checked)
            return
        if not new:
            self.batch.replace(document)
        self._scope_id(place)
        self.batch.put(FileState(document, entry, checked, _UNREAD, place, problems=(problem,)))
        self._count(step, new=new)

    def _digest(self, document: int) -> str:
        found = self.index.scalar("SELECT digest FROM documents WHERE id = ?", (document,))
        return found.hex() if isinstance(found, bytes) else ""

    def _log(self, step: SyncStep, entry: FileEntry, place: Place) -> None:
        checked = time.time_ns()
        document, new = self._document(step)
        try:
            state = self._read_log(document, step, entry, place, new=new)
        except (OSError, UsageError) as error:  # deleted, unreadable or replaced by a link since the scan
            state = self._unreadable_log(document, entry, place, error, new=new)
        if state is None:
            self.batch.note_stat(document, entry, checked)
        else:
            self.batch.put(state._replace(checked_ns=checked if state.checked_ns else 0))
            self._count(step, new=new)

    def _read_log(
        self, document: int, step: SyncStep, entry: FileEntry, place: Place, *, new: bool
    ) -> FileState | None:
        """Add new turns to the batch; return the log's new state, or None if nothing changed."""
        root = self.index.root
        before = platform.identity(root / step.path)
        reader = LogReader(root, step.path)
        title = self.index.scalar("SELECT title FROM documents WHERE id = ?", (document,)) or ""
        renamed = not new and title != reader.title  # its header was written after a torn line
        fresh = new or renamed or step.action == "move" or step.path in self.reindex
        known = _LogPosition() if fresh else self._position(document)
        holds = "SELECT 1 FROM passages WHERE document = ? LIMIT 1"
        empty = not (known.tail or fresh) and not self.index.scalar(holds, (document,))
        if known.tail and reader.digest(known.tail) != known.digest:
            known = _LogPosition()
        if not (new or known.tail or empty):
            self.batch.replace(document)
        if not known.tail:
            self.replaced.append(step.path)
        self._scope_id(place)
        tail, lines, gained = known.tail, known.lines, 0
        for chunk in reader.chunks(tail, lines, _LOG_CHUNK):
            gained += self._add_turns(document, chunk, place, reader.title)
            tail, lines = chunk.offset, chunk.line
            if self.batch.full:
                digest = reader.digest(tail)
                self.batch.put(FileState(document, entry, 0, digest, place, reader.title, tail, lines))
                self.flush()
        self.passages += gained
        carried = known.problems if known.tail else ()  # a log read from the start reports its problems again
        problems = tuple(dict.fromkeys((*carried, *reader.problems)))
        same = tail == known.tail and problems == known.problems
        if (known.tail or empty) and not gained and same and known.digest != _UNREAD:
            return None
        digest, checked = reader.digest(tail), 1
        if not only_grew(before, platform.identity(root / step.path)):
            digest, checked = _UNREAD, 0  # possibly read from two versions: read all of it again next time
        return FileState(document, entry, checked, digest, place, reader.title, tail, lines, problems)

    def _add_turns(self, document: int, chunk: Chunk, place: Place, title: str) -> int:
        """Add turns of a log to the batch; return the number of their passages."""
        left = self.index.visible.turns(chunk.turns, self.hidden)
        units = turn_units(left, limit=self.limit, title=title)
        # Passages of a journal have the scopes that its lines name, in the order of its lines.
        return sum(
            self.batch.add(document, scoped, place, scope_number(self.index.connection, self.scopes, name))
            for name, scoped in itertools.groupby(units, lambda unit: scope_of(unit, place))
        )

    def _unreadable_log(
        self, document: int, entry: FileEntry, place: Place, error: OSError | UsageError, *, new: bool
    ) -> FileState | None:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        problem = Problem(entry.path, f"cannot be read: {reason}")
        passing = isinstance(error, OSError) and platform.may_pass(error)
        settled = int(not passing and _unchanged_since_scan(self.index.root, entry))
        if settled and not new and self._digest(document) == _UNREAD:
            return None
        if not settled:
            self.problems.append(problem)
        elif not new:  # as with notes: unreadable files are not searchable
            self.batch.replace(document)
        self._scope_id(place)
        return FileState(document, entry, settled, _UNREAD, place, problems=(problem,) if settled else ())

    def _position(self, document: int) -> "_LogPosition":
        sql = "SELECT tail, lines, digest, problems FROM documents WHERE id = ?"
        rows = self.index.rows(sql, (document,))
        if not rows:
            return _LogPosition()
        tail, lines, digest, problems = rows[0]
        return _LogPosition(tail, lines, digest.hex(), _PROBLEMS.decode(problems))


class _LogPosition(NamedTuple):
    """The indexed part of a log: number of bytes and lines, digest of those bytes, and their problems."""

    tail: int = 0
    lines: int = 0
    digest: str = ""
    problems: tuple[Problem, ...] = ()


def _unchanged_since_scan(root: Path, entry: FileEntry) -> bool:
    now = platform.identity(root / entry.path)
    return now is not None and (now.size, now.mtime_ns) == (entry.size, entry.mtime_ns)


def _marks_in(index: Index, document: int) -> int:
    """Return the number of redaction marks in the indexed text of a document."""
    marked = "instr(text, '[redacted:') + instr(text, '[private]')"
    sql = f"SELECT text FROM passages WHERE document = ? AND {marked}"  # noqa: S608 - a constant
    return sum(_count_marks(text) for (text,) in index.rows(sql, (document,)))


def _count_marks(text: str) -> int:
    """Return the number of redaction marks in a text."""
    return sum(1 for _ in MARK.finditer(text))


def _private_problems(path: str, text: str) -> list[Problem]:
    """Report an unpaired privacy tag, which may hide more than its author meant."""
    found = unpaired(text)
    if found is None:
        return []
    at, opening = found
    line = len(re.findall(r"\r\n?|\n", text[:at])) + 1
    reason = (
        "<private> is never closed, so everything after it is hidden; write </private> where it ends"
        if opening
        else "</private> without <private>: everything before it is hidden; write <private> where it begins"
    )
    return [Problem(path, f"line {line}: {reason}", skipped=False)]
