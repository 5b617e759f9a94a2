"""Pool connections to one database: one for each thread at work.

It goes back when the thread ends, or as soon as it says that it has done its work (`rest`).
"""

import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import apsw

from mnemark.errors import UsageError

SPARE: Final = 4
"""Connections that nobody uses and that stay open: each is two open files, and memory of its own."""


class _Lease:
    """A thread's hold on a connection; collected with the thread's local data when the thread ends."""

    __slots__ = ("__weakref__", "connection", "epoch")

    def __init__(self, connection: apsw.Connection, epoch: int) -> None:
        self.connection = connection
        self.epoch = epoch


class Connections:
    """Connections for any number of threads, most of which live for one question only."""

    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._local = threading.local()
        self._free: list[apsw.Connection] = []
        self._used: set[apsw.Connection] = set()
        self._epoch = 0
        self._closed = False

    @property
    def open(self) -> int:
        """The number of connections."""
        with self._lock:
            return len(self._free) + len(self._used)

    def current(self) -> apsw.Connection:
        """Return this thread's connection.

        Raises:
            UsageError: the pool was closed.
        """
        lease: _Lease | None = getattr(self._local, "lease", None)
        if lease is not None and (lease.epoch == self._epoch or _at_work(lease.connection)):
            return lease.connection  # one transaction is of one database, also where that was replaced
        self._local.lease = None  # what an earlier epoch left goes back, and is closed
        with self._lock:
            if self._closed:
                raise UsageError("this memory is closed; open it again")
            epoch = self._epoch
            found = self._free.pop() if self._free else None
        connection = found or self._connect()
        with self._lock:
            self._used.add(connection)
        lease = _Lease(connection, epoch)
        weakref.finalize(lease, self._give_back, connection, epoch).atexit = False
        self._local.lease = lease
        return connection

    def rest(self) -> None:
        """Let another thread use this one's connection, which has done its work for now, or close it.

        Nothing happens inside a transaction.
        """
        lease: _Lease | None = getattr(self._local, "lease", None)
        if lease is None:
            return
        with self._lock:
            at_work = lease.epoch == self._epoch and not self._closed and lease.connection.in_transaction
        if not at_work:
            self._local.lease = None  # nobody else holds it: it is given back with the last reference
            del lease

    def _give_back(self, connection: apsw.Connection, epoch: int) -> None:
        with self._lock:
            self._used.discard(connection)
            sound = epoch == self._epoch and not self._closed and not connection.in_transaction
            keep = sound and len(self._free) < SPARE
            if keep:
                self._free.append(connection)
        if not keep:
            _close(connection)

    def renew(self) -> None:
        """Drop all connections: the database has been replaced by another."""
        with self._lock:
            self._epoch += 1
            free, self._free = self._free, []
        self._local.lease = None
        for connection in free:
            _close(connection)

    def close(self) -> None:
        """Close all connections; one at work in another thread is stopped, and closed when that ends."""
        with self._lock:
            self._closed = True
            self._epoch += 1
            free, self._free = self._free, []
            used = list(self._used)
        self._local.lease = None
        for connection in (*free, *used):
            _close(connection)


def _at_work(connection: apsw.Connection) -> bool:
    try:
        return connection.in_transaction
    except apsw.ConnectionClosedError:
        return False


def _close(connection: apsw.Connection) -> None:
    try:
        connection.close()
    except apsw.ThreadingViolationError:
        with suppress(apsw.ConnectionClosedError):
            connection.interrupt()
