"""Say what a talk was: a title, two lines, when and how long, from its page or from its first words."""

from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

import msgspec
from msgspec.structs import replace

from mnemark.errors import NotFoundError
from mnemark.files import jsonl, layout, listing, platform
from mnemark.files.episodes import FOLDER, EpisodeFile, episode_in
from mnemark.files.names import inside
from mnemark.files.sessions import SessionLog, session_id
from mnemark.files.tombstones import Tombstones
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.present.phrases import capital
from mnemark.present.words import Words
from mnemark.summary.tool_titles import execution_of
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.first_line import first_line
from mnemark.types import Problem, Turn

_LINES: Final = 2
_LOOKED_AT: Final = 40
"""Maximum number of turns that are searched for the first words of the user."""
_SENTENCE: Final = lazy_pattern(r"^.{8,}?(?:[.!?](?=\s)|[。！？])")
_STOPS: Final = " .。…"
_AFTER: Final = " .,;:!?…，。；：！？、"
"""Characters that stand between a title and what was said beyond it."""
_USER: Final = frozenset({"user", "human"})


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """A session as people know it."""

    path: str
    session: str
    title: str
    """The name it was imported with, the title of its page, or its first sentence; empty without words."""
    lines: tuple[str, ...] = ()
    """At most two: what its page says, or what was said first."""
    began: datetime | None = None
    ended: datetime | None = None
    """When the last turn was said."""
    turns: int = 0
    scope: str = ""
    agent: str = ""
    """The program that recorded it; empty where unknown."""
    page: str = ""
    """The path of its page (episode); empty if there is none."""


class _Known:
    """What was read of a workspace, until the files change."""

    def __init__(self) -> None:
        self.talks: dict[str, tuple[object, Talk]] = {}
        self.names: dict[str, tuple[object, list[str]]] = {}
        self.pages: dict[str, tuple[object, EpisodeFile | None]] = {}


_KEPT: Final = "talks"


def talk(ws: OpenWorkspace, path: str, words: Words) -> Talk:  # noqa: ARG001 - as all of this layer
    """Return what the talk in a log was; files are read again only if they changed.

    Raises:
        NotFoundError: there is no such log.
        UsageError: the path leads out of the workspace.
    """
    known: _Known = ws.kept.setdefault(_KEPT, _Known())
    full = inside(ws.root, path)
    scope = layout.scope_of(path)
    hidden = ws.index.hidden.current()
    state = platform.identity(full)
    if state is None:
        raise NotFoundError(f"the session {layout.shown(path)} does not exist; it may have been erased")
    _names(ws, known, scope)
    key = (state, hidden.version, known.names[scope][0])
    before = known.talks.get(path)
    if before is not None and before[0] == key and _page_is_same(ws, known, before[1].page):
        return before[1]
    found = _read(ws, known, path, scope, hidden)
    known.talks[path] = key, found
    return found


def _read(ws: OpenWorkspace, known: _Known, path: str, scope: str, hidden: Tombstones) -> Talk:
    log = SessionLog.at(ws.root, path)
    first, agent, named = None, "", ""
    said: list[str] = []
    tools: set[str] = set()
    for number, placed in enumerate(log.turns()):
        turn = placed.turn
        if number > _LOOKED_AT or (len(said) > _LINES and agent):
            break
        if turn.id in hidden.turns:
            continue
        first = first or turn.time
        agent = agent or _text(turn, "agent")
        named = named or _text(turn, "conversation")
        tools |= {
            made.tool.casefold() for call in turn.tool_calls if (made := execution_of(call)) is not None
        }
        if turn.role in _USER and (line := first_line(turn.content, ws.rules)):
            said.append(line)
    last = next((turn.time for turn in reversed(log.last(4)) if turn.id not in hidden.turns), None)
    zone = ws.now().tzinfo
    pages = list(_pages(ws, known, scope, log.id, (_zoned(first, zone), _zoned(last, zone))))
    titles = [named and first_line(named, ws.rules), *(one.title for one in pages), *said[:1]]
    titles.sort(
        key=lambda one: one.partition(":")[0].casefold() in tools
    )  # what a tool did is no name of a talk
    title = next((_title(one) for one in titles if one), "")
    return Talk(
        path=path, session=log.id, title=title, lines=_lines(title, pages, said), began=_zoned(first, zone),
        ended=_zoned(last, zone), turns=_count(log, path, hidden), scope=scope, agent=agent or _agent(log.id),
        page=pages[-1].path if pages else "",
    )  # fmt: skip


