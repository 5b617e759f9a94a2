"""List the versions of facts in files, hand edits and pending changes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, timedelta
from typing import Final

import msgspec

from mnemark.facts.files import Confirmation, FactFiles
from mnemark.facts.fold import past_id, words_of
from mnemark.facts.fold.tables import FactState
from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact
from mnemark.facts.timeline import when
from mnemark.types import Json

_NEXT: Final = timedelta(microseconds=1)
_SHARES: Final = frozenset({"importance", "confidence"})


def all_versions(log: FactJournal, files: FactFiles, scope: str) -> list[Fact]:
    """Return all versions of the facts of a scope: in file order, then those that are in no file."""
    standing = standing_facts(log, files, scope)
    confirmations = log.pending_confirmations(scope)
    found = [one for fact in standing.values() for one in shown_of(fact, log, files, confirmations)]
    return found + beside_files(log, files, scope, {fact.id for fact in found}, confirmations)


def shown_of(
    fact: Fact, log: FactJournal, files: FactFiles, confirmations: Sequence[Confirmation]
) -> list[Fact]:
    """Return a fact in a file and its version before a hand edit; nothing if it was forgotten."""
    state = log.of(fact.id)
    return [] if state.hidden else _completed(_with_past(fact, state, files), log, confirmations)


def beside_files(
    log: FactJournal,
    files: FactFiles,
    scope: str,
    there: Collection[str],
    confirmations: Sequence[Confirmation],
) -> list[Fact]:
    """Return past and pending facts, except those in files, whose ids are `there`."""
    states = log.tables.facts
    found = [
        fact
        for fact in log.tables.past.values()
        if fact.scope == scope
        and fact.id not in there
        and not ((state := states.get(fact.id)) is not None and state.hidden)
    ]
    for identifier in log.pending(scope):
        state = log.of(identifier)
        fact = state.record
        if fact is not None and identifier not in there and not state.hidden:
            path = fact.path or files.path_for(fact.subject, fact.scope)
            found.append(msgspec.structs.replace(fact, path=path, pending=True))
    return _completed(found, log, confirmations)


def _completed(facts: Iterable[Fact], log: FactJournal, confirmations: Sequence[Confirmation]) -> list[Fact]:
    """Apply pending confirmations and ends set by successors that were forgotten, and note what is in doubt.

    So a predecessor does not become valid again.
    """
    found = []
    for fact in facts:
        state = log.tables.facts.get(fact.id)
        known, end = confirmed_by(fact, confirmations), state.end if state is not None and state.ends else ""
        if end and not known.until:
            known = msgspec.structs.replace(known, until=end)
        if fact.id in log.tables.otherwise:
            known = msgspec.structs.replace(known, otherwise=log.otherwise(known))
        found.append(known)
    return found


def standing_facts(log: FactJournal, files: FactFiles, scope: str) -> dict[str, Fact]:
    """Return the facts in the files of a scope by id.

    Of a duplicate id, the bullet with the last known words keeps it; the other gets a derived id.
    """
    found: dict[str, Fact] = {}
    for path in files.paths(scope):
        for fact in files.facts(path):
            other = found.get(fact.id)
            if other is None:
                found[fact.id] = fact
                continue
            known = log.of(fact.id).last
            keeps = known is not None and words_of(known) == words_of(fact) != words_of(other)
            kept, copy = (fact, other) if keeps else (other, fact)
            found[fact.id] = kept
            if words_of(copy) != words_of(kept):
                found.setdefault(past_id(copy), msgspec.structs.replace(copy, id=past_id(copy)))
    return found


def _with_past(fact: Fact, state: FactState, files: FactFiles) -> list[Fact]:
    """Return a fact, preceded by its version before a hand edit."""
    if state.struck is not None and struck_by_hand(fact, files):
        fact = msgspec.structs.replace(fact, until=state.struck)
    edit, last, known = state.changed, state.last, state.known
    if edit is not None and (_written(edit) == _written(fact) or words_of(edit) == words_of(fact)):
        return [msgspec.structs.replace(fact, since=edit.since, origin="file", supersedes=edit.supersedes)]
    if last is not None and not says_same(last, fact):
        since = edited_at(files, fact.path, last)
        old = msgspec.structs.replace(last, id=past_id(last), until=since, path=fact.path, line=0)
        return [old, msgspec.structs.replace(fact, since=since, origin="file", supersedes=old.id)]
    if known is not None and not fact.since and known.recorded:
        fact = msgspec.structs.replace(fact, recorded=known.recorded)
    return [fact]


def _written(fact: Fact) -> tuple[str, str, str]:
    return fact.subject, fact.predicate, fact.value


def edited_at(files: FactFiles, path: str, last: Fact) -> str:
    """Return the time of a hand edit: the file's modification time, but after the fact became valid.

    A copied file keeps an old modification time, and clocks differ.
    """
    saved = files.saved(path)
    began = when(last.since, UTC) or when(last.recorded, UTC)
    return (saved if began is None or began < saved else began + _NEXT).isoformat()


def struck_by_hand(fact: Fact, files: FactFiles) -> bool:
    """Whether a bullet was struck through without `until`, so that it ended at the file's last save."""
    return bool(fact.until) and fact.until == files.saved_iso(fact.path)


def says_same(last: Fact, fact: Fact) -> bool:
    """Whether two versions have equal content; in another file the subject may differ."""
    as_written = (last.predicate, last.value) == (fact.predicate, fact.value)
    if as_written and (last.path != fact.path or last.subject == fact.subject):
        return True
    start = 0 if last.path == fact.path else 1
    return words_of(last)[start:] == words_of(fact)[start:]


def confirmed_by(fact: Fact, said: Iterable[Confirmation]) -> Fact:
    """Apply pending confirmations to a fact."""
    for one in said:
        if one.fact == fact.id:
            fields: Mapping[str, Json] = {
                name: None if name in _SHARES and not text else text
                for name, text in one.fields.items()
                if name != "source"
            }
            fact = msgspec.convert(msgspec.to_builtins(fact) | dict(fields), Fact, strict=False)
    return fact
