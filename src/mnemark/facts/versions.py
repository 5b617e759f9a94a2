"""List the versions of facts as they are now: files, hand edits, and pending changes."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, timedelta
from typing import Final

import msgspec

from mnemark.facts.files import Confirmation, FactFiles
from mnemark.facts.journal import FactJournal, past_id, words_of
from mnemark.facts.model import Fact
from mnemark.facts.timeline import when
from mnemark.types import Json

_NEXT: Final = timedelta(microseconds=1)
_SHARES: Final = frozenset({"importance", "confidence"})


def versions(log: FactJournal, files: FactFiles, scope: str) -> list[Fact]:
    """Every version of every fact of a scope, in the order of the files; pending ones last."""
    standing = standing_facts(log, files, scope)
    found = [one for fact in standing.values() for one in shown_of(fact, log, files, scope)]
    return found + beside_files(log, files, scope, {fact.id for fact in found})


def shown_of(fact: Fact, log: FactJournal, files: FactFiles, scope: str) -> list[Fact]:
    """What a fact in a file is, and was before a person changed it; nothing where it was forgotten."""
    if fact.id in log.hidden:
        return []
    said = _said(log, scope)
    return [_ended(confirmed_by(one, said), log) for one in _with_past(fact, log, files)]


def beside_files(log: FactJournal, files: FactFiles, scope: str, there: Collection[str]) -> list[Fact]:
    """What was in files before, and what is in none yet; `there` are ids of what stands in files."""
    past = [
        fact
        for fact in log.past.values()
        if fact.scope == scope and fact.id not in log.hidden and fact.id not in there
    ]
    waiting = set(log.pending(scope))
    new = (log.records[one] for one in sorted(waiting & log.records.keys()) if one not in there)
    found = [*past, *(_pending(fact, files) for fact in new)]
    said = _said(log, scope)
    return [_ended(confirmed_by(fact, said), log) for fact in found]


def _said(log: FactJournal, scope: str) -> list[Confirmation]:
    """Confirmations that wait for their file."""
    return [log.confirmations[one] for one in log.pending(scope) if one in log.confirmations]


def _ended(fact: Fact, log: FactJournal) -> Fact:
    """With the end that a forgotten fact had given it: a predecessor does not come back by itself."""
    end = log.ends.get(fact.id, "")
    return msgspec.structs.replace(fact, until=end) if end and not fact.until else fact


def _pending(fact: Fact, files: FactFiles) -> Fact:
    path = fact.path or files.path_for(fact.subject, fact.scope)
    return msgspec.structs.replace(fact, path=path, pending=True)


def standing_facts(log: FactJournal, files: FactFiles, scope: str) -> dict[str, Fact]:
    """The facts in the files of a scope by id.

    Of an id that stands twice, the bullet with the last known words keeps it; the other gets one of its own.
    """
    found: dict[str, Fact] = {}
    for path in files.paths(scope):
        for fact in files.facts(path):
            other = found.get(fact.id)
            if other is None:
                found[fact.id] = fact
                continue
            known = last_known(log, fact.id)
            keeps = known is not None and words_of(known) == words_of(fact) != words_of(other)
            kept, copy = (fact, other) if keeps else (other, fact)
            found[fact.id] = kept
            if words_of(copy) != words_of(kept):
                found.setdefault(past_id(copy), msgspec.structs.replace(copy, id=past_id(copy)))
    return found


def last_known(log: FactJournal, identifier: str) -> Fact | None:
    """A fact as it was last known."""
    known = log.known.get(identifier)
    return known.fact if known else log.records.get(identifier)


def _with_past(fact: Fact, log: FactJournal, files: FactFiles) -> list[Fact]:
    """A fact, and what it said before a person changed it in its file."""
    if fact.id in log.ended and struck_by_hand(fact, files):
        fact = msgspec.structs.replace(fact, until=log.ended[fact.id])
    words, since, before = log.changed.get(fact.id, (None, "", ""))
    if words is not None and words == words_of(fact):
        return [msgspec.structs.replace(fact, since=since, origin="file", supersedes=before)]
    last = last_known(log, fact.id)
    if last is not None and not says_same(last, fact):
        since = edited_at(files, fact.path, last)
        old = msgspec.structs.replace(last, id=past_id(last), until=since, path=fact.path, line=0)
        return [old, msgspec.structs.replace(fact, since=since, origin="file", supersedes=old.id)]
    known = log.known.get(fact.id)
    if known is not None and not fact.since and known.fact.recorded:
        fact = msgspec.structs.replace(fact, recorded=known.fact.recorded)
    return [fact]


def edited_at(files: FactFiles, path: str, last: Fact) -> str:
    """When a person changed a fact: at the file's last save, and after it began to hold.

    A copy keeps the time of its original, and clocks differ: a change is never older than what it changed.
    """
    saved = files.saved(path)
    began = when(last.since, UTC) or when(last.recorded, UTC)
    return (saved if began is None or began < saved else began + _NEXT).isoformat()


def struck_by_hand(fact: Fact, files: FactFiles) -> bool:
    """Whether a bullet is struck through and does not say since when: it counts from the file's last save."""
    return bool(fact.until) and fact.until == files.saved_iso(fact.path)


def says_same(last: Fact, fact: Fact) -> bool:
    """Whether a bullet says what it said; in another file it may be about another subject."""
    as_written = (last.predicate, last.value) == (fact.predicate, fact.value)
    if as_written and (last.path != fact.path or last.subject == fact.subject):
        return True
    start = 0 if last.path == fact.path else 1
    return words_of(last)[start:] == words_of(fact)[start:]


def confirmed_by(fact: Fact, said: Iterable[Confirmation]) -> Fact:
    """A fact with what confirmations that wait for its file say."""
    for one in said:
        if one.fact == fact.id:
            fields: Mapping[str, Json] = {
                name: None if name in _SHARES and not text else text
                for name, text in one.fields.items()
                if name != "source"
            }
            fact = msgspec.convert(msgspec.to_builtins(fact) | dict(fields), Fact, strict=False)
    return fact
