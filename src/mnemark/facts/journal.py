"""Read what the journal says about facts: remembered, written, edited, removed, proposed."""

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from mnemark.facts.files import Confirmation
from mnemark.facts.keys import predicate_key, subject_key, value_key
from mnemark.facts.model import TYPES, Fact
from mnemark.facts.parse import clean
from mnemark.files.ids import derived_id
from mnemark.files.journal import Change, Journal, JournalEntry, JournalTail
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
)
_SHARES: Final = ("importance", "confidence")


class Known(NamedTuple):
    """A fact as this journal last saw it in a file; `own`: this machine saw it."""

    fact: Fact
    own: bool


def words_of(fact: Fact) -> Words:
    """What tells whether a fact still says the same."""
    return subject_key(fact.subject), predicate_key(fact.predicate), value_key(fact.value)


def said_mark(scope: str, words: Words) -> str:
    """What tells, without a word of it, that something was said before: a hash of scope and words."""
    text = "\0".join((scope, *words))
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=10).hexdigest()


def payload_of(fact: Fact) -> dict[str, Json]:
    """A fact as it stands in a line of the journal, without what the line itself says."""
    texts = {name: getattr(fact, name) for name in (*_TEXTS, "type", "path", "review") if getattr(fact, name)}
    shares = {name: getattr(fact, name) for name in _SHARES if getattr(fact, name) is not None}
    return texts | shares | ({"tags": list(fact.tags)} if fact.tags else {})


