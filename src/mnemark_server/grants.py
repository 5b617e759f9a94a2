"""What a memory of a server may use, and which people of an issuer it lets in."""

from collections.abc import Mapping
from typing import Final

import psycopg
from psycopg.types.json import Jsonb

from mnemark.errors import NotFoundError, UsageError
from mnemark_server.database import Connection
from mnemark_server.issuer import checked
from mnemark_server.limits import IMPORT_BYTES, IMPORT_FILES, PER_MINUTE
from mnemark_server.tenants import number_of

LIMITS: Final[Mapping[str, int | None]] = {
    "requests_per_minute": PER_MINUTE,
    "calls_per_day": None,
    "tokens_per_day": None,
    "import_bytes": IMPORT_BYTES,
    "import_files": IMPORT_FILES,
}
"""Limits of a memory, and what holds where nobody set them; None: the settings of the node, under `[llm]`."""


def limits(connection: Connection, tenant: str) -> dict[str, int | None]:
    """Return the limits of a memory. Raises NotFoundError."""
    row = connection.execute(
        "SELECT limits FROM mnemark.tenants WHERE tenant = %s", [number_of(connection, tenant)]
    ).fetchone()
    return {**LIMITS, **(row[0] if row else {})}


def set_limits(connection: Connection, tenant: str, changes: Mapping[str, int | None]) -> None:
    """Change limits of a memory; None: what holds where nobody set it.

    Nodes know of it within ten seconds.

    Raises:
        NotFoundError: there is no such memory.
        UsageError: there is no such limit, or the number is below zero.
    """
    for name, value in changes.items():
        if name not in LIMITS:
            raise UsageError(f"there is no limit {name!r}; limits: {', '.join(LIMITS)}")
        if value is not None and value < 0:
            raise UsageError(f"{name} cannot be below zero")
    number = number_of(connection, tenant)
    kept = {name: value for name, value in changes.items() if value is not None}
    gone = [name for name, value in changes.items() if value is None]
    connection.execute(
        "UPDATE mnemark.tenants SET limits = (limits || %s) - %s::text[] WHERE tenant = %s",
        [Jsonb(kept), gone, number],
    )


def let_in(connection: Connection, tenant: str, issuer: str, subject: str) -> None:
    """Let the person whom an issuer names so into a memory.

    Raises:
        NotFoundError: there is no such memory.
        UsageError: that person has one already; or the issuer is no address, as no token would name it.
    """
    checked(issuer)
    number = number_of(connection, tenant)
    try:
        with connection.transaction():
            connection.execute(
                "INSERT INTO mnemark.subjects (issuer, subject, tenant) VALUES (%s, %s, %s)",
                [issuer, subject, number],
            )
    except psycopg.errors.UniqueViolation as error:
        raise UsageError(
            f"{subject!r} of {issuer} has a memory already; keep them out of that first"
        ) from error


def keep_out(connection: Connection, tenant: str, issuer: str, subject: str) -> None:
    """Let a person in no longer; nodes do for ten seconds more at most. Raises NotFoundError."""
    done = connection.execute(
        "DELETE FROM mnemark.subjects WHERE tenant = %s AND issuer = %s AND subject = %s RETURNING tenant",
        [number_of(connection, tenant), issuer, subject],
    ).fetchone()
    if done is None:
        raise NotFoundError(f"{tenant} lets in no {subject!r} of {issuer}")


def people(connection: Connection, tenant: str) -> list[tuple[str, str]]:
    """Return issuer and name of the people whom a memory lets in. Raises NotFoundError."""
    rows = connection.execute(
        "SELECT issuer, subject FROM mnemark.subjects WHERE tenant = %s ORDER BY 1, 2",
        [number_of(connection, tenant)],
    )
    return [(issuer, subject) for issuer, subject in rows]
