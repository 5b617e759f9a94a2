"""Write episodes: one sitting of a session on one page, for people and for recall."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final

from msgspec.structs import replace

from mnemark.files.sessions import Placed
from mnemark.memory.journal.sessions import Observed
from mnemark.memory.learning.by_model import GAP
from mnemark.memory.learning.sitting_notes import SittingNotes, SourcedNote
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.summary.summary import Action, Digest, Line, items, summary_lines
from mnemark.summary.tool_titles import (
    PATH_KEYS,
    execution_of,
    is_significant,
    outcome_of,
    title_of,
)
from mnemark.text.dates import local
from mnemark.text.markdown.writing import link
from mnemark.text.quoting.fence import strip_fences
from mnemark.types import Json

_ACTIONS: Final = 40
_STOPS: Final = " .。!！?？"
_OWN_ROLES: Final = {"user": "user", "human": "user", "assistant": "assistant"}


class Sitting:
    """Turns of a session without a pause longer than `GAP` between them."""

    def __init__(self, turns: Sequence[Placed]) -> None:
        self.turns = turns
        self._spans: dict[tzinfo | None, tuple[datetime, datetime]] = {}

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
        if zone not in self._spans:
            times = [local(placed.turn.time, zone) for placed in self.turns]
            self._spans[zone] = min(times), max(times)
        return self._spans[zone]


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
    return [Sitting(one) for one in found]


def lines_of(sitting: Sitting, zone: tzinfo | None) -> list[Line]:
    """Return the lines of the user and the assistant, without recalled blocks, on the clock of `zone`."""
    return [
        Line(role, text, local(placed.turn.time, zone), f"#L{placed.line}")
        for placed in sitting.turns
        if (role := _OWN_ROLES.get(placed.turn.role, ""))
        and placed.turn.origin in {"owner", "agent", "import", "file"}
        and (text := strip_fences(placed.turn.content).strip())
    ]


def actions_of(ws: OpenWorkspace, scope: str, session: str, sitting: Sitting) -> list[Action]:
    """Return the executions of tools in a sitting: observations, and other calls in its turns."""
    hidden = ws.index.hidden.current().turns
    begin, end = sitting.span(UTC)
    found: list[tuple[datetime, Action]] = []
    seen: set[str] = set()
    with ws.session_journal.fresh() as state:
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
        for action, call in _called(placed):
            if not {f"call:{call}", action.title.partition(" failed")[0]} & seen:
                when = local(placed.turn.time, UTC)
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
        found, title=notes.title or found.title, asked="", failed="" if notes.done else found.failed,
        decided=lines(notes.decided), done=lines(notes.done), questions=lines(notes.open),
        steps=lines(notes.next), observed=lines(notes.observations),
    )  # fmt: skip


def page(
    found: Digest,
    actions: Sequence[Action],
    sitting: Sitting,
    zone: tzinfo | None,
    *,
    source: str,
    episode: str,
) -> list[str]:
    """Return the body of an episode: when and with whom, what it was about, what was settled, the actions.

    Args:
        found: what was said.
        actions: what was done with tools.
        sitting: its turns.
        zone: the zone of times.
        source: path and lines of the turns.
        episode: the path of the page, for links.
    """
    zh = found.chinese
    colon = "：" if zh else ": "
    rows = [_head(sitting, zone, source, episode, chinese=zh)]
    listed = [f"- **{name}**{colon}{text}" for name, text in items(found)]
    rows += ["", *listed] if listed else []
    if found.observed:
        noted = "## 值得记住" if zh else "## Worth knowing"
        rows += ["", noted, "", *(f"- {text}" for text in found.observed)]
    if found.names:
        rows += ["", f"{'提到' if zh else 'About'}{colon}{('、' if zh else ', ').join(found.names)}"]
    if actions:
        rows += ["", "## 做了什么" if zh else "## What was done", ""]
        for action in actions[:_ACTIONS]:
            when = f"{local(action.time, zone):%H:%M} " if action.time else ""
            rows.append(f"- {when}{' '.join(action.title.replace('<!--', '<').split())}")
        if len(actions) > _ACTIONS:
            rest = len(actions) - _ACTIONS
            rows.append(f"- … 还有 {rest} 项" if zh else f"- … {rest} more")
    return rows


def _head(sitting: Sitting, zone: tzinfo | None, source: str, episode: str, *, chinese: bool) -> str:
    """Return the line that says when it was and with which agents, with a link to the turns."""
    begin, end = sitting.span(zone)
    hours = f"{begin:%Y-%m-%d %H:%M}" + (f"–{end:%H:%M}" if f"{end:%H:%M}" != f"{begin:%H:%M}" else "")
    agents = dict.fromkeys(str(placed.turn.meta.get("agent") or "") for placed in sitting.turns)
    count = len(sitting.turns)
    words = f"{count} 条消息" if chinese else f"{count} turn{'s' * (count != 1)}"
    return " · ".join(filter(None, (hours, *agents, link(words, source, episode))))


def note_block(
    found: Digest, span: tuple[datetime, datetime], note: str, episode: str, session: str
) -> list[str]:
    """Return the part of a day's note about a sitting: a link to its episode, or what was said without one.

    The episode holds what was said and done, and nothing of it is repeated here. Without one the title links
    to the session, so that a recall does not show its turns again.
    """
    begin, end = span
    hours = f"{begin:%H:%M}" + (f"–{end:%H:%M}" if f"{end:%H:%M}" != f"{begin:%H:%M}" else "")
    if episode:
        return [f"## {hours} {link(found.title, episode, note)}"]
    ends = found.title.rstrip(" .。!！?？")
    lines = summary_lines(found)
    rows = [f"- {line}" for line in lines if not (ends and line.rstrip(" .。!！?？").endswith(ends))]
    title = link(found.title or ("会话" if found.chinese else "Session"), session, note)
    return [f"## {hours} {title}", *(["", *rows] if rows else [])]
