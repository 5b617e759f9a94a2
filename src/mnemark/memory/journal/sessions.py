"""Read journal entries about sessions: observations, attachments, ends and what a model noted.

The state is updated incrementally from what was appended; each `OpenWorkspace` has one.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from mnemark.files.journal import Change, JournalEntry
from mnemark.files.workspace import Workspace
from mnemark.types import Json

if TYPE_CHECKING:
    from mnemark.files.sessions import Placed

_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode
NOTES: Final = "sitting"
"""Kind of the entry with a model's notes on the turns of a sitting, whose ids it holds."""


class Observed(msgspec.Struct, frozen=True):
    """An observation in the journal."""

    change: Change
    file: str
    """Name of the journal's file."""

    @property
    def payload(self) -> Mapping[str, Json]:
        """What was observed."""
        return self.change.fields

    @property
    def session(self) -> str:
        """The session it was made in."""
        return str(self.payload.get("session") or "")


class Unpaged(msgspec.Struct, frozen=True):
    """A turn of this process whose attachments have no page yet."""

    scope: str
    path: str
    """Of the session."""
    given: frozenset[str]
    """Ids of turns whose attachments the caller passed in."""
    placed: "Placed"


class SessionJournal:
    """Observations, attachments and ends of sessions. Hold `lock` while using it."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.journal = workspace.journal
        self._feed = self.journal.feed("observe", "noted", "aged", "end", "describe", "attach", NOTES)
        self.lock = threading.RLock()
        self.waiting: list[Unpaged] = []
        """Turns of this process whose attachments have no page yet."""
        self._clear()

    def _clear(self) -> None:
        self.observed: dict[str, Observed] = {}
        self.keys: set[tuple[str, str, str]] = set()
        """Scope, session and key of each execution."""
        self.noted: set[str] = set()
        """Ids of observations in daily notes, and of descriptions in attachment pages."""
        self._ends: dict[tuple[str, str], bytes] = {}
        """Payloads of the last "end" entries by scope and session, as JSON: there is one for each session."""
        self.sittings: dict[tuple[str, str], dict[tuple[str, str], Mapping[str, Json]]] = {}
        """A model's notes: payloads by scope and session, then by first and last turn."""
        self.described: dict[tuple[str, str], list[Change]] = {}
        """Descriptions by scope and attachment, oldest first."""
        self.attached: set[tuple[str, str]] = set()
        """Scope and id of attachments that have a page."""

    @contextmanager
    def fresh(self) -> Iterator[Self]:
        """Hold `lock`, with all read that was appended since."""
        with self.lock:
            self.refresh()
            yield self

    def refresh(self) -> None:
        """Read the entries appended since; all of them if a journal was rewritten."""
        self._feed.pass_on(self._clear, self._read)

    def _read(self, entry: JournalEntry) -> None:
        change = entry.change
        if not isinstance(change.payload, Mapping):
            return
        payload = change.fields
        match change.kind:
            case "observe":
                seen = Observed(change, entry.file)
                self.observed.setdefault(change.id, seen)
                self.keys.add((change.scope, seen.session, str(payload.get("key"))))
            case "noted":
                self.noted.update(change.ids)
            case "aged":
                for identifier in change.ids:
                    self.observed.pop(identifier, None)
            case "end":
                self._ends[change.scope, str(payload.get("session"))] = msgspec.json.encode(payload)
            case "sitting":
                kept = self.sittings.setdefault((change.scope, str(payload.get("session"))), {})
                kept[str(payload.get("first")), str(payload.get("last"))] = payload
            case "describe":
                key = (change.scope, str(payload.get("attachment")))
                self.described.setdefault(key, []).append(change)
            case "attach":
                self.attached.update((change.scope, one) for one in change.ids)

    def last_end(self, scope: str, session: str) -> Mapping[str, Json]:
        """Return the payload of the last "end" entry of a session; empty if it never ended."""
        found = self._ends.get((scope, session))
        return {} if found is None else _decode(found)

    def sizes_at_end(self) -> list[tuple[str, str, int]]:
        """Return the size in bytes of the log of each session at its end, where recorded."""
        sizes = ((*key, _decode(end).get("size")) for key, end in self._ends.items())
        return [(scope, session, size) for scope, session, size in sizes if isinstance(size, int)]

    def append(self, change: Change) -> Change:
        """Append a change to the journal, and update the state."""
        with self.lock:
            kept = self.journal.append(change)
            self.refresh()
            return kept

    def unnoted(self) -> list[tuple[str, Observed]]:
        """Return this machine's observations that no daily note lists yet, oldest first."""
        own = self.journal.file
        return [
            (identifier, seen)
            for identifier, seen in sorted(self.observed.items())
            if identifier not in self.noted and seen.file == own
        ]

    def undescribed(self) -> list[tuple[str, str, Change]]:
        """Return scope, id and last description of attachments whose page does not have it yet."""
        return [
            (scope, identifier, changes[-1])
            for (scope, identifier), changes in self.described.items()
            if changes[-1].id not in self.noted
        ]
