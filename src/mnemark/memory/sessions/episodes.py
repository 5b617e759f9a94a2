"""Write episodes: one sitting of a session on one page, for people and for recall."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final, NamedTuple

from msgspec.structs import replace

from mnemark.files.episodes import without_sources
from mnemark.files.sessions import Placed
from mnemark.memory.journal.sessions import Observed
from mnemark.memory.learning.by_model import GAP
from mnemark.memory.learning.sitting_notes import SittingNotes, SourcedNote
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.markdown.link import link
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.summary.summary import Action, Digest, Line, label, summary_lines
from mnemark.text.summary.tool_titles import (
    PATH_KEYS,
    execution_of,
    is_significant,
    outcome_of,
    title_of,
)
from mnemark.types import Json

_ACTIONS: Final = 40
_STATES: Final = {"done": "完成", "failed": "没成", "open": "进行中"}
_OWN_ROLES: Final = {"user": "user", "human": "user", "assistant": "assistant"}


class Sitting(NamedTuple):
    """Turns of a session without a pause longer than `GAP` between them."""

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
        """Return its first and last time, on the clock of `zone` where given."""
        times = [local(placed.turn.time, zone) for placed in self.turns]
        return min(times), max(times)


def local(when: datetime, zone: tzinfo | None) -> datetime:
    """Return a time in a zone; a naive one is taken to be of it."""
    return when.replace(tzinfo=zone) if when.tzinfo is None else when.astimezone(zone)


def sittings(turns: Sequence[Placed]) -> list[Sitting]:
    """Split turns into sittings at pauses longer than `GAP`."""
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
    """Return the lines of the user and the assistant, without recalled blocks."""
    return [
        Line(role, text, placed.turn.time, f"#L{placed.line}")
        for placed in sitting.turns
        if (role := _OWN_ROLES.get(placed.turn.role, ""))
        and placed.turn.origin in {"owner", "agent", "import", "file"}
        and (text := strip_fences(placed.turn.content).strip())
    ]


def actions_of(ws: OpenWorkspace, scope: str, session: str, sitting: Sitting) -> list[Action]:
    """Return the executions of tools in a sitting: observations, and other calls in its turns."""
    state = ws.session_journal
    hidden = ws.index.hidden.current().turns
    begin, end = sitting.span(UTC)
    found: list[tuple[datetime, Action]] = []
    seen: set[str] = set()
    with state.lock:
        state.refresh()
        observed = [one for _, one in sorted(state.observed.items())]
    for one in observed:
        when = local(one.change.time or begin, UTC)
        ours = one.session == session and one.change.scope == scope
        if ours and begin - GAP / 6 <= when <= end + GAP / 6:
            action = _action(one, when)
            seen |= {str(one.payload.get("key")), action.title.partition(" failed")[0]}
            if one.change.id not in hidden:  # `seen` also drops the calls of hidden observations
                found.append((when, action))
    for placed in sitting.turns:
        when = local(placed.turn.time, UTC)
        for action, call in _called(placed):
            if not {f"call:{call}", action.title.partition(" failed")[0]} & seen:
                found.append((when, action._replace(time=when)))
    return [action for _, action in sorted(found, key=lambda pair: pair[0])]


def _action(seen: Observed, when: datetime) -> Action:
    payload = seen.payload
    paths = tuple(_paths(payload.get("arguments")))
    return Action(
        str(payload.get("title")), str(payload.get("tool")), bool(payload.get("failed")), when, paths
    )


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
        outcome = outcome_of(results.get(made.call))
        title = title_of(made.tool, made.arguments, outcome)
        yield Action(title, made.tool, outcome.failed, None, tuple(_paths(made.arguments))), made.call


def _paths(arguments: Json) -> Iterator[str]:
    if isinstance(arguments, Mapping):
        for key in (*PATH_KEYS, "cwd", "workdir", "repo"):
            if isinstance(arguments.get(key), str):
                yield arguments[key]


def with_notes(found: Digest, notes: SittingNotes) -> Digest:
    """Return the digest in a model's notes, where they hold something."""

    def lines(part: Sequence[SourcedNote]) -> tuple[str, ...]:
        dated = (f"{one.text} ({one.date})" if one.date not in one.text else one.text for one in part)
        return tuple(f"{text} — {', '.join(one.refs)}" for text, one in zip(dated, part, strict=True))

    return replace(
        found, title=notes.title or found.title, goal="", outcome="", said=(),
        decided=lines(notes.decided), did=lines(notes.done), questions=lines(notes.open),
        steps=lines(notes.next), observed=lines(notes.observations),
    )  # fmt: skip


def page(found: Digest, actions: Sequence[Action], source: str, zone: tzinfo | None) -> list[str]:
    """Return the body of an episode: goal and outcome first, then the actions, then the source."""
    zh, rows = found.chinese, []
    colon = "：" if zh else ": "
    goal, outcome = ("目标", "结果") if zh else ("Goal", "Outcome")
    if found.goal:
        rows.append(f"- **{goal}**{colon}{found.goal}")
    if found.outcome:
        state = f"（{_STATES[found.status]}）" if zh else f" ({found.status})"
        rows.append(f"- **{outcome}**{state}{colon}{found.outcome}")
    groups = (("said", found.said), ("decided", found.decided), ("did", found.did), ("steps", found.steps))
    for name, texts in (*groups, ("questions", found.questions)):
        rows += [f"- **{label(name, chinese=zh)}**{colon}{text}" for text in texts]
    if found.observed:
        rows += [
            "",
            "## 值得记住" if zh else "## Worth knowing",
            "",
            *(f"- {text}" for text in found.observed),
        ]
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


def note_block(
    found: Digest, span: tuple[datetime, datetime], note: str, episode: str, *, short: bool
) -> list[str]:
    """Return the part of a day's note about a sitting: a link to its episode, or what was said without one.

    The episode holds what was said and done, and nothing of it is repeated here.
    """
    begin, end = span
    hours = f"{begin:%H:%M}" + (f"–{end:%H:%M}" if f"{end:%H:%M}" != f"{begin:%H:%M}" else "")
    if episode:
        return [f"## {hours} {link(found.title, episode, note)}"]
    said = [without_sources(line) for line in summary_lines(found, short=short)]
    told = any(found.title.rstrip("…") in line for line in said)
    rows = ["", *(f"- {line}" for line in said)] if said else []
    return [f"## {hours}" if told else f"## {hours} {found.title}".rstrip(), *rows]
