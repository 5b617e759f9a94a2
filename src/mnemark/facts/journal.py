"""Replay the journal lines about facts: remembered, written, edited, removed, proposed."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal

import msgspec

from mnemark.facts.files import Confirmation
from mnemark.facts.keys import content_key, predicate_key, subject_key
from mnemark.facts.model import TYPES, Fact
from mnemark.files.ids import derived_id
from mnemark.files.journal import Change, Journal, JournalEntry
from mnemark.files.tombstones import AT_ONCE, Forgotten, strings
from mnemark.hashes import blake2b
from mnemark.text.lines import clean
from mnemark.types import Json

Words = tuple[str, str, str]
"""Keys of subject, predicate and value."""
_TEXTS: Final = (
    "subject",
    "predicate",
    "value",
    "since",
    "until",
    "recorded",
    "source",
    "supersedes",
    "priority",
    "against",
)
_TEXT_FIELDS: Final = frozenset((*_TEXTS, "path", "review"))
_SHARES: Final = ("importance", "confidence")
_MOST_TOUCHED: Final = 4_096
_OF_FACTS: Final = ("ids", "passing", "ends", "said", "erase")
"""What a line that forgets says of facts."""


def versions_in(identifier: str, payload: Mapping[str, Json]) -> set[str]:
    """Return the ids, as past versions, of the values that a journal line holds."""
    found = set()
    for part in (payload, payload.get("before")):
        if isinstance(part, Mapping) and isinstance(part.get("value"), str):
            subject, predicate, value = (clean(str(part.get(name) or "")) for name in _TEXTS[:3])
            one = str(part.get("id") or payload.get("fact") or identifier)
            found.add(past_id(Fact(id=one, subject=subject or "user", predicate=predicate, value=value)))
    return found


class Known(msgspec.Struct, frozen=True):
    """A fact as last seen in a file; `own`: seen by this machine."""

    fact: Fact
    own: bool


def words_of(fact: Fact) -> Words:
    """Return the keys by which the content of facts is compared."""
    return subject_key(fact.subject), predicate_key(fact.predicate), content_key(fact.predicate, fact.value)


def said_mark(scope: str, words: Words) -> str:
    """Return a hash of scope and words, to recognise erased facts without storing their text."""
    text = "\0".join((scope, *words))
    return blake2b(text.encode("utf-8", "replace"), digest_size=10).hexdigest()


def payload_of(fact: Fact) -> dict[str, Json]:
    """Return the journal payload of a fact, without the fields of the line itself."""
    texts = {name: getattr(fact, name) for name in (*_TEXTS, "type", "path", "review") if getattr(fact, name)}
    shares = {name: getattr(fact, name) for name in _SHARES if getattr(fact, name) is not None}
    return texts | shares | ({"tags": list(fact.tags)} if fact.tags else {})


def fact_from(payload: Json, change: Change, identifier: str) -> Fact | None:
    """Return the fact in a journal payload, or None."""
    if not isinstance(payload, Mapping) or not isinstance(payload.get("value"), str):
        return None
    texts: dict[str, Any] = {  # few of them are there, in thousands of lines
        name: clean(text) for name, text in payload.items() if name in _TEXT_FIELDS and isinstance(text, str)
    }
    shares: dict[str, Any] = {
        name: float(share)
        for name in _SHARES
        if isinstance(share := payload.get(name), (int, float)) and 0 <= share <= 1
    }
    tags = payload.get("tags")
    kind = payload.get("type")
    return Fact(
        id=identifier,
        type=kind if kind in TYPES else "fact",
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        origin=change.origin,
        scope=change.scope,
        **texts,
        **shares,
    )


def past_id(fact: Fact) -> str:
    """Return the id of the version of a fact before a hand edit."""
    return derived_id("\0".join((fact.id, *words_of(fact))).encode("utf-8", "replace"))


class Ended(msgspec.Struct, frozen=True):
    """The end of a fact without a successor: the owner said that it no longer holds, or the opposite."""

    fact: str
    until: str
    source: str
    by: str
    """Id of the fact that says the opposite; empty if there is none."""


class Decided(msgspec.Struct, frozen=True):
    """What a person accepted or rejected, from a journal line."""

    kind: Literal["accept", "reject"]
    ids: Sequence[str]
    """Proposals, or lines of hand edits."""
    made: str
    """Id of the fact that a proposal became, or of the change that took a hand edit back; else empty."""
    scope: str
    file: str
    """The journal that has the line."""


class Edited(msgspec.Struct, frozen=True):
    """A hand edit of a fact, from a journal line."""

    line: str
    action: str
    fact: Fact
    before: Fact | None
    time: str


class FactJournal:
    """The state of facts in the journal; `refresh` reads new lines."""

    KINDS: Final = (
        "remember", "propose", "conflict", "confirm", "retract", "project", "edit", "tombstone",
        "accept", "reject", *Forgotten.KINDS,
    )  # fmt: skip

    def __init__(self, journal: Journal, redacted: Callable[[str], str] = str) -> None:
        """`redacted` removes secrets from a text: older lines may quote bullets with some."""
        self._redacted = redacted
        self.journal = journal
        self._feed = journal.feed(*self.KINDS)
        self._reset()

    epoch = 0
    """Increases when lines change facts that they do not name."""

    def _reset(self) -> None:
        self.epoch += 1
        self.touched: list[str] = []
        """Ids named by the lines read since the last reset, in order; another list after it."""
        self.records: dict[str, Fact] = {}
        """Remembered facts by id."""
        self.confirmations: dict[str, Confirmation] = {}
        """Confirmations and ends, by id."""
        self.retracted: dict[str, Ended] = {}
        """Ends by id, undone ones included."""
        self.reinstated: dict[str, Ended] = {}
        """Undone ends by id."""
        self.scopes: dict[str, str] = {}
        """The scope of each record, confirmation and proposal."""
        self.machines: dict[str, str] = {}
        """The journal file of each record, confirmation and proposal."""
        self._pending: set[str] = set()
        self._settled: set[str] = set()
        self.known: dict[str, Known] = {}
        self.changed: dict[str, tuple[Words, str, str]] = {}
        """Hand-edited facts by id: new words, since when, and the id of the version before."""
        self.ended: dict[str, str] = {}
        """End times of facts struck through by hand without one."""
        self.past: dict[str, Fact] = {}
        self.removed: dict[tuple[str, Words], str] = {}
        """Times of removal by hand, by scope and words."""
        self.hidden: set[str] = set()
        """Ids that were forgotten or withdrawn: hidden even if still in a file."""
        self.ends: dict[str, str] = {}
        """End times of facts whose successor was forgotten, so that they stay ended."""
        self.withdrawn: set[str] = set()
        """Ids of withdrawn facts."""
        self.forgotten = Forgotten()
        """Without the lines of completed erasures."""
        self._gone: set[str] = set()
        """Ids of facts that these erased."""
        self._gone_ends: dict[str, str] = {}
        self._said: dict[str, str] = {}
        """Ids of these lines, the last for each mark of a fact they erased."""
        self._hidden_pending: dict[str, frozenset[str]] = {}
        """Ids that were pending when a line hid them, by the id of the line."""
        self.proposals: dict[str, Fact] = {}
        self.edits: dict[str, Edited] = {}
        """Hand edits by the id of their line."""
        self.decided: set[str] = set()
        """Ids of proposals and hand edits with a decision that stands."""
        self._deciding: dict[str, set[str]] = {}
        """Lines of the decisions that stand, by what they decide."""
        self.decisions: dict[str, Decided] = {}
        """Decisions that can be undone, by the id of their line; undone ones included."""

    def refresh(self) -> None:
        """Read appended lines; all lines if a journal was rewritten."""
        rewritten, entries = self._feed.take()
        if rewritten:
            self._reset()
        for entry in entries:
            self._read(entry)
            if len(self.touched) > _MOST_TOUCHED:  # readers look at all there is instead
                self.touched = []
                self.epoch += 1
            if len(self.forgotten.completed) >= AT_ONCE:
                self._drop_completed()
        self._drop_completed()

    def append(self, *changes: Change) -> list[Change]:
        """Append changes to the journal and apply them."""
        kept = self.journal.append_many(changes)
        self.refresh()
        return kept

    def _read(self, entry: JournalEntry) -> None:  # noqa: C901, PLR0912 - one case for each kind of line
        change = entry.change
        payload = change.payload if isinstance(change.payload, Mapping) else {}
        own = entry.file == self.journal.file
        self._touch(change, payload)
        match change.kind:
            case "remember" | "propose" | "conflict":
                self._acknowledged(entry, payload)
            case "confirm" | "retract":
                self._confirmed(entry, payload)
            case "project":
                self._settle(*_ids(payload))
                for identifier in _ids(payload):
                    if record := self.records.get(identifier):
                        path = str(payload.get("path", record.path))
                        self.known[identifier] = Known(msgspec.structs.replace(record, path=path), own)
            case "edit":
                self._edited(change, payload, own=own)
            case "tombstone":
                self._removed(change, payload)
            case "forget":
                self._forget(change, payload)
            case "erased":
                passing = any(self.forgotten.passing(line) for line in _ids(payload))
                self.forgotten.take(change)
                if passing:
                    self._update_hidden()
            case "undo":
                self.forgotten.take(change)
                for identifier in _ids(payload):
                    self._undo(identifier)
                self._update_hidden()
            case "accept" | "reject":
                self._decide(entry, payload)

    def _confirmed(self, entry: JournalEntry, payload: Mapping[str, Json]) -> None:
        change, fact = entry.change, str(payload.get("fact", ""))
        fields = {name: str(text) for name, text in dict(payload.get("fields") or {}).items()}
        self.confirmations[change.id] = Confirmation(change.id, fact, fields)
        self._add_pending(entry)
        if change.kind == "retract":
            by, until, source = str(payload.get("by", "")), fields.get("until", ""), fields.get("ended", "")
            self.retracted[change.id] = Ended(fact, until, source, by)

    def _decide(self, entry: JournalEntry, payload: Mapping[str, Json]) -> None:
        line, ids, made = entry.change.id, _ids(payload), str(payload.get("made", ""))
        kind: Literal["accept", "reject"] = "accept" if entry.change.kind == "accept" else "reject"
        if kind == "reject" or "made" in payload:  # older lines do not say what accepting made
            self.decisions[line] = Decided(kind, ids, made, entry.change.scope, entry.file)
            if line in self.forgotten.undone:  # by a machine whose lines were read before
                return
        self._settle(*ids)
        self.decided.update(ids)
        for one in ids:
            self._deciding.setdefault(one, set()).add(line)

    def _reopen(self, line: str) -> None:
        """Undo a decision: what no other line decides waits again, a proposal in its file."""
        for one in self.decisions[line].ids:
            standing = self._deciding.get(one, set())
            standing.discard(line)
            if standing:
                continue
            self.decided.discard(one)
            if one in self.proposals and one not in self.hidden:
                self._settled.discard(one)
                self._pending.add(one)

    def _touch(self, change: Change, payload: Mapping[str, Json]) -> None:
        if change.kind == "erased":  # it names lines
            return
        ids = [*_ids(payload)] if change.kind == "forget" else [change.id, *_ids(payload)]
        ids += [self.confirmations[one].fact for one in ids if one in self.confirmations]
        before = payload.get("before")
        if isinstance(before, Mapping) and isinstance(before.get("id"), str):
            ids.append(str(before["id"]))
        self.touched += ids

    def _add_pending(self, entry: JournalEntry) -> None:
        self.scopes[entry.change.id] = entry.change.scope
        self.machines[entry.change.id] = entry.file
        if entry.change.id not in self._settled:
            self._pending.add(entry.change.id)

    def _settle(self, *ids: str) -> None:
        """Mark lines as no longer pending: written to their file, or never to be."""
        self._settled.update(ids)
        self._pending.difference_update(ids)

    def _acknowledged(self, entry: JournalEntry, payload: Mapping[str, Json]) -> None:
        fact = fact_from(payload, entry.change, entry.change.id)
        if fact is not None:
            where = self.records if entry.change.kind == "remember" else self.proposals
            where[fact.id] = fact
            self._add_pending(entry)

    def _edited(self, change: Change, payload: Mapping[str, Json], *, own: bool) -> None:
        identifier = str(payload.get("fact", ""))
        payload = self._visible(payload)
        fact = fact_from(payload, change, identifier)
        if fact is None or not identifier:
            return
        if isinstance(before := payload.get("before"), Mapping):
            old = fact_from(before, change, str(before.get("id", identifier)))
            if old is not None:
                origin = before.get("origin", change.origin)
                past = msgspec.convert(
                    msgspec.to_builtins(old) | {"origin": origin, "id": past_id(old), "until": fact.since},
                    Fact,
                )
                self.past[past.id] = past
                self.changed[identifier] = (words_of(fact), fact.since, past.id)
                self.known.pop(old.id, None)
        before = payload.get("before")
        old = fact_from(before, change, str(before.get("id", ""))) if isinstance(before, Mapping) else None
        self.past.pop(past_id(fact), None)  # removed, and put back
        self._edit(change, str(payload.get("action", "")), fact, old)
        if payload.get("action") == "ended":
            self.ended[identifier] = fact.until
        self.known[identifier] = Known(fact, own)
        self.removed.pop((change.scope, words_of(fact)), None)

    def _visible(self, payload: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the payload of a hand edit without secrets, including its `before`."""
        clean = dict(payload)
        if isinstance(before := payload.get("before"), Mapping):
            clean["before"] = dict(self._visible(before))
        if isinstance(value := payload.get("value"), str):
            name = f"{payload.get('predicate', '')}: "
            shown = self._redacted(name + value)
            clean["value"] = shown.removeprefix(name) if shown.startswith(name) else self._redacted(value)
        return clean

    def _edit(self, change: Change, action: str, fact: Fact, before: Fact | None) -> None:
        time = change.time.isoformat() if change.time else ""
        self.edits[change.id] = Edited(change.id, action, fact, before, time)

    def _removed(self, change: Change, payload: Mapping[str, Json]) -> None:
        identifier = str(payload.get("fact", ""))
        self.known.pop(identifier, None)
        self._settle(identifier)
        fact = fact_from(self._visible(payload), change, identifier)
        if fact is not None:
            self._edit(change, "removed", fact, fact)
            at = (change.time or datetime.now(UTC)).astimezone(UTC).isoformat()
            self.removed[change.scope, words_of(fact)] = at
            if identifier in self.changed:  # the value before is history, so that this one has to be, too
                before = self.changed[identifier][2]
                gone = msgspec.structs.replace(fact, id=past_id(fact), origin="file", supersedes=before)
                self.past[gone.id] = gone if gone.until else msgspec.structs.replace(gone, until=at)

    def _forget(self, change: Change, payload: Mapping[str, Json]) -> None:
        """Hide the facts of a line, which is kept without what it says of turns and notes."""
        own = {key: payload[key] for key in _OF_FACTS if key in payload}
        if not self.forgotten.take(Change(kind="forget", id=change.id, payload=own)):
            return
        if own.keys() == {"erase"}:  # turns or notes: of facts nothing changes
            return
        self._hide_pending(change.id, payload)
        if change.id not in self.forgotten.undone:  # by a machine whose lines were read before
            self.hidden |= self.forgotten.hidden_facts(change.id)
            self.ends |= _ends_in(own)
            self.epoch += 1

    def _drop_completed(self) -> None:
        """Keep of completed erasures what they say of facts, and not their lines."""
        if not self.forgotten.completed:
            return
        for identifier in self.forgotten.completed:
            payload = self.forgotten.lines[identifier].payload
            if identifier not in self.forgotten.undone and isinstance(payload, Mapping):
                self._gone |= self.forgotten.hidden_facts(identifier)
                self._gone_ends |= _ends_in(payload)
                _note_last(self._said, payload, identifier)
        self.forgotten.drop_completed()

    def _hide_pending(self, line: str, payload: Mapping[str, Json]) -> None:
        """Remove forgotten facts from the pending lines."""
        if line in self.forgotten.undone:
            return
        ids = self.forgotten.hidden_facts(line)
        if waited := ids & self._pending:
            self._hidden_pending[line] = waited
        self._settle(*ids)
        if payload.get("erase"):
            for identifier in ids:  # or a missing bullet would be journaled as removed, with its text
                self.known.pop(identifier, None)

    def _undo(self, identifier: str) -> None:
        """Undo a line: restore the pending ids that it hid, withdraw a remembered fact, or reopen."""
        if identifier in self._hidden_pending:
            waited = self._hidden_pending.pop(identifier)
            self._settled -= waited
            self._pending |= waited
        elif identifier in self.decisions:
            self._reopen(identifier)
        elif identifier in self.retracted:
            self.reinstated[identifier] = self.retracted[identifier]
            self._settle(identifier)
        elif identifier in self.records:
            self.withdrawn.add(identifier)
            self._settle(identifier)
            self.known.pop(identifier, None)
            for one in [one for one, end in self.retracted.items() if end.by == identifier]:
                self._undo(one)

    def _update_hidden(self) -> None:
        self.epoch += 1
        standing = dict(self.forgotten.standing())
        hidden = (self.forgotten.hidden_facts(line) for line in standing)
        self.hidden = self.withdrawn.union(self._gone, *hidden)
        self.ends = dict(self._gone_ends)
        for payload in standing.values():
            self.ends |= _ends_in(payload)

    def was_erased(self) -> dict[str, str]:
        """Return the id of the line that last erased a fact, by `said_mark` of its words.

        The fact is not learned again from older sources.
        """
        found = dict(self._said)
        for line, payload in self.forgotten.standing():
            _note_last(found, payload, line)
        return found

    def fact(self, identifier: str) -> Fact | None:
        """Return the remembered or proposed fact of an id, or None."""
        return self.records.get(identifier) or self.proposals.get(identifier)

    def pending(self, scope: str | None = None) -> list[str]:
        """Return the ids of acknowledged lines that are in no file yet, oldest first."""
        return sorted(one for one in self._pending if scope in (None, self.scopes[one]))

    def pending_confirmations(self, scope: str) -> list[Confirmation]:
        """Return the confirmations that are in no file yet, oldest first."""
        return [self.confirmations[one] for one in self.pending(scope) if one in self.confirmations]


def _ids(payload: Mapping[str, Json]) -> Sequence[str]:
    one = payload.get("fact", payload.get("id"))
    ids = strings(payload["ids"]) if "ids" in payload else []
    return [*ids, one] if isinstance(one, str) else ids


def _note_last(said: dict[str, str], payload: Mapping[str, Json], line: str) -> None:
    """Note a line for the marks of facts that no later line erased; an earlier one may be completed later."""
    for mark in strings(payload.get("said")):
        said[mark] = max(said.get(mark, ""), line)


def _ends_in(payload: Mapping[str, Json]) -> dict[str, str]:
    return {str(fact): str(end) for fact, end in _mapping(payload.get("ends")).items()}


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
