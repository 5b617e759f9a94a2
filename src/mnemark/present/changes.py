"""Say what was changed in sentences, such as "Learned: you live in Lisbon"."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact
from mnemark.files import layout
from mnemark.files.sessions import SessionLog
from mnemark.memory.browse.change_rows import ChangeDetail, ChangePart, ChangeRow
from mnemark.memory.browse.change_rows import tidied as last_tidied
from mnemark.memory.browse.entries import TimelineEntry
from mnemark.memory.browse.page import Page
from mnemark.memory.consolidation.report import Consolidated, amounts
from mnemark.memory.journal.changes import ChangeLog
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.present import facts
from mnemark.present.phrases import capital, closed
from mnemark.present.sources import place
from mnemark.present.words import Words

_SHOWN: Final = 3
"""Maximum number of facts that a sentence tells; the rest are counted."""
_LOOKED_AT: Final = 20
"""Maximum number of ids of a change that are looked up."""
NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "remember": "Learned", "correct": "Corrected", "retract": "Ended", "write": "Wrote",
        "move": "Moved", "edit": "Edited by hand", "forget": "Forgotten", "erased": "Erased",
        "undo": "Undone", "accept": "Accepted",
        "reject": "Rejected", "pin": "Pinned", "propose": "Proposed", "conflict": "Conflict",
        "confirm": "Confirmed",
        "otherwise": "Said otherwise", "consolidate": "Consolidated", "import": "Imported",
        "describe": "Described", "attach": "Attached", "project": "Written to its file",
    }
)  # fmt: skip
"""Kinds of changes in a word."""
_NIGHT: Final = (22, 7)
"""Hours between which people sleep."""
_LATELY: Final = timedelta(hours=36)
"""Age from which a consolidation is no longer last night's."""
_CONSOLIDATE: Final = "consolidate: "
_TIDIED: Final = "the notes of MEMORY.md tidied"
_DONE: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        "deduplicate": ("1 duplicate merged", "{n} duplicates merged", "duplicates merged"),
        "archive": ("1 fact put away", "{n} facts put away", "facts put away"),
        "condense": (
            "1 day put into its month", "{n} days put into their month", "days put into their months"
        ),
        "refresh": ("1 page brought up to date", "{n} pages brought up to date", "pages brought up to date"),
        "clean up": ("1 old file put away", "{n} old files put away", "old files put away"),
        "tidy": (_TIDIED, _TIDIED, _TIDIED),
    }
)  # fmt: skip
"""What the steps of a consolidation did: once, many times, and where nobody counted."""
_STEPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "session end: episode": "Wrote the page of {talk}.",
        "session end: summary": "Noted {talk} under its day.",
        "session end: scratchpad": "Put what {talk} left open on the list.",
        "session end: core memory": "Brought {place} up to date after {talk}.",
        "scratchpad": "Brought the list of what is open up to date.",
        "consolidate: deduplicate": "Merged duplicates in {place}.",
        "consolidate: archive": "Put facts away, or back: {place}.",
        "consolidate: condense": "Put days into their month: {place}.",
        "consolidate: refresh": "Brought {place} up to date.",
        "consolidate: clean up": "Put away {place}.",
        "consolidate: tidy": "Tidied {place}.",
        "review: accepted": "Brought {place} in line with what you accepted.",
        "merge: pages": "Joined the pages of a talk that had two.",
        "copies": "Joined a conflict copy of {place}.",
        "observations": "Noted what tools did.",
        "observations: archive": "Put away what tools did long ago.",
        "attachment": "Wrote the page of a file that came with a message.",
        "attachment described": "Noted what is in a file that came with a message.",
    }
)
"""What the steps that write files do, by `ChangeRow.step`."""
_OF_TALK: Final[Mapping[str, str]] = MappingProxyType(
    {
        "session end: episode": "Wrote its page.",
        "session end: summary": "Noted it under its day.",
        "session end: scratchpad": "Put what it left open on the list.",
        "session end: core memory": "Brought {place} up to date.",
    }
)
"""The same below the title of the talk."""
_KINDS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "remember": ("Learned: {facts}", "Learned something."),
        "retract": ("Ended: {facts}", "Ended a fact."),
        "edit": ("Changed by hand: {facts}", "Changed a fact by hand."),
        "forget": ("Hid: {facts}", "Hid something from all searches."),
        "accept": ("You accepted: {facts}", "You accepted a proposal."),
        "reject": ("You rejected: {facts}", "You rejected a proposal."),
        "pin": ("Kept for good: {facts}", "Kept something for good."),
        "propose": ("Waits for you: {facts}", "Something waits for you."),
        "conflict": ("Waits for you, as it says otherwise: {facts}", "A contradiction waits for you."),
        "otherwise": ("Maybe no longer so: {facts}", "Something may no longer be so."),
        "undo": ("Taken back: {facts}", "Took a change back."),
        "confirm": ("Confirmed: {facts}", "Confirmed a fact."),
        "": ("Changed something: {facts}", "Changed something."),
    }
)
"""A change with the facts it is about, and without."""
_ALONE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "erased": "Erased what was to be forgotten.",
        "describe": "Noted what is in a file that came with a message.",
        "observe": "Noted what tools did.",
        "attach": "Kept files that came with messages.",
    }
)
"""Changes that are about no fact."""


