"""Give consolidation steps a view of a scope, and collect the edits that they propose."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from mnemark.facts.files import facts_in
from mnemark.facts.model import Fact
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import FactVersion, timeline
from mnemark.files import listing
from mnemark.files.layout import in_scope
from mnemark.files.reading import read
from mnemark.index.state import Use
from mnemark.memory import file_edits
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Problem

if TYPE_CHECKING:
    from mnemark.llm.base import LLM
    from mnemark.memory.open_workspace import OpenWorkspace

_STEP: Final = "consolidate: "
_ID: Final = lazy_pattern(r"\bid: ([0-9A-Z]{26})\b")


class ProposedEdit(NamedTuple):
    """A proposed edit of one file."""

    path: str
    change: Callable[[str], str]
    """Maps the file's text to the new text; idempotent."""
    why: tuple[str, ...]


class ProposedMove(NamedTuple):
    """A proposed move of a file."""

    path: str
    to: str
    why: tuple[str, ...]


class Proposal(NamedTuple):
    """The edits that a step proposes."""

    step: str
    edits: tuple[ProposedEdit | ProposedMove, ...] = ()
    notes: tuple[str, ...] = ()
    """For people."""
    gone: frozenset[str] = frozenset()
    """Ids of facts that leave the fact files."""
    back: tuple[Fact, ...] = ()
    """Facts that return to the fact files."""
    whole: bool = False
    """Whether its edits only make sense together; else those that share a file or a reason do."""


class Planned(NamedTuple):
    """An edit, with its diff after the edits before it."""

    step: str
    edit: ProposedEdit | ProposedMove
    diff: str
    part: str
    """What it is chosen by, with the edits that belong to it."""


class UndoneEdits(NamedTuple):
    """The undone edits of earlier consolidations, which are not proposed again."""

    entries: frozenset[tuple[str, str]]
    """Path and line of entries added to a generated part."""
    facts: frozenset[str]
    """Ids of facts whose bullets were removed or changed."""
    moves: frozenset[str]
    """Paths of moved files."""


