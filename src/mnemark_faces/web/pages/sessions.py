"""Talks by day, and one of them in reading order."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from mnemark.files.layout import scope_of
from mnemark.index.state import GivenOnce
from mnemark.memory.browse.session_rows import TurnRow, name_of
from mnemark.present import facts, receipts
from mnemark.present.talks import talk
from mnemark.summary.tool_titles import execution_of, outcome_of, title_of
from mnemark.types import Turn
from mnemark_faces.web.at import At, Go, PageContent
from mnemark_faces.web.telling import TalkLine, by_day, day_of, lasted, program, speaker, told
from mnemark_interfaces.workspace import session_in

_PAGE: Final = 60
_NEAR: Final = timedelta(minutes=10)
"""Between a message and the recall for it, at most."""
_LEARNED: Final = 30


class Said(NamedTuple):
    """A message of a talk, as it is read."""

    row: TurnRow
    who: str
    time: str
    """The minute."""
    tools: Sequence[str]
    """What was done with tools, each in a line."""
    used: int
    """How many memories its answer had."""


def sessions(at: At) -> PageContent:
    """Show talks by day, the last held first."""
    asked: Any = {name: at.asked(name) for name in ("text", "until")}
    if at.asked("format") == "json":
        page = at.memory.browse.sessions(text=asked["text"], after=at.asked("after"))
        return PageContent("sessions.html", {}, page)
    found = at.memory.browse.talks(
        text=asked["text"], until=asked["until"] or None, limit=_PAGE, after=at.asked("after")
    )
    lines = [told(at, row) for row in found.rows]
    values = {"page": found, "days": by_day(at, lines, _day), "asked": asked}
    return PageContent("sessions.html", values)


def _day(line: TalkLine) -> str:
    return line.day


def session(at: At) -> PageContent:
    """Show a talk: what was learned from it, and its messages in the order they were said."""
    ws, path = at.memory.workspace, at.asked("path")
    page = at.memory.browse.turns(path, after=at.asked("after"))
    found = talk(ws, path, at.words)
    name = name_of(ws, path)
    held = [one for scope in dict.fromkeys(("", scope_of(path))) for one in ws.fact_store.held(scope)]
    learned = [one.fact for one in held if path in one.fact.source and not one.fact.until]
    ws.searcher.usage.write()
    given = ws.state.given_in(path)
    began, ended = found.began, found.ended
    values = {
        "lines": [one for one in found.lines if not _stands_below(one, page.rows)],
        "page": page, "path": path, "name": name, "talk": found,
        "said": _said(at, page.rows, given, program(found)), "agent": program(found),
        "learned": [(fact, facts.sentence(fact, at.words)) for fact in learned[:_LEARNED]],
        "more_learned": max(len(learned) - _LEARNED, 0),
        "day": day_of(at, began.date().isoformat()) if began else None,
        "lasted": lasted(began.isoformat(), ended.isoformat(), at.words) if began and ended else "",
        "memories": sum(one.memories for one in given), "tokens": sum(one.tokens for one in given),
        "would": at.memory.revert(session=name, dry_run=True) if at.asked("revert") else None,
    }  # fmt: skip
    return PageContent("session.html", values, page)


def _stands_below(line: str, rows: Sequence[TurnRow]) -> bool:
    """Return whether a line only repeats a message of the page."""
    begin = line.rstrip("… ")
    return any(begin in " ".join(row.turn.content.split()) for row in rows)


def _said(at: At, rows: Sequence[TurnRow], given: Iterable[GivenOnce], agent: str) -> list[Said]:
    asked = [(row.turn.time.timestamp(), row.line) for row in rows if row.turn.origin == "owner"]
    used: dict[int, int] = {}
    for one in given:
        apart, line = min(((abs(time - one.time), line) for time, line in asked), default=(0.0, 0))
        if apart <= _NEAR.total_seconds():
            used[line] = used.get(line, 0) + one.memories
    local = at.memory.workspace.local
    return [
        Said(
            row, speaker(at, row.turn.role, row.turn.origin, agent), f"{local(row.turn.time):%H:%M}",
            _tools(row.turn), used.get(row.line, 0),
        )
        for row in rows
    ]  # fmt: skip


def _tools(turn: Turn) -> list[str]:
    results = {_call(one): one for one in turn.tool_results if isinstance(one, Mapping)}
    made = [one for one in map(execution_of, turn.tool_calls) if one is not None]
    titles = [title_of(one.tool, one.arguments, outcome_of(results.pop(one.call, None))) for one in made]
    named = [str(one.get("name") or "") for one in results.values()]
    return list(dict.fromkeys(" ".join(one.split()) for one in (*titles, *named) if one.strip()))


def _call(result: Mapping[str, Any]) -> str:
    return str(result.get("tool_call_id") or result.get("tool_use_id") or result.get("id") or "")


def end(at: At) -> Go:
    """End a session: its page is written and facts are learned from it."""
    path = at.sent("path")
    done = session_in(at.memory, name_of(at.memory.workspace, path), scope_of(path)).end(wait=False)
    at.tell(
        "The talk is ended; its page is written." if done.status == "ended" else "Nothing was to be done."
    )
    return at.back("session", path=path)


def revert(at: At) -> Go:
    """Take back everything that came from a session."""
    ws = at.memory.workspace
    done = receipts.reverted(ws, at.memory.revert(session=name_of(ws, at.sent("path"))), at.words)
    at.tell("{text}", text=receipts.reverted_text(done, at.words), undo=done.id)
    return at.back("sessions")
