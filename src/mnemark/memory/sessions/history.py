"""List turns by session, time, role and tool, and sessions; cut windows of turns for a prompt."""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final, NamedTuple

import msgspec

from mnemark.errors import UsageError
from mnemark.files.scopes import scopes_among
from mnemark.files.sessions import (
    LogFile,
    SessionInfo,
    SessionLog,
    list_sessions,
    log_files,
    session_info,
)
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.summary.tool_titles import execution_of, short_name
from mnemark.text.dates.ranges import moment
from mnemark.text.quoting.first_line import first_line
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens
from mnemark.types import Json, Turn

_PER_MESSAGE: Final = 4
"""Tokens that a message costs beside its text: role and separators."""
_CHAT_ROLES: Final = {"user": "user", "human": "user", "assistant": "assistant", "system": "system"}


class SpokenTurn(NamedTuple):
    """A turn and its location."""

    turn: Turn
    session: str
    path: str
    line: int
    scope: str

    @property
    def ref(self) -> str:
        """`sessions/…jsonl#L12`: `memory.read` gives its line."""
        return f"{self.path}#L{self.line}"


def turns(
    ws: OpenWorkspace,
    *,
    session: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    role: str | None = None,
    tool: str | None = None,
    limit: int | None = 100,
    scope: str | Iterable[str] | None = None,
) -> list[SpokenTurn]:
    """Return the turns that match all given filters, oldest first.

    Args:
        ws: the workspace.
        session: only the session of this id.
        since: only turns from then on: a datetime, ISO text or words such as "last week".
        until: only turns before the end of it.
        role: only this role: "user", "assistant", "tool", or a speaker's name.
        tool: only turns that called this tool or hold its results, whole name or last part of it.
        limit: maximum number of turns, the last ones; None for all.
        scope: as for `Memory.search`.

    Raises:
        UsageError: an argument is wrong; the message names valid values.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be 1 or more, not {limit}; leave it out for all")
    now = ws.now()
    begin, end = moment(since, "since", now), moment(until, "until", now, end=True)
    spoken_turns = (
        spoken
        for name, info in sessions(ws, scope)
        if session in {None, info.id}
        for spoken in _spoken(ws, name, info)
        if role in {None, spoken.turn.role} and (tool is None or _uses(spoken.turn, tool))
    )
    return _last_of(spoken_turns, begin, end, limit, now.tzinfo)


def _last_of(
    spoken_turns: Iterable[SpokenTurn],
    begin: datetime | None,
    end: datetime | None,
    limit: int | None,
    zone: tzinfo | None,
) -> list[SpokenTurn]:
    """Return the last turns from `begin` to before `end`, in the order of their times."""

    def when(spoken: SpokenTurn) -> datetime:
        return _zoned(spoken.turn.time, zone)

    def order(spoken: SpokenTurn) -> tuple[datetime, str, int]:
        return when(spoken), spoken.path, spoken.line

    matching = (
        spoken
        for spoken in spoken_turns
        if not (begin and when(spoken) < _zoned(begin, zone))
        if not (end and when(spoken) >= _zoned(end, zone))
    )
    return sorted(matching, key=order) if limit is None else heapq.nlargest(limit, matching, order)[::-1]


def _spoken(ws: OpenWorkspace, scope: str, info: SessionInfo) -> Iterator[SpokenTurn]:
    """Yield the turns of a session, without the forgotten ones."""
    hidden, path = ws.index.hidden.current().turns, info.path.relative_to(ws.root).as_posix()
    for placed in SessionLog.at(ws.root, path).turns():
        if placed.turn.id not in hidden:
            yield SpokenTurn(placed.turn, info.id, path, placed.line, scope)


def _zoned(when: datetime, zone: tzinfo | None) -> datetime:
    return when if when.tzinfo is not None else when.replace(tzinfo=zone)


def _uses(turn: Turn, tool: str) -> bool:
    names = [made.tool for call in turn.tool_calls if (made := execution_of(call)) is not None]
    names.append(_text(turn.meta.get("tool")))
    names.append(_text(turn.meta.get("name")) if turn.role in {"tool", "function"} else "")
    names += [_text(result.get("name")) for result in turn.tool_results if isinstance(result, Mapping)]
    wanted = tool.casefold()
    return any(wanted in {name.casefold(), short_name(name).casefold()} for name in filter(None, names))


def sessions(ws: OpenWorkspace, scope: str | Iterable[str] | None = "*") -> list[tuple[str, SessionInfo]]:
    """Return the sessions of these scopes, by default of all, each with its scope."""
    return [
        (name, info) for name in scopes_among(ws.scopes(), scope) for info in list_sessions(ws.root / name)
    ]


class ListedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session as a list shows it, without its forgotten turns."""

    session: str
    scope: str
    path: str
    created: datetime | None
    last: datetime | None
    bytes: int
    title: str
    """The imported name, else the user's first line; redacted, one line."""
    turns: int
    agent: str
    """The program that recorded it; empty where unknown."""


