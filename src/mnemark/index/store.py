"""Open a workspace's `index.db`, load snapshots, fetch passages, and reset an incompatible index."""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import apsw
import msgspec
import numpy as np

from mnemark.errors import IntegrityError, NewerFormatError, NotFoundError
from mnemark.facts.files import unpack
from mnemark.facts.model import Fact
from mnemark.facts.visible import Visible
from mnemark.files import layout
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.platform import identity, machine_name
from mnemark.files.private import private, private_folder
from mnemark.files.reading import digest
from mnemark.files.tombstones import TombstoneLog, Tombstones
from mnemark.files.truth import sync_lock
from mnemark.index import schema
from mnemark.index.connections import Connections
from mnemark.index.derived import Ranges, ranges
from mnemark.index.passage import COLUMNS, WrittenPassages
from mnemark.index.plan import KnownFile
from mnemark.index.rows import MARKS, ROW
from mnemark.index.segment import Posting, Postings, dead_bits, decode
from mnemark.index.snapshot import Positions, SegmentView, Snapshot
from mnemark.text import redaction
from mnemark.text.words.segment import fingerprint
from mnemark.types import WHOLE, Kind, Origin, ref_to

NAME: Final = "index.db"
NEW: Final = "index.db.new"
_FETCH: Final = """
SELECT p.id, d.path, s.name, p.start_line, p.end_line, p.kind, p.origin, p.role, p.title, p.date,
       p.text, p.meta
FROM passages p JOIN documents d ON d.id = p.document JOIN scopes s ON s.id = d.scope
WHERE p.id IN (SELECT value FROM json_each(?))
"""
_OF_SESSION_AND_TOOL = """
    SELECT id FROM passages WHERE kind IN ('turn', 'observation') AND (?1 = '' OR title = ?1)
    AND (?2 = '' OR (kind = 'observation' AND json_extract(meta, '$.tool') = ?2))
"""
_LOGS = "(d.path LIKE 'sessions/%' OR d.path LIKE '%/sessions/%')"


class Record(msgspec.Struct, frozen=True):
    """A stored passage."""

    id: int
    path: str
    scope: str
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
        """The ref of its lines, and of the characters where it is a part of a line."""
        return ref_to(self.path, self.start_line, self.end_line, self.meta.get(COLUMNS, WHOLE))


_MADE_OTHERWISE: Final = {
    "fingerprint": "was made with other segmentation rules",
    "machine": "was made on another machine",
    "redaction": "was made with other redaction rules",
    "marks": "was made with other rules for text that looks like instructions",
}
"""How an index was made, where one of the settings in its `identity` is not ours."""


def _other_rules(meta: Mapping[str, str | int]) -> str:
    """Return by which other rules an index was made, so that nobody may read it; empty for none.

    What another version redacted may lack secrets that this one finds.
    """
    if meta.get("fingerprint") != fingerprint():
        return _MADE_OTHERWISE["fingerprint"]
    redacted = str(meta.get("redaction")).startswith(f"{redaction.VERSION};")
    return "" if redacted else _MADE_OTHERWISE["redaction"]


_REPLACED: Final = "replaced"
"""Key in `meta` of the documents that may hold forgotten text again."""


