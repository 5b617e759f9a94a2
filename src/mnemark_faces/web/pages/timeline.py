"""The timeline: talks, notes and changes by day; or the turns of a session or a tool, one by one."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

import msgspec

from mnemark.files.layout import in_scope
from mnemark.files.sessions import SessionLog
from mnemark.memory.browse.change_rows import ChangeRow
from mnemark.memory.browse.diary import PARTS, DiaryEntry, DiaryLine
from mnemark.memory.browse.entries import SHOWN, TimelineEntry
from mnemark.memory.browse.talk_rows import TalkRow
from mnemark.present import changes
from mnemark.text.markdown import drop_comments
from mnemark.types import ORIGINS
from mnemark_faces.web.at import At, PageContent
from mnemark_faces.web.telling import TalkLine, by_day, speaker, title_of, told

_OF_TALKS: Final = frozenset({"turn", "observation"})
_FOLDED_FROM: Final = 4
"""Changes without a talk or note between them that are shown; the others open on a click."""
_FOLDED_TO: Final = 24
"""How many of them open; the page of changes has the rest."""
_FEWEST: Final = 16
"""Rows that are to be seen, as far as there are so many, where most of them are folded."""
_MORE: Final = 4
"""How many times as much of the diary one page here takes for that."""
_KINDS: Final = {*SHOWN, "fact"}


class Entry(NamedTuple):
    """A row: a talk that opens to its first messages, a note, or a sentence on what was changed."""

    part: str
    time: str
    ref: str
    words: str
    talk: TalkLine | None = None
    lines: tuple[DiaryLine, ...] = ()
    change: ChangeRow | None = None


def timeline(at: At) -> PageContent:
    """Show what happened, the latest first."""
    kinds: Any = [one for one in at.all_asked("kind") if one in _KINDS]
    origins: Any = [one for one in at.all_asked("origin") if one in ORIGINS]
    asked = {name: at.asked(name) for name in ("until", "session", "tool")}
    single = bool(kinds or origins or asked["session"] or asked["tool"] or at.asked("format") == "json")
    made = _turns(at, kinds, origins, asked) if single else _diary(at, asked["until"])
    narrowed = single or bool(asked["until"] or at.asked("after") or at.asked("part"))
    newest = [] if narrowed else at.memory.browse.timeline(limit=1).rows
    values = {
        "kinds": kinds, "asked": asked, "part": at.asked("part"), "today": at.now.date().isoformat(),
        "newest": newest[0].key if newest else "", "titles": {}, "days": [], "entries": [], "first": "",
        **made,
    }  # fmt: skip
    return PageContent("timeline.html", values, values.pop("data", None))


def _turns(at: At, kinds: Any, origins: Any, asked: dict[str, str]) -> dict[str, Any]:
    page = at.memory.browse.timeline(
        kinds=kinds or SHOWN, origins=origins, until=asked["until"] or None, session=asked["session"],
        tool=asked["tool"], limit=at.number("limit", 50), after=at.asked("after"),
    )  # fmt: skip
    if at.asked("format") == "json":
        told = tuple(changes.of_entry(one, at.memory.workspace) for one in page.rows)
        return {"data": msgspec.structs.replace(page, rows=told)}
    ws, words = at.memory.workspace, at.words
    said = {one.key: changes.sentence(one.change, words, ws) for one in page.rows if one.change is not None}
    titles = {one.title: _title(at, one) for one in page.rows if one.kind in _OF_TALKS and one.title}
    rows = [msgspec.structs.replace(one, text=drop_comments(one.text, blanks=" ")) for one in page.rows]
    entries = by_day(at, rows, lambda row: row.time)
    return {
        "entries": entries, "said": said, "titles": titles, "next": page.next,
        "speaker": lambda entry: speaker(at, entry.who, entry.origin),
    }  # fmt: skip


def _title(at: At, one: TimelineEntry) -> str:
    """Return the title of the talk that a turn or a tool call belongs to; its day where it has no words."""
    return title_of(at, in_scope(one.scope, SessionLog(at.root / one.scope, one.title).name))


def _diary(at: At, until: str) -> dict[str, Any]:
    parts: Any = [one for one in PARTS if one == at.asked("part")]
    rows: list[DiaryEntry] = []
    after, limit = at.asked("after"), at.number("limit", 40)
    for size in (limit,) if at.asked("limit") else (limit, _MORE * limit):
        page = at.memory.browse.diary(
            parts=parts or PARTS, until=until or None, limit=size, after=after, told=_FOLDED_TO
        )
        rows += page.rows
        after = page.next
        days = by_day(at, rows, lambda row: row.time)
        runs = [[list(run) for _, run in groupby(day.rows, key=lambda row: row.part)] for day in days]
        if not after or sum(_seen(run) for of_day in runs for run in of_day) >= _FEWEST:
            break
    pairs = zip(days, runs, strict=True)
    return {
        "days": [day._replace(rows=[_run(at, run) for run in of_day]) for day, of_day in pairs],
        "next": after,
        "first": page.first,
        "folded_from": _FOLDED_FROM,
    }


def _seen(run: Sequence[DiaryEntry]) -> int:
    """Return how many rows of a run are not folded: of changes a few, all of talks and notes."""
    return min(len(run), _FOLDED_FROM) if run[0].part == "change" else len(run)


def _run(at: At, run: Sequence[DiaryEntry]) -> tuple[str, int, list[Entry]]:
    """Return a run's part, how long it is, and its rows: of many changes those that can be opened."""
    part = run[0].part
    shown = [one for one in run[:_FOLDED_TO] if one.change is not None] if part == "change" else run
    return part, len(run), [_entry(at, one) for one in shown]


def _entry(at: At, one: DiaryEntry) -> Entry:
    ws = at.memory.workspace
    if one.change is not None:
        sentence = changes.sentence(one.change, at.words, ws)
        return Entry("change", one.time, one.change.id, sentence, change=one.change)
    if one.part == "note":
        return Entry("note", one.time, one.lines[0].ref, at.place(one.path, heading=True), lines=one.lines)
    row = told(
        at, TalkRow(path=one.path, scope=one.scope, began=one.began, ended=one.time, messages=one.count)
    )
    return Entry("talk", one.time, one.path, "", talk=row, lines=one.lines)