def listed(
    ws: OpenWorkspace, scope: str | Iterable[str] | None = "*", *, last: int | None = None
) -> list[ListedSession]:
    """Return a summary of each session of these scopes, the last written one last.

    Args:
        ws: the workspace.
        scope: their scopes; all by default.
        last: number of sessions, those written last; all by default. Other logs are not opened.

    Raises:
        UsageError: `last` is below 1.
    """
    if last is not None and last < 1:
        raise UsageError(f"last is a number of sessions from 1 on, not {last}")
    files = sorted(logs(ws, scope), key=lambda pair: pair[1].mtime_ns)
    found = (summarized(ws, name, file) for name, file in (files if last is None else files[-last:]))
    return [one for one in found if one is not None]


def logs(ws: OpenWorkspace, scope: str | Iterable[str] | None = "*") -> list[tuple[str, LogFile]]:
    """Return the logs of these scopes, each with its scope; none is opened."""
    return [(name, file) for name in scopes_among(ws.scopes(), scope) for file in log_files(ws.root / name)]


def summarized(ws: OpenWorkspace, scope: str, file: LogFile) -> ListedSession | None:
    """Return the summary of the session in a log; None where it cannot be read."""
    info = session_info(file)
    return None if info is None else _listed(ws, scope, info)


def _listed(ws: OpenWorkspace, scope: str, info: SessionInfo) -> ListedSession:
    count, last, title, named, agent = 0, None, "", "", ""
    for count, spoken in enumerate(_spoken(ws, scope, info), 1):  # noqa: B007
        turn = spoken.turn
        last = turn.time
        title = title or (first_line(turn.content, ws.rules) if turn.role in {"user", "human"} else "")
        named = named or _text(turn.meta.get("conversation"))
        agent = agent or _text(turn.meta.get("agent"))
    return ListedSession(
        session=info.id, scope=scope, path=info.path.relative_to(ws.root).as_posix(), created=info.created,
        last=last, bytes=info.size, title=first_line(named, ws.rules) if named else title, turns=count,
        agent=agent,
    )  # fmt: skip


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def window(turns: Sequence[Turn], budget: int, *, tools: bool = False) -> list[dict[str, Json]]:
    """Return the last turns as messages within `budget` estimated tokens, oldest first.

    The result begins with a user's message if one fits, and the last turn is cut if it alone is too long.
    Tool turns and calls are left out unless `tools`.
    """
    if budget < 1:
        raise UsageError(f"the budget must be at least 1 token, not {budget}")
    said = [turn for turn in turns if tools or (turn.role in _CHAT_ROLES and turn.content.strip())]
    chosen: list[Turn] = []
    room = budget
    for turn in reversed(said):
        calls = (*turn.tool_calls, *turn.tool_results) if tools else ()
        cost = estimate_tokens(turn.content) + _PER_MESSAGE + sum(estimate_tokens(str(one)) for one in calls)
        if cost > room:
            break
        chosen.append(turn)
        room -= cost
    chosen.reverse()
    if not chosen and said:
        cut = cut_to_tokens(said[-1].content, max(budget - _PER_MESSAGE, 1))
        return [{"role": _CHAT_ROLES.get(said[-1].role, "user"), "content": cut}]
    roles = [_CHAT_ROLES.get(turn.role) for turn in chosen]
    start = next((at for at, role in enumerate(roles) if role), len(roles))
    start = roles.index("user") if "user" in roles else start
    return [_message(turn, tools=tools) for turn in chosen[start:]]


def _message(turn: Turn, *, tools: bool) -> dict[str, Json]:
    role = _CHAT_ROLES.get(turn.role, "tool" if turn.role in {"tool", "function"} else "user")
    calls: dict[str, Json] = {
        "tool_calls": list(turn.tool_calls),
        "tool_results": list(turn.tool_results),
        "tool_call_id": turn.meta.get("tool_call_id"),
    }
    kept = {name: value for name, value in calls.items() if tools and value}
    return {"role": role, "content": turn.content, **kept}
