"""Route what browsers ask of one memory to its pages; a guard has checked cookie, host and origin before.

Whose memory it is, and where the pages are, a subclass says: on one machine or on a server.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import parse_qs

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from mnemark.errors import MnemarkError, NotFoundError, UsageError
from mnemark.files.disk_errors import HINT
from mnemark.memory.memory import Memory
from mnemark.present.phrases import capital, closed
from mnemark.present.words import Translated, Words
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_faces.web.at import At, Go, PageContent
from mnemark_faces.web.pages import ACTIONS, PAGES
from mnemark_faces.web.refused import words_for
from mnemark_faces.web.render import environment, page
from mnemark_interfaces.http.door import UI, BrowserSession

_STATIC: Final = {"style.css": "text/css", "script.js": "text/javascript", "icon.svg": "image/svg+xml"}
_MOST_FIELDS: Final = 5_000
_ADDRESS: Final = lazy_pattern(r"/[A-Za-z0-9_/.-]*")
_QUERY: Final = lazy_pattern(r"[!-~]*")
_OPENERS: Final = frozenset(
    {"a", "an", "another", "give", "it", "name", "no", "nothing", "only", "that", "the", "there", "these"}
    | {"this", "unexpected", "unknown", "what"}
)
"""Words that messages begin with."""
_log = logging.getLogger("mnemark.serve")
Fields = Mapping[str, list[str]]
Endpoint = Callable[[Request], Awaitable[Response]]
View = Callable[[At], PageContent | Go]


class Lease(Protocol):
    """Holds the workspace at a path open; it counts as used if `active`."""

    def __call__(self, folder: str, *, active: bool = True) -> AbstractContextManager[Memory]:
        """Return the context."""


class MemoryPages:
    """The pages of memories.

    Args:
        lease: opens workspaces.
        work: runs a job of a workspace on a worker thread.
        status_of: returns the HTTP status and the code of an error.
        session_key: key of the browser's session in the scope of a request.
    """

    unexpected = "unexpected {kind}; see the daemon's log"
    """What is told of an error of the program."""

    def __init__(
        self,
        *,
        lease: Lease,
        work: Callable[[object, Callable[[], Any]], Awaitable[Any]],
        status_of: Callable[[MnemarkError], tuple[int, str]],
        session_key: str,
    ) -> None:
        self._lease = lease
        self._work = work
        self._status_of = status_of
        self._session_key = session_key

    @property
    def home(self) -> str:
        """Path that the pages of all memories are below."""
        raise NotImplementedError

    def _folder(self, request: Request) -> str:
        """Return what the memory that a request is for is opened by."""
        raise NotImplementedError

    def _at(self, request: Request, memory: Memory, **given: Any) -> At:
        """Return the place of a request."""
        raise NotImplementedError

    def _base(self, identifier: str) -> str:
        return f"{self.home}/w/{identifier}"

    def _memory_routes(self) -> list[Route]:
        """Return the routes of the pages of a memory, and of what they consist of."""
        home = self.home
        return [
            Route(f"{UI}/static/{{name}}", self._static, methods=["GET"]),
            Route(f"{home}/newer/{{id}}", self._safe(self._newer), methods=["GET"]),
            Route(f"{home}/w/{{id}}", self._safe(self._page), methods=["GET"]),
            Route(f"{home}/w/{{id}}/{{page}}", self._safe(self._page), methods=["GET"]),
            Route(f"{home}/w/{{id}}/{{page}}", self._safe(self._action), methods=["POST"]),
        ]

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            return Response("", 404)
        data = (Path(__file__).parent / "static" / name).read_bytes()
        return Response(data, media_type=_STATIC[name], headers={"cache-control": "private, max-age=300"})

    async def _newer(self, request: Request) -> Response:
        """Answer whether anything is newer than what a timeline shows."""
        folder = self._folder(request)
        first = request.query_params.get("first", "")

        def job() -> bool:
            with self._lease(folder, active=False) as memory:
                rows = memory.browse.timeline(limit=1).rows
                return bool(rows) and rows[0].key != first

        return json({"newer": await self._work(folder, job)})

    async def _page(self, request: Request) -> Response:
        name = request.path_params.get("page", "")
        view = PAGES.get(name)
        if view is None:
            raise NotFoundError("there is no such page")
        return await self._answer(request, view, page=name)

    async def _action(self, request: Request) -> Response:
        action = ACTIONS.get(request.path_params["page"])
        if action is None:
            raise NotFoundError("there is no such page")
        form = await form_of(request)
        check_form(self._session(request), form)
        return await self._answer(request, action, form=form)

    async def _answer(
        self, request: Request, view: View, *, form: Fields | None = None, page: str = ""
    ) -> Response:
        """Run a view or an action on the memory that a request is for."""
        folder = self._folder(request)
        query = parse_qs(request.url.query, max_num_fields=_MOST_FIELDS)

        def job() -> Response:
            with self._lease(folder) as memory:
                at = self._at(request, memory, query=query, form=form or {}, page=page)
                made = view(at)
                if isinstance(made, Go):
                    return RedirectResponse(made.path, 303)
                if form is None and at.asked("format") == "json" and made.data is not None:
                    return json(made.data() if callable(made.data) else made.data)
                return html(self._rendered(made, at), made.values.get("status", 200))

        answer: Response = await self._work(folder, job)
        return answer

    def _rendered(self, made: PageContent, at: At) -> str:
        waiting = at.memory.browse.review(limit=1).total or 0
        here = made.template.removesuffix(".html")
        return page(made.template, at, {"here": here, "waiting": waiting, **made.values})

    def _session(self, request: Request) -> BrowserSession:
        found: BrowserSession = request.scope[self._session_key]
        return found

    def _words(self, request: Request) -> Words:
        """Return the words of the language that its user set, else of the browser's own."""
        return words_for(request.headers.get("accept-language", ""))

    def _alone(self, words: Words, text: str, status: int, base: str) -> Response:
        told = self._told(words, text)
        title = words("Not found") if status == HTTPStatus.NOT_FOUND else words("That did not work")
        shown = {"text": told.text, "lang": told.lang, "title": title}
        return html(rendered("alone.html", words, base=base, home=self.home, **shown), status)

    def _told(self, words: Words, text: str) -> Translated:
        """Return a message as a sentence in the page's language."""
        told = words.told(text)
        begins = told.text.partition(" ")[0] in _OPENERS  # no value
        said = capital(told.text) if begins else told.text
        return Translated(closed(said, chinese=words.language == "zh" and not told.lang), told.lang)

    def _safe(self, endpoint: Endpoint) -> Endpoint:
        """Wrap an endpoint: errors become pages with the words of the command line."""

        async def answer(request: Request) -> Response:
            here = request.path_params.get("id")
            base = self.home if here is None else self._base(here)
            try:
                return await endpoint(request)
            except MnemarkError as error:
                text = str(error).removesuffix(HINT)  # of the command line
                return self._alone(self._words(request), text, self._status_of(error)[0], base)
            except Exception as bug:  # noqa: BLE001 - an interface: reported and logged
                _log.exception("unexpected in %s", request.url.path.removeprefix(self.home))
                text = self.unexpected.format(kind=type(bug).__name__)
                return self._alone(self._words(request), text, 500, base)

        return answer


def check_form(session: BrowserSession, form: Fields) -> None:
    """Raise UsageError for a form that is not from a page of this session."""
    if not session.is_own_form(form.get("form_key", [""])[-1]):
        raise UsageError("this form is from an earlier visit; go back, load the page again, and send it anew")


async def form_of(request: Request) -> Fields:
    """Return the fields of a form. Raises UsageError for what is none."""
    try:
        text = (await request.body()).decode("ascii")
        return parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise UsageError("this is not the form of a page") from error


def is_address(path: str, query: str) -> bool:
    """Whether a path and a query are of characters that an address of these pages has."""
    return bool(_ADDRESS.fullmatch(path) and _QUERY.fullmatch(query))


def rendered(template: str, words: Words, **values: Any) -> str:
    """Return a page that is of no memory."""
    return environment().get_template(template).render({"_": words, **values})


def html(text: str, status: int = 200) -> Response:
    """Return a page as an answer."""
    return Response(text.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8")


def json(value: Any) -> Response:
    """Return data as an answer."""
    return Response(msgspec.json.encode(value, enc_hook=str), media_type="application/json")
