"""Check every request before its body is parsed: token, host, origin, type, size and time.

Loopback alone is no protection: any page in the user's browser can send requests there. So a request needs
the token, the daemon's own address as host, no foreign origin, a JSON type, and a complete body within the
limits of size and time.
"""

import asyncio
import hmac
import re
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

import msgspec

from mnemark.text.lazy_pattern import lazy_pattern

MAX_BODY: Final = 8 * 1024 * 1024
_DRAIN_BYTES: Final = 64 * 1024 * 1024
_DRAIN_SECONDS: Final = 5.0
BODY_SECONDS: Final = 10.0
"""Time limit for receiving a request's body."""
_PLAIN_PATH: Final = re.compile(rb"/|(?:/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)+")
_JSON: Final = lazy_pattern(r"application/json\s*(?:;\s*charset=\"?utf-8\"?\s*)?", re.IGNORECASE)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Refusal(NamedTuple):
    """An error response."""

    status: int
    code: str
    message: str


class Activity:
    """Counts running and served requests."""

    def __init__(self) -> None:
        self.running = 0
        self.served = 0
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


class Guard:
    """ASGI middleware that passes permitted requests to `app`."""

    def __init__(
        self,
        app: App,
        *,
        token: str,
        hosts: frozenset[str],
        activity: Activity,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = hosts
        self._origins = frozenset(f"http://{host}" for host in hosts)
        self._activity = activity
        self._body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it to the application with its whole body."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        body: bytes | Refusal = self._refusal(scope) or b""
        if not isinstance(body, Refusal) and scope["method"] == "POST":
            body = await self._body(scope, receive)
        if isinstance(body, Refusal):
            await _refuse(receive, send, body)
            return
        with self._activity.request():
            await self._app(scope, _replayed(body, receive), send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return Refusal(403, "host", "the Host header does not match this server")
        if any(origin.lower() not in self._origins for origin in headers.get("origin", [])):
            return Refusal(403, "origin", "requests from pages of other servers are refused")
        if not _PLAIN_PATH.fullmatch(scope.get("raw_path") or scope["path"].encode()):
            return Refusal(400, "path", "this path does not exist; /openapi.json lists all paths")
        given = headers.get("authorization", [])
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        known = hmac.compare_digest(token.strip().encode("latin-1"), self._token)
        if scheme.lower() != "bearer" or not known:
            return Refusal(401, "token", "send the token of daemon.json: Authorization: Bearer TOKEN")
        kind = headers.get("content-type", [])
        encoding = headers.get("content-encoding", ["identity"])
        is_json = len(kind) == 1 and _JSON.fullmatch(kind[0].strip()) and encoding == ["identity"]
        if scope["method"] == "POST" and not is_json:
            return Refusal(415, "type", "send uncompressed JSON with Content-Type: application/json")
        return None

    async def _body(self, scope: Scope, receive: Receive) -> bytes | Refusal:
        """Receive the whole body, within the limits of size and time."""
        large = Refusal(413, "size", f"a request must not be longer than {MAX_BODY:,} bytes")
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MAX_BODY:
            return large
        parts = bytearray()
        try:
            async with asyncio.timeout(self._body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return Refusal(400, "cut", "the request was cut off")
                    parts += message.get("body", b"")
                    if len(parts) > MAX_BODY:
                        return large
                    if not message.get("more_body"):
                        return bytes(parts)
        except TimeoutError:
            return Refusal(408, "slow", f"the request was not complete within {self._body_seconds:.0f} s")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that returns the body in one message, then the connection's messages."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


async def _refuse(receive: Receive, send: Send, refusal: Refusal) -> None:
    """Send an error, and close the connection once the client has sent its request, which is thrown away.

    A connection that is closed while data comes in is reset, and a client that sends first never reads why.
    One that goes on for longer than `_DRAIN_SECONDS`, or sends more than `_DRAIN_BYTES`, is cut off.
    """
    data = msgspec.json.encode({"error": {"code": refusal.code, "message": refusal.message}})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(data)).encode()),
        (b"connection", b"close"),
        (b"x-content-type-options", b"nosniff"),
    ]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
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
