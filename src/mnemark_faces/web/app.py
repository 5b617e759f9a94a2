"""Route the requests of browsers to pages. The guard has checked cookie, host and origin before."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import parse_qs

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from mnemark.errors import BusyError, MnemarkError, NotFoundError, UsageError
from mnemark.files.disk_errors import HINT
from mnemark.files.user_settings import set_language
from mnemark.memory.memory import Memory
from mnemark.present.phrases import capital, closed
from mnemark.present.words import LANGUAGES, Words
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_faces.web import known, upload
from mnemark_faces.web.at import At, Go, PageContent
from mnemark_faces.web.background import Background
from mnemark_faces.web.pages import ACTIONS, PAGES
from mnemark_faces.web.refused import refusal_page, words_for
from mnemark_faces.web.render import environment, page
from mnemark_interfaces.http.door import SESSION_SECONDS, UI, BrowserSession, Door

_STATIC: Final = {"style.css": "text/css", "script.js": "text/javascript", "icon.svg": "image/svg+xml"}
_MOST_FIELDS: Final = 5_000
_USED: Final = "This ticket is not valid: each works once and for a minute. Run `mnemark web` for a new one."
_OPENERS: Final = frozenset(
    {
        "a",
        "an",
        "another",
        "give",
        "it",
        "name",
        "no",
        "nothing",
        "only",
        "that",
        "the",
        "there",
        "these",
        "this",
    }
    | {"unexpected", "unknown", "what"}
)
"""Words that messages begin with."""
_log = logging.getLogger("mnemark.serve")
_BOOKMARKS: Final = ("", "/{name}", "/{name}/{page}")
"""Addresses that people keep: of the list of workspaces, of one by its name, of a page of that."""
_ADDRESS: Final = lazy_pattern(r"/[A-Za-z0-9_/.-]*")
_QUERY: Final = lazy_pattern(r"[!-~]*")
Fields = Mapping[str, list[str]]
Endpoint = Callable[[Request], Awaitable[Response]]


class Lease(Protocol):
    """Holds the workspace at a path open; it counts as used if `active`."""

    def __call__(self, folder: str, *, active: bool = True) -> AbstractContextManager[Memory]:
        """Return the context."""


class Web:
    """The pages of a daemon.

    Args:
        door: its tickets and sessions.
        lease: opens workspaces.
        work: runs a job of a workspace on a worker thread.
        opened: returns the workspaces that the daemon has open.
        status_of: returns the HTTP status and the code of an error.
        session_key: key of the browser's session in the scope of a request.
        confined: whether the daemon may only open some folders.
    """

    def __init__(
        self,
        door: Door,
        *,
        lease: Lease,
        work: Callable[[object, Callable[[], Any]], Awaitable[Any]],
        opened: Callable[[], Iterable[Path]],
        status_of: Callable[[MnemarkError], tuple[int, str]],
        session_key: str,
        confined: bool = False,
    ) -> None:
        self.door = door
        self._lease = lease
        self._work = work
        self._opened = opened
        self._status_of = status_of
        self._session_key = session_key
        self._confined = confined
        upload.discard_all()  # of a daemon that was killed
        self._checks = Background(lease, "mnemark-check")
        self._imports = Background(lease, "mnemark-import")
        self._learning = Background(lease, "mnemark-learning")

    def close(self) -> None:
        """Stop what runs in the background."""
        self._checks.close()
        self._imports.close()
        self._learning.close()
        upload.discard_all()

    def refused(self, message: str, accepted: str, target: str = "") -> str:
        """Return a page that says why a browser is not let in; it asks for a ticket that leads there."""
        if not target:
            return refusal_page(message, accepted)
        return _entrance_page(words_for(accepted), message, target)

    def routes(self) -> list[Route]:
        """Return the routes of the pages, and of what lets a browser in."""
        home = self.door.home
        return [
            Route(f"{UI}/enter", self._entrance, methods=["GET"]),
            Route(f"{UI}/enter", self._enter, methods=["POST"]),
            Route(f"{UI}/static/{{name}}", self._static, methods=["GET"]),
            Route(home, self._safe(self._workspaces), methods=["GET"]),
            Route(f"{home}/newer/{{id}}", self._safe(self._newer), methods=["GET"]),
            Route(f"{home}/language", self._safe(self._language), methods=["POST"]),
            Route(f"{home}/upload/{{id}}", self._safe(self._upload), methods=["POST"]),
            Route(f"{home}/w/{{id}}", self._safe(self._page), methods=["GET"]),
            Route(f"{home}/w/{{id}}/{{page}}", self._safe(self._page), methods=["GET"]),
            Route(f"{home}/w/{{id}}/{{page}}", self._safe(self._action), methods=["POST"]),
            Route("/", _to_pages, methods=["GET"]),
            *(Route(f"{UI}{rest}", self._entrance, methods=["GET"]) for rest in _BOOKMARKS),
        ]

    def ticket(self, root: Path) -> tuple[str, str]:
        """Return a ticket that leads to a workspace, which is known from now on, and its address to keep."""
        name = known.add(root)
        return self.door.ticket(self._base(name)), f"{UI}/{name}"

    def _base(self, identifier: str) -> str:
        return f"{self.door.home}/w/{identifier}"

    def _folders(self) -> dict[str, Path]:
        """Return the workspaces that can be chosen, by their names in addresses."""
        found = known.named()
        others = (root for root in self._opened() if root not in found.values())
        return found | {known.long_name(root): root for root in others}

    def _root(self, identifier: str) -> Path:
        found = self._folders()
        if identifier in found:
            return found[identifier]
        raise NotFoundError("this workspace is not open here; open it with the command `mnemark web`")

    async def _entrance(self, request: Request, text: str = "", status: int = 200) -> Response:
        """Ask for a ticket; where the address is one to keep, go on to its page after that."""
        path = request.url.path
        target = "" if path == f"{UI}/enter" else _with_query(path, request.url.query)
        return self._asking(_accepted(request), text, status, target)

    def _asking(self, words: Words, text: str, status: int, target: str) -> Response:
        return _html(_entrance_page(words, text, target), status)

    def _target(self, asked: str, otherwise: str) -> str:
        """Return where a ticket leads: to the page that was asked for, if it is one of these."""
        path, _, query = asked.partition("?")
        if not path.startswith(f"{self.door.home}/"):
            parts = path.removeprefix(f"{UI}/").split("/")
            path = f"{self._base(parts[0])}/{'/'.join(parts[1:])}".rstrip("/")
            if not asked.startswith(f"{UI}/") or parts[0] not in self._folders():
                return otherwise
        return _with_query(path, query) if _ADDRESS.fullmatch(path) and _QUERY.fullmatch(query) else otherwise

    async def _enter(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode("latin-1"))
        asked = form.get("next", [""])[-1]
        found = self.door.enter(form.get("ticket", [""])[-1])
        if found is None:
            return self._asking(_accepted(request), _USED, 401, asked)
        cookie, target = found
        # No redirect: what follows a form of another site is without the cookie, which is strict.
        target = self._target(asked, target)
        answer = _html(_rendered("entered.html", _accepted(request), target=target))
        answer.set_cookie(
            self.door.cookie, cookie, max_age=int(SESSION_SECONDS), path=self.door.home,
            httponly=True, samesite="strict",
        )  # fmt: skip
        return answer

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            return Response("", 404)
        data = (Path(__file__).parent / "static" / name).read_bytes()
        return Response(data, media_type=_STATIC[name], headers={"cache-control": "private, max-age=300"})

    async def _language(self, request: Request) -> Response:
        form = await _form(request)
        _check_form(self._session(request), form)
        wanted = form.get("language", [""])[-1]
        await self._work("", lambda: set_language(wanted if wanted in LANGUAGES else ""))
        back = form.get("back", [""])[-1]
        own = back.startswith(self._base("")) and "\n" not in back
        return RedirectResponse(back if own else self.door.home, 303)

    async def _workspaces(self, request: Request) -> Response:
        session, words = self._session(request), self._words(request)

        def job() -> list[known.KnownWorkspace]:
            names = {root: name for name, root in self._folders().items()}
            return known.rows(names, names.__getitem__)

        rows = await self._work("", job)
        return _html(_rendered(
            "workspaces.html", words, count=words.count, size=words.size, rows=rows, session=session,
            number=words.number, home=self.door.home, now=datetime.now().astimezone(),
        ))  # fmt: skip

    async def _newer(self, request: Request) -> Response:
        """Answer whether anything is newer than what a timeline shows."""
        root = self._root(request.path_params["id"])
        first = request.query_params.get("first", "")

        def job() -> bool:
            with self._lease(str(root), active=False) as memory:
                rows = memory.browse.timeline(limit=1).rows
                return bool(rows) and rows[0].key != first

        return _json({"newer": await self._work(str(root), job)})

    async def _page(self, request: Request) -> Response:
        name = request.path_params.get("page", "")
        view = PAGES.get(name)
        if view is None:
            raise NotFoundError("there is no such page")
        return await self._answer(request, view, page=name)

    def _rendered(self, made: PageContent, at: At) -> str:
        waiting = at.memory.browse.review(limit=1).total or 0
        here = made.template.removesuffix(".html")
        return page(made.template, at, {"here": here, "waiting": waiting, **made.values})

    async def _action(self, request: Request) -> Response:
        action = ACTIONS.get(request.path_params["page"])
        if action is None:
            raise NotFoundError("there is no such page")
        form = await _form(request)
        _check_form(self._session(request), form)
        return await self._answer(request, action, form=form)

    async def _upload(self, request: Request) -> Response:
        """Take in a file, and look at what it would add."""
        root = self._root(request.path_params["id"])
        if (last := self._imports.last(root)) is not None and last.running:
            raise BusyError("another import is going on; begin this one when it has ended")
        taken = await upload.receive(
            aiter(request.stream()), request.headers.get("content-type", ""),
            request.headers.get("content-length", ""), self._session(request).is_own_form,
        )  # fmt: skip
        form = {"path": [str(taken.path)], "format": [taken.fields.get("format", "")], "do": ["look"]}
        return await self._answer(request, ACTIONS["import"], form=form)

    async def _answer(
        self,
        request: Request,
        view: Callable[[At], PageContent | Go],
        *,
        form: Fields | None = None,
        page: str = "",
    ) -> Response:
        """Run a view or an action on the workspace that the address names."""
        session, words = self._session(request), self._words(request)
        root = self._root(request.path_params["id"])
        query = parse_qs(request.url.query, max_num_fields=_MOST_FIELDS)

        def job() -> Response:
            with self._lease(str(root)) as memory:
                base = self._base(request.path_params["id"])
                at = At(memory, base, session, words, query=query, form=form or {}, page=page,
                        checks=self._checks, imports=self._imports, learning=self._learning,
                        confined=self._confined, door=self.door, host=request.url.netloc)  # fmt: skip
                made = view(at)
                if isinstance(made, Go):
                    return RedirectResponse(made.path, 303)
                if form is None and at.asked("format") == "json" and made.data is not None:
                    return _json(made.data() if callable(made.data) else made.data)
                return _html(self._rendered(made, at), made.values.get("status", 200))

        answer: Response = await self._work(str(root), job)
        return answer

    def _session(self, request: Request) -> BrowserSession:
        found: BrowserSession = request.scope[self._session_key]
        return found

    def _words(self, request: Request) -> Words:
        return _accepted(request)

    def _alone(self, words: Words, text: str, status: int, base: str) -> Response:
        told = words.told(text)
        title = words("Not found") if status == HTTPStatus.NOT_FOUND else words("That did not work")
        begins = told.text.partition(" ")[0] in _OPENERS  # no value
        said = capital(told.text) if begins else told.text
        said = closed(said, chinese=words.language == "zh" and not told.lang)
        shown = {"text": said, "lang": told.lang, "title": title}
        return _html(_rendered("alone.html", words, base=base, home=self.door.home, **shown), status)

    def _safe(self, endpoint: Endpoint) -> Endpoint:
        """Wrap an endpoint: errors become pages with the words of the command line."""

        async def answer(request: Request) -> Response:
            here = request.path_params.get("id")
            base = self.door.home if here is None else self._base(here)
            try:
                return await endpoint(request)
            except MnemarkError as error:
                text = str(error).removesuffix(HINT)  # of the command line
                return self._alone(self._words(request), text, self._status_of(error)[0], base)
            except Exception as bug:  # noqa: BLE001 - an interface: reported and logged
                _log.exception("unexpected in %s", request.url.path.removeprefix(self.door.home))
                text = f"unexpected {type(bug).__name__}; see the daemon's log"
                return self._alone(self._words(request), text, 500, base)

        return answer


def _check_form(session: BrowserSession, form: Fields) -> None:
    if not session.is_own_form(form.get("form_key", [""])[-1]):
        raise UsageError("this form is from an earlier visit; go back, load the page again, and send it anew")


async def _form(request: Request) -> Fields:
    try:
        text = (await request.body()).decode("ascii")
        return parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise UsageError("this is not the form of a page") from error


async def _to_pages(_: Request) -> Response:
    return RedirectResponse(UI, 303)


def _entrance_page(words: Words, text: str, target: str) -> str:
    told = words.told(text)
    return _rendered("enter.html", words, text=told.text, lang=told.lang, target=target)


def _with_query(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path


def _accepted(request: Request) -> Words:
    """Return the words of the language that its user set, else of the browser's own."""
    return words_for(request.headers.get("accept-language", ""))


def _rendered(template: str, words: Words, **values: Any) -> str:
    return environment().get_template(template).render({"_": words, **values})


def _html(text: str, status: int = 200) -> Response:
    return Response(text.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8")


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value, enc_hook=str), media_type="application/json")