def sentence_below_talk(row: ChangeRow, words: Words, ws: OpenWorkspace) -> str:
    """Return what a change did, as it stands below the title of the talk that made it."""
    if row.step not in _OF_TALK:
        return sentence(row, words, ws)
    return words(_OF_TALK[row.step], place=place(ws, row.paths[0], words) if row.paths else words("a file"))


def sentence(row: ChangeRow, words: Words, ws: OpenWorkspace) -> str:
    """Return what a change, or a run of them, did: "Learned: you live in Lisbon."."""
    if row.kind == "consolidate" or _tells_of_a_run(row):
        return _tidied(row, words)
    special = _SPECIAL.get(row.kind)
    if special is not None:
        return special(row, words, ws)
    if row.kind in _ALONE:
        return words(_ALONE[row.kind])
    told, untold = _KINDS.get(row.kind, _KINDS[""])
    about = _facts(row, ws)
    if not about and row.kind == "undo" and len(row.named) > 1:
        return words("Took {n} changes back.", n=len(row.named))
    if not about:
        return words(untold)
    count = max(row.count, len(about)) if row.kind == "remember" else len(about)
    return closed(words(told, facts=_joined(about, count, words)), chinese=words.language == "zh")


def told(row: ChangeRow, ws: OpenWorkspace) -> ChangeRow:
    """Return a change with its sentence as text, for programs: in the language of its facts."""
    words = facts.words_for(*facts_of(ws, (*row.ids, *row.named)[:_LOOKED_AT]))
    return replace(row, text=sentence(row, words, ws))


def told_page(page: Page[ChangeRow], ws: OpenWorkspace) -> Page[ChangeRow]:
    """Return a page of changes with their sentences, for programs."""
    return replace(page, rows=tuple(told(row, ws) for row in page.rows))


def told_detail(found: ChangeDetail, ws: OpenWorkspace) -> ChangeDetail:
    """Return a change and its parts with their sentences, for programs."""
    parts = tuple(replace(one, text=of_part(one, ws)) for one in found.parts)
    return replace(found, row=told(found.row, ws), parts=parts)


def of_part(part: ChangePart, ws: OpenWorkspace, words: Words | None = None) -> str:
    """Return the facts that one change of a group is about; empty if none, or they are forgotten."""
    found = facts_of(ws, [part.id])
    words = words or facts.words_for(*found)
    about = listed(ws, found, words)
    return about if words.language == "zh" else capital(about)


def of_entry(row: TimelineEntry, ws: OpenWorkspace) -> TimelineEntry:
    """Return an entry of the timeline with the sentence of its change, for programs."""
    change = row.change and told(row.change, ws)
    return row if change is None else replace(row, text=change.text, change=change)


def listed(ws: OpenWorkspace, about: Sequence[Fact], words: Words) -> str:
    """Return facts as they stand behind a colon: "you live in Lisbon; your editor is Helix."."""
    text = _joined([redacted(one, ws) for one in about], len(about), words)
    return text and closed(text, chinese=words.language == "zh")


def _joined(about: Sequence[Fact], count: int, words: Words) -> str:
    """Return the first facts as clauses, and how many of them there are more."""
    shown = [facts.clause(fact, words).rstrip(".。") for fact in about[:_SHOWN]]
    listed, more = words.clauses(shown), count - len(shown)
    return words("{listed}; and {n} more", listed=listed, n=more) if more > 0 else listed


def _facts(row: ChangeRow, ws: OpenWorkspace) -> list[Fact]:
    """Return the facts that a change is about, without forgotten ones."""
    own = row.ids if row.kind in {"remember", "propose", "conflict", "otherwise"} else ()
    return facts_of(ws, (*own, *row.named)[:_LOOKED_AT])


def facts_of(ws: OpenWorkspace, ids: Iterable[str]) -> list[Fact]:
    """Return the facts that lines of the journal are about, by their ids, without forgotten ones."""
    store = ws.fact_store
    with store.lock:
        store.log.refresh()
        found = [fact for one in ids for fact in _named(store.log, one)]
        return [redacted(one, ws) for one in found]


def _named(log: FactJournal, identifier: str) -> Iterator[Fact]:
    """Yield the fact of a line, those that it decided on, or the one that it ended."""
    decided = log.tables.decisions.get(identifier)
    end = log.tables.ends.get(identifier)
    for one in decided.ids if decided is not None else (identifier if end is None else end.fact,):
        state = log.of(one)
        fact = state.last or log.reviewed(one)
        if fact is not None and not (state.erased or state.hidden_by):
            yield fact


