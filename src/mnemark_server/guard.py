"""Let in who has a key: it names the memory, and what may be done there; nothing in a request does."""

import re
from typing import Any, Final

import msgspec

from mnemark_agents.hook.agents import EVENTS
from mnemark_agents.server import WHO
from mnemark_interfaces.http.calls import CALLS
from mnemark_interfaces.http.guard import (
    MAX_BODY,
    Activity,
    App,
    Receive,
    Refusal,
    Scope,
    Send,
    received,
    refuse,
    replayed,
)
from mnemark_interfaces.tools import BY_NAME
from mnemark_server.access import UNKNOWN_KEY, Access, Keys
from mnemark_server.database import UnavailableError
from mnemark_server.issuer import METADATA, SCOPE, SCOPES
from mnemark_server.limits import Limits, refused
from mnemark_server.metrics import Metrics
from mnemark_server.pages import PageGuard

OPEN: Final = ("/livez", "/readyz", "/metrics", "/openapi.json", METADATA)
"""Paths that need no key, and all below them."""
MOVES: Final = frozenset({"/v1/export", "/v1/import", "/v1/merge"})
"""Paths of whole memories, whose bodies are streams; see `moves`."""
_NO_KEY: Final = "send the key of a memory: Authorization: Bearer KEY"
ACCESS: Final = "mnemark.access"
"""Key of what a request's key opens, in its scope."""
ROUTE: Final = "mnemark.route"
"""Key of the route of a page, for the log, in its scope."""
_MCP: Final = "/mcp"
_CALL: Final = "tools/call"
_ROUTES: Final = {
    *OPEN,
    *MOVES,
    _MCP,
    *(f"/v1/{one.name}" for one in CALLS),
    *(f"/v1/tools/{one}" for one in BY_NAME),
    *(f"/hook/{one}" for one in EVENTS),
    WHO,
}
"""What is counted by its name: clients make up others."""
_ONE_MACHINE: Final = (
    "/health", "/query", "/v1/ui/",
    *({f"/v1/{one.name}" for one in CALLS if one.one_machine} - MOVES),
)  # fmt: skip
"""What is of one machine: its command line, its browser, its folders, its counts."""
_READS: Final = frozenset(
    {
        "/v1/export",
        *(f"/v1/{one.name}" for one in CALLS if one.reads),
        *(f"/v1/tools/{name}" for name, tool in BY_NAME.items() if tool.reads),
        WHO,
    }
)
"""What a key for reading may ask for."""
_BEARER: Final = re.compile(rb"[Bb]earer +([!-~]{1,8192}) *")
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class KeyGuard:
    """ASGI middleware that passes what a key allows to `app`, with the number of its memory."""

    def __init__(
        self, app: App, keys: Keys, limits: Limits, metrics: Metrics, activity: Activity, *,
        challenge: str, pages: PageGuard,
    ) -> None:  # fmt: skip
        self._app = app
        self._keys = keys
        self._limits = limits
        self._metrics = metrics
        self._activity = activity
        self._challenge = challenge
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if route := self._pages.route_of(scope["path"]):
            scope[ROUTE] = route
            with self._metrics.request(route) as seen:
                await self._pages(scope, receive, seen.sending(send))
            return
        with self._metrics.request(route_of(scope["path"])) as seen:
            if scope["path"].startswith(OPEN):
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
        streams = scope["path"] in MOVES
        body = b"" if streams else await received(scope, receive, MAX_BODY)
        if isinstance(body, Refusal):
            await refuse(receive, send, body, "")
            return
        body = self._beyond(scope["path"], found, body) or _for_tenant(scope["path"], body, found.tenant)
        if isinstance(body, Refusal):
            await refuse(replayed(b"", receive), send, body, "")  # it was received
            return
        scope["headers"] = [
            *((name, value) for name, value in scope["headers"] if name != b"mnemark-workspace"),
            (b"mnemark-workspace", str(found.tenant).encode()),
        ]
        scope["query_string"] = scope["query_string"] if streams else b""
        scope[ACCESS] = found
        with self._activity.request():
            await self._app(scope, receive if streams else replayed(body, receive), send)

    async def _allowed(self, scope: Scope) -> Access | Refusal:
        path: str = scope["path"]
        given = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
        token = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
        key = None if token is None else await self._keys.opened_by(token[1])
        if key is None:
            return Refusal(401, "key", _NO_KEY if token is None else UNKNOWN_KEY, challenge=self._challenge)
        if (refusal := await refused(key)) is not None:
            return refusal
        if path.startswith(_ONE_MACHINE):
            return Refusal(
                501, "one_machine", f"{path} is of one machine; a server has /v1, /v1/tools, /hook and /mcp"
            )
        return await refused(key, self._limits) or key

    def _beyond(self, path: str, key: Access, body: bytes) -> Refusal | None:
        """Refuse what a key does not allow."""
        needed = "read" if (_only_reads(body) if path == _MCP else path in _READS) else "write"
        if needed in key.scopes:
            return None
        told = "this key may only read" if "read" in key.scopes else "this token allows nothing here"
        asked = f'{self._challenge}{"," if " " in self._challenge else ""} error="insufficient_scope"'
        scopes = " ".join(map(SCOPE.format, SCOPES))
        return Refusal(403, "scope", told, challenge=f'{asked}, scope="{scopes}"')


def _only_reads(body: bytes) -> bool:
    """Whether a message of MCP, or each of several, calls no tool that changes something."""
    try:
        messages = msgspec.json.decode(body, type=_Message | list[_Message])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    calls = [one for one in (messages if isinstance(messages, list) else [messages]) if one.method == _CALL]
    tools = [BY_NAME.get(str(one.params.get("name"))) for one in calls]
    return all(tool is not None and tool.reads for tool in tools)


class _Message(msgspec.Struct):
    method: str = ""
    params: dict[str, Any] = {}


def route_of(path: str) -> str:
    """Return the route of a path for counting: what is no route of ours is one."""
    return path if path in _ROUTES else "other"


def _for_tenant(path: str, body: bytes, tenant: int) -> bytes | Refusal:
    """Return the body of a request with the memory that it is for; a message of MCP has it in a header."""
    if path == _MCP:
        return body
    try:
        fields = _FIELDS.decode(body or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Refusal(400, "usage", f"invalid request: {error}; see /openapi.json for all fields")
    if "workspace" in fields or "folder" in fields:
        return Refusal(400, "usage", "leave out `workspace` and `folder`: the key names the memory")
    return msgspec.json.encode(fields | {"workspace": msgspec.Raw(b'"%d"' % tenant)})