class Index:
    """The index of the workspace at `root`. Thread-safe.

    Raises:
        NewerFormatError, IntegrityError, BusyError, ReadOnlyError: see `schema`.
    """

    def __init__(
        self,
        root: Path,
        *,
        readonly: bool = False,
        name: str = NAME,
        home: Path | None = None,
        visible: Visible | None = None,
    ) -> None:
        self.root = root
        self.home = home or root
        """The folder whose `.mnemark/` contains the index; not `root` if the workspace is read-only."""
        self.visible = visible or Visible(root)
        """The rules for what text of the files may be in the index."""
        self.readonly = readonly
        self.path = private(self.home) / name
        self._connections = Connections(lambda: schema.connect(self.path, readonly=readonly))
        self.written = WrittenPassages()
        """The passages of notes that were written through this object; used by a sync."""
        self._load_lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._sources: tuple[int, Ranges] | None = None
        self._open_file: tuple[int, int] | None = None
        self.damage = ""
        """Why the next sync discards the database and makes it anew; empty where it does not."""
        if not readonly:
            private_folder(self.home, note=self.home == self.root)
        if not readonly or self.path.exists():
            self._prepare()

    def _prepare(self) -> None:
        """Create the database, or reset one that was made with other rules; note damage for the next sync."""
        self.damage = ""
        try:
            with schema.translated(self.path):
                if self.readonly:
                    schema.version(self.connection)
                elif not self._usable():
                    with schema.immediate(self.connection):
                        if not self._usable():  # another process may have created it meanwhile
                            self._create_tables()
        except NewerFormatError:
            raise
        except schema.UNFIT as error:
            if schema.is_foreign(self.path):
                raise
            self.damage = schema.damage_of(error)
        self._open_file = self._identity_on_disk()

    def _create_tables(self) -> None:
        schema.create_tables(self.connection, self._first_meta())

    def _first_meta(self) -> dict[str, str | int]:
        # Take the generation from the clock, so that no reader has seen it: the old one may be unreadable.
        return self.identity() | {"generation": time.time_ns()}

    def discard(self, reason: str) -> None:
        """Replace a damaged database by an empty one, which counts as damaged until `filled`.

        The caller holds the sync lock. Nothing of the old one is kept: no copy of forgotten text may remain.

        Raises:
            BusyError, ReadOnlyError, MnemarkError: it cannot be deleted, or a new one not be created.
        """
        new = self.path.with_name(NEW)
        meta = self._first_meta() | {schema.DAMAGE: reason}
        with translate_os_errors(self.path), schema.translated(self.path):
            schema.remove(new)
            with closing(schema.open_file(new)) as connection, schema.immediate(connection):
                schema.create_tables(connection, meta)
            # Whoever opens it meanwhile sees the old one or this one, and never an index without anything.
            schema.replace(new, self.path)
        self.follow()

    def discard_unless_replaced(self, reason: str) -> None:
        """Discard the database as `discard` does, unless another process has begun to.

        Raises:
            BusyError: another process is syncing.
        """
        with sync_lock(self.home):
            if self._identity_on_disk() == self._open_file and not self.is_being_filled():
                self.discard(reason)

    def check(self) -> None:
        """Raise IntegrityError where the database could not be read when it was opened."""
        if self.damage:
            raise IntegrityError(f"{self.damage}; run `mnemark doctor --fix`")

    def is_damaged(self) -> bool:
        """Whether a sync has to make the index anew, or to go on with that, before it can answer."""
        return bool(self.damage) or self.is_being_filled()

    def is_being_filled(self) -> bool:
        """Whether the last index was discarded, and no sync has filled this one yet."""
        try:
            return self.scalar("SELECT value FROM meta WHERE key = ?", (schema.DAMAGE,)) is not None
        except schema.UNREADABLE:
            return False

    def digests(self) -> dict[str, str]:
        """Return the hashes of the bytes of all indexed texts by path; those of logs are left out."""
        rows = self.rows("SELECT path, digest FROM documents WHERE tail = 0")
        return {path: digest.hex() for path, digest in rows}

    def to_look_through(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Note files that may hold forgotten text again, and return all that are noted."""
        noted = str(self.scalar("SELECT value FROM meta WHERE key = ?", (_REPLACED,)) or "")
        numbers = [
            *map(int, noted.split()),
            *(self.scalar("SELECT id FROM documents WHERE path = ?", (path,)) or 0 for path in paths),
        ]
        if paths:  # by number: a name may hold forgotten text itself
            row = (_REPLACED, " ".join(map(str, dict.fromkeys(numbers))))
            self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", row)
        found = (
            self.scalar("SELECT path FROM documents WHERE id = ?", (number,))
            for number in dict.fromkeys(numbers)
        )
        return tuple(path for path in found if isinstance(path, str))

    def looked_through(self) -> None:
        """Note that the files of `to_look_through` were looked at."""
        self.connection.execute("DELETE FROM meta WHERE key = ?", (_REPLACED,))

    def filled(self) -> None:
        """Note that a sync has filled the index: it is used again."""
        if self.is_being_filled():
            with schema.immediate(self.connection):
                self.connection.execute("DELETE FROM meta WHERE key = ?", (schema.DAMAGE,))
                self.connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")

    def _usable(self) -> bool:
        connection = self.connection
        whole = schema.version(connection) == schema.VERSION and schema.is_whole(connection)
        return whole and not self.stale_reason()

    def _identity_on_disk(self) -> tuple[int, int] | None:
        found = identity(self.path)
        return None if found is None else (found.device, found.inode)

    @property
    def hidden(self) -> TombstoneLog:
        """The tombstones of text that was forgotten but is still in the files."""
        return self.visible.hidden

    def follow(self) -> None:
        """Reopen the database if its file was deleted or replaced; note as damage that it was cut to nothing.

        The connections to a file that was cut lock out those that other processes open, and answer from the
        log beside it, as if nothing had happened.
        """
        if self._open_file is None:
            return
        found = identity(self.path)
        if found is not None and (found.device, found.inode) == self._open_file:
            if not found.size:
                self.damage = self.damage or f"{self.path.name} is empty"
            return
        with self._load_lock:
            self._connections.renew()
            self._snapshot = None
        if not self.readonly:
            private_folder(self.home, note=self.home == self.root)  # the folder may be deleted, too
        self._prepare()

    def identity(self) -> dict[str, str | int]:
        """Return the settings that a stored index must match to be usable."""
        return {
            "fingerprint": fingerprint(),
            "machine": machine_name(),
            "redaction": self.visible.identity,
            "marks": MARKS,
        }

    def unreadable_reason(self) -> str:
        """Return why nobody may read the stored index; empty where it may be read.

        It is from another version, is only being made, or was made by other rules (see `_other_rules`).
        """
        with schema.translated(self.path):
            if schema.version(self.connection) != schema.VERSION:
                return "is from another version"
            return _other_rules(schema.read_meta(self.connection))

    def stale_reason(self) -> str | None:
        """Return why the stored index is unusable, or None."""
        with schema.translated(self.path):
            if schema.version(self.connection) != schema.VERSION:
                return "it was made by an older mnemark"
            meta = schema.read_meta(self.connection)
        expected = self.identity()
        other = (how for name, how in _MADE_OTHERWISE.items() if meta.get(name) != expected[name])
        return next((f"it {how}" for how in other), None)

    @property
    def connection(self) -> apsw.Connection:
        """This thread's connection."""
        return self._connections.current()

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query on this thread's connection."""
        with schema.translated(self.path):
            return schema.rows(self.connection, sql, bindings)

    def scalar(self, sql: str, bindings: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row; None if there is no row."""
        with schema.translated(self.path):
            return schema.scalar(self.connection, sql, bindings)

    def rest(self) -> None:
        """Return this thread's connection to the pool; see `Connections.rest`."""
        self._connections.rest()

    def exists(self) -> bool:
        """Whether the database file exists."""
        return self.path.exists()

    def reset(self) -> None:
        """Empty the index in one transaction."""
        with schema.translated(self.path), schema.immediate(self.connection):
            self._create_tables()

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """Open a read transaction and yield its snapshot.

        Use the snapshot only inside: posting lists are read from the database on demand.
        """
        self.follow()
        if self.readonly and not self.exists():
            raise NotFoundError(f"{self.root} has no index yet; create it with `mnemark sync`")
        connection = self.connection
        with schema.translated(self.path), schema.reading(connection):
            yield self._cached_snapshot(connection, self.generation())

    def _cached_snapshot(self, connection: apsw.Connection, generation: int) -> Snapshot:
        """Return the snapshot of a generation, cached or loaded by one thread while others wait."""
        known = self._snapshot
        if known is not None and known.generation == generation:
            return known
        with self._load_lock:
            known = self._snapshot
            if known is not None and known.generation == generation:
                return known
            loaded = self._load(connection, generation)
            if known is None or known.generation < generation:  # do not cache an older generation
                self._snapshot = loaded
            return loaded

    def _load(self, connection: apsw.Connection, generation: int) -> Snapshot:
        if schema.version(connection) != schema.VERSION or not schema.is_whole(connection):
            raise IntegrityError("index.db is from another version; run `mnemark sync`")
        meta = schema.read_meta(connection)
        if reason := meta.get(schema.DAMAGE):
            raise IntegrityError(f"{reason}; it is being made anew")
        if reason := _other_rules(meta):
            raise IntegrityError(f"index.db {reason}; run `mnemark sync`")
        views = []
        sql = "SELECT id, size, rows, dead FROM segments ORDER BY id"
        for segment, size, rows, dead in schema.rows(connection, sql):
            if len(rows) != size * ROW.itemsize or len(dead) != (size + 7) // 8:
                raise IntegrityError(f"{schema.DAMAGED_POSTINGS} (segment {segment})")
            schema.check_columns(meta, segment, rows, dead)
            views.append(
                SegmentView(np.frombuffer(rows, ROW), dead_bits(dead, size), segment, self._postings)
            )
        listed = schema.rows(connection, "SELECT id FROM documents ORDER BY path")
        ids = np.array([number for (number,) in listed], np.int64)
        ranks = np.zeros(int(ids.max()) + 1 if len(ids) else 0, np.int64)
        ranks[ids] = np.arange(len(ids))  # the rank of each document's path, by document id
        return Snapshot(generation, views, ranks)

    def is_newest(self, snapshot: Snapshot) -> bool:
        """Whether `snapshot` is the cached, newest one."""
        return self._snapshot is snapshot

    def generation(self) -> int:
        """Return the generation, a number that increases with every change."""
        return int(self.scalar("SELECT value FROM meta WHERE key = 'generation'") or 0)

    def sums(self) -> dict[int, str]:
        """Return the checksums of each segment, as stored; empty for one without them."""
        sql = "SELECT id, ifnull(value, '') FROM segments LEFT JOIN meta ON key = ? || id"
        return dict(self.rows(sql, (schema.SUM,)))

    def _postings(self, terms: Sequence[str]) -> Postings:
        """Read the posting lists of terms in all segments on the calling thread's connection."""
        lists: dict[str, dict[int, Posting]] = {}
        for term, segment, size, data in schema.postings(self.connection, terms):
            posting = decode(data)
            if len(posting.ids) and int(posting.ids.max()) >= size:
                raise IntegrityError(f"{schema.DAMAGED_POSTINGS} (segment {segment})")
            lists.setdefault(term, {})[segment] = posting
        return lists

    def fetch(self, passages: Sequence[int]) -> dict[int, Record]:
        """Return the stored passages by id; missing ids are left out."""
        found = {}
        rows = self.rows(_FETCH, (schema.listed(passages),))
        scopes = {path: layout.scope_of(path) for path in {path for _, path, *_ in rows}}
        for *columns, meta in rows:
            values: list[Any] = [*columns, msgspec.json.decode(meta) if meta != "{}" else {}]
            record = Record(*values)
            if record.scope != scopes[record.path]:
                raise IntegrityError(schema.DAMAGED_POSTINGS)
            if record.path.startswith("journal/") and isinstance(record.meta.get("scope"), str):
                record = msgspec.structs.replace(record, scope=record.meta["scope"])
            found[record.id] = record
        return found

    def size(self) -> int:
        """Return the number of passages, dead ones included."""
        return int(self.scalar("SELECT coalesce(sum(size), 0) FROM segments"))

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return how many passages hold each of those of the terms that any holds, dead ones included."""
        sql = """SELECT p.term, sum(length(p.data) / 3) FROM json_each(?) CROSS JOIN segments s
            CROSS JOIN postings p ON p.segment = s.id AND p.term = value GROUP BY p.term"""
        return dict(self.rows(sql, (schema.listed(dict.fromkeys(terms)),)))

    def speakers(self, passages: Sequence[int]) -> dict[int, str]:
        """Return the speaker of each passage by id; empty for what nobody said."""
        sql = "SELECT id, role FROM passages WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self.rows(sql, (schema.listed(passages),)))

    def names(self, passages: Sequence[int]) -> dict[int, tuple[str, str, Mapping[str, Any]]]:
        """Return path and title of the documents that stored passages are of, and their own `meta`, by id."""
        sql = """SELECT p.id, d.path, d.title, p.meta FROM passages p JOIN documents d ON d.id = p.document
            WHERE p.id IN (SELECT value FROM json_each(?))"""
        return {
            number: (path, title, msgspec.json.decode(meta))
            for number, path, title, meta in self.rows(sql, (schema.listed(passages),))
        }

    def sources(self, snapshot: Snapshot, derived: Positions) -> Ranges:
        """Return the sources of these passages of a snapshot; cached for its generation."""
        known = self._sources
        if known is None or known[0] != snapshot.generation:
            numbers = snapshot.rows["passage"][derived].tolist()
            sql = "SELECT id, meta FROM passages WHERE id IN (SELECT value FROM json_each(?))"
            metas = self.rows(sql, (schema.listed(numbers),))
            documents = dict(self.rows("SELECT path, id FROM documents"))
            known = self._sources = snapshot.generation, ranges(metas, documents)
        return known[1]

    def scopes(self) -> dict[str, int]:
        """Return the ids of scopes by name."""
        return dict(self.rows("SELECT name, id FROM scopes"))

    def known(self, *, journals: bool = False) -> dict[str, KnownFile]:
        """Return the indexed state of all files, by path; of journals, too, where asked for."""
        sql = """SELECT path, id, size, mtime_ns, ctime_ns, inode, device, checked_ns, tail FROM documents"""
        sql += "" if journals else f" WHERE {schema.NO_JOURNAL}"
        return {
            path: KnownFile(
                document, size, mtime, ctime, inode % (1 << 64), device % (1 << 64), checked, tail
            )
            for path, document, size, mtime, ctime, inode, device, checked, tail in self.rows(sql)
        }

    def facts(self, path: str, data: bytes) -> tuple[Fact, ...] | None:
        """Return the facts of a file with these bytes, as a sync stored them; None if it did not.

        Secrets of this process's environment may be new: a file with one is left to be redacted and parsed.
        """
        if any(value.encode("utf-8", "surrogatepass") in data for value in self.visible.rules.values):
            return None
        sql = "SELECT facts FROM documents WHERE path = ? AND digest = ?"
        try:
            found = self.scalar(sql, (path, bytes.fromhex(digest(data))))
            return unpack(found) if found else None
        except schema.UNREADABLE:  # closed, damaged, or of another version: a search reports it
            return None

    def paths(self) -> list[str]:
        """Return the paths of all indexed files."""
        return [path for (path,) in self.rows("SELECT path FROM documents")]

    def sizes(self) -> list[tuple[str, int, int]]:
        """Return the number and the bytes of the indexed files in each folder of the root, "" for itself."""
        folder = "substr(path, 1, instr(path, '/'))"
        return self.rows(f"SELECT {folder}, count(*), sum(size) FROM documents GROUP BY {folder}")  # noqa: S608 - fixed

    def marks(self) -> dict[str, str]:
        """Return `Tombstones.mark` of files with text hidden when they were indexed, by path."""
        found = self.scalar("SELECT value FROM meta WHERE key = 'hidden'")
        return msgspec.json.decode(found, type=dict[str, str]) if isinstance(found, str) else {}

    def outdated(self, hidden: Tombstones) -> frozenset[str]:
        """Return the files with text hidden, or shown again, since they were indexed."""
        marks = self.marks()
        if not marks and not hidden:
            return frozenset()
        return frozenset(path for path in self.paths() if marks.get(path, "") != hidden.mark(path))

    def scrub_due(self) -> bool:
        """Whether deleted text may remain in free pages; `scrub_index` rewrites them."""
        return bool(self.scalar("SELECT value FROM meta WHERE key = 'scrub'"))

    def scrubbed(self) -> None:
        """Record that the requested scrub is done."""
        with schema.translated(self.path):
            self.connection.execute("DELETE FROM meta WHERE key = 'scrub'")

    def document(self, path: str) -> int | None:
        """Return the id of the document at `path`, or None."""
        found = self.scalar("SELECT id FROM documents WHERE path = ?", (path,))
        return found if isinstance(found, int) else None


def sessions_with(index: Index, text: str) -> frozenset[str]:
    """Return the paths of the logs whose session id or turns contain `text`, upper and lower case alike."""
    if not index.exists():
        return frozenset()
    wanted = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    sql = f"""
        SELECT d.path FROM documents d WHERE {_LOGS} AND d.title LIKE ?1 ESCAPE '\\'
        UNION SELECT d.path FROM documents d JOIN passages p ON p.document = d.id
        WHERE {_LOGS} AND p.text LIKE ?1 ESCAPE '\\'
    """  # noqa: S608 - a constant
    return frozenset(path for (path,) in index.rows(sql, (f"%{wanted}%",)))


def passages_of(index: Index, *, session: str = "", tool: str = "") -> frozenset[int]:
    """Return the numbers of the turns and tool calls of a session, of a tool, or of both."""
    if not index.exists():
        return frozenset()
    return frozenset(number for (number,) in index.rows(_OF_SESSION_AND_TOOL, (session, tool)))
