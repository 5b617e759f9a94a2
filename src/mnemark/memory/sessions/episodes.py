"""Write episodes: one sitting of a session on one page, for people and for recall."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from mnemark.files.episodes import Episode, path_for, source_lines, written
from mnemark.files.sessions import Placed
from mnemark.memory import file_edits
from mnemark.memory.file_edits import Written
from mnemark.memory.journal.sessions import Observed
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.summary.summary import Action, Digest, Line, label, summary_lines
from mnemark.text.summary.tool_titles import (
    PATH_KEYS,
    execution_of,
    is_significant,
    outcome_of,
    short_name,
    title_of,
)
from mnemark.types import Json

GAP: Final = timedelta(hours=6)
"""A longer silence ends a sitting: what comes after is another episode."""
_ACTIONS: Final = 40
_STATES: Final = {"done": "完成", "failed": "没成", "open": "进行中"}
_OWN_ROLES: Final = {"user": "user", "human": "user", "assistant": "assistant"}


class Sitting(NamedTuple):
    """Turns of a session without a long silence between them."""

    turns: tuple[Placed, ...]

    @property
    def first(self) -> str:
        """Id of the first turn."""
        return self.turns[0].turn.id

    @property
    def last(self) -> str:
        """Id of the last turn."""
        return self.turns[-1].turn.id

    def span(self, zone: tzinfo | None) -> tuple[datetime, datetime]:
        """When it began and ended, on the clock of `zone` where that is told."""
        times = [local(placed.turn.time, zone) for placed in self.turns]
        return min(times), max(times)


def local(when: datetime, zone: tzinfo | None) -> datetime:
    """A time in a zone; one without zone is of it."""
    return when.replace(tzinfo=zone) if when.tzinfo is None else when.astimezone(zone)


def sittings(turns: Sequence[Placed]) -> list[Sitting]:
    """Turns cut at long silences."""
    found: list[list[Placed]] = []
    before: datetime | None = None
    for placed in turns:
        when = placed.turn.time if placed.turn.time.tzinfo else placed.turn.time.replace(tzinfo=UTC)
        if before is None or abs(when - before) > GAP:
            found.append([])
        found[-1].append(placed)
        before = when
    return [Sitting(tuple(one)) for one in found]


def lines_of(sitting: Sitting) -> list[Line]:
    """What the user and the assistant said, without recalled blocks; what others said is left out."""
    found = []
    for placed in sitting.turns:
        turn = placed.turn
        role = _OWN_ROLES.get(turn.role, "")
        if role and turn.origin in {"owner", "agent", "import", "file"}:
            text = strip_fences(turn.content).strip()
            if text:
                found.append(Line(role, text, turn.time, f"#L{placed.line}"))
    return found


def actions_of(ws: OpenWorkspace, scope: str, session: str, sitting: Sitting) -> list[Action]:
    """What tools did in it, forgotten things left out: as observed, else as the turns say."""
    state = ws.session_journal
    hidden = ws.index.hidden.current().turns
    begin, end = sitting.span(UTC)
    found: list[tuple[datetime, Action]] = []
    seen: set[str] = set()
    with state.lock:
        state.refresh()
        observed = [one for _, one in sorted(state.observed.items()) if _is_of(one, scope, session)]
    for one in observed:
        when = local(one.change.time or begin, UTC)
        if begin - GAP / 6 <= when <= end + GAP / 6:
            title = str(one.payload.get("title"))
            seen |= {str(one.payload.get("key")), title.partition(" failed")[0]}
            paths = tuple(_paths(one.payload.get("arguments")))
            if one.change.id in hidden:
                continue  # nor as the turns say it
            failed = bool(one.payload.get("failed"))
            found.append((when, Action(title, str(one.payload.get("tool")), failed, when, paths)))
    for placed in sitting.turns:
        when = local(placed.turn.time, UTC)
        for action, call in _called(placed):
            if not {f"call:{call}", action.title.partition(" failed")[0]} & seen:
                found.append((when, action._replace(time=when)))
    return [action for _, action in sorted(found, key=lambda pair: pair[0])]


def _is_of(one: Observed, scope: str, session: str) -> bool:
    return one.session == session and one.change.scope == scope


def _called(placed: Placed) -> Iterator[tuple[Action, str]]:
    turn = placed.turn
    results = {
        str(one.get("tool_call_id") or one.get("tool_use_id") or one.get("id") or ""): one
        for one in turn.tool_results
        if isinstance(one, Mapping)
    }
    for call in turn.tool_calls:
        made = execution_of(call)
        if made is None or not is_significant(made.tool, made.arguments):
            continue
        told = outcome_of(results.get(made.call)) if made.call in results else outcome_of(None)
        title = title_of(made.tool, made.arguments, told)
        yield Action(title, made.tool, told.failed, None, tuple(_paths(made.arguments))), made.call


def _paths(arguments: Json) -> Iterator[str]:
    if isinstance(arguments, Mapping):
        for key in (*PATH_KEYS, "cwd", "workdir", "repo"):
            if isinstance(arguments.get(key), str):
                yield arguments[key]


def page(found: Digest, actions: Sequence[Action], source: str, zone: tzinfo | None) -> list[str]:
    """The body of an episode: what a person wants to know first, then what was done, then sources."""
    zh = found.chinese
    colon = "：" if zh else ": "
    rows = []
    goal, outcome = ("目标", "结果") if zh else ("Goal", "Outcome")
    if found.goal:
        rows.append(f"- **{goal}**{colon}{found.goal}")
    if found.outcome:
        state = f"（{_STATES[found.status]}）" if zh else f" ({found.status})"
        rows.append(f"- **{outcome}**{state}{colon}{found.outcome}")
    groups = (("said", found.said), ("decided", found.decided), ("steps", found.steps))
    for name, texts in (*groups, ("questions", found.questions)):
        rows += [f"- **{label(name, chinese=zh)}**{colon}{text}" for text in texts]
    if found.summary:
        rows += ["", found.summary]
    if actions:
        rows += ["", "## 做了什么" if zh else "## What was done", ""]
        for action in actions[:_ACTIONS]:
            when = f"{local(action.time, zone):%H:%M} " if action.time else ""
            rows.append(f"- {when}{' '.join(action.title.replace('<!--', '<').split())}")
        if len(actions) > _ACTIONS:
            rest = len(actions) - _ACTIONS
            rows.append(f"- … 还有 {rest} 项" if zh else f"- … {rest} more")
    if found.entities:
        rows += ["", f"{'提到' if zh else 'About'}{colon}{', '.join(found.entities)}"]
    rows += ["", f"{'来源' if zh else 'Source'}{colon}{source}"]
    return rows


class SessionAt(NamedTuple):
    """A session that is being written down."""

    session: str
    path: str
    scope: str
    zone: tzinfo | None
    group: str
    """Ties the edits together."""


def write_episode(
    ws: OpenWorkspace,
    at: SessionAt,
    sitting: Sitting,
    *,
    found: Digest,
    actions: Sequence[Action],
    continues: str,
) -> tuple[str, Written]:
    """Write or extend the episode of a sitting; its path, and what became of the edit."""
    begin, end = sitting.span(at.zone)
    source = source_lines(at.path, sitting.turns[0].line, sitting.turns[-1].line)
    tools = dict.fromkeys(short_name(action.tool) for action in actions)
    episode = Episode(
        session=at.session, source=source, first=sitting.first, last=sitting.last, begin=begin, end=end,
        title=found.title or at.session, status=found.status, tools=tuple(tools)[:12],
        entities=found.entities, projects=found.projects, continues=continues,
        lines=tuple(page(found, actions, source, at.zone)),
    )  # fmt: skip
    target = path_for(ws.root, at.scope, episode)
    done = file_edits.write(
        ws, target, lambda text: written(text, episode), step="session end: episode",
        session=at.session, group=at.group,
    )  # fmt: skip
    return target, done


def note_block(
    found: Digest, span: tuple[datetime, datetime], session: str, link: str, *, short: bool
) -> list[str]:
    """What the day's note says of a sitting."""
    begin, end = span
    hours = f"{begin:%H:%M}" + (f"–{end:%H:%M}" if f"{end:%H:%M}" != f"{begin:%H:%M}" else "")
    rows = [f"## {hours} {session}: {found.title}" if found.title else f"## {hours} {session}", ""]
    rows += [f"- {line}" for line in summary_lines(found, short=short)]
    if link:
        rows += ["", f"{'全文：' if found.chinese else 'Episode: '}{link}"]
    return rows
