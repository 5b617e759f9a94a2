"""Fold the lines that forget facts, complete erasures and take changes back."""

from collections.abc import Collection

from mnemark.facts.fold.tables import FactTables, Hides, Payload, ids_in, mapping
from mnemark.files.journal import JournalEntry
from mnemark.files.tombstones import strings


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
    """Withdraw a fact that was remembered, and what it ended holds again."""
    state = tables.facts[identifier]
    if state.record is None:
        return
    state.withdrawn, state.known = True, None
    ended = [line for line, end in tables.ends.items() if end.by == identifier]
    tables.undone |= dict.fromkeys(ended)
    tables.settle([identifier, *ended])
