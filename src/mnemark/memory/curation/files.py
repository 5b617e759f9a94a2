"""Read core memory and today's notes from the files, without the index."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mnemark.errors import UsageError
from mnemark.facts import states
from mnemark.facts.visible import Visible
from mnemark.files import layout, listing, trust
from mnemark.files.workspace import Workspace
from mnemark.retrieval.past_facts import CORE_ROLES, IsPast
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown import drop_comments
from mnemark.text.markdown.generated import without, written
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens
from mnemark.types import Problem

if TYPE_CHECKING:
    from mnemark.memory.open_workspace import OpenWorkspace
    from mnemark.retrieval.fact_index import FactIndex

BUDGET: Final = 2_000
"""Default tokens."""
_CURATED_SHARE: Final = 0.7
"""Share of the budget for curated memory if there are notes of today."""
_CODE: Final = lazy_pattern(r"[ ]{0,3}(```+|~~~+)")
_JOIN: Final = "\n\n"
_OWN_COMMENTS: Final = (" mnemark:begin ", " mnemark:end ", " observed: ", " id: ")
"""Prefixes of comments that are left out: ids and markers of mnemark."""


class _Headed(NamedTuple):
    """A heading and paragraphs; with `newest`, the last ones are kept if not all fit."""

    heading: str
    paragraphs: list[str]
    newest: bool


def context(
    ws: "OpenWorkspace", *, scope: str = "", budget: int | None = None, now: datetime | None = None
) -> str:
    """Return curated memory and today's notes as one text, without recall; see `read_context`."""
    day = (now or ws.now()).date()
    return read_context(ws.visible, day, scope=scope, budget=budget, is_past=past_of(ws))


def past_of(ws: "OpenWorkspace") -> IsPast:
    """Return a predicate that tells from the index whether an entry of core memory is a past fact."""

    def is_past(scope: str, line: str) -> bool:
        book = ws.searcher.fact_index.of({scope}).book
        return book is not None and book.is_past_entry(scope, line)

    return is_past


def past_lines(ws: "OpenWorkspace", path: str, lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers of lines that state a past fact without a mark that it is past.

    These are bullets that are not struck through yet, and entries of core memory.
    """
    place = layout.place(path)
    if place is None or place.role not in {"fact", *CORE_ROLES}:
        return frozenset()
    if place.role != "fact":
        past = past_of(ws)
        entries = written("\n".join(lines))
        numbered = ((number, line) for number, line in enumerate(lines, 1) if line in entries)
        return frozenset(number for number, line in numbered if past(place.scope, line))
    book = ws.searcher.fact_index.of({place.scope}).book
    held = book.facts if book is not None else ()
    now = datetime.now(UTC)
    return frozenset(
        one.fact.line
        for one in held
        if one.fact.path == path and one.end is not None and one.end <= now and one.fact.line
        if "~~" not in "".join(lines[one.fact.line - 1 : one.fact.line])
    )


def _past_in(visible: Visible) -> IsPast:
    """Return the same predicate from cached states; read the facts only of scopes that changed since."""
    known, now = states.kept(visible.root, visible.root, visible.redacted), datetime.now(UTC)
    book = cache(partial(_load_facts, visible))

    def is_past(scope: str, line: str) -> bool:
        if known.settled(scope):
            return known.is_past(scope, line, now)
        return book(scope).is_past_entry(scope, line)

    return is_past


def _load_facts(visible: Visible, scope: str) -> "FactIndex":
    from mnemark.facts.store import FactStore
    from mnemark.files.config import load
    from mnemark.retrieval.fact_index import FactIndex

    facts = FactStore(Workspace(visible.root, load(visible.root)), visible)
    facts.log.refresh()
    return FactIndex(facts.groups(scope), facts.zone)


def read_context(
    visible: Visible, day: date, *, scope: str = "", budget: int | None = None, is_past: IsPast | None = None
) -> str:
    """Return curated memory and the notes of `day` as Markdown without recall blocks, the scope's last.

    Args:
        visible: the redaction filter of the workspace.
        day: the day of the notes, `memory/<day>.md` and `memory/<day>-*.md`.
        scope: a scope such as "users/ann"; empty for the root alone.
        budget: estimated tokens of the whole; 2,000 by default. What does not fit is left out by paragraphs:
            of curated memory the last ones, of notes the first ones; a line gives the count.
        is_past: whether a line of a scope is the entry of a past fact; such entries of generated parts are
            left out. By default the facts are looked up.

    Of a folder that nobody trusts there is none: it is only found and quoted.
    """
    root = visible.root
    limit = BUDGET if budget is None else budget
    if limit < 1:
        raise UsageError(f"the budget must be at least 1 token, not {limit}")
    if scope:
        layout.check_name(scope)
    if not trust.is_trusted(root):
        return ""
    curated, notes = [], []
    past = is_past or _past_in(visible)
    for folder in ("", f"{scope}/") if scope else ("",):
        for path in curated_files(root, folder):
            curated += _section(visible, path, f"## Long-term memory ({path})", past, newest=False)
        for path in day_files(root, folder, day):
            notes += _section(visible, path, f"## Notes of today ({path})", past, newest=True)
    first = _fitted(curated, int(limit * _CURATED_SHARE) if notes else limit)
    second = _fitted(notes, limit - _tokens(first))
    if notes and len(second) == len(notes):  # give tokens that the notes do not use to curated memory
        first = _fitted(curated, limit - _tokens(second))
    return _whole([*first, *second], limit)


def curated_files(root: Path, folder: str) -> list[str]:
    """Return the paths of curated memory below `folder` (empty, or ending in a slash), in any case."""
    here = listing.names(root, folder.rstrip("/"))
    found = [folder + name for name in here if name.casefold() == "memory.md"]
    for inner in (folder + name for name in here if name.casefold() == "memory"):
        found += [f"{inner}/{name}" for name in listing.names(root, inner) if name.casefold() == "memory.md"]
    return found


def day_files(root: Path, folder: str, day: date) -> list[str]:
    """Return the paths of the notes of a day, the plain one first."""
    inside, month = f"{folder}memory", day.isoformat()[:7]
    found = []
    # The names of its notes begin with the day, or with the month alone.
    for name in (one for one in listing.names(root, inside) if one.startswith(month)):
        place = layout.place(path := f"{inside}/{name}")
        if place is not None and place.role == "daily" and place.dated == day.isoformat():
            found.append(path)
    return sorted(found, key=lambda path: (len(path), path))


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


def without_own_comments(text: str) -> str:
    """Remove the ids and markers of mnemark, useless to a model."""
    return drop_comments(text, lambda body: body.startswith(_OWN_COMMENTS), blanks=" \t")


def paragraphs(text: str) -> list[str]:
    """Cut a text at blank lines outside of code."""
    found: list[list[str]] = [[]]
    fence = ""
    for line in text.splitlines():
        mark = _CODE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip(" `~"):
            fence = ""
        if line.strip() or fence:
            found[-1].append(line.rstrip())
        elif found[-1]:
            found.append([])
    return ["\n".join(lines) for lines in found if lines]


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
