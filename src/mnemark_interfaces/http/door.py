"""Let a browser in: a ticket that works once, then a cookie for the pages alone.

A page navigation cannot send the daemon's token, and no secret may stand in an address: other users of the
machine read the command line that starts a browser, and histories keep addresses. So whoever has the token
asks for a ticket, and a form posts it to `/ui/enter` within a minute; that sets the cookie. Browsers send
cookies to every port of a host. So the cookie is for a path that nobody can guess (`Door.home`), which no
server on another port is asked for. Tickets and sessions are in memory: they end with the daemon.
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

UI: Final = "/ui"
"""Path that all of the pages, and what lets a browser in, are below."""
TICKET_SECONDS: Final = 60.0
SESSION_SECONDS: Final = 12 * 3600.0
_MOST: Final = 32
"""Maximum number of tickets, and of sessions: the oldest go first."""
MESSAGES: Final = 5
"""Maximum number of messages that wait to be shown."""


class BrowserSession:
    """What a browser is known by, and what it is to be told next."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.form_key = secrets.token_urlsafe(32)
        """Stands in every form, so that no other page can send one."""
        self.language = ""
        """Chosen on a page; empty for the browser's own."""
        self.messages: list[Any] = []
        self.receipts: OrderedDict[str, Any] = OrderedDict()

    def is_own_form(self, key: str) -> bool:
        """Whether a form holds the key of this session."""
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

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tickets: OrderedDict[bytes, tuple[float, str]] = OrderedDict()
        self._sessions: OrderedDict[bytes, BrowserSession] = OrderedDict()
        self.home = f"{UI}/{secrets.token_hex(16)}"
        """Path that the pages are below, and the cookie is for."""
        self.cookie = f"mnemark-{secrets.token_hex(8)}"
        """Name of the cookie: a server on another port cannot set one of the same name."""

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
            self._sessions[_hash(made)] = BrowserSession(self._clock() + SESSION_SECONDS)
            _trim(self._sessions)
        return made, target

    def session(self, cookie: str) -> BrowserSession | None:
        """Return the session of a cookie, or None."""
        with self._lock:
            found = self._sessions.get(_hash(cookie))
            if found is not None and self._clock() > found.until:
                del self._sessions[_hash(cookie)]
                return None
            return found


def _typed(ticket: str) -> str:
    """Return a ticket as it was made, however a person typed it."""
    return "".join(filter(str.isalnum, ticket.lower()))


def _hash(secret: str) -> bytes:
    """Return what a secret is looked up by, so that the time it takes tells nothing of it."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _trim(kept: OrderedDict[bytes, Any]) -> None:
    while len(kept) > _MOST:
        kept.popitem(last=False)
