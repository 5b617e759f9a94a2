"""Serve the pages of memories to browsers: who has signed in to one sees that one, and no other."""

from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.applications import Starlette

from mnemark.errors import UsageError
from mnemark.present.words import LANGUAGES
from mnemark_interfaces.http.calls import status_of
from mnemark_interfaces.http.door import UI, BrowserSession
from mnemark_interfaces.http.guard import (
    SESSION,
    Activity,
    BrowserGuard,
    DoorName,
    DoorRule,
    Headers,
    Receive,
    Refusal,
    Scope,
    Send,
    Site,
    cookie_of,
)
from mnemark_interfaces.http.hosted_session import HostedSession, cookie_name
from mnemark_interfaces.http.pool import Lanes, Workspaces
from mnemark_server.access import Keys
from mnemark_server.database import Database, UnavailableError
from mnemark_server.limits import Limits, refused
from mnemark_server.sessions import IN_ALL, PER_ADDRESS, Failures, Sessions

_PAGES: Final = "mnemark_faces.web.hosted"
_MEMORY: Final = f"{UI}/w/memory"
_FRONT: Final = frozenset({"/", UI})
"""What shows nothing of a memory: links of other sites lead here."""
_FOR_READERS: Final = frozenset({f"{UI}/sign-out", f"{UI}/language"})
"""Forms that change nothing of a memory."""
_HOST: Final = (
    "this server has another name: open the address of its --url; a proxy has to pass on the header Host"
)
_OVER_TLS: Final = (
    "this server does not know that it is reached over https: start it with --url and the address that "
    "browsers open"
)
_RULES: Final = (
    DoorRule(f"{UI}/static", "open", active=False),
    DoorRule(f"{UI}/newer", "cookie", active=False),
    DoorRule(f"{UI}/w", "cookie"),
    *(DoorRule(path, "cookie") for path in sorted(_FOR_READERS)),
    DoorRule(UI, "open"),
    DoorRule("/", "open"),
)


def site_of(url: str) -> Site:
    """Return what a server is called at its public address; without one, whatever it is asked by.

    Raises:
        UsageError: this is no such address.
    """
    if not url:
        return Site(frozenset())
    parts = urlsplit(url)
    ports = {"http": ":80", "https": ":443"}
    if parts.scheme not in ports or not parts.hostname or parts.path.strip("/") or parts.query or "@" in url:
        raise UsageError(
            f"{url!r} is no address of a server; write https://memory.example.org, without a path"
        )
    return Site(frozenset({parts.netloc.lower().removesuffix(ports[parts.scheme])}), parts.scheme)


class PageGuard(BrowserGuard):
    """The guard of a server's pages: a session, which says whose memory it is, and what may be done there."""

    elsewhere = "this page can only be opened from itself; open the first page, and go on from there"

    def __init__(
        self, hosted: Any, app: Starlette, *, site: Site, sessions: Sessions, limits: Limits,
        activity: Activity,
    ) -> None:  # fmt: skip
        super().__init__(app, site=site, rules=_RULES, activity=activity, refused=hosted.refused)
        self._sessions = sessions
        self._limits = limits
        self._secure = site.scheme == "https"
        self._sign_in: str = import_module(_PAGES).SIGN_IN
        self._names = frozenset({f"{_MEMORY}/{one}" for one in hosted.names()}) | {
            "/", UI, _MEMORY, f"{UI}/enter", f"{UI}/newer/memory", *_FOR_READERS,
        }  # fmt: skip

    def route_of(self, path: str) -> str:
        """Return the route of a path for counting; empty for what is not of the pages."""
        if path not in _FRONT and not path.startswith(f"{UI}/"):
            return ""
        if path.startswith(f"{UI}/static/"):
            return f"{UI}/static"
        return path if path in self._names else "other"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on with the language that was chosen in this browser."""
        sent = {"cookie": [v.decode("latin-1") for n, v in scope["headers"] if n.lower() == b"cookie"]}
        language = cookie_of(sent, cookie_name(self._secure, "language"))
        if language in LANGUAGES:
            others = [pair for pair in scope["headers"] if pair[0].lower() != b"accept-language"]
            scope["headers"] = [*others, (b"accept-language", language.encode())]
        await super().__call__(scope, receive, send)

    async def _refusal(self, scope: Scope, door: DoorName) -> Refusal | None:
        """Refuse as every guard of pages; say what whoever runs the server has to set, where that is why."""
        refusal = await super()._refusal(scope, door)
        if refusal is not None and refusal.code in {"host", "origin"}:
            sent = {name.lower(): value.decode("latin-1").lower() for name, value in scope["headers"]}
            over_tls = sent.get(b"origin") == f"https://{sent.get(b'host')}"
            if refusal.code == "host":
                return refusal._replace(message=_HOST)
            if over_tls and not self._secure:
                return refusal._replace(message=_OVER_TLS)
        return refusal

    async def _opened(self, scope: Scope, headers: Headers, door: DoorName) -> Refusal | None:
        refusal = await super()._opened(scope, headers, door)
        if refusal is None and scope["path"] in _FRONT:
            found = await self._session(scope, headers)
            if isinstance(found, Refusal) and found.code != "session":
                return found
            scope[SESSION] = None if isinstance(found, Refusal) else found
        return refusal

    def _from_elsewhere(self, scope: Scope, headers: Headers, door: DoorName) -> Refusal | None:
        if scope["path"] in _FRONT and scope["method"] in {"GET", "HEAD"}:
            return None
        return super()._from_elsewhere(scope, headers, door)

    async def _session(self, scope: Scope, headers: Headers) -> BrowserSession | Refusal:
        token = cookie_of(headers, cookie_name(self._secure))
        try:
            key = await self._sessions.opened_by(token.encode()) if token else None
            refusal = None if key is None else await refused(key, self._limits)
        except UnavailableError as error:
            return Refusal(503, "unavailable", str(error), retry=1)
        if key is None:
            return Refusal(401, "session", self._sign_in)
        if refusal is not None:
            return refusal
        readonly = "write" not in key.scopes
        if readonly and scope["method"] == "POST" and scope["path"] not in _FOR_READERS:
            return Refusal(403, "scope", "this key may only read")
        return HostedSession(token, tenant=str(key.tenant), name=key.name, readonly=readonly)


def guarded(
    app: Starlette, *, url: str, database: Database, keys: Keys, limits: Limits, workspaces: Workspaces,
    lanes: Lanes, activity: Activity, private: str,
) -> PageGuard:  # fmt: skip
    """Add the pages to an application, and return what stands before them.

    Args:
        app: the application of a node.
        url: its public address; empty where it has none.
        database: has the sessions.
        keys: that sessions begin with.
        limits: of requests.
        workspaces: the memories.
        lanes: the threads of their requests.
        activity: counts what runs.
        private: the folder of this node's memories.

    Raises:
        UsageError: the address is none.
    """
    site = site_of(url)
    failures = Failures(each=IN_ALL if url else PER_ADDRESS)
    sessions = Sessions(database, keys, limits, failures)
    hosted = import_module(_PAGES).Hosted(
        lease=workspaces.memory, work=lanes.run, status_of=status_of, sign_in=sessions.sign_in,
        sign_out=sessions.sign_out, secure=site.scheme == "https", private=private,
    )  # fmt: skip
    app.routes[:0] = hosted.routes()
    return PageGuard(hosted, app, site=site, sessions=sessions, limits=limits, activity=activity)
