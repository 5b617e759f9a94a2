"""Read and write the rows of one tenant: pieces of logs, documents, and the lease for changing them."""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from mnemark.errors import BusyError, NotFoundError
from mnemark.files import layout, platform
from mnemark_server.database import Connection, Database, Statement, UnavailableError

LOG: Final = ".jsonl"
"""How logs end: only to erase from one is it written as a whole."""
LEASE_SECONDS: Final = 10.0
"""How long a lease holds unless it is renewed."""
_RETRY_SECONDS: Final = 0.02
"""Pause before a lease that another node has is asked for again."""
PIECE: Final = 1 << 20
"""Bytes of a row; a larger document takes several, so that a few rows are never more than a node bears."""
INSERT: Final = (
    "INSERT INTO mnemark.parts (tenant, seq, path, at, kind, data) VALUES (%s, %s, %s, %s, %s, %s)"
)
_ATTEMPTS: Final = 3
_FETCHED: Final = 64
"""Rows that are fetched at once where all are read."""
_PART: Final = "SELECT seq, path, at, kind, data FROM mnemark.parts"

Kind = Literal["a", "d", "x"]
"""A piece of a log, a whole document, or a file that is gone."""


class Part(NamedTuple):
    """A row: its place in the order of all, and what it says of a file."""

    seq: int
    path: str
    at: int
    kind: Kind
    data: bytes


class Appended(NamedTuple):
    """What an append did."""

    seq: int
    starts: int
    """The byte of the file at which the lines begin."""
    known: frozenset[str]
    """Ids that were there before; then nothing was written."""
    newer: list[Part]
    """All rows after those that the node has, this one last."""


class Lease(NamedTuple):
    """The right to change documents, until a higher epoch."""

    epoch: int
    erased: int
    """The last row by which lines were taken out of logs before."""


class FencedError(BusyError):
    """Another node took the lease, as this one did not renew it in time: nothing was written."""


