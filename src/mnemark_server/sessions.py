"""Let browsers in with the key of a memory: each session is a row, so that any node knows it."""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

import psycopg

from mnemark.errors import MnemarkError
from mnemark_interfaces.http.door import SESSION_SECONDS
from mnemark_interfaces.http.guard import Refusal
from mnemark_interfaces.http.hosted_session import HostedSession
from mnemark_server.access import UNKNOWN_KEY, Keys, hash_of
from mnemark_server.database import Database, Statement, UnavailableError
from mnemark_server.limits import Limits, refused

PER_ADDRESS: Final = 20
"""Keys that open nothing which an address may send in a minute: they cannot be guessed, but are looked up."""
IN_ALL: Final = 200
"""Those of all addresses. Behind a proxy all have one address, and this alone counts."""
_MOST: Final = 32
"""Maximum number of sessions of a memory: the oldest go first."""


class Failures:
    """Counts failed sign-ins of this minute, on this node."""

    def __init__(
        self, *, each: int = PER_ADDRESS, in_all: int = IN_ALL, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._each = each
        self._in_all = in_all
        self._clock = clock
        self._minute = 0
        self._counts: Counter[str] = Counter()

    def wait(self, address: str) -> int:
        """Return the seconds until an address may try again; 0: it may now."""
        self._forget()
        over = self._counts[address] >= self._each or self._counts.total() >= self._in_all
        return 60 - int(self._clock() % 60) if over else 0

    def note(self, address: str) -> None:
        """Count one."""
        self._forget()
        self._counts[address] += 1

    def _forget(self) -> None:
        """Forget those of an earlier minute."""
        minute = int(self._clock() // 60)
        if minute != self._minute:
            self._minute = minute
            self._counts.clear()


class Sessions(Keys):
    """The sessions of browsers, as the database has them, remembered for a moment as keys are."""

    function = "of_session"

    def __init__(self, database: Database, keys: Keys, limits: Limits, failures: Failures) -> None:
        super().__init__(database)
        self._keys = keys
        self._limits = limits
        self._failures = failures

    async def sign_in(self, key: str, address: str) -> str | Refusal:
        """Begin a session with a key, and return the secret for its cookie; or why there is none."""
        wait = self._failures.wait(address)
        if wait:
            return Refusal(429, "limit", "too many keys that open nothing were sent; try again later", wait)
        try:
            found = await self._begin(key)
        except UnavailableError as error:
            return Refusal(503, "unavailable", str(error), retry=1)
        if isinstance(found, Refusal) and found.status == 401:
            self._failures.note(address)
        return found

    async def _begin(self, key: str) -> str | Refusal:
        unknown = Refusal(401, "key", UNKNOWN_KEY)
        if not (key.isascii() and key.isprintable()):
            return unknown
        opened = await self._keys.opened_by(key.encode())
        if opened is None:
            return unknown
        if (refusal := await refused(opened, self._limits)) is not None:
            return refusal
        token = secrets.token_urlsafe(32)
        there = await asyncio.to_thread(self._insert, opened.tenant, key, token)
        return token if there else unknown

    def _insert(self, tenant: int, key: str, token: str) -> bool:
        """Write the row; return False where the key was taken back a moment ago."""
        try:
            self._database.write(
                tenant,
                Statement(
                    "DELETE FROM mnemark.sessions WHERE tenant = mnemark.me() AND (expires <= now()"
                    " OR hash IN (SELECT hash FROM mnemark.sessions WHERE tenant = mnemark.me()"
                    " ORDER BY created DESC OFFSET %s))",
                    [_MOST - 1],
                ),
                Statement(
                    "INSERT INTO mnemark.sessions (hash, tenant, key, expires)"
                    " VALUES (%s, mnemark.me(), %s, now() + make_interval(secs => %s))",
                    [hash_of(token.encode()), hash_of(key.encode()), SESSION_SECONDS],
                ),
            )
        except MnemarkError as error:
            if isinstance(error.__cause__, psycopg.errors.ForeignKeyViolation):
                return False
            raise
        return True

    async def sign_out(self, session: HostedSession) -> None:
        """End a session; other nodes know it for ten seconds more at most. Raises UnavailableError."""
        digest = hash_of(session.token.encode())
        gone = Statement("DELETE FROM mnemark.sessions WHERE tenant = mnemark.me() AND hash = %s", [digest])
        await asyncio.to_thread(self._database.write, int(session.tenant), gone)
        self._known.forget(digest)
