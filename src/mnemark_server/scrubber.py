"""Clear what was erased from the pages of the tables."""

import logging
from typing import Final

import psycopg
from psycopg import sql

from mnemark.errors import IncompleteError, MnemarkError
from mnemark_server.database import Connection, Database, connect_each, said
from mnemark_server.repeating import Repeating

_AGAIN: Final = 5.0
"""Seconds after which clearing that failed is tried again."""
_LOCK_SECONDS: Final = 10
"""Seconds for which a table that is in use is waited for."""
_VACUUM_SECONDS: Final = 3_600.0
"""Seconds that clearing may take: nothing is heard meanwhile."""
_log = logging.getLogger("mnemark.server")


def vacuum(connection: Connection) -> None:
    """Clear what was deleted from the tables, which stay in use meanwhile."""
    connection.execute("VACUUM mnemark.parts, mnemark.lines, mnemark.packs")


def scrub(url: str) -> list[str]:
    """Write the tables anew, without the free space that may hold what was erased; return those in use.

    Each table is closed to all for as long as that takes: it is for quiet hours. A pooler refuses the limit
    for waiting, as it is of a session.

    Raises:
        UsageError: this is no address of a database, or that of a pooler.
        UnavailableError: it does not answer.
    """
    with connect_each(url, options=f"-c lock_timeout={_LOCK_SECONDS}s") as connection:
        return _scrub(connection)


def _scrub(connection: Connection) -> list[str]:
    busy = []
    tables = connection.execute(
        "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
        " WHERE i.inhparent = ANY (ARRAY['mnemark.parts'::regclass, 'mnemark.lines'::regclass]) ORDER BY 1"
    ).fetchall()
    for (name,) in (*tables, ("packs",)):
        try:
            connection.execute(sql.SQL("VACUUM (FULL) mnemark.{}").format(sql.Identifier(name)))
        except psycopg.errors.LockNotAvailable:
            busy.append(name)
    try:
        connection.execute("CHECKPOINT")
    except psycopg.errors.InsufficientPrivilege as error:
        raise IncompleteError(
            "the tables are written anew, but their old files stay until the next checkpoint, which this user"
            " may not ask for; as an administrator of the database: GRANT pg_checkpoint TO the user"
        ) from error
    return busy


class Scrubber:
    """One thread of a node that clears the tables when somebody erased something."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._due = False
        self._thread = Repeating("mnemark-scrub", _AGAIN, self._clear)
        self._thread.start()

    def want(self) -> None:
        """Have the tables cleared soon."""
        self._due = True
        self._thread.soon()

    @property
    def waiting(self) -> bool:
        """Whether the tables are not cleared yet."""
        return self._due

    def close(self) -> None:
        """End the thread; what was wanted is done before."""
        self._thread.close()
        self._clear()

    def _clear(self) -> None:
        if not self._due:
            return
        self._due = False  # before: what is wanted meanwhile is another run's
        try:
            with self._database.owning(silence=_VACUUM_SECONDS) as connection:
                vacuum(connection)
        except MnemarkError as error:
            self._due = True
            _log.warning("what was erased is not cleared from the tables yet: %s", said(error))