class TenantRows:
    """The rows of a tenant. Thread-safe."""

    def __init__(self, database: Database, tenant: int, node: str) -> None:
        self.tenant = tenant
        self._database = database
        self._node = node

    def append(self, path: str, header: bytes, body: bytes, ids: Sequence[str], *, after: int) -> Appended:
        """Append to a log, and read all rows after `after`; acknowledged when this returns.

        Where the answer to the commit is lost it is sent again: by their ids, lines are there once.

        Raises:
            UnavailableError: the database did not answer; whether the lines are there is not known.
        """
        for attempt in range(_ATTEMPTS):
            try:
                return self._append(path, header, body, ids, after)
            except UnavailableError:
                if attempt == _ATTEMPTS - 1 or not ids:
                    raise
                time.sleep(_RETRY_SECONDS * 10**attempt)
        raise AssertionError("unreachable")

    def _append(self, path: str, header: bytes, body: bytes, ids: Sequence[str], after: int) -> Appended:
        values = [self.tenant, path, header, body, list(ids), after]
        (made, *newer) = self._database.tell(
            self.tenant, Statement("SELECT * FROM mnemark.append_to(%s, %s, %s, %s, %s, %s)", values)
        )
        known, seq, _, starts, *_ = made
        return Appended(seq, starts or 0, frozenset(known or ()), [_part(row[1:]) for row in newer])

    def newer(self, after: int) -> list[Part]:
        """Return all rows after `after`, in their order. Raises UnavailableError."""
        statement = Statement("SELECT * FROM mnemark.newer(%s, %s)", [self.tenant, after])
        return list(map(_part, self._database.ask(self.tenant, statement)))

    def about(self) -> tuple[str, bytes]:
        """Return the memory's name and the salt of its redaction marks.

        Raises NotFoundError, UnavailableError.
        """
        found, ((name,),) = self._database.read(
            self.tenant,
            Statement("SELECT salt FROM mnemark.heads WHERE tenant = %s", [self.tenant]),
            Statement("SELECT name FROM mnemark.myself()", []),
        )
        if not found:
            raise NotFoundError("there is no such memory on this server")
        return name, bytes(found[0][0])

    def contents(self, paths: Iterable[str]) -> dict[str, bytes | None]:
        """Return what these files hold; None for one that is gone. Raises UnavailableError."""
        (rows,) = self._database.read(
            self.tenant,
            Statement(
                f"{_PART} WHERE tenant = %s AND path = ANY (%s) ORDER BY path, at, seq",
                [self.tenant, list(paths)],
            ),
        )
        pieces: dict[str, list[Part]] = {}
        for one in map(_part, rows):
            pieces.setdefault(one.path, []).append(one)
        return {
            path: None if parts[-1].kind == "x" else b"".join(one.data for one in parts)
            for path, parts in pieces.items()
        }

    def copy_to(self, root: Path) -> tuple[int, list[str]]:
        """Write all files, as they are at one moment, into a new folder, piece by piece.

        Return how far the truth went, and the paths. Raises UnavailableError.
        """
        paths, made = [], set[Path]()
        with self._database.reading(self.tenant) as connection:
            head = connection.execute(
                "SELECT seq FROM mnemark.heads WHERE tenant = %s", [self.tenant]
            ).fetchone()
            for path, parts in groupby(self._pieces(connection), attrgetter("path")):
                first = next(parts)
                if first.kind == "x" or not layout.is_inside(path):
                    continue
                target = root / path  # no link is in a new folder
                if target.parent not in made:
                    platform.make_folder(target.parent)
                    made.add(target.parent)
                with platform.open_new(target) as out:
                    out.writelines(one.data for one in chain([first], parts))
                paths.append(path)
        return (head[0] if head else 0), paths

    def _pieces(self, connection: Connection) -> Iterator[Part]:
        with connection.cursor("whole", binary=True) as cursor:
            cursor.itersize = _FETCHED
            cursor.execute(f"{_PART} WHERE tenant = %s ORDER BY path, at, seq".encode(), [self.tenant])
            yield from map(_part, cursor)

    def lease(self, timeout: float, *, after: int) -> tuple[Lease, list[Part]]:
        """Take the lease, and read all rows after `after`; wait for a node that has it.

        Raises:
            BusyError: it still has it after `timeout` seconds.
            NotFoundError: the memory was deleted.
            UnavailableError: the database does not answer.
        """
        deadline = time.monotonic() + timeout
        while True:
            found = self._database.tell(
                self.tenant,
                Statement(
                    "SELECT * FROM mnemark.lease(%s, %s, %s, %s)",
                    [self.tenant, self._node, LEASE_SECONDS, after],
                ),
            )
            if not found:
                raise NotFoundError("this memory was deleted")
            (epoch, erased, *_), *newer = found
            if epoch is not None:
                return Lease(epoch, erased), [_part(row[2:]) for row in newer]
            if time.monotonic() > deadline:
                raise BusyError("another node is changing this memory; try again")
            time.sleep(_RETRY_SECONDS)

    def renew(self, lease: Lease) -> None:
        """Hold a lease for longer, unless another node has it by now. Raises UnavailableError."""
        self._database.write(
            self.tenant,
            Statement(
                "UPDATE mnemark.heads SET lease_until = clock_timestamp() + make_interval(secs => %s)"
                " WHERE tenant = %s AND epoch = %s AND lease_owner <> ''",
                [LEASE_SECONDS, self.tenant, lease.epoch],
            ),
        )

    def release(self, lease: Lease) -> None:
        """Let others have the lease. Raises UnavailableError; then it ends by itself."""
        self._database.write(self.tenant, self._end(lease))

    def _end(self, lease: Lease) -> Statement:
        return Statement(
            "UPDATE mnemark.heads SET lease_owner = '', lease_until = '-infinity'"
            " WHERE tenant = %s AND epoch = %s",
            [self.tenant, lease.epoch],
        )

    def push(self, lease: Lease, files: Iterable[tuple[str, bytes | None]], *, base: int) -> frozenset[int]:
        """Write documents, end the lease, and return the numbers of their rows; None removes a file.

        Args:
            lease: the lease under which they were changed.
            files: their paths and what they hold by now, with all pieces up to `base`; one at a time.
            base: the last row that the node had when it read them. What was appended to a log since then
                stays behind what is written here.

        Raises:
            FencedError: another node has taken the lease, or appended to a log that is removed here: nothing
                was written.
            UnavailableError: the database does not answer.
        """
        with self._database.writing(self.tenant) as connection:
            row = connection.execute(
                "SELECT seq, epoch FROM mnemark.heads WHERE tenant = %s FOR UPDATE", [self.tenant]
            ).fetchone()
            if row is None or row[1] != lease.epoch:
                raise FencedError("another node changed this memory meanwhile; try again")
            first = seq = row[0]
            erases = False
            with connection.pipeline():
                for path, data in files:
                    seq = self._put(connection, seq, path, data, base)
                    erases |= path.endswith(LOG)
                erased = seq if erases else 0
                connection.execute(
                    "UPDATE mnemark.heads SET seq = %s, erased = greatest(erased, %s) WHERE tenant = %s",
                    [seq, erased, self.tenant],
                )
                if erased:
                    connection.execute("DELETE FROM mnemark.packs WHERE tenant = %s", [self.tenant])
                text, values = self._end(lease)
                connection.execute(text.encode(), values)
        return frozenset(range(first + 1, seq + 1))

    def _put(self, connection: Connection, seq: int, path: str, data: bytes | None, base: int) -> int:
        """Write a document, or that it is gone; return the number of its last row."""
        where = [self.tenant, path, base]
        if data is None:
            later = connection.execute(
                "SELECT FROM mnemark.parts WHERE tenant = %s AND path = %s AND seq > %s LIMIT 1", where
            )
            if later.fetchone() is not None:
                raise FencedError("somebody is still writing to what was to be removed; try again")
        connection.execute("DELETE FROM mnemark.parts WHERE tenant = %s AND path = %s AND seq <= %s", where)
        connection.execute(
            "UPDATE mnemark.parts SET at = at + %s - (SELECT min(at) FROM mnemark.parts"
            " WHERE tenant = %s AND path = %s AND seq > %s) WHERE tenant = %s AND path = %s AND seq > %s",
            [len(data or b""), *where, *where],
        )
        whole = memoryview(data or b"")
        for at in range(0, max(len(whole), 1), PIECE):
            seq += 1
            kind = "a" if at else "x" if data is None else "d"
            connection.execute(INSERT, [self.tenant, seq, path, at, kind, whole[at : at + PIECE]])
        return seq


def _part(row: Sequence[Any]) -> Part:
    seq, path, at, kind, data = row
    return Part(seq, path, at, kind, bytes(data))
