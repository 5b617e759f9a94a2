"""Fold the lines that say that a fact was wrong: it is hidden, and what is right stands in its place."""

from collections.abc import Iterable, Mapping

from mnemark.facts.fold import Words, before_of, fact_from, words_of
from mnemark.facts.fold.tables import Correction, FactState, FactTables, Payload
from mnemark.facts.model import refs_in
from mnemark.files.journal import JournalEntry
from mnemark.files.tombstones import strings
from mnemark.types import Json


def correction_of(entry: JournalEntry, payload: Payload) -> Correction | None:
    """Return what a line of the kind `correct` says; None if it names no fact."""
    change, wrong = entry.change, payload.get("fact")
    if not isinstance(wrong, str) or not wrong:
        return None
    before = payload.get("before")
    before = before if isinstance(before, Mapping) else {}
    bullet, line = str(before.get("bullet") or ""), int_of(before.get("line"))
    return Correction(
        id=change.id, wrong=wrong, before=before_of(payload, change, wrong),
        fact=fact_from(payload, change, change.id), source=str(before.get("source") or ""),
        bullet=bullet, line=line,
        revived=tuple(strings(payload.get("revived"))), origin=change.origin, scope=change.scope,
        time=change.time.isoformat() if change.time else "", file=entry.file,
    )  # fmt: skip


def int_of(value: Json) -> int:
    """Return a whole number of a payload; 0 if it is none."""
    return value if isinstance(value, int) else 0


def correct(tables: FactTables, entry: JournalEntry, payload: Payload) -> None:
    """Hide a fact that was wrong, and add what is right, which waits for its file."""
    found = correction_of(entry, payload)
    if found is None or found.id in tables.corrections:
        return
    tables.corrections[found.id] = found
    if found.fact is not None:
        state = tables.state(found.id)
        if state.fact is None:
            state.fact, state.file = found.fact, entry.file
    tables.wait(found.id)
    if found.id in tables.undone:
        take_back(tables, found.id)
        return
    _hide(tables.state(found.wrong), found.id)
    if found.before is None:
        return
    key, turns = (found.scope, words_of(found.before)), turns_of(found.before.source)
    tables.wrong.setdefault(key, {})[found.id] = turns
    for state in tables.facts.values() if turns else ():
        if _is_twin(tables, state, key, turns):
            _hide(state, found.id)
            tables.epoch += 1  # the line does not name it


def hide_twin(tables: FactTables, state: FactState) -> None:
    """Hide a fact that another machine learned from a turn, if what that said was wrong."""
    fact = state.record
    if not tables.wrong or fact is None or not fact.source:
        return
    key = fact.scope, words_of(fact)
    for line, turns in tables.wrong.get(key, {}).items():
        if _is_twin(tables, state, key, turns):
            _hide(state, line)


def _is_twin(tables: FactTables, state: FactState, key: tuple[str, Words], turns: frozenset[str]) -> bool:
    """Whether a fact that was learned says what was wrong, from the same turn."""
    fact = state.record
    if fact is None or fact.id in tables.corrections or turns.isdisjoint(refs_in(fact.source)):
        return False
    return (fact.scope, words_of(fact)) == key


def turns_of(source: str) -> frozenset[str]:
    """Return the refs in a source that name turns."""
    return frozenset(ref for ref in refs_in(source) if ".jsonl#" in ref)


def _hide(state: FactState, line: str) -> None:
    if line not in state.corrected_by:
        state.corrected_by = tuple(sorted((*state.corrected_by, line)))


def take_back(tables: FactTables, line: str) -> None:
    """Let what was said to be wrong hold again; the files wait to be as they were."""
    found = tables.corrections[line]
    for state in tables.facts.values():
        if line in state.corrected_by:
            state.corrected_by = tuple(one for one in state.corrected_by if one != line)
    if found.before is not None:
        key = found.scope, words_of(found.before)
        lines = tables.wrong.get(key, {})
        lines.pop(line, None)
        if not lines:
            tables.wrong.pop(key, None)
    if found.fact is not None:
        state = tables.state(line)
        state.withdrawn, state.known = True, None
        ended = [end for end, one in tables.ends.items() if one.by == line]
        tables.undone |= dict.fromkeys(ended)
        tables.settle(ended)
    if line in tables.restored:
        tables.waiting.discard(line)
    else:
        tables.waiting.add(line)


def settle_restored(tables: FactTables, ids: Iterable[str]) -> None:
    """Note that the files are as they were before corrections that were undone."""
    tables.restored.update(ids)
    tables.waiting.difference_update(ids)
