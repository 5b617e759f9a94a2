"""Fold the lines of a journal into the tables, one function for each kind.

A copy of a journal repeats lines: the second time they say nothing. A line may be read after its undo, which
another machine's journal has.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Literal

import msgspec

from mnemark.facts.files import Confirmation
from mnemark.facts.fold import before_of, corrections, fact_from, past_id, words_of
from mnemark.facts.fold.tables import Decided, Edited, FactEnd, FactTables, Hides, Payload, ids_in, mapping
from mnemark.facts.model import Fact
from mnemark.files.journal import Change, JournalEntry
from mnemark.files.tombstones import strings


def remember(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:
    """Add a fact that waits for its file, or a proposal that waits for the file of those to review."""
    change = entry.change
    fact = fact_from(payload, change, change.id)
    if fact is None:
        return
    state = tables.state(fact.id)
    if state.fact is not None:
        return
    state.fact, state.file, state.proposed = fact, entry.file, change.kind != "remember"
    if state.proposed:
        tables.proposed.append(fact.id)
    tables.wait(fact.id)
    corrections.hide_twin(tables, state)
    if fact.id in tables.undone:
        take_back(tables, fact.id)


def otherwise(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:
    """Add a proposal that says otherwise than a fact."""
    remember(tables, entry, {**payload, "supersedes": payload.get("fact", "")})
    fact = tables.state(entry.change.id).proposal
    if fact is not None:
        against = tables.otherwise.setdefault(fact.supersedes, [])
        if fact.id not in against:
            against.append(fact.id)


def confirm(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:
    """Add a confirmation or an end that waits for the file of its fact."""
    change, fact = entry.change, str(payload.get("fact", ""))
    if change.id in tables.confirmations:
        return
    fields = {name: str(text) for name, text in mapping(payload.get("fields")).items()}
    tables.confirmations[change.id] = Confirmation(change.id, fact, fields, change.scope, entry.file)
    tables.wait(change.id)
    if change.kind == "retract":
        by = str(payload.get("by", ""))
        tables.ends[change.id] = FactEnd(fact, fields.get("until", ""), fields.get("ended", ""), by)
        if by in tables.facts and tables.facts[by].withdrawn:
            tables.undone[change.id] = None
    if change.id in tables.undone:
        take_back(tables, change.id)


def project(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:
    """Note that facts were written to their file."""
    ids, line = ids_in(payload), (entry.change.id,)
    if payload.get("restored"):
        corrections.settle_restored(tables, ids)
        return
    for identifier in ids:
        if identifier in tables.corrections and identifier in tables.undone:
            continue  # it was written, and waits to be taken out
        state = tables.facts.get(identifier)
        if state is not None and line[0] in state.written:
            continue
        tables.settle((identifier,))
        if state is None:
            continue
        state.written = state.written + line if state.written else line
        if (record := state.record) is not None:
            path = str(payload.get("path", record.path))
            state.known = record if path == record.path else msgspec.structs.replace(record, path=path)
            state.own = entry.file == tables.file


def decide(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:
    """Note that a person accepted or rejected proposals or hand edits."""
    change, ids = entry.change, ids_in(payload)
    if change.id in tables.decisions:
        return
    kind: Literal["accept", "reject"] = "accept" if change.kind == "accept" else "reject"
    if kind == "reject" or "made" in payload:  # older lines do not say what accepting made
        made = str(payload.get("made", ""))
        settled = payload.get("settled") is True
        tables.decisions[change.id] = Decided(kind, ids, made, change.scope, entry.file, settled)
    tables.settle(ids)
    for identifier in ids:
        tables.decided.setdefault(identifier, set()).add(change.id)
    if change.id in tables.undone:
        take_back(tables, change.id)


def edit(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:
    """Note how a fact stands in its file after a person added, changed, moved or ended it."""
    change, identifier = entry.change, str(payload.get("fact", ""))
    payload = _visible(tables, payload)
    fact = fact_from(payload, change, identifier)
    if fact is None or not identifier or change.id in tables.edits:
        return
    state = tables.state(identifier)
    before = before_of(payload, change, identifier)
    if before is not None:
        past = msgspec.structs.replace(before, id=past_id(before), until=fact.since)
        tables.past[past.id] = past
        state.changed = msgspec.structs.replace(fact, origin="file", supersedes=past.id)
        if before.id in tables.facts:
            tables.facts[before.id].known = None
    tables.past.pop(past_id(fact), None)  # removed, and put back
    action = str(payload.get("action", ""))
    _wait_for_review(tables, change, action, fact, before)
    if action == "ended":
        state.struck = fact.until
    state.known, state.own = fact, entry.file == tables.file
    tables.removed.pop((change.scope, words_of(fact)), None)


def remove(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:
    """Note that a person removed a fact from its file."""
    change, identifier = entry.change, str(payload.get("fact", ""))
    if change.id in tables.edits:
        return
    tables.settle([identifier])
    state = tables.state(identifier)
    state.known = None
    fact = fact_from(_visible(tables, payload), change, identifier)
    if fact is None:
        return
    _wait_for_review(tables, change, "removed", fact, fact)
    at = (change.time or datetime.now(UTC)).astimezone(UTC).isoformat()
    tables.removed[change.scope, words_of(fact)] = at
    if state.changed is not None:  # the value before is history, so that this one has to be, too
        past = msgspec.structs.replace(
            fact, id=past_id(fact), origin="file", supersedes=state.changed.supersedes, until=fact.until or at
        )
        tables.past[past.id] = past


def _wait_for_review(
    tables: FactTables, change: Change, action: str, fact: Fact, before: Fact | None
) -> None:
    time = change.time.isoformat() if change.time else ""
    tables.edits[change.id] = Edited(change.id, action, fact, before, time)


def _visible(tables: FactTables, payload: Payload) -> Payload:
    """Return the payload of a hand edit without secrets: older lines may quote bullets with some."""
    visible = dict(payload)
    if isinstance(before := payload.get("before"), Mapping):
        visible["before"] = dict(_visible(tables, before))
    if isinstance(value := payload.get("value"), str):
        name = f"{payload.get('predicate', '')}: "
        text = tables.redacted(name + value)
        visible["value"] = text.removeprefix(name) if text.startswith(name) else tables.redacted(value)
    return visible


def forget(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:
    """Hide facts; of a line that erases turns or notes nothing is kept, for there are many."""
    line = entry.change.id
    hides = Hides(
        ids=strings(payload.get("ids")),
        passing=strings(payload.get("passing")),
        ends={fact: str(end) for fact, end in mapping(payload.get("ends")).items()},
        marks=strings(payload.get("said")),
        erase=bool(payload.get("erase")),
    )
    if (
        (hides.erase and not hides)
        or line in tables.undone
        or line in tables.hides
        or line in tables.completed
    ):
        return
    tables.hides[line] = hides
    for identifier in hides.facts:
        state = tables.state(identifier)
        state.hidden_by += (line,)
        if hides.erase:  # or a missing bullet would be journaled as removed, with its text
            state.known = None
    for fact, end in hides.ends.items():
        tables.state(fact).ends += ((line, end),)
    if hides:
        tables.epoch += 1
    if line in tables.erased:  # said by a machine whose lines were read before
        _complete(tables, line)


def erased(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:  # noqa: ARG001 - as all reducers
    """Note that the text which lines hide is erased from the files."""
    lines = ids_in(payload)
    tables.erased.update(lines)
    for line in lines:
        if line in tables.hides:
            _complete(tables, line)


def _complete(tables: FactTables, line: str) -> None:
    """Drop a line whose facts are erased: they stay hidden, and are not learned again from older sources."""
    hides = tables.hides.pop(line)
    tables.completed.update((line,))
    note_last(tables.said, hides, line)
    tables.waiting.difference_update(hides.facts)
    tables.settled.difference_update(hides.ids)
    _show(tables, line, hides.facts)
    for fact in hides.ids:
        tables.facts[fact].erased = True
    if hides.passing:
        tables.epoch += 1


def note_last(said: dict[str, str], hides: Hides, line: str) -> None:
    """Note a line for the marks of facts that no later line erased; an earlier one may be completed later."""
    for mark in hides.marks:
        said[mark] = max(said.get(mark, ""), line)


def _show(tables: FactTables, line: str, facts: Collection[str]) -> None:
    """Let a line no longer hide these facts."""
    for identifier in facts:
        state = tables.facts[identifier]
        state.hidden_by = tuple(other for other in state.hidden_by if other != line)


def undo(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:  # noqa: ARG001 - as all reducers
    """Take lines back, those too that are read later."""
    for line in ids_in(payload):
        if line not in tables.undone:
            tables.undone[line] = None
            take_back(tables, line)
    tables.epoch += 1


def take_back(tables: FactTables, line: str) -> None:
    """Take back what a line did: show facts again, withdraw one, let it hold again, or reopen a decision."""
    if line in tables.hides:
        _unhide(tables, line)
    elif line in tables.decisions:
        _reopen(tables, line)
    elif line in tables.ends:
        tables.settle([line])
    elif line in tables.corrections:
        corrections.take_back(tables, line)
    elif line in tables.facts:
        _withdraw(tables, line)


def _unhide(tables: FactTables, line: str) -> None:
    hides = tables.hides.pop(line)
    _show(tables, line, hides.facts)
    for fact in hides.ends:
        state = tables.facts[fact]
        state.ends = tuple(end for end in state.ends if end[0] != line)


def _reopen(tables: FactTables, line: str) -> None:
    """Let what no other line decides wait again, a proposal in its file."""
    for identifier in tables.decisions[line].ids:
        lines = tables.decided.get(identifier, set())
        lines.discard(line)
        if lines:
            continue
        tables.decided.pop(identifier, None)
        state = tables.facts.get(identifier)
        if state is not None and state.proposal is not None:
            tables.waiting.add(identifier)


def _withdraw(tables: FactTables, identifier: str) -> None:
    """Withdraw a fact that was remembered, so that what it ended holds again, or words against a fact."""
    state = tables.facts[identifier]
    if state.record is None and (state.fact is None or state.fact.review != "otherwise"):
        return
    state.withdrawn, state.known = True, None
    ended = [line for line, end in tables.ends.items() if end.by == identifier]
    tables.undone |= dict.fromkeys(ended)
    tables.settle([identifier, *ended])
