"""Hold what the journal says of facts: the state of each fact, and what is known by the id of a line."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from mnemark.facts.files import Confirmation
from mnemark.facts.fold import Words
from mnemark.facts.model import Fact
from mnemark.files.ids import PackedIds
from mnemark.files.journal import JournalEntry
from mnemark.files.tombstones import strings
from mnemark.types import Json, Origin

_PACK_AT: Final = 256


class FactState(msgspec.Struct, gc=False):
    """All that the journal says of a fact."""

    fact: Fact | None = None
    """As it was remembered or proposed; None for one that was only seen in a file."""
    proposed: bool = False
    file: str = ""
    """The journal that has its line."""
    written: tuple[str, ...] = ()
    """Lines that say that it was written to its file."""
    known: Fact | None = None
    """As it was last seen in its file."""
    own: bool = False
    """Whether this machine saw it there."""
    changed: Fact | None = None
    """As a person last changed its words; it supersedes the version before."""
    struck: str | None = None
    """When it ended, if a person struck it through without saying when."""
    withdrawn: bool = False
    """Whether it was remembered, and that was undone."""
    hidden_by: tuple[str, ...] = ()
    """Lines that hide it, and stand."""
    erased: bool = False
    ends: tuple[tuple[str, str], ...] = ()
    """Lines that hide its successor, with the time of its end, so that it stays ended."""
    corrected_by: tuple[str, ...] = ()
    """Lines that say that it was wrong, and stand."""

    @property
    def record(self) -> Fact | None:
        """The fact as it was remembered, or None."""
        return None if self.proposed else self.fact

    @property
    def proposal(self) -> Fact | None:
        """The fact as it was proposed, or None."""
        return self.fact if self.proposed else None

    @property
    def last(self) -> Fact | None:
        """The fact as it was last known, or None."""
        return self.known or self.record

    @property
    def hidden(self) -> bool:
        """Whether it was forgotten, withdrawn or corrected: it is not shown even if still in a file."""
        return self.withdrawn or self.erased or bool(self.hidden_by) or bool(self.corrected_by)

    @property
    def end(self) -> str:
        """When it ended by a successor that was forgotten; empty if there is none."""
        return max(self.ends)[1] if self.ends else ""


class FactEnd(msgspec.Struct, frozen=True):
    """The end of a fact without a successor: the owner said that it no longer holds, or the opposite."""

    fact: str
    until: str
    source: str
    by: str
    """Id of the fact that says the opposite; empty if there is none."""


class Correction(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that was wrong, from a journal line; its id is also that of the fact as corrected."""

    id: str
    wrong: str
    """Id of the fact that was wrong."""
    before: Fact | None
    """As it was; None where its words are erased."""
    fact: Fact | None
    """As corrected; None if it was never true, or another fact says so already."""
    source: str = ""
    """The refs of the turns that it was learned from, where these are not erased."""
    bullet: str = ""
    """Its bullet as it stood in `before.path`, with the line end; empty if it was in no file."""
    line: int = 0
    """Where that began."""
    revived: Sequence[str] = ()
    """Ends that it had brought about, and that were taken back with it."""
    origin: Origin = "owner"
    time: str = ""
    scope: str = ""
    file: str = ""
    """The journal that has the line."""


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
    settled: bool = False
    """Whether nobody decided: the owner said again what was in doubt."""


class Edited(msgspec.Struct, frozen=True):
    """A hand edit of a fact, from a journal line."""

    line: str
    action: str
    fact: Fact
    before: Fact | None
    time: str


class Hides(msgspec.Struct, frozen=True):
    """What a line that forgets says of facts: nothing, if it hides turns or notes."""

    ids: Sequence[str]
    passing: Sequence[str]
    """Facts that are hidden until they are erased, and may be remembered again then."""
    ends: Mapping[str, str]
    """When the facts ended whose successors it hides."""
    marks: Sequence[str]
    """See `fold.said_mark`."""
    erase: bool

    @property
    def facts(self) -> frozenset[str]:
        """The ids of all facts that it hides."""
        return frozenset((*self.ids, *self.passing))

    def __bool__(self) -> bool:
        return bool(self.ids or self.passing or self.ends or self.marks)


