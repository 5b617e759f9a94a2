"""Pool SQLite connections to one database, one per active thread.

A connection returns to the pool when its thread ends or calls `rest`.
"""

import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import apsw

from mnemark.errors import UsageError

SPARE: Final = 4
"""Maximum number of idle connections kept open; each costs two open files and its page cache."""


class _Lease:
    """A connection held by a thread; garbage-collected with the thread's local data when it ends."""

    __slots__ = ("__weakref__", "connection", "epoch")

    def __init__(self, connection: apsw.Connection, epoch: int) -> None:
        self.connection = connection
        self.epoch = epoch


class Connections:
    """A connection pool for many short-lived threads."""

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
        """The number of open connections."""
        with self._lock:
            return len(self._free) + len(self._used)

    def current(self) -> apsw.Connection:
        """Return this thread's connection.

        Raises:
            UsageError: the pool was closed.
        """
        lease: _Lease | None = getattr(self._local, "lease", None)
        if lease is not None and (lease.epoch == self._epoch or _in_transaction(lease.connection)):
            return lease.connection  # finish a transaction on its database, even if that was replaced
        self._local.lease = None  # releases a connection of an earlier epoch, which is then closed
        with self._lock:
            if self._closed:
                raise UsageError("this memory is closed; open it again")
            epoch = self._epoch
            found = self._free.pop() if self._free else None
        connection = found or self._connect()
        with self._lock:
            self._used.add(connection)
        lease = _Lease(connection, epoch)
        weakref.finalize(lease, self._release, connection, epoch).atexit = False
        self._local.lease = lease
        return connection

    def rest(self) -> None:
        """Return this thread's connection to the pool, or close it if the pool is full.

        Inside a transaction this does nothing.
        """
        lease: _Lease | None = getattr(self._local, "lease", None)
        if lease is None:
            return
        with self._lock:
            busy = lease.epoch == self._epoch and not self._closed and lease.connection.in_transaction
        if not busy:
            self._local.lease = None  # the last reference but one: `weakref.finalize` releases the connection
            del lease

    def _release(self, connection: apsw.Connection, epoch: int) -> None:
        with self._lock:
            self._used.discard(connection)
            sound = epoch == self._epoch and not self._closed and not connection.in_transaction
            keep = sound and len(self._free) < SPARE
            if keep:
                self._free.append(connection)
        if not keep:
            _close(connection)

    def renew(self) -> None:
        """Discard all connections, because the database file was replaced."""
        with self._lock:
            self._epoch += 1
            free, self._free = self._free, []
        self._local.lease = None
        for connection in free:
            _close(connection)

    def close(self) -> None:
        """Close all connections; interrupt those in use by other threads, which close when these end."""
        with self._lock:
            self._closed = True
            self._epoch += 1
            free, self._free = self._free, []
            used = list(self._used)
        self._local.lease = None
        for connection in (*free, *used):
            _close(connection)


def _in_transaction(connection: apsw.Connection) -> bool:
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
