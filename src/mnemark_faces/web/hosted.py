"""The pages of a server: each browser has signed in to one memory with its key, and any node answers it."""

import base64
import hmac
import re
import zlib
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from mnemark.errors import MnemarkError, NotFoundError
from mnemark.memory.memory import Memory
from mnemark.present.words import LANGUAGES, Translated, Words, language_of
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_faces.web.at import CHANGES, ONE_MACHINE, At, Flash
from mnemark_faces.web.memory_pages import (
    Fields,
    Lease,
    MemoryPages,
    View,
    check_form,
    form_of,
    html,
    is_address,
    rendered,
)
from mnemark_faces.web.pages import ACTIONS, PAGES
from mnemark_faces.web.render import excerpt
from mnemark_interfaces.http.door import SESSION_SECONDS, UI
from mnemark_interfaces.http.guard import SESSION, Refusal
from mnemark_interfaces.http.hosted_session import HostedSession, cookie_name

SIGN_IN: Final = "Sign in to open this page."
"""What a browser without a session is told; it gets the form for that."""
_MEMORY: Final = "memory"
"""What addresses call the memory: whose it is says the session alone."""
_TOLD_SECONDS: Final = 300
_MOST_TOLD: Final = 3_500
"""Maximum length of a cookie with messages; browsers keep 4,096 bytes."""
_SHORT: Final = 120
_COMMAND: Final = lazy_pattern(r"[;；,，] ?[^;；,，`]*`mnemark [^`]*`[^;；,，`。.]*([。.]?)$")
"""The end of a message that names a command to run."""
_YEAR: Final = 31_536_000
_Told = list[tuple[str, list[str]]]


