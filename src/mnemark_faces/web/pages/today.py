"""Today as a diary: talks, what is coming up and open, last night, what waits, and what was used."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from mnemark.files.names import split_ref
from mnemark.memory.browse.ahead import OpenPoint
from mnemark.memory.browse.change_rows import ChangeRow
from mnemark.memory.browse.check import to_check
from mnemark.memory.browse.entries import Day
from mnemark.memory.transfer.imports import format_titles
from mnemark.present import changes, facts
from mnemark_faces.web import charts
from mnemark_faces.web.at import At, PageContent
from mnemark_faces.web.telling import DayOf, TalkLine, by_day, day_of, title_of, told
from mnemark_faces.web.used import use_of

_DAYS: Final = 30
_TALKS: Final = 12
_FEWEST: Final = 5
"""Talks that are shown, of earlier days where today has fewer."""
_LATEST: Final = 6
_LOOKED_AT: Final = 40
"""Refs used last, which are told by talk."""


class Row(NamedTuple):
    """A thing in words, where it leads, and when it was or will be."""

    words: str
    link: str
    day: DayOf | None = None
    times: int = 0
    last: str = ""


def today(at: At) -> PageContent:
    """Show the start page."""
    browse, ws = at.memory.browse, at.memory.workspace
    days, used = browse.activity(days=_DAYS), browse.used(days=_DAYS)
    spend, came, talks = browse.spend(days=1), browse.brought(), _talks(at)
    points, recent = browse.open_points(), browse.facts(order="recent", limit=_LATEST)
    known = recent.total or 0
    values = {
        "needs": at.memory.attention(),  # after the lists, which have brought the index up to date
        "talks": by_day(at, talks, lambda talk: talk.day), "date": at.now.date().isoformat(),
        "coming": _coming(at, points), "points": points[:_LATEST], "night": _night(at),
        "learned": [_learned(at, row.fact) for row in recent.rows], "recalled": _recalled(at),
        "facts": known, "turns": sum(day.turns for day in days), "days": days,
        "activity": _activity(at, days), "use": use_of(at, used), "spent": spend, "brought": came,
        "titles": format_titles() if came else {}, "unchecked": len(to_check(ws)) if came else 0,
        "unread": not known and any(one.sessions for one in came),
        "empty": not (talks or known or came or (ws.index.exists() and ws.index.size())),
    }  # fmt: skip
    return PageContent("today.html", values, {"attention": values["needs"], "activity": days, "spend": spend})


def _talks(at: At) -> list[TalkLine]:
    """Return today's talks; where there are few, the last ones before, too."""
    rows = at.memory.browse.talks(limit=_TALKS).rows
    day = at.now.date().isoformat()
    count = max(sum(row.ended[:10] == day for row in rows), _FEWEST)
    return [told(at, row) for row in rows[:count]]


def _coming(at: At, points: Sequence[OpenPoint]) -> list[Row]:
    found = []
    for one in at.memory.browse.coming(points):
        if one.fact is not None:
            value = (
                one.fact.value.replace(one.day, "", 1).strip() or one.fact.value
            )  # the day stands beside it
            words = facts.sentence(msgspec.structs.replace(one.fact, value=value), at.words)
            link = at.link("item", ref=one.fact.id)
        else:
            words, link = one.text, at.link("files", path=split_ref(one.ref)[0])
        found.append(Row(words, link, day_of(at, one.day)))
    return found


def _night(at: At) -> tuple[ChangeRow, str] | None:
    """Return the last consolidation in a sentence, if it was not long ago and still stands."""
    row = changes.last_night(at.memory.workspace, at.memory.browse.log)
    return None if row is None else (row, changes.sentence(row, at.words, at.memory.workspace))


def _learned(at: At, fact: Any) -> Row:
    return Row(facts.sentence(fact, at.words), at.link("item", ref=fact.id), last=fact.recorded or fact.since)


def _recalled(at: At) -> list[Row]:
    """Return what was recalled last: facts in sentences, passages by where they stand."""
    rows: dict[str, Row] = {}
    for one in at.memory.browse.recalled(limit=_LOOKED_AT):
        path = split_ref(one.ref)[0]
        known = rows.get(path)
        if known is not None:
            rows[path] = known._replace(times=known.times + one.times)
            continue
        if len(rows) == _LATEST:
            break
        if one.fact is not None:
            words, link = facts.sentence(one.fact, at.words), at.link("item", ref=one.fact.id)
        elif "." in path:
            words, link = title_of(at, path), at.link("item", ref=one.ref)
        else:  # a fact that was forgotten
            continue
        rows[path] = Row(words[:1].upper() + words[1:], link, times=one.times, last=one.last)
    return list(rows.values())


def _activity(at: At, days: Sequence[Day]) -> Any:
    words = at.words
    if not any(day.turns or day.changes for day in days):
        return ""
    bars = [
        charts.Bar(
            f"{words.date(day.day, at.now.date())}: {words.count(day.turns, '1 message', '{n} messages')}, "
            f"{words.count(day.changes, '1 change', '{n} changes')}",
            (day.turns, day.changes),
        )
        for day in days
    ]
    return charts.bars(words("Messages and changes of the last 30 days"), bars)
