"""Look back at turns by session, time, role and tool; cut windows for a prompt."""

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from mnemark.errors import UsageError
from mnemark.files import listing
from mnemark.files.scopes import scopes_of
from mnemark.files.sessions import FOLDER, SessionInfo, SessionLog, list_sessions
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.dates.moment import moment
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.redaction.redact import Rules, redact
from mnemark.text.summary.tool_titles import execution_of, short_name
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens
from mnemark.types import Json, Turn

_PER_MESSAGE: Final = 4
"""Tokens that a message costs beside its text: role and separators."""
_TITLE: Final = 80
"""Characters of a session's title."""
_LOOKED_AT: Final = 20_000
"""Characters of a turn in which its first line is looked for."""
_CHAT_ROLES: Final = {"user": "user", "human": "user", "assistant": "assistant", "system": "system"}


class SpokenTurn(NamedTuple):
    """A turn and where it stands."""

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
    """Turns that fit all that is given, oldest first.

    Args:
        ws: whose.
        session: only of the session of this id.
        since: only said then or later: a datetime, ISO text or words such as "last week".
        until: only said before the end of it.
        role: only of this role: "user", "assistant", "tool", or a speaker's name.
        tool: only turns that called this tool or hold its results, whole name or last part of it.
        limit: the last so many; None for all.
        scope: as for `Memory.search`.

    Raises:
        UsageError: an argument is wrong; the message names a right one.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be 1 or more, not {limit}; leave it out for all")
    now = ws.now()
    zone = now.tzinfo
    first = _zoned(moment(since, "since", now), zone)
    last = _zoned(moment(until, "until", now, end=True), zone)

    def fits(said: SpokenTurn) -> bool:
        turn = said.turn
        when = _aware(turn.time, zone)
        if (first and when < first) or (last and when >= last):
            return False
        return (role is None or turn.role == role) and (tool is None or _uses(turn, tool))

    found = (said for said in _all(ws, session, scopes_of(scope)) if fits(said))
    if limit is None:
        return sorted(found, key=lambda said: _place(said, zone))
    return heapq.nlargest(limit, found, key=lambda said: _place(said, zone))[::-1]


def _place(said: SpokenTurn, zone: tzinfo | None) -> tuple[datetime, str, int]:
    return _aware(said.turn.time, zone), said.path, said.line


def _zoned(when: datetime | None, zone: tzinfo | None) -> datetime | None:
    return None if when is None else _aware(when, zone)


def _aware(when: datetime, zone: tzinfo | None) -> datetime:
    return when if when.tzinfo is not None else when.replace(tzinfo=zone)


def _uses(turn: Turn, tool: str) -> bool:
    names = [made.tool for call in turn.tool_calls if (made := execution_of(call)) is not None]
    named = (turn.meta.get("tool"), turn.meta.get("name") if turn.role in {"tool", "function"} else None)
    names += [name for name in named if isinstance(name, str)]
    names += [
        str(result["name"])
        for result in turn.tool_results
        if isinstance(result, Mapping) and isinstance(result.get("name"), str)
    ]
    wanted = tool.casefold()
    return any(wanted in {name.casefold(), short_name(name).casefold()} for name in names)


def sessions(ws: OpenWorkspace, scope: str | Iterable[str] | None = "*") -> list[tuple[str, SessionInfo]]:
    """The sessions of these scopes, each with its scope; by default of all."""
    wanted = scopes_of(scope)
    found = []
    for name in _scopes(ws):
        if wanted is None or name in wanted:
            base = ws.root / name if name else ws.root
            found += [(name, info) for info in list_sessions(base)]
    return found


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A session as a list shows it; forgotten turns are left out of what it tells."""

    session: str
    scope: str
    path: str
    created: datetime | None
    last: datetime | None
    """When the last turn was said; None where there is none."""
    bytes: int
    title: str
    """Its name where it was imported with one, else the first line that the user said; redacted, one line."""
    turns: int
    agent: str
    """Which program recorded it, where that is known."""


def listed(ws: OpenWorkspace, scope: str | Iterable[str] | None = "*") -> list[Listed]:
    """The sessions of these scopes, the one that was written to last at the end."""
    rules = ws.rules
    hidden = ws.index.hidden.current().turns
    return [
        _listed(ws.root, name, info, hidden, rules)
        for name, info in sorted(sessions(ws, scope), key=lambda pair: pair[1].mtime_ns)
    ]