class Hosted(MemoryPages):
    """The pages of a server.

    Args:
        lease: opens memories.
        work: runs a job of a memory on a worker thread.
        status_of: returns the HTTP status and the code of an error.
        sign_in: returns the cookie for a key that an address sends, or why there is none.
        sign_out: ends a session.
        secure: whether browsers reach this over TLS.
        private: the folder that the memories of this node are in, which no page names.
    """

    unexpected = "unexpected {kind}; whoever runs this server finds more in its log"

    def __init__(
        self,
        *,
        lease: Lease,
        work: Callable[[object, Callable[[], Any]], Awaitable[Any]],
        status_of: Callable[[MnemarkError], tuple[int, str]],
        sign_in: Callable[[str, str], Awaitable[str | Refusal]],
        sign_out: Callable[[HostedSession], Awaitable[None]],
        secure: bool,
        private: str,
    ) -> None:
        super().__init__(lease=lease, work=work, status_of=status_of, session_key=SESSION)
        self._sign_in = sign_in
        self._sign_out = sign_out
        self._secure = secure
        self._private = lazy_pattern(rf"{re.escape(private)}(?:/\d*)?/?")

    @property
    def home(self) -> str:
        """Path that all pages are below."""
        return UI

    def names(self) -> frozenset[str]:
        """Return the names of pages and forms, as addresses have them."""
        return frozenset({*PAGES, *ACTIONS} - {""})

    def routes(self) -> list[Route]:
        """Return the routes of the pages, and of what lets a browser in."""
        return [
            Route("/", self._front, methods=["GET"]),
            Route(UI, self._front, methods=["GET"]),
            Route(f"{UI}/enter", self._front, methods=["GET"]),
            Route(f"{UI}/enter", self._safe(self._enter), methods=["POST"]),
            Route(f"{UI}/sign-out", self._safe(self._leave), methods=["POST"]),
            Route(f"{UI}/language", self._safe(self._language), methods=["POST"]),
            *self._memory_routes(),
            Route(f"{UI}/{{rest:path}}", self._safe(self._nowhere), methods=["GET"]),
        ]

    def refused(self, message: str, accepted: str, target: str = "") -> str:
        """Return a page that says why a browser is not let in; one without a session can sign in there."""
        words = _words(accepted)
        if message == SIGN_IN:
            return self._sign_in_page(words, message, target)
        answer = self._alone(words, message, 403, self._base(_MEMORY))
        return bytes(answer.body).decode()

    async def _front(self, request: Request) -> Response:
        """Go on to the memory, or ask for its key."""
        words = self._words(request)
        if request.scope.get(SESSION) is not None:
            return RedirectResponse(self._base(_MEMORY), 303)
        if request.headers.get("sec-fetch-site") in {"cross-site", "same-site"}:
            # Who follows a link of another site comes without the cookie, which is strict: go on from here.
            return html(rendered("entered.html", words, target=UI))
        return html(self._sign_in_page(words))

    async def _nowhere(self, _: Request) -> Response:
        raise NotFoundError("there is no such page")

    async def _enter(self, request: Request) -> Response:
        form = await form_of(request)
        words, target = self._words(request), form.get("next", [""])[-1]
        key = form.get("key", [""])[-1].strip()
        found = await self._sign_in(key, request.client.host if request.client else "")
        if isinstance(found, Refusal):
            answer = html(self._sign_in_page(words, found.message, target), found.status)
            if found.retry:
                answer.headers["retry-after"] = str(found.retry)
            return answer
        answer = RedirectResponse(self._own(target), 303)
        self._set(answer, "", found, int(SESSION_SECONDS))
        return answer

    def _own(self, asked: str) -> str:
        """Return an address that was asked for, if it is one of these pages; else that of the first."""
        path, _, query = asked.partition("?")
        base = self._base(_MEMORY)
        own = path == base or path.startswith(f"{base}/")
        return asked if own and is_address(path, query) else base

    async def _leave(self, request: Request) -> Response:
        check_form(self._session(request), await form_of(request))
        await self._sign_out(self._visit(request))
        answer = RedirectResponse(UI, 303)
        self._set(answer, "", "", 0)
        self._set(answer, "told", "", 0)
        return answer

    async def _language(self, request: Request) -> Response:
        """Keep the language in the browser: on a server there is no setting for all faces."""
        form = await form_of(request)
        check_form(self._session(request), form)
        wanted = form.get("language", [""])[-1]
        answer = RedirectResponse(self._own(form.get("back", [""])[-1]), 303)
        if wanted in LANGUAGES:
            self._set(answer, "language", wanted, _YEAR)
        return answer

    async def _page(self, request: Request) -> Response:
        return self._not_here(request, PAGES) or await super()._page(request)

    async def _action(self, request: Request) -> Response:
        return self._not_here(request, ACTIONS) or await super()._action(request)

    def _not_here(self, request: Request, known: Any) -> Response | None:
        """Refuse by its name what is of one machine, or what a key for reading has not."""
        name = request.path_params.get("page", "")
        if name not in known:
            return None
        if name in ONE_MACHINE:
            text, status = f"the page {name!r} is of one machine: a server has no such page", 501
        elif self._visit(request).readonly and name in CHANGES:
            text, status = "this key may only read", 403
        else:
            return None
        return self._alone(self._words(request), text, status, self._base(_MEMORY))

    async def _answer(
        self, request: Request, view: View, *, form: Fields | None = None, page: str = ""
    ) -> Response:
        """Run a view or an action; what the next page is to tell goes with the browser, not with the node."""
        session = self._visit(request)
        came = request.cookies.get(cookie_name(self._secure, "told"), "")
        session.messages = list(_opened(session, came))
        answer = await super()._answer(request, view, form=form, page=page)
        left = _sealed(session, session.messages) if session.messages else ""
        if left != came:
            self._set(answer, "told", left, _TOLD_SECONDS if left else 0)
        return answer

    def _folder(self, request: Request) -> str:
        if request.path_params["id"] != _MEMORY:
            raise NotFoundError("there is no such page")
        return self._visit(request).tenant

    def _at(self, request: Request, memory: Memory, **given: Any) -> At:
        session = self._visit(request)
        return At(
            memory, self._base(_MEMORY), session, self._words(request), hosted=True, name=session.name,
            readonly=session.readonly, **given,
        )  # fmt: skip

    def _visit(self, request: Request) -> HostedSession:
        found = self._session(request)
        assert isinstance(found, HostedSession)  # noqa: S101 - the guard of a server makes these
        return found

    def _words(self, request: Request) -> Words:
        return _words(request.headers.get("accept-language", ""))

    def _alone(self, words: Words, text: str, status: int, base: str) -> Response:
        """Return a page with a message, in which a file is named as its memory calls it."""
        base = self._base(_MEMORY) if base == self.home else base
        answer = super()._alone(words, self._private.sub("", text), status, base)
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            answer.headers["retry-after"] = "1"
        return answer

    def _told(self, words: Words, text: str) -> Translated:
        """Return a message without the command that it ends with: there is no command line here."""
        told = super()._told(words, text)
        return told._replace(text=_COMMAND.sub(r"\1", told.text))

    def _sign_in_page(self, words: Words, text: str = "", target: str = "") -> str:
        told = self._told(words, text) if text else Translated("")
        return rendered("sign_in.html", words, text=told.text, lang=told.lang, target=target)

    def _set(self, answer: Response, part: str, value: str, seconds: int) -> None:
        answer.set_cookie(
            cookie_name(self._secure, part), value, max_age=seconds, path="/", secure=self._secure,
            httponly=True, samesite="strict",
        )  # fmt: skip


def _words(accepted: str) -> Words:
    """Return the words of a browser's language: a setting of the node's user is not that of a tenant."""
    return Words(language_of("", accepted))


def _sealed(session: HostedSession, messages: Sequence[Flash]) -> str:
    """Return messages as the value of a cookie; of many long ones their beginnings, without what undoes them.

    The page of changes undoes them as well.
    """
    full = [(one.text, list(one.undo)) for one in messages]
    value = _signed(session, full)
    if len(value) <= _MOST_TOLD:
        return value
    return _signed(session, [(excerpt(text, _SHORT), []) for text, _ in full])


def _signed(session: HostedSession, told: _Told) -> str:
    data = base64.urlsafe_b64encode(zlib.compress(msgspec.json.encode(told))).decode()
    return f"{data}.{_mark(session, data)}"


def _mark(session: HostedSession, data: str) -> str:
    return hmac.new(session.key_for("told").encode(), data.encode(), "sha256").hexdigest()


def _opened(session: HostedSession, value: str) -> Sequence[Flash]:
    """Return the messages of a cookie that this session was given; none of another."""
    data, _, mark = value.partition(".")
    if not data or not hmac.compare_digest(mark.encode(), _mark(session, data).encode()):
        return ()
    told = msgspec.json.decode(zlib.decompress(base64.urlsafe_b64decode(data)), type=_Told)
    return [Flash(text, tuple(undo)) for text, undo in told]
