"""What lists by day have: talks with their titles, the days they stand under, and how long they took."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeVar

from mnemark.errors import MnemarkError
from mnemark.memory.browse.talk_rows import TalkRow
from mnemark.memory.transfer.imports import format_titles
from mnemark.present.talks import Talk, talk
from mnemark.present.words import Words
from mnemark_agents.connect.hosts import HOSTS
from mnemark_faces.web.at import At

T = TypeVar("T")
_HOUR: Final = 60
_DAY: Final = 24 * _HOUR


class TalkLine(NamedTuple):
    """A talk as a row of a list."""

    path: str
    day: str
    title: str
    """Empty for a talk without words."""
    lines: Sequence[str]
    time: str
    """When it ended, or ended that day: the minute."""
    lasted: str
    messages: int
    agent: str
    scope: str


class DayOf(NamedTuple):
    """A day and what stands under it."""

    day: str
    name: str
    """ "Today", or the day of the week."""
    date: str
    rows: Sequence[Any]


def told(at: At, row: TalkRow) -> TalkLine:
    """Return a talk as a row; without a title if its log is gone since."""
    found = Talk(path=row.path, session="", title="")
    with suppress(MnemarkError, OSError):
        found = talk(at.memory.workspace, row.path, at.words)
    return TalkLine(
        path=row.path, day=row.ended[:10], title=found.title, lines=found.lines, time=row.ended[11:16],
        lasted=lasted(row.began, row.ended, at.words), messages=row.messages, agent=program(found),
        scope=row.scope,
    )  # fmt: skip


def program(found: Talk) -> str:
    """Return the program that recorded a talk as people call it; empty where only its session has a name."""
    known = programs().get(found.agent)
    return known or ("" if found.session.startswith(f"{found.agent}:") else found.agent)


@cache
def programs() -> Mapping[str, str]:
    """Return the programs that record talks, by the names that sessions have of them, as people call them."""
    return format_titles() | {host.name: host.title for host in HOSTS}


def speaker(at: At, role: str, origin: str, agent: str = "") -> str:
    """Return who said something: "You", the agent, a tool, or the name of the speaker."""
    if role in {"user", "human"}:
        return at.words("You") if origin == "owner" else at.words("User")
    if role == "assistant":
        return agent or at.words("Agent")
    return at.words("Tool") if role in {"tool", "function"} else role


def title_of(at: At, path: str) -> str:
    """Return the title of a talk; of one without words, or another file, what it is called."""
    with suppress(MnemarkError, OSError):
        if path.endswith(".jsonl") and (title := talk(at.memory.workspace, path, at.words).title):
            return title
    return at.place(path)


def lasted(began: str, ended: str, words: Words) -> str:
    """Return how long something took, in words; empty for less than a minute."""
    minutes = (datetime.fromisoformat(ended) - datetime.fromisoformat(began)) // timedelta(minutes=1)
    if minutes < _HOUR:
        return words("{n} min", n=minutes) if minutes else ""
    if minutes < _DAY:
        return words("{n} h", n=round(minutes / _HOUR))
    return words.count(round(minutes / _DAY), "1 day", "{n} days")


def by_day(at: At, rows: Iterable[T], time_of: Callable[[T], str]) -> list[DayOf]:
    """Return rows under their days; they come in the order of their times."""
    return [day_of(at, day, list(part)) for day, part in groupby(rows, key=lambda row: time_of(row)[:10])]


def day_of(at: At, day: str, rows: Sequence[Any] = ()) -> DayOf:
    """Return a day with its names, and what stands under it."""
    words, moment, today = at.words, datetime.fromisoformat(day), at.now.date()
    near = {-1: words("Yesterday"), 0: words("Today"), 1: words("Tomorrow")}
    name = near.get((moment.date() - today).days) or words.weekday(moment)
    return DayOf(day, name, words.date(day, today), rows)
