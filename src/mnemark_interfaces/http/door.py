"""Let a browser in: a ticket that works once, then a cookie for the pages alone.

A page navigation cannot send the daemon's token, and no secret may stand in an address: other users of the
machine read the command line that starts a browser, and histories keep addresses. So whoever has the token
asks for a ticket, and a form posts it to `/ui/enter` within a minute; that sets the cookie. Browsers send
cookies to every port of a host. So the cookie is for a path that nobody can guess (`Door.home`), which no
server on another port is asked for. Tickets are in memory; sessions are kept in `door_file`, so that a tab
outlives the daemon.
"""

import base64
import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from mnemark_interfaces.http.door_file import DoorFile

UI: Final = "/ui"
"""Path that all of the pages, and what lets a browser in, are below."""
TICKET_SECONDS: Final = 60.0
SESSION_SECONDS: Final = 30 * 86_400.0
_MOST: Final = 32
"""Maximum number of tickets, and of sessions: the oldest go first."""
MESSAGES: Final = 5
"""Maximum number of messages that wait to be shown."""


class BrowserSession:
    """What a browser is known by, and what it is to be told next."""

    def __init__(self, until: float, form_key: str = "") -> None:
        self.until = until
        self.form_key = form_key or secrets.token_urlsafe(32)
        """Stands in every form, so that no other page can send one."""
        self.messages: list[Any] = []
        self.receipts: OrderedDict[str, Any] = OrderedDict()

    def is_own_form(self, key: str) -> bool:
        """Whether a form holds the key of this door."""
        return hmac.compare_digest(key.encode("utf-8", "replace"), self.form_key.encode())

    def tell(self, message: object) -> None:
        """Keep a message for the next page."""
        self.messages = [*self.messages, message][-MESSAGES:]

    def told(self) -> list[Any]:
        """Return the messages for this page; they are gone then."""
        found, self.messages = self.messages, []
        return found

    def keep(self, receipt: object) -> str:
        """Keep a receipt, and return its number."""
        number = secrets.token_hex(4)
        self.receipts[number] = receipt
        while len(self.receipts) > MESSAGES:
            self.receipts.popitem(last=False)
        return number


class Door:
    """The tickets and sessions of a daemon. Thread-safe."""

    def __init__(
        self,
        kept: DoorFile | None = None,
        *,
        save: Callable[[DoorFile], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tickets: OrderedDict[bytes, tuple[float, str]] = OrderedDict()
        self._sessions: dict[str, BrowserSession] = {}
        self._kept = kept or DoorFile()
        self._save = save

    @property
    def home(self) -> str:
        """Path that the pages are below, and the cookie is for."""
        return self._kept.home

    @property
    def cookie(self) -> str:
        """Name of the cookie: a server on another port cannot set one of the same name."""
        return self._kept.cookie

    @property
    def browsers(self) -> int:
        """How many sessions are valid."""
        with self._lock:
            return sum(map(self._is_valid, self._kept.sessions.values()))

    def moved_from(self) -> int:
        """Return the port that the pages were at until another program took it; 0 once that is told."""
        with self._lock:
            found, self._kept.moved_from = self._kept.moved_from, 0
            if found:
                self._save(self._kept)
        return found

    def sign_out(self) -> int:
        """End all sessions; return how many there were."""
        with self._lock:
            ended = self._kept.sign_out()
            self._sessions.clear()
            self._tickets.clear()
            self._save(self._kept)
        return ended

    def ticket(self, target: str) -> str:
        """Return a new ticket that leads to `target`, a path below `home`; a person can type it."""
        made = base64.b32encode(secrets.token_bytes(10)).decode().lower()
        with self._lock:
            self._tickets[_hash(made)] = self._clock() + TICKET_SECONDS, target
            _trim(self._tickets)
        return "-".join(made[at : at + 4] for at in range(0, len(made), 4))

    def is_waiting(self, ticket: str) -> bool:
        """Whether a ticket is valid and nobody has come in with it."""
        with self._lock:
            until, _ = self._tickets.get(_hash(_typed(ticket)), (0.0, ""))
            return self._clock() <= until

    def enter(self, ticket: str) -> tuple[str, str] | None:
        """Take a ticket; return the cookie's value and where to go, or None for one that is not valid."""
        with self._lock:
            until, target = self._tickets.pop(_hash(_typed(ticket)), (0.0, ""))
            if not target or self._clock() > until:
                return None
            made = secrets.token_urlsafe(32)
            valid = {key: end for key, end in self._kept.sessions.items() if self._is_valid(end)}
            valid[_hash(made).hex()] = self._clock() + SESSION_SECONDS
            self._kept.sessions = dict(list(valid.items())[-_MOST:])
            self._save(self._kept)
        return made, target

    def session(self, cookie: str) -> BrowserSession | None:
        """Return the session of a cookie, or None."""
        key = _hash(cookie).hex()
        with self._lock:
            until = self._kept.sessions.get(key, 0.0)
            if not self._is_valid(until):
                return None
            if len(self._sessions) > _MOST:
                self._sessions = {one: it for one, it in self._sessions.items() if one in self._kept.sessions}
            return self._sessions.setdefault(key, BrowserSession(until, self._kept.form_key))

    def _is_valid(self, until: float) -> bool:
        return self._clock() <= until <= self._clock() + SESSION_SECONDS


def _typed(ticket: str) -> str:
    """Return a ticket as it was made, however a person typed it."""
    return "".join(filter(str.isalnum, ticket.lower()))


def _hash(secret: str) -> bytes:
    """Return what a secret is looked up by, so that the time it takes tells nothing of it."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _trim(kept: OrderedDict[bytes, Any]) -> None:
    while len(kept) > _MOST:
        kept.popitem(last=False)