def _count(log: SessionLog, path: str, hidden: Tombstones) -> int:
    """Return the number of turns; the log is only decoded where some are hidden."""
    if hidden.mark(path):
        return sum(placed.turn.id not in hidden.turns for placed in log.turns())
    state = platform.identity(log.path)
    lines = jsonl.count_lines(log.path, state.size) if state is not None else 0
    return lines - (session_id(log.path) is not None)


def _zoned(time: datetime | None, zone: tzinfo | None) -> datetime | None:
    if time is None:
        return None
    return time.astimezone(zone) if time.tzinfo is not None else time.replace(tzinfo=zone)


def _agent(session: str) -> str:
    """Return what the id of a session begins with, such as "claude-code"."""
    name, colon, _ = session.partition(":")
    return name if colon else ""


def _text(turn: Turn, name: str) -> str:
    value = turn.meta.get(name)
    return value if isinstance(value, str) else ""


@lru_cache(maxsize=4_096)
def _title(text: str) -> str:
    """Return the first sentence of a text, without a stop at its end."""
    match = _SENTENCE.match(text)
    cut = match[0] if match is not None else text
    return capital(cut.rstrip(_STOPS) + ("…" if cut.endswith("…") else "")) or text


def _lines(title: str, pages: list[EpisodeFile], said: list[str]) -> tuple[str, ...]:
    items = [
        f"{name}: {text}" if text.isascii() else f"{name}：{text}"
        for one in pages
        for name, text in one.items
    ]
    rest = [more for one in said if (more := _beyond(one, title.rstrip(_STOPS)))]
    return tuple((items or rest)[:_LINES])


def _beyond(said: str, title: str) -> str:
    """Return what a message says beyond the title, if that is how it begins."""
    rest = said[len(title) :]
    same = said[: len(title)].casefold() == title.casefold() and not (
        rest[:1].isascii() and rest[:1].isalnum()
    )
    return rest.lstrip(_AFTER) if same else said


def _names(ws: OpenWorkspace, known: _Known, scope: str) -> list[str]:
    """Return the names of the pages of a scope, sorted; the folder is listed again if it changed."""
    folder = layout.in_scope(scope, FOLDER)
    state = platform.identity(ws.root / folder)
    before = known.names.get(scope)
    if before is None or before[0] != state:
        names = sorted(listing.names(ws.root, folder, ".md")) if state is not None else []
        before = known.names[scope] = state, names
    return before[1]


def _pages(
    ws: OpenWorkspace, known: _Known, scope: str, session: str, span: tuple[datetime | None, datetime | None]
) -> Iterator[EpisodeFile]:
    """Yield the pages of a session's sittings, oldest first: only files of its days are read."""
    began, ended = span
    if began is None or ended is None:
        return
    day = timedelta(days=1)
    first, last = f"{began - day:%Y-%m-%d}", f"{ended + day + day:%Y-%m-%d}"
    for name in _names(ws, known, scope):
        if first <= name < last:
            page = _page(ws, known, layout.in_scope(scope, f"{FOLDER}/{name}"))
            if page is not None and page.session == session:
                yield page


def page_title(ws: OpenWorkspace, path: str) -> str:
    """Return the title of the page of a talk; empty if the page is gone or has none."""
    page = _page(ws, ws.kept.setdefault(_KEPT, _Known()), path)
    return page.title if page is not None else ""


def _page_is_same(ws: OpenWorkspace, known: _Known, path: str) -> bool:
    before = known.pages.get(path)
    return not path or (_page(ws, known, path) is not None and known.pages.get(path) is before)


def _page(ws: OpenWorkspace, known: _Known, path: str) -> EpisodeFile | None:
    try:
        state = platform.identity(ws.root / path)
    except OSError:
        return None
    mark = state, ws.index.hidden.current().mark(path)
    before = known.pages.get(path)
    if before is None or before[0] != mark:
        document = ws.visible.read(path)
        page = None if isinstance(document, Problem) else episode_in(path, document.text)
        if page is not None and page.title == PurePosixPath(path).stem:  # its own title is hidden
            page = replace(page, title="")
        before = known.pages[path] = mark, page
    return before[1]
