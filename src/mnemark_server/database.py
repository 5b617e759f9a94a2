"""Borrow connections to PostgreSQL for as long as one group of statements takes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from mnemark.errors import BusyError, MnemarkError

CONNECTIONS: Final = 8
"""Maximum number of connections of a node for each of reading and writing."""
_WAIT_SECONDS: Final = 5.0
"""Seconds that a statement waits for a connection."""
_ENTER: Final = "SELECT set_config('role', 'mnemark_app', true), set_config('mnemark.tenant', %s, true)"
Connection = psycopg.Connection[tuple[Any, ...]]
Rows = list[tuple[Any, ...]]


class Statement(NamedTuple):
    """A statement, and the values for its places."""

    text: str
    values: Sequence[Any]


class UnavailableError(BusyError):
    """The database did not answer: what was sent may be there or not. Sent again with its id, it is once."""


class Database:
    """The database of a server. Thread-safe. Reading and writing do not wait for each other's connections."""

    def __init__(self, url: str, *, connections: int = CONNECTIONS) -> None:
        self.url = url
        self._readers = _pool(url, connections)
        self._writers = _pool(url, connections)

    def close(self) -> None:
        """Close all connections."""
        self._readers.close()
        self._writers.close()

    def read(self, tenant: int | None, *statements: Statement) -> list[Rows]:
        """Run statements that see the rows of a tenant alone, or of none; return what each gave.

        All are sent at once, as one transaction. Raises UnavailableError.
        """
        return _run(self._readers, tenant, statements)

    def write(self, tenant: int, *statements: Statement) -> list[Rows]:
        """Run statements that see and change the rows of a tenant alone, as `read`; all or none is done."""
        return _run(self._writers, tenant, statements)

    @contextmanager
    def writing(self, tenant: int) -> Iterator[Connection]:
        """Be in a transaction that sees and changes the rows of a tenant alone. Raises UnavailableError."""
        with _told(), self._writers.connection() as connection, connection.transaction():
            connection.execute(_ENTER, [str(tenant)])
            yield connection

    @contextmanager
    def owning(self) -> Iterator[Connection]:
        """Have a connection of the tables' owner, which commits each statement. Raises UnavailableError."""
        with _told(), self._writers.connection() as connection:
            yield connection

    def waiting(self) -> int:
        """Return how many requests wait for a connection."""
        pools = (self._readers, self._writers)
        return sum(int(pool.get_stats().get("requests_waiting", 0)) for pool in pools)


def _pool(url: str, most: int) -> ConnectionPool[Connection]:
    return ConnectionPool(
        url, min_size=1, max_size=most, timeout=_WAIT_SECONDS, kwargs={"autocommit": True}, open=True,
        max_idle=300,
    )  # fmt: skip


def _run(pool: ConnectionPool[Connection], tenant: int | None, statements: Sequence[Statement]) -> list[Rows]:
    with _told(), pool.connection() as connection:
        with connection.pipeline():
            connection.execute("BEGIN")
            connection.execute(_ENTER, ["" if tenant is None else str(tenant)])
            cursors = [connection.execute(text.encode(), values) for text, values in statements]
            connection.execute("COMMIT")
        return [cursor.fetchall() if cursor.description else [] for cursor in cursors]


@contextmanager
def _told() -> Iterator[None]:
    """Turn what a database says into errors that say what to do."""
    try:
        yield
    except PoolTimeout as error:
        raise UnavailableError("all connections to the database are in use; try again") from error
    except psycopg.errors.UndefinedTable as error:
        raise MnemarkError("the database has no tables of mnemark; run `mnemark db migrate`") from error
    except psycopg.errors.InvalidSchemaName as error:
        raise MnemarkError("the database has no tables of mnemark; run `mnemark db migrate`") from error
    except psycopg.OperationalError as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        reason = first.rpartition("failed: ")[2]
        raise UnavailableError(f"the database does not answer ({reason}); try again") from error


def connect(url: str) -> Connection:
    """Return one connection that commits each statement, for administration. Raises UnavailableError."""
    with _told():
        return psycopg.connect(url, autocommit=True)
