"""Fold the lines that add, confirm, end and decide facts, and those that say what is in a file.

A copy of a journal repeats lines: the second time they say nothing. A line may be read after its undo, which
another machine's journal has.
"""

from typing import Literal

import msgspec

from mnemark.facts.files import Confirmation
from mnemark.facts.fold.forgotten import take_back
from mnemark.facts.fold.tables import Decided, Ended, FactTables, Payload, ids_in, mapping
from mnemark.facts.payload import fact_from
from mnemark.files.journal import JournalEntry


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
    if fact.id in tables.undone:
        take_back(tables, fact.id)


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
        tables.ends[change.id] = Ended(fact, fields.get("until", ""), fields.get("ended", ""), by)
        if by in tables.facts and tables.facts[by].withdrawn:
            tables.undone[change.id] = None
    if change.id in tables.undone:
        take_back(tables, change.id)


def project(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:
    """Note that facts were written to their file."""
    ids, line = ids_in(payload), (entry.change.id,)
    for identifier in ids:
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
        tables.decisions[change.id] = Decided(kind, ids, made, change.scope, entry.file)
    tables.settle(ids)
    for identifier in ids:
        tables.decided.setdefault(identifier, set()).add(change.id)
    if change.id in tables.undone:
        take_back(tables, change.id)
