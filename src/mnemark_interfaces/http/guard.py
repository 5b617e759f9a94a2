"""Check every request before its body is parsed: door, host, origin, type, size and time.

Loopback alone is no protection: any page in the user's browser can send requests there. So a request needs
the daemon's own address as host, no foreign origin, and a complete body within the limits of size and time;
and what its door wants (`doors`): the token, and JSON; or, for pages, a cookie that opens nothing else, and
of a form that it was sent from one of these pages. A file that is sent to the pages is passed on as it comes.
"""

import asyncio
import hmac
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, Final, Literal, NamedTuple

import msgspec

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_interfaces.http.door import UI, BrowserSession, Door
from mnemark_interfaces.http.peer import is_of_another_user

MAX_BODY: Final = 8 * 1024 * 1024
MAX_FORM: Final = 256 * 1024
_DRAIN_BYTES: Final = 64 * 1024 * 1024
_DRAIN_SECONDS: Final = 5.0
BODY_SECONDS: Final = 10.0
"""Time limit for receiving a request's body."""
_PLAIN_PATH: Final = re.compile(rb"/|(?:/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)+")
_JSON: Final = lazy_pattern(r"application/json\s*(?:;\s*charset=\"?utf-8\"?\s*)?", re.IGNORECASE)

_FORM: Final = lazy_pattern(
    r"application/x-www-form-urlencoded\s*(?:;\s*charset=\"?utf-8\"?\s*)?", re.IGNORECASE
)
_FILE: Final = lazy_pattern(r"multipart/form-data\s*;\s*boundary=[\w'()+,./:=?\" -]{1,72}", re.IGNORECASE)
SESSION: Final = "mnemark.session"
"""Key of the browser's session in the scope of a request."""

DoorName = Literal["token", "cookie", "upload", "ticket", "open"]


class DoorRule(NamedTuple):
    """What opens a path and all below it."""

    path: str
    door: DoorName
    active: bool = True
    """Whether requests keep the daemon from its idle end: a page that looks by itself does not."""


def doors(home: str) -> tuple[DoorRule, ...]:
    """Return the rules of a daemon whose pages are below `home`; the first that fits a path decides."""
    return (
        DoorRule(f"{UI}/enter", "ticket"),
        DoorRule(f"{UI}/static", "open", active=False),
        DoorRule(f"{home}/newer", "cookie", active=False),
        DoorRule(f"{home}/upload", "upload"),
        DoorRule(home, "cookie"),
        DoorRule(UI, "open"),  # what asks for a ticket
        DoorRule("/", "open"),
        DoorRule("", "token"),
    )


POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PAGE_HEADERS: Final = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    # Not `no-referrer`: with it, browsers send forms with the origin "null".
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Mapping[str, list[str]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Refusal(NamedTuple):
    """An error response."""

    status: int
    code: str
    message: str
    retry: int = 0
    """Seconds after which it may be sent again; 0 where that is of no use."""
    challenge: str = ""
    """What tells a program how to be let in."""


class Activity:
    """Counts running and served requests."""

    def __init__(self) -> None:
        self.running = 0
        self.served = 0
        self.degraded = 0
        """Answers without some route, such as one that was late."""
        self._last = time.monotonic()

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request as running for the length of the block."""
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self.served += 1
            self._last = time.monotonic()

    def idle(self) -> float:
        """Return the seconds since a request last ran."""
        return 0.0 if self.running else time.monotonic() - self._last


class Site(NamedTuple):
    """What a server is called by those who ask it."""

    hosts: frozenset[str]
    """Values of the header Host; empty: any."""
    scheme: str = "http"

    def is_called(self, host: str) -> bool:
        """Whether it is this server that a request names."""
        return not self.hosts or host in self.hosts

    def origins(self, host: str) -> frozenset[str]:
        """Return the origins of its own pages, of which one names this host."""
        return frozenset(f"{self.scheme}://{one}" for one in (*self.hosts, host))


class BrowserGuard:
    """ASGI middleware that passes permitted requests to `app`; who a browser is, a subclass finds out.

    `refused` makes a page of a message in one of the languages that a browser accepts; it asks for what lets
    a browser in, and leads to the address in its third argument, where there is one.
    """

    elsewhere = "this page can only be opened from itself"
    """What is told to whoever comes from the page of another site."""

    def __init__(
        self,
        app: App,
        *,
        site: Site,
        rules: Iterable[DoorRule],
        activity: Activity,
        refused: Callable[[str, str, str], str] | None = None,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._app = app
        self._site = site
        self._rules = tuple(rules)
        self._activity = activity
        self._refused = refused
        self._body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it to the application with its whole body."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        rule = rule_of(scope["path"], self._rules)
        if rule.door != "token":
            send = _with_headers(send)
        body: bytes | Refusal = await self._refusal(scope, rule.door) or b""
        streams = rule.door == "upload" and not isinstance(body, Refusal)
        if not isinstance(body, Refusal) and scope["method"] == "POST" and not streams:
            most = MAX_BODY if rule.door == "token" else MAX_FORM
            body = await received(scope, receive, most, self._body_seconds)
        if isinstance(body, Refusal):
            page = self._refused if rule.door != "token" else None
            told = page(body.message, _languages(scope), _target(scope, body)) if page else ""
            await refuse(receive, send, body, told)
            return
        with self._activity.request() if rule.active else nullcontext():
            await self._app(scope, receive if streams else replayed(body, receive), send)

    async def _refusal(self, scope: Scope, door: DoorName) -> Refusal | None:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        host = headers.get("host", [])
        if len(host) != 1 or not self._site.is_called(host[0].lower()):
            return Refusal(403, "host", "the Host header does not match this server")
        from_file = door == "ticket" and _is_of_file(headers)
        origins = {origin.lower() for origin in headers.get("origin", [])}
        if not origins <= self._site.origins(host[0].lower()) and not from_file:
            return Refusal(403, "origin", "requests from pages of other servers are refused")
        if not _PLAIN_PATH.fullmatch(scope.get("raw_path") or scope["path"].encode()):
            return Refusal(400, "path", "this path does not exist; /openapi.json lists all paths")
        return await self._opened(scope, headers, door)

    async def _opened(self, scope: Scope, headers: Headers, door: DoorName) -> Refusal | None:
        """Refuse a request without what its door wants; note the session of one that has it."""
        refused = self._from_elsewhere(scope, headers, door)
        if refused is not None or door not in {"cookie", "upload"}:
            return refused
        found = await self._session(scope, headers)
        if isinstance(found, Refusal):
            return found
        scope[SESSION] = found
        return None

    async def _session(self, scope: Scope, headers: Headers) -> BrowserSession | Refusal:
        """Return the session of a browser."""
        raise NotImplementedError

    def _from_elsewhere(self, scope: Scope, headers: Headers, door: DoorName) -> Refusal | None:
        """Refuse what no page of ours sends: other methods, requests of other sites, forms of other pages."""
        if scope["method"] not in {"GET", "HEAD", "POST"}:
            return Refusal(405, "method", "pages are read with GET and answered with POST")
        sent = scope["method"] == "POST"
        if sent and not _is_type(headers, _FILE if door == "upload" else _FORM):
            return Refusal(415, "type", "send the form of a page")
        if sent and door == "ticket" and _is_of_file(headers):
            return None
        sites = {site.lower() for site in headers.get("sec-fetch-site", [])}
        if not sites <= ({"same-origin"} if sent else {"same-origin", "none"}):
            return Refusal(403, "origin", self.elsewhere)
        own = {f"{self._site.scheme}://{one.lower()}" for one in headers["host"]}
        if sent and {one.lower() for one in headers.get("origin", [])} != own:
            return Refusal(403, "origin", "forms are only taken from these pages")
        return None


class Guard(BrowserGuard):
    """The guard of a daemon: its token, or a browser's session."""

    elsewhere = "this page can only be opened from itself, or with `mnemark web`"

    def __init__(
        self,
        app: App,
        *,
        token: str,
        hosts: frozenset[str],
        activity: Activity,
        door: Door | None = None,
        refused: Callable[[str, str, str], str] | None = None,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._door = door or Door()
        self._token = token.encode()
        super().__init__(
            app, site=Site(hosts), rules=doors(self._door.home), activity=activity, refused=refused,
            body_seconds=body_seconds,
        )  # fmt: skip

    async def _opened(self, scope: Scope, headers: Headers, door: DoorName) -> Refusal | None:
        if door != "token":
            return await super()._opened(scope, headers, door)
        given = headers.get("authorization", [])
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        known = hmac.compare_digest(token.strip().encode("latin-1"), self._token)
        if scheme.lower() != "bearer" or not known:
            return Refusal(401, "token", "send the token of daemon.json: Authorization: Bearer TOKEN")
        if scope["method"] == "POST" and not _is_type(headers, _JSON):
            return Refusal(415, "type", "send uncompressed JSON with Content-Type: application/json")
        return None

    async def _session(self, scope: Scope, headers: Headers) -> BrowserSession | Refusal:
        if is_of_another_user(scope.get("client"), scope.get("server")):
            return Refusal(403, "user", "these pages are for the user whose memory it is")
        found = self._door.session(cookie_of(headers, self._door.cookie))
        if found is None:
            return Refusal(401, "session", "To open this page, type `mnemark web` in a terminal.")
        return found


def cookie_of(headers: Headers, name: str) -> str:
    """Return the value of a cookie; empty where it was not sent once."""
    cookies = (part.partition("=") for line in headers.get("cookie", []) for part in line.split(";"))
    values = [value.strip() for key, _, value in cookies if key.strip() == name]
    return values[0] if len(values) == 1 else ""


async def received(
    scope: Scope, receive: Receive, most: int, seconds: float = BODY_SECONDS
) -> bytes | Refusal:
    """Receive the whole body of a request, within limits of size and time."""
    large = Refusal(413, "size", f"a request must not be longer than {most:,} bytes")
    length = dict(scope["headers"]).get(b"content-length", b"0")
    if not length.isdigit() or int(length) > most:
        return large
    parts = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return Refusal(400, "cut", "the request was cut off")
                parts += message.get("body", b"")
                if len(parts) > most:
                    return large
                if not message.get("more_body"):
                    return bytes(parts)
    except TimeoutError:
        return Refusal(408, "slow", f"the request was not complete within {seconds:.0f} s")


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that returns the body in one message, then the connection's messages."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _is_of_file(headers: Headers) -> bool:
    """Whether the whole window goes on from a page that has no site, as the file of `mnemark web` does.

    Pages of others can look like one. What keeps them out is the ticket.
    """
    expected = {"origin": "null", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate",
                "sec-fetch-dest": "document"}  # fmt: skip
    return all(headers.get(name, [value]) == [value] for name, value in expected.items())


def rule_of(path: str, rules: Iterable[DoorRule]) -> DoorRule:
    """Return the rule for a path."""
    return next(
        rule for rule in rules if path == rule.path or (rule.path != "/" and path.startswith(f"{rule.path}/"))
    )


def _is_type(headers: Headers, pattern: re.Pattern[str]) -> bool:
    kind = headers.get("content-type", [])
    encoding = headers.get("content-encoding", ["identity"])
    return len(kind) == 1 and bool(pattern.fullmatch(kind[0].strip())) and encoding == ["identity"]


def _with_headers(send: Send) -> Send:
    """Return a `send` that adds the headers of pages."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            added = [pair for pair in _PAGE_HEADERS if pair[0] not in given]
            kept = [] if b"cache-control" in given else [(b"cache-control", b"no-store")]
            message["headers"] = [*message["headers"], *added, *kept]
        await send(message)

    return sending


def _target(scope: Scope, refusal: Refusal) -> str:
    """Return the address that a browser without a session asked for, to go on there once it has one."""
    if refusal.code != "session" or scope["method"] != "GET":
        return ""
    query = scope.get("query_string", b"").decode("latin-1")
    return f"{scope['path']}?{query}" if query else str(scope["path"])


def _languages(scope: Scope) -> str:
    accepted = (value for name, value in scope["headers"] if name.lower() == b"accept-language")
    return next(accepted, b"").decode("latin-1")


async def refuse(receive: Receive, send: Send, refusal: Refusal, page: str) -> None:
    """Send an error, and close the connection once the client has sent its request, which is thrown away.

    It is sent as `page`, or as JSON where that is empty.
    A connection that is closed while data comes in is reset, and a client that sends first never reads why.
    One that goes on for longer than `_DRAIN_SECONDS`, or sends more than `_DRAIN_BYTES`, is cut off.
    """
    error = {"error": {"code": refusal.code, "message": refusal.message}}
    data = page.encode() if page else msgspec.json.encode(error)
    headers = [
        (b"content-type", b"text/html; charset=utf-8" if page else b"application/json"),
        (b"content-length", str(len(data)).encode()),
        (b"connection", b"close"),
        (b"x-content-type-options", b"nosniff"),
    ]
    if refusal.retry:
        headers.append((b"retry-after", str(refusal.retry).encode()))
    challenge = refusal.challenge or ("Bearer" if refusal.status == 401 and not page else "")
    if challenge:
        headers.append((b"www-authenticate", challenge.encode()))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": data, "more_body": True})
    left = _DRAIN_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body"):
                    break
    await send({"type": "http.response.body", "body": b""})
