"""Let in who has a key: it names the memory, and what may be done there; nothing in a request does."""

import asyncio
import hashlib
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from mnemark_interfaces.http.calls import CALLS
from mnemark_interfaces.http.guard import (
    MAX_BODY,
    Activity,
    Receive,
    Refusal,
    Scope,
    Send,
    received,
    refuse,
    replayed,
)
from mnemark_interfaces.tools import BY_NAME
from mnemark_server.database import Database, Statement, UnavailableError
from mnemark_server.limits import Limits
from mnemark_server.metrics import Metrics

OPEN: Final = frozenset({"/livez", "/readyz", "/metrics", "/openapi.json"})
"""Paths that need no key."""
_ROUTES: Final = OPEN | {
    "/mcp",
    *(f"/v1/{one.name}" for one in CALLS),
    *(f"/v1/tools/{one}" for one in BY_NAME),
}
"""What is counted by its name: clients make up others."""
_ONE_MACHINE: Final = (
    "/health", "/query", "/hook/", "/v1/ui/", *(f"/v1/{one.name}" for one in CALLS if one.one_machine)
)  # fmt: skip
"""What is of one machine: its command line, its agents' files, its browser, its folders, its counts."""
_READS: Final = frozenset(
    {
        *(f"/v1/{one.name}" for one in CALLS if one.reads),
        *(f"/v1/tools/{name}" for name, tool in BY_NAME.items() if tool.reads),
    }
)
"""What a key for reading may ask for."""
_KNOWN_SECONDS: Final = 10.0
"""How long a key counts as it was, so that one that is taken back works no longer than this."""
_MOST_KNOWN: Final = 10_000
_BEARER: Final = re.compile(rb"[Bb]earer +([!-~]{1,200}) *")
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class TenantKey(NamedTuple):
    """What a key opens."""

    tenant: int
    name: str
    state: str
    scopes: tuple[str, ...]
    limits: MutableMapping[str, Any]


class Keys:
    """The keys of clients, as the database has them, remembered for a moment. Thread-safe."""

    function = "of_key"
    """What the database is asked."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[bytes, tuple[float, TenantKey | None]] = OrderedDict()

    async def opened_by(self, token: bytes) -> TenantKey | None:
        """Return what a key opens; None for one that is unknown or over. Raises UnavailableError.

        One that is remembered waits for no other that has to be looked up.
        """
        digest = hash_of(token)
        known = self._known.get(digest)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        return await asyncio.to_thread(self._find, digest)

    def _find(self, digest: bytes) -> TenantKey | None:
        asked = f"SELECT tenant, name, state, scopes, limits FROM mnemark.{self.function}(%s)"  # noqa: S608 - ours
        statement = Statement(asked, [digest])
        ((row,),) = self._database.read(None, statement)
        found = None if row[0] is None else TenantKey(row[0], row[1], row[2], tuple(row[3]), row[4])
        self._known[digest] = time.monotonic() + _KNOWN_SECONDS, found
        while len(self._known) > _MOST_KNOWN:
            with suppress(KeyError):  # another thread was first
                self._known.popitem(last=False)
        return found


def hash_of(token: bytes) -> bytes:
    """Return what is kept of a key: it is random and long, so that a plain hash tells nothing of it."""
    return hashlib.sha256(token).digest()


def refused(key: TenantKey, limits: Limits | None = None) -> Refusal | None:
    """Refuse a key of a memory that is suspended, or asks too much; a request is taken from `limits`."""
    if key.state != "active":
        return Refusal(403, "suspended", "this memory is suspended; ask whoever runs this server")
    wait = limits.wait(key.tenant, key.limits) if limits is not None else 0
    return (
        Refusal(429, "limit", f"too many requests; try again in {wait:.0f} s", retry=round(wait))
        if wait > 0
        else None
    )


class Pages(Protocol):
    """What answers browsers, and asks for no key but to sign in."""

    def route_of(self, path: str) -> str:
        """Return the route of a path for counting; empty for what is not of the pages."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""


class KeyGuard:
    """ASGI middleware that passes what a key allows to `app`, with the number of its memory."""

    def __init__(
        self, app: App, keys: Keys, limits: Limits, metrics: Metrics, activity: Activity,
        *, pages: Pages | None = None,
    ) -> None:  # fmt: skip
        self._app = app
        self._keys = keys
        self._limits = limits
        self._metrics = metrics
        self._activity = activity
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._pages is not None and (route := self._pages.route_of(scope["path"])):
            with self._metrics.request(route) as seen:
                await self._pages(scope, receive, seen.sending(send))
            return
        with self._metrics.request(route_of(scope["path"])) as seen:
            if scope["path"] in OPEN:
                await self._app(scope, receive, seen.sending(send))
                return
            await self._with_key(scope, receive, seen.sending(send))

    async def _with_key(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            found = await self._allowed(scope)
        except UnavailableError as error:
            found = Refusal(503, "unavailable", str(error), retry=1)
        if isinstance(found, Refusal):
            await refuse(receive, send, found, "")
            return
        body = await received(scope, receive, MAX_BODY)
        if isinstance(body, Refusal):
            await refuse(receive, send, body, "")
            return
        if scope["path"] != "/mcp":
            body = _for_tenant(body, found.tenant)
            if isinstance(body, Refusal):
                await refuse(replayed(b"", receive), send, body, "")  # it was received
                return
        scope["headers"] = [
            *((name, value) for name, value in scope["headers"] if name != b"mnemark-workspace"),
            (b"mnemark-workspace", str(found.tenant).encode()),
        ]
        scope["query_string"] = b""
        with self._activity.request():
            await self._app(scope, replayed(body, receive), send)

    async def _allowed(self, scope: Scope) -> TenantKey | Refusal:
        path: str = scope["path"]
        given = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
        token = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
        key = None if token is None else await self._keys.opened_by(token[1])
        if key is None:
            return Refusal(401, "key", "send the key of a memory: Authorization: Bearer KEY")
        if (refusal := refused(key)) is not None:
            return refusal
        if path.startswith(_ONE_MACHINE):
            return Refusal(
                501, "one_machine", f"{path} is of one machine; a server has /v1, /v1/tools and /mcp"
            )
        if "write" not in key.scopes and path not in _READS:
            return Refusal(403, "scope", "this key may only read")
        return refused(key, self._limits) or key


def route_of(path: str) -> str:
    """Return the route of a path for counting: what is no route of ours is one."""
    return path if path in _ROUTES else "other"


def _for_tenant(body: bytes, tenant: int) -> bytes | Refusal:
    """Return the body of a request with the memory that it is for."""
    try:
        fields = _FIELDS.decode(body or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Refusal(400, "usage", f"invalid request: {error}; see /openapi.json for all fields")
    if "workspace" in fields or "folder" in fields:
        return Refusal(400, "usage", "leave out `workspace` and `folder`: the key names the memory")
    return msgspec.json.encode(fields | {"workspace": msgspec.Raw(b'"%d"' % tenant)})
