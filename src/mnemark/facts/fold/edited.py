"""Fold the lines about what people changed in fact files by hand."""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from mnemark.facts.fold.tables import Edited, FactTables, Payload
from mnemark.facts.model import Fact
from mnemark.facts.payload import before_of, fact_from, past_id, words_of
from mnemark.files.journal import Change, JournalEntry


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
