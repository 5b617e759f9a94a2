"""Read what a consolidation step needs, and collect what it proposes."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from mnemark.facts.files import facts_in
from mnemark.facts.model import Fact
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import FactVersion, timeline
from mnemark.files import layout, listing
from mnemark.files.reading import read
from mnemark.index.state import Use
from mnemark.memory.file_edits import shown_diff
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import Problem

if TYPE_CHECKING:
    from mnemark.llm.base import LLM
import re
from typing import Final

from mnemark.memory import file_edits
from mnemark.text.markdown.hunks import Hunk


class Edit(NamedTuple):
    """A proposed edit of one file."""

    path: str
    change: Callable[[str], str]
    """From the file's text to the new one; again changes nothing."""
    why: tuple[str, ...]


class Move(NamedTuple):
    """A proposed new place of a file."""

    path: str
    to: str
    why: tuple[str, ...]


class Proposal(NamedTuple):
    """What a step would do."""

    step: str
    edits: tuple[Edit | Move, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know, though nothing changes."""
    gone: frozenset[str] = frozenset()
    """Ids of facts that no longer stand in the fact files afterwards."""
    back: tuple[Fact, ...] = ()
    """Facts that stand in the fact files again."""


class Planned(NamedTuple):
    """An edit and what it would do to the file as the edits before it leave it."""

    step: str
    edit: Edit | Move
    diff: str


class Undone(NamedTuple):
    """Of the edits that were taken back."""

    entries: frozenset[tuple[str, str]]
    """Path and line of entries that had been added to a generated part."""
    facts: frozenset[str]
    """Ids of facts whose bullets had been taken out or changed."""
    moves: frozenset[str]
    """Paths of files that had been moved."""


class ScopeView:
    """A scope as the steps see it: the files, with what earlier steps proposed on top of them."""

    def __init__(
        self, ws: OpenWorkspace, now: datetime, *, scope: str = "", llm: "LLM | None" = None
    ) -> None:
        self.ws = ws
        self.llm = llm
        """Asked where a step has a question; None: by rule alone."""
        self.scope = scope
        self.now = now
        self._texts: dict[str, str] = {}
        self._gone: set[str] = set()
        self._back: list[FactVersion] = []
        self.planned: list[Planned] = []

    @property
    def state(self) -> FactStore:
        """The facts as the memory knows them."""
        return self.ws.fact_store

    @property
    def zone(self) -> tzinfo:
        """Where a day begins."""
        return self.state.zone

    def path(self, name: str) -> str:
        """A path of the scope."""
        return f"{self.scope}/{name}" if self.scope else name

    def names(self, folder: str, ending: str = ".md") -> list[str]:
        """The files of that ending in a folder of the scope that can be read, by name."""
        return [path.name for path in listing.files(self.ws.root, self.path(folder), ending)]

    @cached_property
    def _held(self) -> list[FactVersion]:
        with self.state.lock:
            return self.state.held(self.scope)

    @cached_property
    def uses(self) -> Mapping[str, Use]:
        """How often facts were recalled, by id; those in the archive included."""
        ids = [one.fact.id for one in self._held]
        for name in self.names("memory/archive/facts"):
            path = self.path(f"memory/archive/facts/{name}")
            ids += [fact.id for fact in facts_in(self.text(path), path, "")]
        return self.ws.searcher.usage.counts(ids)

    @cached_property
    def undone(self) -> Undone:
        """What a person took back of earlier consolidations, and that is not proposed again."""
        return undone(self.ws)

    def suppose(self, facts: Iterable[Fact]) -> None:
        """See the scope as if these had been remembered; those that would wait in review change nothing."""
        new = {fact.id: fact for fact in facts if not fact.review}
        others = [one.fact for one in self._held if one.fact.id not in new]
        self._held = timeline([*others, *new.values()], self.zone)

    def held(self) -> list[FactVersion]:
        """All facts of the scope with when they held, those that were proposed to go left out."""
        return [one for one in self._held if one.fact.id not in self._gone] + self._back

    def current(self) -> list[Fact]:
        """The facts that hold now."""
        return [one.fact for one in self.held() if one.at(self.now)]

    def text(self, path: str) -> str:
        """A file's text as it would be by now; empty where there is none or it cannot be read."""
        if path not in self._texts:
            found = read(self.ws.root, path)
            self._texts[path] = "" if isinstance(found, Problem) else found.text
        return self._texts[path]

    def take(self, proposal: Proposal) -> None:
        """Add what a step proposed; edits that change nothing are left out."""
        for edit in proposal.edits:
            if isinstance(edit, Move):
                self.planned.append(Planned(proposal.step, edit, f"{edit.path} → {edit.to}"))
                self._texts[edit.to], self._texts[edit.path] = self.text(edit.path), ""
                continue
            old = self.text(edit.path)
            new = edit.change(old)
            if new != old:
                self.planned.append(Planned(proposal.step, edit, shown_diff(self.ws, edit.path, old, new)))
                self._texts[edit.path] = new
        self._gone |= proposal.gone
        self._back += [FactVersion(fact, None, None) for fact in proposal.back]


def scopes_in(paths: Iterable[str]) -> list[str]:
    """The scopes of these paths, and the root, which is first."""
    found = {layout.scope_of(path) for path in paths}
    return sorted(found | {""})


_STEP: Final = "consolidate: "
_ID: Final = re.compile(r"\bid: ([0-9A-Z]{26})\b")


def undone(ws: OpenWorkspace) -> Undone:
    """What the ledger says was taken back; what was done again since by a person's own hand is theirs."""
    mine = [one for one in file_edits.entries(ws) if one.state == "undone" and one.step.startswith(_STEP)]
    edits = ws.edits
    made = {one.id: edits.hunks(one) for one in mine}
    return Undone(
        frozenset((one.path, line.strip()) for one in mine for line in _added(made[one.id])),
        frozenset(found for hunks in made.values() for hunk in hunks for found in _ids(hunk.old)),
        frozenset(one.path for one in mine if one.to),
    )


def _added(hunks: Iterable[Hunk]) -> list[str]:
    return [line for hunk in hunks for line in hunk.new if line.startswith("- ") and line not in hunk.old]


def _ids(lines: Iterable[str]) -> list[str]:
    return [found for line in lines for found in _ID.findall(line)]