def _listed(root: Path, scope: str, info: SessionInfo, hidden: Collection[str], rules: Rules) -> Listed:
    log = SessionLog.at(root / scope if scope else root, f"{FOLDER}/{info.path.name}")
    count, last, title, named, agent = 0, None, "", "", ""
    for placed in log.turns():
        turn = placed.turn
        if turn.id in hidden:
            continue
        count, last = count + 1, turn.time
        title = title or (_first_line(turn.content, rules) if turn.role in {"user", "human"} else "")
        named = named or _text(turn.meta.get("conversation"))
        agent = agent or _text(turn.meta.get("agent"))
    name = _first_line(named, rules) if named else title
    path = info.path.relative_to(root).as_posix()
    return Listed(
        session=info.id, scope=scope, path=path, created=info.created, last=last, bytes=info.size,
        title=name, turns=count, agent=agent,
    )  # fmt: skip


def _first_line(text: str, rules: Rules) -> str:
    """The first line with words in it, recalled blocks and secrets taken out, with single blanks."""
    clean = redact(strip_fences(text[:_LOOKED_AT]), rules).text
    lines = (
        " ".join("".join(c if c.isprintable() else " " for c in line).split()) for line in clean.splitlines()
    )
    words = next((line for line in lines if any(char.isalnum() for char in line)), "")
    return words if len(words) <= _TITLE else f"{words[: _TITLE - 1]}…"


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _scopes(ws: OpenWorkspace) -> Iterator[str]:
    yield ""
    yield from listing.scopes(ws.root)


def _all(ws: OpenWorkspace, session: str | None, scopes: frozenset[str] | None) -> Iterator[SpokenTurn]:
    hidden = ws.index.hidden.current()
    for scope, info in sessions(ws, "*"):
        if (scopes is not None and scope not in scopes) or (session is not None and info.id != session):
            continue
        base = ws.root / scope if scope else ws.root
        log = SessionLog.at(base, f"{FOLDER}/{info.path.name}")
        path = f"{scope}/{log.name}" if scope else log.name
        for placed in log.turns():
            if placed.turn.id not in hidden.turns:
                yield SpokenTurn(placed.turn, info.id, path, placed.line, scope)


def window(turns: Sequence[Turn], budget: int, *, tools: bool = False) -> list[dict[str, Json]]:
    """The last turns as messages within `budget` tokens (estimated), oldest first.

    It begins with a user's message where one fits. The last turn is cut where it alone is too long. Turns of
    tools, and calls, are left out unless `tools`: then a result never stands without the turn before it.
    """
    if budget < 1:
        raise UsageError(f"the budget must be at least 1 token, not {budget}")
    said = [turn for turn in turns if tools or (turn.role in _CHAT_ROLES and turn.content.strip())]
    chosen: list[Turn] = []
    room = budget
    for turn in reversed(said):
        cost = estimate_tokens(turn.content) + _PER_MESSAGE + _call_tokens(turn, tools=tools)
        if cost > room:
            break
        chosen.append(turn)
        room -= cost
    chosen.reverse()
    if not chosen and said:
        cut = cut_to_tokens(said[-1].content, max(budget - _PER_MESSAGE, 1))
        return [{"role": _CHAT_ROLES.get(said[-1].role, "user"), "content": cut}]
    start = next((at for at, turn in enumerate(chosen) if _CHAT_ROLES.get(turn.role) == "user"), None)
    if start is None:
        start = next((at for at, turn in enumerate(chosen) if turn.role in _CHAT_ROLES), len(chosen))
    return [_message(turn, tools=tools) for turn in chosen[start:]]


def _call_tokens(turn: Turn, *, tools: bool) -> int:
    if not tools:
        return 0
    return sum(estimate_tokens(str(one)) for one in (*turn.tool_calls, *turn.tool_results))


def _message(turn: Turn, *, tools: bool) -> dict[str, Json]:
    role = _CHAT_ROLES.get(turn.role, "tool" if turn.role in {"tool", "function"} else "user")
    made: dict[str, Json] = {"role": role, "content": turn.content}
    if tools and turn.tool_calls:
        made["tool_calls"] = list(turn.tool_calls)
    if tools and turn.tool_results:
        made["tool_results"] = list(turn.tool_results)
    if tools and turn.meta.get("tool_call_id"):
        made["tool_call_id"] = turn.meta["tool_call_id"]
    return made
