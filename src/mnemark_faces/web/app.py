"""The pages of a daemon: its list of workspaces, and the tickets that let a browser in."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from mnemark.errors import BusyError, MnemarkError, NotFoundError
from mnemark.files.user_settings import set_language
from mnemark.memory.memory import Memory
from mnemark.present.words import LANGUAGES, Words
from mnemark_faces.web import known, upload
from mnemark_faces.web.at import At
from mnemark_faces.web.background import Background
from mnemark_faces.web.memory_pages import (
    Lease,
    MemoryPages,
    check_form,
    form_of,
    html,
    is_address,
    rendered,
)
from mnemark_faces.web.pages import ACTIONS
from mnemark_faces.web.refused import refusal_page, words_for
from mnemark_interfaces.http.door import SESSION_SECONDS, UI, Door

_USED: Final = "This ticket is not valid: each works once and for a minute. Run `mnemark web` for a new one."
_BOOKMARKS: Final = ("", "/{name}", "/{name}/{page}")
"""Addresses that people keep: of the list of workspaces, of one by its name, of a page of that."""


class Web(MemoryPages):
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
        super().__init__(lease=lease, work=work, status_of=status_of, session_key=session_key)
        self.door = door
        self._opened = opened
        self._confined = confined
        upload.discard_all()  # of a daemon that was killed
        self._checks = Background(lease, "mnemark-check")
        self._imports = Background(lease, "mnemark-import")
        self._learning = Background(lease, "mnemark-learning")

    @property
    def home(self) -> str:
        """Path that the pages of all memories are below."""
        return self.door.home

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
        home = self.home
        return [
            Route(f"{UI}/enter", self._entrance, methods=["GET"]),
            Route(f"{UI}/enter", self._enter, methods=["POST"]),
            Route(home, self._safe(self._workspaces), methods=["GET"]),
            Route(f"{home}/language", self._safe(self._language), methods=["POST"]),
            Route(f"{home}/upload/{{id}}", self._safe(self._upload), methods=["POST"]),
            *self._memory_routes(),
            Route("/", _to_pages, methods=["GET"]),
            *(Route(f"{UI}{rest}", self._entrance, methods=["GET"]) for rest in _BOOKMARKS),
        ]

    def ticket(self, root: Path) -> tuple[str, str]:
        """Return a ticket that leads to a workspace, which is known from now on, and its address to keep."""
        name = known.add(root)
        return self.door.ticket(self._base(name)), f"{UI}/{name}"

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

    def _folder(self, request: Request) -> str:
        return str(self._root(request.path_params["id"]))

    def _at(self, request: Request, memory: Memory, **given: Any) -> At:
        return At(
            memory, self._base(request.path_params["id"]), self._session(request), self._words(request),
            checks=self._checks, imports=self._imports, learning=self._learning, confined=self._confined,
            door=self.door, host=request.url.netloc, **given,
        )  # fmt: skip

    async def _entrance(self, request: Request) -> Response:
        """Ask for a ticket; where the address is one to keep, go on to its page after that."""
        path = request.url.path
        target = "" if path == f"{UI}/enter" else _with_query(path, request.url.query)
        return html(_entrance_page(self._words(request), "", target))

    def _target(self, asked: str, otherwise: str) -> str:
        """Return where a ticket leads: to the page that was asked for, if it is one of these."""
        path, _, query = asked.partition("?")
        if not path.startswith(f"{self.home}/"):
            parts = path.removeprefix(f"{UI}/").split("/")
            path = f"{self._base(parts[0])}/{'/'.join(parts[1:])}".rstrip("/")
            if not asked.startswith(f"{UI}/") or parts[0] not in self._folders():
                return otherwise
        return _with_query(path, query) if is_address(path, query) else otherwise

    async def _enter(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode("latin-1"))
        asked = form.get("next", [""])[-1]
        found = self.door.enter(form.get("ticket", [""])[-1])
        if found is None:
            return html(_entrance_page(self._words(request), _USED, asked), 401)
        cookie, target = found
        # No redirect: what follows a form of another site is without the cookie, which is strict.
        target = self._target(asked, target)
        answer = html(rendered("entered.html", self._words(request), target=target))
        answer.set_cookie(
            self.door.cookie, cookie, max_age=int(SESSION_SECONDS), path=self.home,
            httponly=True, samesite="strict",
        )  # fmt: skip
        return answer

    async def _language(self, request: Request) -> Response:
        form = await form_of(request)
        check_form(self._session(request), form)
        wanted = form.get("language", [""])[-1]
        await self._work("", lambda: set_language(wanted if wanted in LANGUAGES else ""))
        back = form.get("back", [""])[-1]
        own = back.startswith(self._base("")) and "\n" not in back
        return RedirectResponse(back if own else self.home, 303)

    async def _workspaces(self, request: Request) -> Response:
        session, words = self._session(request), self._words(request)

        def job() -> list[known.KnownWorkspace]:
            names = {root: name for name, root in self._folders().items()}
            return known.rows(names, names.__getitem__)

        rows = await self._work("", job)
        return html(rendered(
            "workspaces.html", words, count=words.count, size=words.size, rows=rows, session=session,
            number=words.number, home=self.home, now=datetime.now().astimezone(),
        ))  # fmt: skip

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


async def _to_pages(_: Request) -> Response:
    return RedirectResponse(UI, 303)


def _entrance_page(words: Words, text: str, target: str) -> str:
    told = words.told(text)
    return rendered("enter.html", words, text=told.text, lang=told.lang, target=target)


def _with_query(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path
