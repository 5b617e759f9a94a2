"""Bring the tables of a database up to date, one numbered step at a time."""

from collections.abc import Iterator
from importlib import resources
from typing import Final, NamedTuple

from mnemark.errors import NewerFormatError, UsageError
from mnemark_server.database import Connection, administer

_LOCK: Final = 0x6D6E656D  # "mnem"
"""The advisory lock that one migration at a time holds."""


class Migration(NamedTuple):
    """A step: its number, its name, and what it runs."""

    number: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """Return all steps, the first first."""
    return sorted(_read())


def _read() -> Iterator[Migration]:
    for file in resources.files("mnemark_server").joinpath("schema").iterdir():
        number, _, name = file.name.removesuffix(".sql").partition("_")
        if file.name.endswith(".sql"):
            yield Migration(int(number), name, file.read_text("utf-8"))


def applied(connection: Connection) -> set[int]:
    """Return the numbers of the steps that a database has."""
    found = connection.execute("SELECT to_regclass('mnemark.migrations') IS NOT NULL").fetchone()
    if found is None or not found[0]:
        return set()
    return {number for (number,) in connection.execute("SELECT number FROM mnemark.migrations")}


def migrate(connection: Connection) -> list[Migration]:
    """Run the steps that a database lacks, each whole or not at all, and return them.

    Where another process migrates, wait for it. Raises NewerFormatError for a database that has steps which
    this version does not know, and UsageError for one that cannot hold every text.
    """
    check_encoding(connection)
    done: list[Migration] = []
    for one in migrations():
        with connection.transaction():
            if one.number not in _prepared(connection):
                administer(connection)
                connection.execute(one.sql.encode())
                connection.execute(
                    "INSERT INTO mnemark.migrations (number, name) VALUES (%s, %s)", [one.number, one.name]
                )
                done.append(one)
    return done


def check_encoding(connection: Connection) -> None:
    """Raise UsageError for a database that is not in UTF-8: a memory has every language."""
    found = connection.execute("SELECT current_setting('server_encoding')").fetchone()
    encoding = found[0] if found is not None else ""
    if encoding not in {"UTF8", b"UTF8"}:  # bytes: of SQL_ASCII, which is no encoding
        name = encoding.decode() if isinstance(encoding, bytes) else encoding
        raise UsageError(
            f"the database is in {name}, which has not every letter; make another with `createdb --encoding"
            " UTF8 --template template0`"
        )


def _prepared(connection: Connection) -> set[int]:
    """Return the steps that a database has, which no other process changes until the transaction ends."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    connection.execute("CREATE SCHEMA IF NOT EXISTS mnemark")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS mnemark.migrations (number int PRIMARY KEY, name text NOT NULL,"
        " applied timestamptz NOT NULL DEFAULT now())"
    )
    return check(connection)


def missing(connection: Connection) -> list[Migration]:
    """Return the steps that a database lacks. Raises NewerFormatError as `migrate`."""
    check(connection)
    return lacking(connection)


def lacking(connection: Connection) -> list[Migration]:
    """Return the steps that a database lacks; it may have others of a newer version."""
    there = applied(connection)
    return [one for one in migrations() if one.number not in there]


def check(connection: Connection) -> set[int]:
    """Return the numbers of the steps that a database has, all of which this version knows.

    Raises:
        NewerFormatError: it has others, too.
    """
    there = applied(connection)
    unknown = there - {one.number for one in migrations()}
    if unknown:
        raise NewerFormatError(
            f"the database was migrated by a newer mnemark (step {max(unknown)}); install that version"
        )
    return there