class ScopeView:
    """A scope's files and facts with the edits of earlier steps applied."""

    def __init__(
        self,
        ws: "OpenWorkspace",
        now: datetime,
        *,
        scope: str = "",
        llm: "LLM | None" = None,
        only: Collection[str] | None = None,
    ) -> None:
        self.ws = ws
        self.llm = llm
        """None: by rule alone."""
        self.scope = scope
        self.now = now
        self.only = None if only is None else frozenset(only)
        """The parts to plan, or steps for all of theirs; None for all."""
        self._texts: dict[str, str] = {}
        self._gone: set[str] = set()
        self._back: list[FactVersion] = []
        self.planned: list[Planned] = []

    @property
    def state(self) -> FactStore:
        """The stored facts, without planned edits."""
        return self.ws.fact_store

    @property
    def zone(self) -> tzinfo:
        """The timezone of dates without one."""
        return self.state.zone

    def path(self, name: str) -> str:
        """Return the path of a name in the scope."""
        return in_scope(self.scope, name)

    def names(self, folder: str, ending: str = ".md") -> list[str]:
        """Return the names of readable files of that ending in a folder of the scope."""
        return [path.name for path in listing.files(self.ws.root, self.path(folder), ending)]

    @cached_property
    def _held(self) -> list[FactVersion]:
        with self.state.lock:
            return self.state.held(self.scope)

    @cached_property
    def uses(self) -> Mapping[str, Use]:
        """Recall counts by id of the fact, archived facts included."""
        ids = [one.fact.id for one in self._held]
        for name in self.names("memory/archive/facts"):
            path = self.path(f"memory/archive/facts/{name}")
            ids += [fact.id for fact in facts_in(self.text(path), path, "")]
        return self.ws.searcher.usage.counts(ids)

    @cached_property
    def undone(self) -> UndoneEdits:
        """The edits of earlier consolidations that were undone; they are not proposed again."""
        undone = [
            one for one in self.ws.edits.entries() if one.state == "undone" and one.step.startswith(_STEP)
        ]
        made = [(one.path, hunk) for one in undone for hunk in self.ws.edits.hunks(one)]
        added = ((path, line) for path, hunk in made for line in hunk.new if line not in hunk.old)
        return UndoneEdits(
            frozenset((path, line.strip()) for path, line in added if line.startswith("- ")),
            frozenset(found for _, hunk in made for line in hunk.old for found in _ID.findall(line)),
            frozenset(one.path for one in undone if one.to),
        )

    def suppose(self, facts: Iterable[Fact]) -> None:
        """Apply facts as if they were stored; those that would wait for review change nothing."""
        new = {fact.id: fact for fact in facts if not fact.review}
        others = [one.fact for one in self._held if one.fact.id not in new]
        self._held = timeline([*others, *new.values()], self.zone)

    def held(self) -> list[FactVersion]:
        """Return all facts of the scope with their validity, without those that a step proposed to remove."""
        return [one for one in self._held if one.fact.id not in self._gone] + self._back

    def current(self) -> list[Fact]:
        """Return the facts that are valid now."""
        return [one.fact for one in self.held() if one.at(self.now)]

    def text(self, path: str) -> str:
        """Return a file's text after the planned edits; empty where it cannot be read."""
        if path not in self._texts:
            found = read(self.ws.root, path)
            self._texts[path] = "" if isinstance(found, Problem) else found.text
        return self._texts[path]

    def take(self, proposal: Proposal) -> None:
        """Plan the edits of a proposal that change something, and belong to the parts to plan."""
        chosen = [
            (edit, part)
            for edit, part in zip(proposal.edits, parts_of(proposal, self.scope), strict=True)
            if self.only is None or not self.only.isdisjoint((part, proposal.step))
        ]
        for edit, part in chosen:
            if isinstance(edit, ProposedMove):
                self.planned.append(Planned(proposal.step, edit, f"{edit.path} → {edit.to}", part))
                self._texts[edit.to], self._texts[edit.path] = self.text(edit.path), ""
                continue
            old = self.text(edit.path)
            new = edit.change(old)
            if new != old:
                diff = file_edits.shown_diff(self.ws, edit.path, old, new)
                self.planned.append(Planned(proposal.step, edit, diff, part))
                self._texts[edit.path] = new
        gone, back = proposal.gone, proposal.back
        if len(chosen) < len(proposal.edits):  # later steps see what was not chosen as it is
            paths = self.state.files.paths(self.scope)
            there = {fact.id for path in paths for fact in facts_in(self.text(path), path, "")}
            gone, back = gone - there, tuple(fact for fact in back if fact.id in there)
        self._gone |= gone
        self._back += [FactVersion(fact, None, None) for fact in back]


def parts_of(proposal: Proposal, scope: str) -> list[str]:
    """Return what each edit is chosen by: the step, and the first file of those that go together."""
    if proposal.whole:
        return [f"{proposal.step}:{scope}"] * len(proposal.edits)
    firsts: dict[object, str] = {}
    """The first file by file and by reasons."""
    for edit in proposal.edits:
        keys = [edit.path, edit.why] if edit.why else [edit.path]
        known = {firsts[key] for key in keys if key in firsts}
        first = min(known, default=edit.path)
        firsts |= {key: first for key, one in firsts.items() if one in known}
        firsts |= dict.fromkeys(keys, first)
    return [f"{proposal.step}:{firsts[edit.path]}" for edit in proposal.edits]


def apply(
    ws: "OpenWorkspace", edit: ProposedEdit | ProposedMove, *, step: str, group: str
) -> file_edits.Written:
    """Carry out a proposed edit or move."""
    if isinstance(edit, ProposedMove):
        return file_edits.move(ws, edit.path, edit.to, step=step, group=group)
    return file_edits.write(ws, edit.path, edit.change, step=step, group=group)
