"""Borrow connections to PostgreSQL for as long as one group of statements takes."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeVar
from weakref import WeakValueDictionary

import psycopg
import psycopg.conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from mnemark.errors import BusyError, MnemarkError, NotFoundError, UsageError
from mnemark_server.silence import SILENCE_SECONDS, HeardConnection, Outage, SilentError, answered

CONNECTIONS: Final = 8
"""Maximum number of connections of a node for each of reading and writing."""
_EACH: Final = CONNECTIONS // 4
"""Maximum number of them that one tenant uses at a time, as its changes wait for each other; and that looking
up keys does."""
_WAIT_SECONDS: Final = 5.0
"""Seconds that a statement waits for a connection."""
_RECONNECT_SECONDS: Final = 2.0
"""Seconds after which connecting is given up, so that the next request tries anew: the pool waits ever longer
between attempts, and a node would stay away for minutes after its database is back."""
_TRY_SECONDS: Final = 1.0
"""Seconds that a statement waits for a connection while the database is away: the next one tries anew."""
_NETWORK: Final = {
    "connect_timeout": 3, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}  # fmt: skip
"""Settings of libpq where the address does not say. A host that is not there must leave time for the next."""
_ENTER: Final = (
    "SELECT set_config('role', 'mnemark_app', true), set_config('mnemark.tenant', %s, true),"
    # A node that stands still must not hold a row that the others need.
    " set_config('idle_in_transaction_session_timeout', '5s', true),"
    " set_config('lock_timeout', '5s', true), set_config('statement_timeout', '60s', true)"
)
_ANSWERED: Final = ("FATAL", "no password supplied")
"""What libpq says of a connection that the other end has answered, and refused."""
_POOLER: Final = "unsupported startup parameter"
"""What pgbouncer says to settings of a session."""
Connection = psycopg.Connection[tuple[Any, ...]]
Pool = ConnectionPool[HeardConnection]
Shares = WeakValueDictionary[tuple[Pool, int | None], threading.BoundedSemaphore]
Rows = list[tuple[Any, ...]]
_Found = TypeVar("_Found")


class Statement(NamedTuple):
    """A statement, and the values for its places, in order or by name."""

    text: str
    values: Sequence[Any] | Mapping[str, Any]


class UnavailableError(BusyError):
    """The database did not answer: what was sent may be there or not. Sent again with its id, it is once."""


def said(error: Exception) -> str:
    """Return what a log says of an error: of others than databases its kind, as it may quote a memory."""
    return str(error) if isinstance(error, UnavailableError) else type(error).__name__


class Database:
    """The database of a server. Thread-safe. Reading and writing do not wait for each other's connections."""

    def __init__(self, url: str, *, connections: int = CONNECTIONS, silence: float = SILENCE_SECONDS) -> None:
        self.url = url
        self._silence = silence
        self._outage = Outage()
        self._readers = self._pool("reading", connections)
        self._writers = self._pool("writing", connections)
        self._shares: Shares = WeakValueDictionary()
        """Those that a request has now: there are many tenants."""
        self._sharing = threading.Lock()

    def close(self) -> None:
        """Close all connections."""
        self._readers.close()
        self._writers.close()

    def read(self, tenant: int | None, *statements: Statement) -> list[Rows]:
        """Run statements that see the rows of a tenant alone, or of none; return what each gave.

        All are sent at once, as one transaction. Raises UnavailableError.
        """
        return _again(lambda: self._run(self._readers, tenant, statements))

    def write(self, tenant: int, *statements: Statement) -> list[Rows]:
        """Run statements that see and change the rows of a tenant alone, as `read`; all or none is done.

        They are sent at once with the commit, so that a node that stands still holds no row.
        """
        return self._run(self._writers, tenant, statements)

    def ask(self, tenant: int, statement: Statement) -> Rows:
        """Run one statement that names its tenant itself, and read what it gives; as `read`."""
        return _again(lambda: self._one(self._readers, tenant, statement))

    def tell(self, tenant: int, statement: Statement) -> Rows:
        """Run one statement that names its tenant itself, and changes rows; as `write`."""
        return self._one(self._writers, tenant, statement)

    @contextmanager
    def writing(self, tenant: int) -> Iterator[Connection]:
        """Be in a transaction that sees and changes the rows of a tenant alone. Raises UnavailableError."""
        with self._shared(self._writers, tenant) as connection, connection.transaction():
            connection.execute(_ENTER, [str(tenant)])
            yield connection

    @contextmanager
    def reading(self, tenant: int) -> Iterator[Connection]:
        """Be in a transaction that sees the rows of a tenant as they are now. Raises UnavailableError."""
        with self._shared(self._readers, tenant) as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            connection.execute(_ENTER, [str(tenant)])
            yield connection

    @contextmanager
    def owning(self, *, silence: float | None = None) -> Iterator[Connection]:
        """Have a connection of the tables' owner, which commits each statement.

        Args:
            silence: seconds without a word after which the database counts as gone, where a statement takes
                longer than those of requests.

        Raises:
            UnavailableError: the database did not answer.
        """
        with self._borrowed(self._writers, silence) as connection:
            yield connection

    @contextmanager
    def _shared(self, pool: Pool, tenant: int | None) -> Iterator[HeardConnection]:
        """Borrow one of the connections that a tenant may use at a time, so that it keeps out no other."""
        with self._sharing:
            share = self._shares.setdefault((pool, tenant), threading.BoundedSemaphore(_EACH))
        if not share.acquire(timeout=_WAIT_SECONDS):
            raise UnavailableError("too many requests wait for this memory; try again")
        try:
            with self._borrowed(pool) as connection:
                yield connection
        finally:
            share.release()

    @contextmanager
    def _borrowed(self, pool: Pool, silence: float | None = None) -> Iterator[HeardConnection]:
        with _told(), self._outage.trying():
            try:
                with pool.connection(_TRY_SECONDS if self._outage.away else None) as connection:
                    connection.silence = self._silence if silence is None else silence
                    yield connection
            except psycopg.OperationalError as error:
                if _is_lost(error):
                    pool.drain()  # the others lead to the same machine
                raise

    def _run(self, pool: Pool, tenant: int | None, statements: Sequence[Statement]) -> list[Rows]:
        with self._shared(pool, tenant) as connection:
            with connection.pipeline():
                connection.execute("BEGIN")
                connection.execute(_ENTER, ["" if tenant is None else str(tenant)])
                cursors = [
                    connection.execute(text.encode(), values, binary=True) for text, values in statements
                ]
                connection.execute("COMMIT")
            return [cursor.fetchall() if cursor.description else [] for cursor in cursors]

    def _one(self, pool: Pool, tenant: int, statement: Statement) -> Rows:
        with self._shared(pool, tenant) as connection:
            return connection.execute(statement.text.encode(), statement.values, binary=True).fetchall()

    def _pool(self, name: str, most: int) -> Pool:
        return ConnectionPool(
            self.url, name=name, connection_class=HeardConnection, min_size=1, max_size=most,
            timeout=_WAIT_SECONDS, open=True, max_idle=300, kwargs=_settings(self.url),
            reconnect_timeout=_RECONNECT_SECONDS, reconnect_failed=lambda _: self._outage.begin(),
        )  # fmt: skip

    def waiting(self) -> int:
        """Return how many requests wait for a connection."""
        pools = (self._readers, self._writers)
        return sum(int(pool.get_stats().get("requests_waiting", 0)) for pool in pools)


