"""Tell what a key, or a token of an issuer, opens: a memory, and what may be done there."""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from mnemark_server.database import Database, Statement
from mnemark_server.issuer import InvalidTokenError, Issuer, is_token

KNOWN_SECONDS: Final = 10.0
"""How long a key counts as it was, so that one that is taken back works no longer than this."""
UNKNOWN_KEY: Final = "this key opens no memory: it may be mistyped, over, or taken back"
"""What is said of a key that is none."""
_MOST_KNOWN: Final = 10_000


class Access(NamedTuple):
    """What a key opens."""

    tenant: int
    name: str
    state: str
    scopes: tuple[str, ...]
    limits: Mapping[str, Any]


class Remembered:
    """What was looked up for keys, for a moment. Thread-safe."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, tuple[float, Access | None]] = OrderedDict()

    def get(self, digest: bytes) -> tuple[float, Access | None] | None:
        """Return until when something is known of a key, and what; None where nothing is."""
        known = self._known.get(digest)
        return known if known is not None and known[0] > time.monotonic() else None

    def forget(self, digest: bytes) -> None:
        """Know nothing of a key."""
        self._known.pop(digest, None)

    def put(self, digest: bytes, found: Access | None, seconds: float) -> None:
        """Remember what was found."""
        self._known[digest] = time.monotonic() + seconds, found
        while len(self._known) > _MOST_KNOWN:
            with suppress(KeyError):  # another thread was first
                self._known.popitem(last=False)


class Keys:
    """The keys of clients, as the database has them, and the tokens of an issuer. Thread-safe."""

    function = "of_key"
    """What the database is asked."""

    def __init__(self, database: Database, issuer: Issuer | None = None) -> None:
        self._database = database
        self._issuer = issuer
        self._known = Remembered()
        self._unknown = Remembered()
        """Apart, so that many that are made up push out none that is a key."""

    async def opened_by(self, token: bytes) -> Access | None:
        """Return what a key opens; None for one that is unknown or over. Raises UnavailableError.

        One that is remembered waits for no other that has to be looked up.
        """
        digest = hash_of(token)
        known = self._known.get(digest) or self._unknown.get(digest)
        return known[1] if known is not None else await asyncio.to_thread(self._find, token, digest)

    def _find(self, token: bytes, digest: bytes) -> Access | None:
        seconds = KNOWN_SECONDS
        if self._issuer is not None and is_token(token):
            found, left = self._of_token(self._issuer, token)
            seconds = min(seconds, left)
        else:
            found = self._of_key(digest)
        (self._unknown if found is None else self._known).put(digest, found, seconds)
        return found

    def _of_key(self, digest: bytes) -> Access | None:
        asked = f"SELECT tenant, name, state, scopes, limits FROM mnemark.{self.function}(%s)"  # noqa: S608 - ours
        ((row,),) = self._database.read(None, Statement(asked, [digest]))
        return None if row[0] is None else Access(row[0], row[1], row[2], tuple(row[3]), row[4])

    def _of_token(self, issuer: Issuer, token: bytes) -> tuple[Access | None, float]:
        """Return what a token opens, and the seconds until it is over."""
        try:
            claims = issuer.claims(token)
        except InvalidTokenError:
            return None, KNOWN_SECONDS
        statement = Statement(
            "SELECT tenant, name, state, limits FROM mnemark.of_subject(%s, %s)", [issuer.url, claims.subject]
        )
        ((row,),) = self._database.read(None, statement)
        found = None if row[0] is None else Access(row[0], row[1], row[2], claims.scopes, row[3])
        return found, claims.seconds


def hash_of(token: bytes) -> bytes:
    """Return what is kept of a key: it is random and long, so that a plain hash tells nothing of it."""
    return hashlib.sha256(token).digest()