def fact_from(payload: Json, change: Change, identifier: str) -> Fact | None:
    """The fact in a line of the journal; None where there is none."""
    if not isinstance(payload, Mapping) or not isinstance(payload.get("value"), str):
        return None
    texts: dict[str, Any] = {
        name: clean(payload[name])
        for name in (*_TEXTS, "path", "review")
        if isinstance(payload.get(name), str)
    }
    shares: dict[str, Any] = {
        name: float(payload[name])
        for name in _SHARES
        if isinstance(payload.get(name), (int, float)) and 0 <= payload[name] <= 1
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
    """The id of what a fact said before a person changed it in its file."""
    return derived_id("\0".join((fact.id, *words_of(fact))).encode("utf-8", "replace"))


class Edited(NamedTuple):
    """What a person did to a fact in its file, as a line of the journal says."""

    line: str
    action: str
    fact: Fact
    before: Fact | None
    time: str


class Hides(NamedTuple):
    """What one line of the journal hides: ids, those of them that waited for their file, and ends."""

    ids: frozenset[str]
    waited: frozenset[str]
    ends: Mapping[str, str]
    erase: bool = False
    passing: frozenset[str] = frozenset()
    """Ids that come from words, and may come back with them once all is erased."""
    said: frozenset[str] = frozenset()
    """Marks (`said_mark`) of the facts among what was erased: from what was said before they are not learned
    again."""


class FactJournal:
    """The state of the journal; `refresh` reads on from where it stopped."""

    def __init__(self, root: Path, redacted: Callable[[str], str] = str) -> None:
        """`redacted` takes secrets out of a text: older lines may tell of bullets that hold some."""
        self._redacted = redacted
        self.journal = Journal(root)
        self._tail = JournalTail(self.journal)
        self._forget()

    epoch = 0
    """Rises when lines change what is known of facts they do not name."""

    def _forget(self) -> None:
        self.epoch += 1
        self.touched: list[str] = []
        """Ids that the lines read since then name, in their order."""
        self.records: dict[str, Fact] = {}
        """Remembered facts by id."""
        self.confirmations: dict[str, Confirmation] = {}
        self.scopes: dict[str, str] = {}
        """Scope of each record, confirmation and proposal."""
        self.machines: dict[str, str] = {}
        """Journal file in which each of them was acknowledged."""
        self._open: set[str] = set()
        self._closed: set[str] = set()
        self.known: dict[str, Known] = {}
        self.changed: dict[str, tuple[Words, str, str]] = {}
        """What a person made of a fact, since when, and the id of what it was before."""
        self.ended: dict[str, str] = {}
        """When a person struck a fact through without saying when it ended."""
        self.past: dict[str, Fact] = {}
        self.removed: dict[tuple[str, Words], str] = {}
        """When a person removed a fact: by scope and words."""
        self.hidden: set[str] = set()
        """Ids forgotten or taken back: not shown even where a file still holds them."""
        self.ends: dict[str, str] = {}
        """When facts ended whose successor was forgotten: forgetting does not bring them back."""
        self.withdrawn: set[str] = set()
        """Remembered facts that were taken back."""
        self.forgets: dict[str, Hides] = {}
        """What lines of the journal hide, by their ids."""
        self._undone: set[str] = set()
        self._erased: set[str] = set()
        self.proposals: dict[str, Fact] = {}
        self.edits: dict[str, Edited] = {}
        """What people changed in the files, by the id of the line that says so."""
        self.decided: set[str] = set()

    def refresh(self) -> None:
        """Read what was appended; all of it where a journal was rewritten."""
        self._tail.follow(self._read, self._forget)

    def append(self, *changes: Change) -> list[Change]:
        """Acknowledge changes, and know them."""
        kept = self.journal.append_many(changes)
        self.refresh()
        return kept

    def _read(self, entry: JournalEntry) -> None:  # noqa: C901 - one case for each kind of line
        change = entry.change
        payload = change.payload if isinstance(change.payload, Mapping) else {}
        own = entry.file == self.journal.file
        self._touch(change, payload)
        match change.kind:
            case "remember" | "propose" | "conflict":
                self._acknowledged(entry, payload)
            case "confirm":
                self.confirmations[change.id] = Confirmation(
                    change.id,
                    str(payload.get("fact", "")),
                    {name: str(text) for name, text in dict(payload.get("fields") or {}).items()},
                )
                self._place(entry)
            case "project":
                self._close(*_ids(payload))
                for identifier in _ids(payload):
                    if record := self.records.get(identifier):
                        path = str(payload.get("path", record.path))
                        self.known[identifier] = Known(msgspec.structs.replace(record, path=path), own)
            case "edit":
                self._edited(change, payload, own=own)
            case "tombstone":
                self._removed(change, payload)
            case "forget":
                self._forgotten(change.id, payload)
            case "undo":
                for identifier in _ids(payload):
                    self._take_back(identifier)
            case "erased":
                self._erased.update(_ids(payload))
                self._hide()
            case "accept" | "reject":
                self._close(*_ids(payload))
                self.decided.update(_ids(payload))

    def _touch(self, change: Change, payload: Mapping[str, Json]) -> None:
        ids = [change.id, *_ids(payload)]
        ids += [self.confirmations[one].fact for one in ids if one in self.confirmations]
        before = payload.get("before")
        if isinstance(before, Mapping) and isinstance(before.get("id"), str):
            ids.append(str(before["id"]))
        self.touched += ids

    def _place(self, entry: JournalEntry) -> None:
        self.scopes[entry.change.id] = entry.change.scope
        self.machines[entry.change.id] = entry.file
        if entry.change.id not in self._closed:
            self._open.add(entry.change.id)

    def _close(self, *ids: str) -> None:
        """Lines that stand in their file, or never will."""
        self._closed.update(ids)
        self._open.difference_update(ids)

    def _acknowledged(self, entry: JournalEntry, payload: Mapping[str, Json]) -> None:
        fact = fact_from(payload, entry.change, entry.change.id)
        if fact is not None:
            where = self.records if entry.change.kind == "remember" else self.proposals
            where[fact.id] = fact
            self._place(entry)

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
        self._edit(change, str(payload.get("action", "")), fact, old)
        if payload.get("action") == "ended":
            self.ended[identifier] = fact.until
        self.known[identifier] = Known(fact, own)
        self.removed.pop((change.scope, words_of(fact)), None)

    def _visible(self, payload: Mapping[str, Json]) -> Mapping[str, Json]:
        """What people wrote in a bullet, without secrets; also in what it said `before`."""
        clean = dict(payload)
        if isinstance(before := payload.get("before"), Mapping):
            clean["before"] = dict(self._visible(before))
        if isinstance(value := payload.get("value"), str):
            name = f"{payload.get('predicate', '')}: "
            told = self._redacted(name + value)
            clean["value"] = told.removeprefix(name) if told.startswith(name) else self._redacted(value)
        return clean

    def _edit(self, change: Change, action: str, fact: Fact, before: Fact | None) -> None:
        time = change.time.isoformat() if change.time else ""
        self.edits[change.id] = Edited(change.id, action, fact, before, time)

    def _removed(self, change: Change, payload: Mapping[str, Json]) -> None:
        identifier = str(payload.get("fact", ""))
        self.known.pop(identifier, None)
        self._close(identifier)
        fact = fact_from(self._visible(payload), change, identifier)
        if fact is not None:
            self._edit(change, "removed", fact, fact)
            self.removed[change.scope, words_of(fact)] = (
                (change.time or datetime.now(UTC)).astimezone(UTC).isoformat()
            )

    def _forgotten(self, line: str, payload: Mapping[str, Json]) -> None:
        if line in self._undone:
            return
        passing = _texts(payload.get("passing"))
        ids = [*_ids(payload), *passing]
        given = payload.get("ends")
        ends = {str(key): str(end) for key, end in given.items()} if isinstance(given, Mapping) else {}
        waited = frozenset(self._open.intersection(ids))
        erase = bool(payload.get("erase"))
        said = frozenset(_texts(payload.get("said")))
        self.forgets[line] = Hides(frozenset(ids), waited, ends, erase, frozenset(passing), said)
        self._close(*ids)
        self._hide()
        if erase:
            for identifier in ids:  # or its bullet would be missed, and its words be noted once more
                self.known.pop(identifier, None)

    def _take_back(self, identifier: str) -> None:
        """Show again what a line hid; or let go of a remembered fact."""
        self._undone.add(identifier)
        forgotten = self.forgets.pop(identifier, None)
        if forgotten is not None:
            self._closed -= forgotten.waited
            self._open |= forgotten.waited
        elif identifier in self.records:
            self.withdrawn.add(identifier)
            self._close(identifier)
            self.known.pop(identifier, None)
        self._hide()

    def _hide(self) -> None:
        self.epoch += 1
        hidden = (
            one.ids - one.passing if line in self._erased else one.ids for line, one in self.forgets.items()
        )
        self.hidden = self.withdrawn.union(*hidden)
        self.ends = {key: end for one in self.forgets.values() for key, end in one.ends.items()}

    def pending(self, scope: str | None = None) -> list[str]:
        """Ids of acknowledged lines that no file holds yet, oldest first."""
        return sorted(one for one in self._open if scope in (None, self.scopes[one]))


def _ids(payload: Mapping[str, Json]) -> list[str]:
    return _texts([*_texts(payload.get("ids")), payload.get("fact", payload.get("id"))])


def _texts(value: Json) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