def sentence_of(ws: OpenWorkspace, fact: Fact, words: Words | None = None) -> str:
    """Return a fact as a sentence, redacted; by default in its own language."""
    return facts.sentence(redacted(fact, ws), words or facts.words_for(fact))


def redacted(fact: Fact, ws: OpenWorkspace) -> Fact:
    """Return a fact without secrets and private passages in its value."""
    value = ws.visible.redacted(fact.value)
    return fact if value == fact.value else replace(fact, value=value)


def last_night(ws: OpenWorkspace, log: ChangeLog) -> ChangeRow | None:
    """Return the last consolidation; None if it was long ago, or was undone."""
    row = last_tidied(ws, log)
    if row is None or row.undone:
        return None
    return None if ws.now() - datetime.fromisoformat(row.time) > _LATELY else row


def _tells_of_a_run(row: ChangeRow) -> bool:
    return any(step.startswith(_CONSOLIDATE) or step in _DONE for step in row.done)


def _tidied(row: ChangeRow, words: Words) -> str:
    return tidied(row.done, words, at_night=_is_at_night(datetime.fromisoformat(row.time)))


def of_run(report: Consolidated, words: Words | None = None) -> str:
    """Return what a consolidation did that somebody asked for; without their words, what upkeep did."""
    done = amounts(report.edits, report.found)
    return tidied(done, words or Words("en"), at_night=words is None and _is_at_night(report.time))


def _is_at_night(time: datetime) -> bool:
    """Return whether people sleep at that hour."""
    begin, end = _NIGHT
    return time.hour >= begin or time.hour < end


def tidied(amounts: Mapping[str, object], words: Words, *, at_night: bool = False) -> str:
    """Return what a consolidation did: "Tidied overnight: 2 duplicates merged, 1 fact put away."."""
    done = []
    if learned := amounts.get("learn", 0):
        done.append(words.count(_number(learned), "1 fact learned", "{n} facts learned"))
    for step, (one, many, uncounted) in _DONE.items():
        if amount := _number(amounts.get(step, 0)):
            done.append(words.count(amount, one, many))
        elif f"{_CONSOLIDATE}{step}" in amounts:
            done.append(words(uncounted))
    if not done:
        return words("Looked over everything; nothing was to be tidied.")
    listed = words.listed(done)
    return words("Tidied overnight: {done}." if at_night else "Tidied up: {done}.", done=listed)


def _number(amount: object) -> int:
    return amount if isinstance(amount, int) else 0


def _written(row: ChangeRow, words: Words, ws: OpenWorkspace) -> str:
    path = row.paths[0] if row.paths else ""
    template = _STEPS.get(row.step)
    if template is None:
        where = place(ws, path, words) if path else words("a file")
        return words("Moved {place}." if row.kind == "move" else "Changed {place}.", place=where)
    values = {}
    if "{place}" in template:
        values["place"] = place(ws, path, words) if path else words("a file")
    if "{talk}" in template:
        values["talk"] = _talk(row, words, ws)
    return words(template, **values)


def _talk(row: ChangeRow, words: Words, ws: OpenWorkspace) -> str:
    if not row.session:
        return words("a talk")
    path = layout.in_scope(row.scope, SessionLog(ws.root, row.session).name)
    return place(ws, path, words)


def _ended(row: ChangeRow, words: Words, ws: OpenWorkspace) -> str:
    return words("Ended {talk}.", talk=_talk(row, words, ws))


def _imported(row: ChangeRow, words: Words, ws: OpenWorkspace) -> str:  # noqa: ARG001 - as all of them
    name = next((one for one in row.named if one), "").rstrip("/").rpartition("/")[2]
    return words("Brought in “{name}”.", name=name) if name else words("Brought in notes or conversations.")


def _corrected(row: ChangeRow, words: Words, ws: OpenWorkspace) -> str:
    """Say what is right, or what was never true."""
    store = ws.fact_store
    with store.lock:
        store.log.refresh()
        done = store.log.tables.corrections.get(row.ids[0] if row.ids else row.id)
    fact = None if done is None else done.fact or done.before
    is_hidden = fact is not None and fact.id in ws.index.hidden.current().facts and not row.undone
    if done is None or is_hidden:
        return words("Corrected a fact.")
    return corrected(ws, done.before, done.fact, words)


def corrected(ws: OpenWorkspace, before: Fact | None, after: Fact | None, words: Words) -> str:
    """Return what a correction says: what is right, or what was never true; not what is erased."""
    fact = after or before
    if fact is None:
        return words("Corrected a fact.")
    told = facts.inside(sentence_of(ws, fact, words), words)
    if after is None:
        return words("It was never true: {fact}", fact=told)
    return words("Corrected: {facts}", facts=told)


_SPECIAL: Final[Mapping[str, Callable[[ChangeRow, Words, OpenWorkspace], str]]] = MappingProxyType(
    {"write": _written, "move": _written, "import": _imported, "end": _ended, "correct": _corrected}
)