def _is_lost(error: BaseException | None) -> bool:
    """Whether a connection ended or says nothing: not that there was none to be had."""
    if not isinstance(error, psycopg.OperationalError) or isinstance(error, PoolTimeout):
        return False
    return not answered(error)


def _again(read: Callable[[], _Found]) -> _Found:
    """Read, and once more where a connection had ended unseen, as all have after a failover."""
    try:
        return read()
    except UnavailableError as error:
        if not _is_lost(error.__cause__) or isinstance(error.__cause__, SilentError):
            raise
        return read()


def _settings(url: str) -> dict[str, Any]:
    """Return what connections are made with.

    Behind a pooler such as pgbouncer each transaction may have another session, so that no statement stays
    prepared.
    """
    own = psycopg.conninfo.conninfo_to_dict(url)
    network = {name: value for name, value in _NETWORK.items() if name not in own}
    return {**network, "autocommit": True, "prepare_threshold": None}


@contextmanager
def _told() -> Iterator[None]:
    """Turn what a database says into errors that say what to do; no text of a memory is in them."""
    try:
        yield
    except SilentError as error:
        raise UnavailableError(f"the database does not answer ({error}); try again") from error
    except psycopg.Error as error:
        if _POOLER in str(error):
            raise UsageError(
                "this needs the address of PostgreSQL itself, not that of a pooler such as pgbouncer"
            ) from error
        raise _translated(error) from error


