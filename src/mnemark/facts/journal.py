"""Read what the journal says about facts: remembered, written, edited, removed, proposed."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

from mnemark.facts.files import Confirmation
from mnemark.facts.keys import predicate_key, subject_key, value_key
from mnemark.facts.model import TYPES, Fact
from mnemark.facts.parse import clean
from mnemark.files.ids import derived_id
from mnemark.files.journal import Change, Journal, JournalEntry
from mnemark.files.tombstones import Forgotten, strings
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


class FactJournal:
    """The state of the journal; `refresh` reads on from where it stopped."""

    KINDS: Final = (
        "remember", "propose", "conflict", "confirm", "project", "edit", "tombstone", "accept", "reject",
        *Forgotten.KINDS,
    )  # fmt: skip

    def __init__(self, journal: Journal, redacted: Callable[[str], str] = str) -> None:
        """`redacted` takes secrets out of a text: older lines may tell of bullets that hold some."""
        self._redacted = redacted
        self.journal = journal
        self._feed = journal.feed(*self.KINDS)
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
        self.forgotten = Forgotten()
        self._waited: dict[str, frozenset[str]] = {}
        """Ids that waited for their file when a line hid them."""
        self.proposals: dict[str, Fact] = {}
        self.edits: dict[str, Edited] = {}
        """What people changed in the files, by the id of the line that says so."""
        self.decided: set[str] = set()

    def refresh(self) -> None:
        """Read what was appended; all of it where a journal was rewritten."""
        rewritten, entries = self._feed.take()
        if rewritten:
            self._forget()
        for entry in entries:
            self._read(entry)

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
            case "forget" | "undo" | "erased":
                self.forgotten.take(change)
                if change.kind == "forget":
                    self._hide_waiting(change.id, payload)
                elif change.kind == "undo":
                    for identifier in _ids(payload):
                        self._take_back(identifier)
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

    def _hide_waiting(self, line: str, payload: Mapping[str, Json]) -> None:
        """Let facts that are forgotten wait for their files no longer."""
        if line in self.forgotten.undone:
            return
        ids = self.forgotten.hidden_facts(line)
        self._waited[line] = ids & self._open
        self._close(*ids)
        if payload.get("erase"):
            for identifier in ids:  # or its bullet would be missed, and its words be noted once more
                self.known.pop(identifier, None)

    def _take_back(self, identifier: str) -> None:
        """Show again what a line hid; or let go of a remembered fact."""
        if identifier in self._waited:
            waited = self._waited.pop(identifier)
            self._closed -= waited
            self._open |= waited
        elif identifier in self.records:
            self.withdrawn.add(identifier)
            self._close(identifier)
            self.known.pop(identifier, None)

    def _hide(self) -> None:
        self.epoch += 1
        standing = dict(self.forgotten.standing())
        self.hidden = self.withdrawn.union(*(self.forgotten.hidden_facts(line) for line in standing))
        self.ends = {
            str(fact): str(end)
            for payload in standing.values()
            for fact, end in _mapping(payload.get("ends")).items()
        }

    def was_erased(self) -> dict[str, str]:
        """The line that erased a fact last, by the mark (`said_mark`) of its words.

        From what was said before that line it is not learned again.
        """
        return {
            mark: line for line, payload in self.forgotten.standing() for mark in strings(payload.get("said"))
        }

    def fact(self, identifier: str) -> Fact | None:
        """The fact that was remembered or proposed under an id."""
        return self.records.get(identifier) or self.proposals.get(identifier)

    def pending(self, scope: str | None = None) -> list[str]:
        """Ids of acknowledged lines that no file holds yet, oldest first."""
        return sorted(one for one in self._open if scope in (None, self.scopes[one]))


def _ids(payload: Mapping[str, Json]) -> Sequence[str]:
    return strings([*strings(payload.get("ids")), payload.get("fact", payload.get("id"))])


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
