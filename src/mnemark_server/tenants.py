"""Make, list, suspend and delete the memories of a server, and the keys to them."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
import psycopg
from psycopg.types.json import Jsonb

from mnemark.errors import NotFoundError, UsageError
from mnemark.files.secrets import SALT_BYTES
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_server.access import hash_of
from mnemark_server.database import Connection
from mnemark_server.issuer import SCOPES

_NAME: Final = lazy_pattern(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
_MOST_KEYS: Final = 2
"""Keys of a memory that work at a time: the one in use, and the one that takes over."""
_REMAINS: Final = (
    "free space in the tables holds it until `mnemark db scrub` or its next use; the write-ahead log"
    " and backups until they expire"
)


class Tenant(msgspec.Struct, frozen=True, kw_only=True):
    """A memory of a server."""

    name: str
    state: str
    created: datetime
    seq: int
    bytes: int
    keys: int


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A key without the key itself, which nobody has but who was given it."""

    name: str
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime | None


class Deleted(msgspec.Struct, frozen=True, kw_only=True):
    """The receipt of a memory that was deleted."""

    name: str
    parts: int
    bytes: int
    still: str


def create(connection: Connection, name: str) -> None:
    """Make an empty memory. Raises UsageError for a name that is taken, or is none."""
    if not _NAME.match(name):
        raise UsageError(
            f"{name!r} cannot name a memory; use at most 63 of a-z, 0-9, '.', '_' and '-', a letter or digit"
            " first"
        )
    try:
        with connection.transaction():
            row = connection.execute(
                "INSERT INTO mnemark.tenants (name) VALUES (%s) RETURNING tenant", [name]
            ).fetchone()
            assert row is not None  # noqa: S101 - it was inserted
            salt = secrets.token_bytes(SALT_BYTES)
            connection.execute("INSERT INTO mnemark.heads (tenant, salt) VALUES (%s, %s)", [*row, salt])
    except psycopg.errors.UniqueViolation as error:
        raise UsageError(f"there is a memory named {name!r} already") from error


def listed(connection: Connection) -> list[Tenant]:
    """Return all memories by name, with what they take."""
    rows = connection.execute(
        "SELECT t.name, t.state, t.created, h.seq,"
        " (SELECT coalesce(sum(octet_length(data)), 0) FROM mnemark.parts p WHERE p.tenant = t.tenant),"
        " (SELECT count(*) FROM mnemark.keys k WHERE k.tenant = t.tenant AND k.expires > now())"
        " FROM mnemark.tenants t JOIN mnemark.heads h USING (tenant) ORDER BY t.name"
    )
    names = Tenant.__struct_fields__
    return [Tenant(**dict(zip(names, (*row[:4], int(row[4]), row[5]), strict=True))) for row in rows]


def number_of(connection: Connection, name: str) -> int:
    """Return the number of a memory. Raises NotFoundError."""
    row = connection.execute("SELECT tenant FROM mnemark.tenants WHERE name = %s", [name]).fetchone()
    if row is None:
        raise NotFoundError(f"there is no memory named {name!r}; `mnemark db tenants` lists them")
    return int(row[0])


def set_state(connection: Connection, name: str, state: str) -> None:
    """Suspend a memory, whose keys are refused then, or make it active again. Raises NotFoundError."""
    connection.execute(
        "UPDATE mnemark.tenants SET state = %s WHERE tenant = %s", [state, number_of(connection, name)]
    )


def delete(connection: Connection, name: str) -> Deleted:
    """Delete a memory with all its rows, and return the receipt, which is kept. Raises NotFoundError.

    After the transaction, `scrubber.vacuum` clears them from the tables.
    """
    tenant = number_of(connection, name)
    with connection.transaction():
        row = connection.execute(
            "SELECT count(*), coalesce(sum(octet_length(data)), 0) FROM mnemark.parts WHERE tenant = %s",
            [tenant],
        ).fetchone()
        assert row is not None  # noqa: S101 - a count has a row
        found = Deleted(name=name, parts=row[0], bytes=int(row[1]), still=_REMAINS)
        for table in ("parts", "lines", "packs", "keys", "heads", "tenants"):
            connection.execute(f"DELETE FROM mnemark.{table} WHERE tenant = %s", [tenant])  # noqa: S608 - ours
        what: dict[str, Any] = msgspec.to_builtins(found)
        connection.execute("INSERT INTO mnemark.receipts (name, what) VALUES (%s, %s)", [name, Jsonb(what)])
    return found


def add_key(
    connection: Connection, tenant: str, name: str, *, scopes: tuple[str, ...] = SCOPES, days: int = 0
) -> str:
    """Make a key, and return it: it is shown this once.

    Args:
        connection: to the database.
        tenant: the memory that it opens.
        name: what it is called in lists.
        scopes: "read", or "read" and "write".
        days: after how many days it is over; 0: never.

    Raises:
        NotFoundError: there is no such memory.
        UsageError: the memory has two keys, or one of that name; a scope is unknown.
    """
    if not scopes or not set(scopes) <= set(SCOPES):
        raise UsageError(f"unknown scope in {', '.join(scopes) or 'nothing'}; scopes: {', '.join(SCOPES)}")
    number = number_of(connection, tenant)
    key = f"mnk_{secrets.token_urlsafe(32)}"
    expires = datetime.now(UTC) + timedelta(days=days) if days else None
    with connection.transaction():
        connection.execute("SELECT FROM mnemark.tenants WHERE tenant = %s FOR UPDATE", [number])
        known = keys(connection, tenant)
        if sum(one.expires is None or one.expires > datetime.now(UTC) for one in known) >= _MOST_KEYS:
            names = ", ".join(one.name for one in known)
            raise UsageError(f"{tenant} has {_MOST_KEYS} keys ({names}); take one back first")
        if name in {one.name for one in known}:
            raise UsageError(
                f"{tenant} has a key named {name!r} already; take it back, or choose another name"
            )
        connection.execute(
            "INSERT INTO mnemark.keys (hash, tenant, name, scopes, expires)"
            " VALUES (%s, %s, %s, %s, coalesce(%s, 'infinity'::timestamptz))",
            [hash_of(key.encode()), number, name, list(scopes), expires],
        )
    return key


def keys(connection: Connection, tenant: str) -> list[Key]:
    """Return the keys of a memory, the oldest first. Raises NotFoundError."""
    rows = connection.execute(
        "SELECT name, scopes, created, nullif(expires, 'infinity') FROM mnemark.keys WHERE tenant = %s"
        " ORDER BY created", [number_of(connection, tenant)],
    )  # fmt: skip
    return [Key(name=row[0], scopes=tuple(row[1]), created=row[2], expires=row[3]) for row in rows]


def revoke(connection: Connection, tenant: str, name: str) -> None:
    """Take a key back; nodes let it in for ten seconds more at most. Raises NotFoundError."""
    done = connection.execute(
        "DELETE FROM mnemark.keys WHERE tenant = %s AND name = %s RETURNING name",
        [number_of(connection, tenant), name],
    ).fetchone()
    if done is None:
        raise NotFoundError(f"{tenant} has no key named {name!r}; `mnemark db keys {tenant}` lists them")
