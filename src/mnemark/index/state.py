"""Store expendable state in `.mnemark/state.db`: usage counts, positions, the learning queue, model costs.

It holds refs and numbers, never text. A missing or damaged file is created again; `State.problem` gives the
reason.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar

import apsw
import msgspec

from mnemark.errors import IntegrityError, NewerFormatError, ReadOnlyError
from mnemark.files.private import private, private_folder
from mnemark.files.truth import workspace_lock
from mnemark.index import schema
from mnemark.index.connections import Connections

APPLICATION_ID: Final = 0x6D6E7374  # "mnst"

MIGRATIONS: Final = (
    """
    CREATE TABLE uses (ref TEXT PRIMARY KEY, times INTEGER NOT NULL, last REAL NOT NULL)
        STRICT, WITHOUT ROWID;
    CREATE TABLE positions (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE queue (
        id INTEGER PRIMARY KEY,
        path TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
        tries INTEGER NOT NULL DEFAULT 0,
        next_try REAL NOT NULL,                  -- Unix seconds; a claim moves it to the end of its lease
        failed INTEGER NOT NULL DEFAULT 0,
        reason TEXT NOT NULL DEFAULT '',
        UNIQUE (path, first, last)
    ) STRICT;
    CREATE INDEX queue_due ON queue (next_try, id) WHERE failed = 0;
    CREATE INDEX queue_failed ON queue (id) WHERE failed = 1;
    CREATE TABLE spend (
        id INTEGER PRIMARY KEY,
        request TEXT NOT NULL, day TEXT NOT NULL, time TEXT NOT NULL, model TEXT NOT NULL, what TEXT NOT NULL,
        calls INTEGER NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX spend_by_day ON spend (day);
    """,
    """
    CREATE TABLE recalls (
        id INTEGER PRIMARY KEY,
        day TEXT NOT NULL, time REAL NOT NULL,
        talk TEXT NOT NULL,                      -- log of the session that it was for; empty for none
        memories INTEGER NOT NULL, tokens INTEGER NOT NULL, whole INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX recalls_by_day ON recalls (day);
    CREATE INDEX recalls_by_talk ON recalls (talk, time);
    CREATE TABLE used_in (ref TEXT NOT NULL, talk TEXT NOT NULL, PRIMARY KEY (ref, talk))
        STRICT, WITHOUT ROWID;
    """,
)
"""Schema migrations. Released ones are never changed; new ones are appended."""


def connect(path: Path, *, readonly: bool = False) -> apsw.Connection:
    """Open `state.db` and migrate it to the newest version; create it if it is missing.

    Raises:
        NewerFormatError: a newer mnemark made it; the file is left alone.
        IntegrityError: the file is damaged or not mnemark's.
    """
    schema.check_files(path)
    with schema.translated(path):
        connection = schema.open_readonly(path) if readonly else schema.open_file(path)
        connection.set_busy_timeout(schema.BUSY_MS)
        if not readonly:
            schema.write_ahead(connection)
            connection.execute("PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON").fetchall()
        version = _version(connection, path)
        if version < len(MIGRATIONS) and not readonly:
            with schema.immediate(connection):
                for sql in MIGRATIONS[_version(connection, path) :]:  # another process may have been first
                    connection.execute(sql)
                connection.execute(
                    f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={len(MIGRATIONS)}"
                )
        return connection


def _version(connection: apsw.Connection, path: Path) -> int:
    # Check for emptiness first: ids and tables are created in one transaction, so that later reads see both.
    empty = not schema.scalar(connection, "SELECT count(*) FROM sqlite_schema")
    application, version = connection.pragma("application_id"), connection.pragma("user_version")
    if application != APPLICATION_ID and not (empty and not application and not version):
        raise IntegrityError(f"{path.name} is not a database of mnemark; move it away")
    if isinstance(version, int) and version > len(MIGRATIONS):
        raise NewerFormatError(
            f"{path.name} has format {version}, this mnemark reads {len(MIGRATIONS)}; "
            f"upgrade mnemark, or delete {path.parent.name}/{path.name} (it only holds counts and a queue)"
        )
    return int(version or 0)


NAME: Final = "state.db"
LEARNED: Final = "learn:"
"""Prefix of the positions up to which sessions were learned from, by their files."""
TRIES: Final = 3
"""Maximum number of attempts to learn from the same turns."""
_DUE: Final = "(next_try <= ?1 OR next_try > ?1 + 604800)"
"""Condition for items that are due; nothing waits for more than a week but by a wrong clock."""
_BATCH: Final = 500

T = TypeVar("T")


class Use(msgspec.Struct, frozen=True):
    """The number of uses of a ref, and the time of the last."""

    times: int
    last: datetime


class Given(NamedTuple):
    """A recall that gave something: when, for which talk, and what it cost in tokens."""

    day: str
    time: float
    talk: str
    """The log of its session; empty for none."""
    refs: tuple[str, ...]
    """Of passages, and ids of facts."""
    tokens: int
    whole: int
    """Tokens of the files that they stand in."""


class GivenDay(NamedTuple):
    """What the recalls of a day gave, in sums."""

    day: str
    recalls: int
    memories: int
    tokens: int
    whole: int


class GivenOnce(NamedTuple):
    """What one recall of a talk gave."""

    time: float
    memories: int
    tokens: int


class Queued(msgspec.Struct, frozen=True):
    """A queue item: turns on lines `first` to `last` of a session's file, 1-based and inclusive."""

    id: int
    path: str
    first: int
    last: int
    tries: int
    """Number of claims, including this one."""
    reason: str = ""

    @property
    def ref(self) -> str:
        """The ref of the turns, such as `sessions/x.jsonl#L3-L9`."""
        return f"{self.path}#L{self.first}" + (f"-L{self.last}" if self.last != self.first else "")


class QueueCounts(NamedTuple):
    """The numbers of queue items that are due, due later, and failed."""

    due: int
    later: int
    failed: int


class State:
    """The state of the workspace `root`. Safe for threads and several processes.

    The file is opened or created at the first use. With `readonly`, a missing file reads as empty and writing
    raises ReadOnlyError.
    """

    def __init__(self, root: Path, *, readonly: bool = False) -> None:
        self.root = root
        self.path = private(root) / NAME
        self.readonly = readonly
        self.problem = ""
        """Why the file was created again; empty if it was not."""
        self._connections = Connections(self._open)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    # uses

    def touch(self, refs: Iterable[str], time: datetime) -> None:
        """Record one use of each ref at `time` (with zone)."""
        rows = [(ref, time.timestamp()) for ref in refs]
        sql = (
            "INSERT INTO uses VALUES (?1, 1, ?2) "
            "ON CONFLICT (ref) DO UPDATE SET times = times + 1, last = max(last, excluded.last)"
        )
        self._write_rows(sql, rows)

    def counts(self, refs: Iterable[str]) -> dict[str, Use]:
        """Return the uses of those refs that have any."""
        rows = self._of("SELECT * FROM uses WHERE ref IN ({})", refs)
        return {ref: Use(times, datetime.fromtimestamp(last, UTC)) for ref, times, last in rows}

    def _of(self, sql: str, refs: Iterable[str]) -> Iterator[Any]:
        """Yield the rows of these refs, each once; `sql` has `{}` in place of a list of them."""
        names = list(dict.fromkeys(refs))
        for start in range(0, len(names), _BATCH):
            part = names[start : start + _BATCH]
            yield from self._rows(sql.format(",".join("?" * len(part))), part)

    def last_used(self, most: int) -> list[tuple[str, Use]]:
        """Return the refs used last, the latest first."""
        rows = self._rows("SELECT * FROM uses ORDER BY last DESC, ref LIMIT ?", (most,))
        return [(ref, Use(times, datetime.fromtimestamp(last, UTC))) for ref, times, last in rows]

    def give(self, recalls: Sequence[Given]) -> None:
        """Record what recalls gave, and in which talks each ref was used."""
        rows = [(one.day, one.time, one.talk, len(one.refs), one.tokens, one.whole) for one in recalls]
        used = [(ref, one.talk) for one in recalls if one.talk for ref in one.refs]
        names = "day, time, talk, memories, tokens, whole"

        def insert(db: apsw.Connection) -> None:
            db.executemany(f"INSERT INTO recalls ({names}) VALUES (?, ?, ?, ?, ?, ?)", rows)  # noqa: S608
            db.executemany("INSERT OR IGNORE INTO used_in VALUES (?, ?)", used)

        self._write(insert)

    def given_since(self, day: date) -> list[GivenDay]:
        """Return what was given on each day from one on, the earliest first; days without recalls lack."""
        sql = (
            "SELECT day, count(*), sum(memories), sum(tokens), sum(whole) FROM recalls WHERE day >= ? "
            "GROUP BY day ORDER BY day"
        )
        return [GivenDay(*row) for row in self._rows(sql, (day.isoformat(),))]

    def given_in(self, talk: str) -> list[GivenOnce]:
        """Return what each recall of a talk gave, the earliest first."""
        sql = "SELECT time, memories, tokens FROM recalls WHERE talk = ? ORDER BY time"
        return [GivenOnce(*row) for row in self._rows(sql, (talk,))]

    def talks_of(self, refs: Iterable[str]) -> dict[str, int]:
        """Return in how many talks each of those refs was used, of those that were in any."""
        return dict(self._of("SELECT ref, count(*) FROM used_in WHERE ref IN ({}) GROUP BY ref", refs))

    # positions

    def position(self, name: str) -> str:
        """Return the position stored under `name`; empty if there is none."""
        rows = self._rows("SELECT value FROM positions WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else ""

    def positions(self, prefix: str) -> dict[str, str]:
        """Return all positions whose names begin with `prefix`."""
        sql = "SELECT name, value FROM positions WHERE name >= ?1 AND substr(name, 1, length(?1)) = ?1"
        return dict(self._rows(sql, (prefix,)))

    def note(self, values: Mapping[str, str]) -> None:
        """Set positions by name; an empty value deletes the name."""
        self._write(lambda db: _set_positions(db, values))

    # the queue

    def enqueue(
        self,
        items: Iterable[tuple[str, int, int]],
        now: datetime,
        *,
        noting: Mapping[str, str] | None = None,
    ) -> int:
        """Queue turns (path, first and last line) and return how many are new; skip those in the queue.

        The positions in `noting` are set in the same transaction, so that they never run ahead of the queue.
        """
        rows = [(*item, now.timestamp()) for item in items]
        sql = "INSERT OR IGNORE INTO queue (path, first, last, next_try) VALUES (?, ?, ?, ?)"

        def add(db: apsw.Connection) -> int:
            before = db.total_changes()
            db.executemany(sql, rows)
            added = db.total_changes() - before
            _set_positions(db, noting or {})
            return added

        return self._write(add)

    def claim(self, most: int, now: datetime, *, lease: float = 300.0, path: str = "") -> list[Queued]:
        """Claim up to `most` due items, oldest first, for `lease` seconds; with `path`, only that file's.

        Each claim counts as a try, so that turns that kill the process are not retried forever. Items claimed
        `TRIES` times without a result are marked failed.
        """
        moment = now.timestamp()

        def take(db: apsw.Connection) -> list[Queued]:
            sql = (
                "SELECT id, path, first, last, tries + 1, reason FROM queue "  # noqa: S608
                f"WHERE failed = 0 AND {_DUE} AND (?2 = '' OR path = ?2) "
                "ORDER BY next_try, id LIMIT ?3"
            )
            items = [Queued(*row) for row in schema.rows(db, sql, (moment, path, most))]
            lost = [(item.reason or "interrupted each time", item.id) for item in items if item.tries > TRIES]
            db.executemany("UPDATE queue SET failed = 1, reason = ? WHERE id = ?", lost)
            taken = [item for item in items if item.tries <= TRIES]
            db.executemany(
                "UPDATE queue SET tries = tries + 1, next_try = ? WHERE id = ?",
                [(moment + lease, item.id) for item in taken],
            )
            return taken

        return self._write(take)

    def done(self, ids: Iterable[int]) -> None:
        """Delete processed items from the queue."""
        self._write_rows("DELETE FROM queue WHERE id = ?", [(one,) for one in ids])

    def give_back(self, ids: Iterable[int], due: datetime) -> None:
        """Release claimed items that were not tried; they are due again at `due`."""
        rows = [(due.timestamp(), one) for one in ids]
        sql = "UPDATE queue SET tries = max(tries - 1, 0), next_try = ? WHERE id = ? AND failed = 0"
        self._write_rows(sql, rows)

    def missed(self, ids: Iterable[int], reason: str, due: datetime) -> None:
        """Record a failed try of claimed items: retry them at `due`, or mark them failed after `TRIES`."""
        rows = [(reason, due.timestamp(), one) for one in ids]
        sql = (
            f"UPDATE queue SET reason = ?, next_try = ?, failed = (tries >= {TRIES}) "  # noqa: S608
            "WHERE id = ? AND failed = 0"
        )
        self._write_rows(sql, rows)

    def failed(self, most: int = 100) -> list[Queued]:
        """Return up to `most` failed items, the latest first."""
        sql = (
            "SELECT id, path, first, last, tries, reason FROM queue WHERE failed = 1 ORDER BY id DESC LIMIT ?"
        )
        return [Queued(*row) for row in self._rows(sql, (most,))]

    def retry_failed(self, now: datetime) -> int:
        """Make failed items due again with zero tries; return their number."""
        sql = "UPDATE queue SET failed = 0, tries = 0, next_try = ? WHERE failed = 1"

        def again(db: apsw.Connection) -> int:
            db.execute(sql, (now.timestamp(),))
            return db.changes()

        return self._write(again)

    def is_due(self, now: datetime) -> bool:
        """Whether any item can be claimed."""
        sql = f"SELECT 1 FROM queue WHERE failed = 0 AND {_DUE} LIMIT 1"  # noqa: S608
        return bool(self._rows(sql, (now.timestamp(),)))

    def waiting(self, now: datetime) -> QueueCounts:
        """Return the counts of queue items by status; scans the whole queue."""
        due, later, failed = (
            rows[0][0] if (rows := self._rows(f"SELECT count(*) FROM queue WHERE {which}", bindings)) else 0  # noqa: S608
            for which, bindings in (
                (f"failed = 0 AND {_DUE}", [now.timestamp()]),
                (f"failed = 0 AND NOT {_DUE}", [now.timestamp()]),
                ("failed = 1", []),
            )
        )
        return QueueCounts(due, later, failed)

    def next_try(self, now: datetime) -> datetime | None:
        """Return when the next item that is not due yet will be, in the zone of `now`, or None."""
        sql = f"SELECT min(next_try) FROM queue WHERE failed = 0 AND NOT {_DUE}"  # noqa: S608
        rows = self._rows(sql, (now.timestamp(),))
        return datetime.fromtimestamp(rows[0][0], now.tzinfo) if rows and rows[0][0] is not None else None

    # what the model cost

    def spend(self, entry: Sequence[str | int]) -> None:
        """Insert a cost entry: request, day, time, model, what, calls, tokens in and out."""
        sql = (
            "INSERT INTO spend (request, day, time, model, what, calls, tokens_in, tokens_out) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        self._write_rows(sql, [entry])

    def spent(self, day: date) -> tuple[int, int]:
        """Return the number of calls and tokens of a day."""
        sql = "SELECT total(calls), total(tokens_in + tokens_out) FROM spend WHERE day = ?"
        rows = self._rows(sql, (day.isoformat(),))
        return (int(rows[0][0]), int(rows[0][1])) if rows else (0, 0)

    def spent_since(self, day: date) -> list[tuple[str, str, int, int]]:
        """Return day, purpose, calls and tokens from a day on, the earliest first."""
        sql = (
            "SELECT day, what, total(calls), total(tokens_in + tokens_out) FROM spend WHERE day >= ? "
            "GROUP BY day, what ORDER BY day, what"
        )
        rows = self._rows(sql, (day.isoformat(),))
        return [(found, what, int(calls), int(tokens)) for found, what, calls, tokens in rows]

    # how it is opened

    def _open(self) -> apsw.Connection:
        if self.readonly:
            return connect(self.path, readonly=True)
        private_folder(self.root)
        return connect(self.path)

    def _write(self, change: Callable[[apsw.Connection], T]) -> T:
        if self.readonly:
            raise ReadOnlyError(f"{NAME} is open for reading only; open the memory for writing")

        def work() -> T:
            with schema.translated(self.path):
                db = self._connections.current()
                with schema.immediate(db):
                    return change(db)

        return self._with_repair(work)

    def _write_rows(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        def insert(db: apsw.Connection) -> None:
            db.executemany(sql, rows)

        self._write(insert)

    def _rows(self, sql: str, bindings: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        if self.readonly and not self.path.exists():
            return []

        def ask() -> list[tuple]:  # type: ignore[type-arg]
            with schema.translated(self.path):
                return schema.rows(self._connections.current(), sql, bindings)

        if not self.readonly:
            return self._with_repair(ask)
        try:
            return ask()
        except apsw.SQLError as error:  # a full disk left it without tables; it is made anew by who may write
            if not str(error).startswith("no such table"):
                raise
            return []

    def _with_repair(self, work: Callable[[], T]) -> T:
        """Call `work`; if the database is damaged, replace it and call again."""
        try:
            return work()
        except NewerFormatError:
            raise
        except IntegrityError as error:
            self._connections.renew()
            with workspace_lock(self.root):
                self._remove_if_damaged(error)
            return work()

    def _remove_if_damaged(self, error: IntegrityError) -> None:
        try:
            connection = connect(self.path)
            sound = schema.scalar(connection, "PRAGMA quick_check(1)") == "ok"
            connection.close()
        except NewerFormatError:
            raise
        except (IntegrityError, apsw.CorruptError, apsw.NotADBError):
            sound = False
        if not sound:
            schema.remove(self.path)
            self.problem = f"{error}; a new one was created, with empty counts and queue"


def _set_positions(db: apsw.Connection, values: Mapping[str, str]) -> None:
    kept = [(name, value) for name, value in values.items() if value]
    db.executemany("INSERT OR REPLACE INTO positions VALUES (?, ?)", kept)
    db.executemany("DELETE FROM positions WHERE name = ?", [(name,) for name in values if not values[name]])
