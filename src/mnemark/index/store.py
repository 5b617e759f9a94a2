"""`Index`: one workspace's `index.db`, opened, read at one moment, thrown away when it does not fit."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw
import msgspec
import numpy as np

from mnemark.errors import IntegrityError
from mnemark.files import layout
from mnemark.files.platform import machine_name
from mnemark.index import schema
from mnemark.index.plan import Known
from mnemark.index.rows import ROW
from mnemark.index.segment import Posting, decode
from mnemark.index.snapshot import SegmentView, Snapshot
from mnemark.text.segment import fingerprint
from mnemark.types import Kind, Origin

NAME: Final = "index.db"
_FETCH: Final = """
SELECT p.id, d.path, s.name, d.title, p.start_line, p.end_line, p.kind, p.origin, p.role, p.title, p.date,
       p.text, p.meta
FROM passages p JOIN documents d ON d.id = p.document JOIN scopes s ON s.id = d.scope
WHERE p.id IN (SELECT value FROM json_each(?))
"""


class Record(msgspec.Struct, frozen=True):
    """One passage as stored."""

    id: int
    path: str
    scope: str
    document_title: str
    start_line: int
    end_line: int
    kind: Kind
    origin: Origin
    role: str
    title: str
    date: str | None
    text: str
    meta: Mapping[str, Any]

    @property
    def ref(self) -> str:
        """`path#L12` or `path#L12-L30`."""
        last = f"-L{self.end_line}" if self.end_line != self.start_line else ""
        return f"{self.path}#L{self.start_line}{last}"


class Index:
    """The derived index of the workspace at `root`. Safe to use from several threads.

    Raises:
        NewerFormatError, IntegrityError, BusyError, ReadOnlyError: see `schema`.
    """

    def __init__(self, root: Path, *, readonly: bool = False) -> None:
        self.root = root
        self.readonly = readonly
        self.path = root / layout.PRIVATE / NAME
        self._local = threading.local()
        self._all: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._epoch = 0
        if not readonly:
            layout.private_folder(root)
            self._prepare()
        elif self.path.exists():
            with schema.translated(self.path):
                schema.version(self.connection)

    def _prepare(self) -> None:
        """Create the database, or begin anew where it was derived by other rules."""
        with schema.translated(self.path):
            connection = self.connection
            if schema.version(connection) is None:
                schema.create(connection, self.identity())
            elif schema.version(connection) != schema.VERSION or self.stale_reason():
                self.reset()

    def identity(self) -> dict[str, str | int]:
        """What must be the same for a stored index to be used."""
        return {"fingerprint": fingerprint(), "machine": machine_name(), "generation": 0}

    def stale_reason(self) -> str | None:
        """Why the stored index cannot be used, or None."""
        meta = schema.read_meta(self.connection)
        expected = self.identity()
        if meta.get("fingerprint") != expected["fingerprint"]:
            return "it was segmented by other rules"
        if meta.get("machine") != expected["machine"]:
            return "it was made on another machine"
        return None

    @property
    def connection(self) -> apsw.Connection:
        """This thread's connection."""
        if getattr(self._local, "epoch", None) != self._epoch:
            connection = schema.connect(self.path, readonly=self.readonly)
            with self._lock:
                self._all.append(connection)
            self._local.connection = connection
            self._local.epoch = self._epoch
        found: apsw.Connection = self._local.connection
        return found

    def exists(self) -> bool:
        """Whether there is an index to read."""
        return self.path.exists()

    def reset(self) -> None:
        """Empty the index in one transaction: readers see the old one or none of it."""
        connection = self.connection
        with schema.immediate(connection):
            listed = schema.rows(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'")
            tables = [name for (name,) in listed]
            generation = 0
            if "meta" in tables:
                generation = int(schema.read_meta(connection).get("generation", 0))
            connection.execute("PRAGMA defer_foreign_keys=ON")
            for table in tables:
                connection.execute(f'DROP TABLE "{table}"')
            connection.execute(schema.SCHEMA)
            meta = self.identity() | {"generation": generation + 1}
            connection.executemany("INSERT INTO meta VALUES (?, ?)", list(meta.items()))
            connection.execute("INSERT INTO scopes (id, name) VALUES (0, '')")
            connection.execute(f"PRAGMA user_version={schema.VERSION}")

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            self._epoch += 1
            connections, self._all = self._all, []
        for connection in connections:
            connection.close()

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """A read transaction and the snapshot of its moment.

        Posting lists are read from the database while the transaction lasts; use the snapshot only inside.
        """
        connection = self.connection
        with schema.translated(self.path), schema.reading(connection):
            generation = int(
                schema.scalar(connection, "SELECT value FROM meta WHERE key = 'generation'") or 0
            )
            snapshot = self._snapshot
            if snapshot is None or snapshot.generation != generation:
                snapshot = self._load(connection, generation)
                self._snapshot = snapshot
            yield snapshot

    def _load(self, connection: apsw.Connection, generation: int) -> Snapshot:
        views = []
        sql = "SELECT id, size, rows, dead FROM segments ORDER BY id"
        for segment, size, rows, dead in schema.rows(connection, sql):
            columns = np.frombuffer(rows, ROW)
            if len(columns) != size:
                msg = "index.db has a damaged segment; run `mnemark doctor --fix`"
                raise IntegrityError(msg)
            bits = np.unpackbits(np.frombuffer(dead, np.uint8), count=size).astype(np.bool_)
            views.append(SegmentView(columns, bits, _PostingReader(self, segment)))
        return Snapshot(generation, views)

    def posting(self, segment: int, term: str) -> Posting | None:
        """One term's list in one segment."""
        sql = "SELECT data FROM postings WHERE segment = ? AND term = ?"
        data = self.connection.execute(sql, (segment, term)).get
        return decode(data) if isinstance(data, bytes) else None

    def fetch(self, passages: Sequence[int]) -> dict[int, Record]:
        """Stored passages by id; ids that are gone are left out."""
        found = {}
        for row in schema.rows(self.connection, _FETCH, (msgspec.json.encode(list(passages)).decode(),)):
            meta = msgspec.json.decode(row[-1]) if row[-1] != "{}" else {}
            record = Record(*row[:-1], meta)
            found[record.id] = record
        return found

    def scopes(self) -> dict[str, int]:
        """Scope names with their numbers in the columns."""
        return dict(schema.rows(self.connection, "SELECT name, id FROM scopes"))

    def known(self) -> dict[str, Known]:
        """What the index knows of each file, by path."""
        sql = """SELECT path, id, size, mtime_ns, ctime_ns, inode, device, checked_ns, tail FROM documents"""
        known = {}
        rows = schema.rows(self.connection, sql)
        for path, document, size, mtime, ctime, inode, device, checked, tail in rows:
            whole = (inode % (1 << 64), device % (1 << 64))
            known[path] = Known(document, size, mtime, ctime, *whole, checked, tail)
        return known

    def document(self, path: str) -> int | None:
        """The number of the document at `path`."""
        found = self.connection.execute("SELECT id FROM documents WHERE path = ?", (path,)).get
        return found if isinstance(found, int) else None


class _PostingReader:
    """Reads posting lists of one segment through whichever thread's connection asks."""

    __slots__ = ("_index", "_segment")

    def __init__(self, index: Index, segment: int) -> None:
        self._index = index
        self._segment = segment

    def __call__(self, term: str) -> Posting | None:
        return self._index.posting(self._segment, term)
