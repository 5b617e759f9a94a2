"""Read core memory and today's notes from the files, without the index."""

from datetime import UTC, date, datetime
from functools import cache
from typing import Final, NamedTuple

from mnemark.errors import UsageError
from mnemark.facts import states
from mnemark.facts.visible import PlainWorkspace, Visible
from mnemark.files import layout, trust
from mnemark.memory.curation.files import curated_files, day_files, paragraphs, past_of, without_own_comments
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.retrieval.fact_index import FactIndex
from mnemark.retrieval.past_facts import IsPast
from mnemark.text.markdown.generated import without
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens
from mnemark.types import Problem

BUDGET: Final = 2_000
"""Default tokens."""
_CURATED_SHARE: Final = 0.7
"""Share of the budget for curated memory if there are notes of today."""
_JOIN: Final = "\n\n"


class _Headed(NamedTuple):
    """A heading and paragraphs; with `newest`, the last ones are kept if not all fit."""

    heading: str
    paragraphs: list[str]
    newest: bool


def context(
    ws: OpenWorkspace, *, scope: str = "", budget: int | None = None, now: datetime | None = None
) -> str:
    """Return curated memory and today's notes as one text, without recall; see `read_context`."""
    day = (now or ws.now()).date()
    return read_context(ws, day, scope=scope, budget=budget, is_past=past_of(ws))


def _past_in(ws: PlainWorkspace) -> IsPast:
    """Return the predicate of `past_of` from cached states, and read only facts that changed since."""
    known, now = states.kept(ws.root, ws.root, ws.visible.redacted, ws.now().tzinfo), datetime.now(UTC)

    @cache
    def facts(scope: str) -> FactIndex:
        with ws.fact_store.lock:
            ws.fact_store.log.refresh()
            return FactIndex(ws.fact_store.groups(scope), ws.fact_store.zone)

    def is_past(scope: str, line: str) -> bool:
        if known.settled(scope):
            return known.is_past(scope, line, now)
        return facts(scope).is_past_entry(scope, line)

    return is_past


def read_context(
    ws: PlainWorkspace,
    day: date,
    *,
    scope: str = "",
    budget: int | None = None,
    is_past: IsPast | None = None,
) -> str:
    """Return curated memory and the notes of `day` as Markdown without recall blocks, the scope's last.

    Args:
        ws: the workspace.
        day: the day of the notes, `memory/<day>.md` and `memory/<day>-*.md`.
        scope: a scope such as "users/ann"; empty for the root alone.
        budget: estimated tokens of the whole; 2,000 by default. What does not fit is left out by paragraphs:
            of curated memory the last ones, of notes the first ones; a line gives the count.
        is_past: whether a line of a scope is the entry of a past fact; such entries of generated parts are
            left out. By default the facts are looked up.

    Of a folder that nobody trusts there is none: it is only found and quoted.
    """
    limit = BUDGET if budget is None else budget
    if limit < 1:
        raise UsageError(f"the budget must be at least 1 token, not {limit}")
    if scope:
        layout.check_name(scope)
    if not trust.is_trusted(ws.root):
        return ""
    curated, notes = [], []
    past = is_past or _past_in(ws)
    for folder in ("", f"{scope}/") if scope else ("",):
        for path in curated_files(ws.root, folder):
            curated += _section(ws.visible, path, f"## Long-term memory ({path})", past, newest=False)
        for path in day_files(ws.root, folder, day):
            notes += _section(ws.visible, path, f"## Notes of today ({path})", past, newest=True)
    first = _fitted(curated, int(limit * _CURATED_SHARE) if notes else limit)
    second = _fitted(notes, limit - _tokens(first))
    if notes and len(second) == len(notes):  # give tokens that the notes do not use to curated memory
        first = _fitted(curated, limit - _tokens(second))
    return _whole([*first, *second], limit)


def _section(visible: Visible, path: str, heading: str, is_past: IsPast, *, newest: bool) -> list[_Headed]:
    found = visible.read(path)
    if isinstance(found, Problem):  # `status` reports it; an agent can do nothing about it
        return []
    shown = found.text
    if "mnemark:begin" in shown:
        scope = layout.scope_of(path)
        shown = without(shown, lambda line: is_past(scope, line))
    kept = paragraphs(without_own_comments(strip_fences(shown)))
    return [_Headed(heading, kept, newest)] if kept else []


def _fitted(sections: list[_Headed], budget: int) -> list[str]:
    texts: list[str] = []
    room = budget
    for section in sections:
        text = _cut(section, room)
        if not text:
            break
        texts.append(text)
        room -= estimate_tokens(text + _JOIN)
    return texts


def _cut(section: _Headed, budget: int) -> str:
    """Return as many whole paragraphs as fit; if none fits, the beginning of one."""
    low, high = 0, len(section.paragraphs)
    while low < high:  # the largest number of paragraphs that fits
        middle = (low + high + 1) // 2
        if estimate_tokens(_shown(section, middle)) <= budget:
            low = middle
        else:
            high = middle - 1
    if low:
        return _shown(section, low)
    frame = _JOIN.join((section.heading, _left_out(section, 1)))
    beginning = cut_to_tokens(_chosen(section, 1)[0], budget - estimate_tokens(frame) - 1)
    return _JOIN.join((section.heading, beginning, _left_out(section, 1))) if beginning else ""


def _chosen(section: _Headed, count: int) -> list[str]:
    return section.paragraphs[-count:] if section.newest else section.paragraphs[:count]


def _shown(section: _Headed, count: int) -> str:
    whole = count == len(section.paragraphs)
    note = [] if whole else [_left_out(section, count)]
    return _JOIN.join((section.heading, *_chosen(section, count), *note))


def _left_out(section: _Headed, count: int) -> str:
    return f"({count} of {len(section.paragraphs)} paragraphs; read the file for the others)"


def _tokens(texts: list[str]) -> int:
    return estimate_tokens(_JOIN.join((*texts, ""))) if texts else 0


def _whole(texts: list[str], limit: int) -> str:
    """Join texts within the limit; drop the last where rounded estimates of the parts were too low."""
    while texts and estimate_tokens(_JOIN.join(texts)) > limit:
        texts.pop()
    return _JOIN.join(texts)