class ManyIds:
    """A growing set of ids that takes little memory."""

    def __init__(self) -> None:
        self._new: set[str] = set()
        self._packed = PackedIds()

    def update(self, ids: Iterable[str]) -> None:
        """Add ids."""
        self._new.update(ids)
        if len(self._new) >= _PACK_AT:
            self._packed = self._packed.union(self._new)
            self._new = set()

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._new or identifier in self._packed


class FactTables:
    """What the lines of the journal say of facts, as far as they were read."""

    def __init__(self, file: str, redacted: Callable[[str], str] = str, epoch: int = 0) -> None:
        """`file`: this machine's journal; `redacted` removes secrets from a text."""
        self.file = file
        self.redacted = redacted
        self.epoch = epoch
        """Increases when lines change facts that they do not name."""
        self.facts: dict[str, FactState] = {}
        self.proposed: list[str] = []
        """Ids of the proposals."""
        self.otherwise: dict[str, list[str]] = {}
        """Ids of the proposals that say otherwise than a fact, by the fact."""
        self.confirmations: dict[str, Confirmation] = {}
        """Confirmations and ends, by their lines."""
        self.ends: dict[str, FactEnd] = {}
        """Ends by their lines, undone ones included."""
        self.corrections: dict[str, Correction] = {}
        """Corrections by their lines, undone ones included."""
        self.wrong: dict[tuple[str, Words], dict[str, frozenset[str]]] = {}
        """By scope and words of what was wrong the lines that say so, with the turns that it was from."""
        self.restored: set[str] = set()
        """Undone corrections whose files are as they were, some of them not read yet."""
        self.edits: dict[str, Edited] = {}
        """Hand edits by their lines."""
        self.past: dict[str, Fact] = {}
        """Versions before hand edits, by `fold.past_id`."""
        self.removed: dict[tuple[str, Words], str] = {}
        """Times of removal by hand, by scope and words."""
        self.decisions: dict[str, Decided] = {}
        """Decisions that can be undone, by their lines; undone ones included."""
        self.decided: dict[str, set[str]] = {}
        """The lines of the decisions that stand, by the proposal or hand edit that they decide."""
        self.hides: dict[str, Hides] = {}
        """Lines that forget and stand, without completed erasures."""
        self.said: dict[str, str] = {}
        """The last completed erasure for each mark of a fact."""
        self.undone: dict[str, None] = {}
        """Lines that were undone, some of them not read yet, from another machine's journal."""
        self.waiting: set[str] = set()
        """Facts, proposals and confirmations that are in no file yet, hidden ones included."""
        self.settled: set[str] = set()
        """Those that need not wait once they are read."""
        self.erased = ManyIds()
        """Lines whose text is erased from the files, some of them not read yet."""
        self.completed = ManyIds()
        """Those that hid facts."""

    def state(self, identifier: str) -> FactState:
        """Return the state of a fact, to be changed."""
        if identifier not in self.facts:
            self.facts[identifier] = FactState()
        return self.facts[identifier]

    def wait(self, identifier: str) -> None:
        """Let a line wait until it is in its file."""
        if identifier in self.settled:
            self.settled.discard(identifier)
        else:
            self.waiting.add(identifier)

    def settle(self, ids: Iterable[str]) -> None:
        """Let lines wait no longer: they were written to their file, or never will be."""
        self.waiting.difference_update(ids)
        for line in ids:
            state = self.facts.get(line)
            if (state is None or state.fact is None) and not (
                line in self.confirmations or line in self.corrections
            ):
                self.settled.add(line)


Payload = Mapping[str, Json]
Reducer = Callable[[FactTables, JournalEntry, Payload], None]
"""Applies a line with its payload to the tables."""
NOTHING: Final[Payload] = {}


def ids_in(payload: Payload) -> Sequence[str]:
    """Return the ids that a line names."""
    single = payload.get("fact", payload.get("id"))
    ids = strings(payload["ids"]) if "ids" in payload else []
    return [*ids, single] if isinstance(single, str) else ids


def mapping(value: Json) -> Payload:
    """Return a table of a payload; an empty one if it is none."""
    return value if isinstance(value, Mapping) else NOTHING