def _translated(error: psycopg.Error) -> MnemarkError:
    kinds = psycopg.errors
    if isinstance(error, PoolTimeout):
        return UnavailableError(
            "the database does not answer, or all connections to it are in use; try again"
        )
    if isinstance(error, (kinds.UndefinedTable, kinds.UndefinedFunction, kinds.InvalidSchemaName)):
        return MnemarkError("the database has no tables of mnemark; run `mnemark db migrate`")
    if isinstance(error, kinds.NoDataFound):
        return NotFoundError("this memory was deleted")
    if isinstance(error, kinds.InsufficientPrivilege):
        reason = error.diag.message_primary or "no permission"
        return MnemarkError(
            f"the user of the database may not do this ({reason}); connect as the owner of its tables,"
            " who may create roles: as an administrator of the database, ALTER ROLE the user CREATEROLE"
        )
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, kinds.ReadOnlySqlTransaction)):
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        reason = first.rpartition("failed: ")[2]
        return UnavailableError(_unreached(reason))
    return MnemarkError(f"the database refused this ({type(error).__name__} {error.sqlstate or ''})".rstrip())


def _unreached(reason: str) -> str:
    if any(sign in reason for sign in _ANSWERED):  # it may be starting: there is no code, but this text alone
        return (
            f"the database lets nobody in ({reason}); check user, password and name in its address, or try"
            " again where it is starting"
        )
    return f"the database does not answer ({reason}); try again"


def check_url(url: str) -> None:
    """Raise UsageError for what is no address of a database; it may hold a password, and is not repeated."""
    try:
        known = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise UsageError("this is no address of a database; write postgresql://USER@HOST/NAME") from None
    if "@" in str(known.get("host", "")):
        raise UsageError("a password in the address of a database cannot hold '@'; write %40 instead")


@contextmanager
def connect(url: str) -> Iterator[Connection]:
    """Be in one transaction of an administrator, who sees the rows of all tenants: all is done, or nothing.

    Nothing is set for longer than the transaction, so that a pooler may lie between.

    Raises:
        UsageError: this is no address of a database.
        UnavailableError: it does not answer.
    """
    with connect_each(url) as connection, connection.transaction():
        administer(connection)
        yield connection


@contextmanager
def connect_each(url: str, **settings: Any) -> Iterator[Connection]:
    """Have a connection that commits each statement; raises as `connect`. `settings` are those of libpq."""
    check_url(url)
    known = {**_settings(url), **settings}
    with _told(), psycopg.connect(url, **known) as connection:
        yield connection


def administer(connection: Connection) -> None:
    """See the rows of all tenants for the rest of the transaction."""
    connection.execute("SELECT set_config('mnemark.administration', 'on', true)")
