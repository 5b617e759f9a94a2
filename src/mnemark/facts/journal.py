"""Read the journal lines about facts, and answer what they say of each."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC
from itertools import chain
from typing import Final

from mnemark.facts.files import Confirmation
from mnemark.facts.fold import Words, corrections, lines, words_of
from mnemark.facts.fold.tables import (
    NOTHING,
    Correction,
    FactEnd,
    FactState,
    FactTables,
    Payload,
    Reducer,
    ids_in,
)
from mnemark.facts.model import Fact, Otherwise
from mnemark.facts.timeline import when
from mnemark.files.journal import Change, Journal, JournalEntry

REDUCERS: Final[Mapping[str, Reducer]] = {
    "remember": lines.remember, "propose": lines.remember, "conflict": lines.remember,
    "otherwise": lines.otherwise,
    "confirm": lines.confirm, "retract": lines.confirm, "project": lines.project,
    "accept": lines.decide, "reject": lines.decide,
    "edit": lines.edit, "tombstone": lines.remove, "correct": corrections.correct,
    "forget": lines.forget, "erased": lines.erased, "undo": lines.undo,
}  # fmt: skip
"""What each kind of line does."""
_MOST_TOUCHED: Final = 4_096
_UNKNOWN: Final = FactState()


class FactJournal:
    """The facts as the journal has them; `refresh` reads new lines."""

    def __init__(self, journal: Journal, redacted: Callable[[str], str] = str) -> None:
        """`redacted` removes secrets from a text: older lines may quote bullets with some."""
        self.journal = journal
        self.tables = FactTables(journal.file, redacted)
        """Made anew when all lines are read again; not to be kept."""
        self.touched: list[str] = []
        """Ids named by the lines read since then, in order; another list after it."""
        self._feed = journal.feed(*REDUCERS)
        self.problems: tuple[str, ...] = ()
        """What could not be read at the last refresh."""

    @property
    def epoch(self) -> int:
        """Increases when lines change facts that they do not name."""
        return self.tables.epoch

    def refresh(self) -> None:
        """Read appended lines; all lines if a journal was rewritten."""
        rewritten, entries = self._feed.take()
        self.problems = self.journal.problems
        if rewritten:
            self.tables = FactTables(self.journal.file, self.tables.redacted, self.epoch + 1)
            self.touched = []
        for entry in entries:
            self._take(entry)
            if len(self.touched) > _MOST_TOUCHED:  # readers look at all there is instead
                self.touched = []
                self.tables.epoch += 1

    def append(self, *changes: Change) -> list[Change]:
        """Append changes to the journal and apply them."""
        appended = self.journal.append_many(changes)
        self.refresh()
        return appended

    def _take(self, entry: JournalEntry) -> None:
        change = entry.change
        payload = change.payload if isinstance(change.payload, Mapping) else NOTHING
        self._touch(change, payload)
        REDUCERS[change.kind](self.tables, entry, payload)

    def _touch(self, change: Change, payload: Payload) -> None:
        if change.kind == "erased":  # it names lines
            return
        ids = [*ids_in(payload)] if change.kind == "forget" else [change.id, *ids_in(payload)]
        confirmations = self.tables.confirmations
        ids += [confirmations[line].fact for line in ids if line in confirmations]
        before = payload.get("before")
        if isinstance(before, Mapping) and isinstance(before.get("id"), str):
            ids.append(str(before["id"]))
        # What is proposed against a fact is shown beside it.
        ids += [fact.supersedes for one in ids if (fact := self.of(one).proposal) is not None]
        self.touched += ids

    def of(self, identifier: str) -> FactState:
        """Return what is known of a fact; not to be changed."""
        return self.tables.facts.get(identifier, _UNKNOWN)

    def named(self) -> Iterable[str]:
        """Return the ids of all facts and confirmations."""
        return chain(self.tables.facts, self.tables.confirmations)

    def stored(self, identifier: str) -> Fact:
        """Return the remembered or proposed fact of an id. Raises KeyError."""
        fact = self.of(identifier).fact
        if fact is None:
            raise KeyError(identifier)
        return fact

    def records(self) -> Iterator[Fact]:
        """Yield the remembered facts, hidden ones included."""
        for state in self.tables.facts.values():
            if (record := state.record) is not None:
                yield record

    def proposals(self) -> Iterator[Fact]:
        """Yield the proposed facts, those included that are hidden or decided."""
        for identifier in self.tables.proposed:
            if (fact := self.of(identifier).fact) is not None:
                yield fact

    def open_proposals(self) -> Iterator[Fact]:
        """Yield the proposed facts that are neither decided nor hidden."""
        for fact in self.proposals():
            if fact.id not in self.tables.decided and not self.of(fact.id).hidden:
                yield fact

    def otherwise(self, fact: Fact) -> Otherwise | None:
        """Return the last words against a fact that nobody decided on; None if there are none.

        What was said before the fact held as it is, or says the same by now, is not against it.
        """
        against = [self.of(one).proposal for one in self.tables.otherwise.get(fact.id, ())]
        known = [one for one in against if one is not None and not self.of(one.id).hidden]
        # Two machines that learn from one turn propose the same: who turned one down, turned down both.
        decided = {one.source for one in known if one.id in self.tables.decided and one.source}
        begun = when(fact.since, UTC)
        left = [
            one
            for one in known
            if one.id not in self.tables.decided
            and one.source not in decided
            and (one.until or words_of(one) != words_of(fact))
            and not (begun and (said := when(one.since, UTC)) and said < begun)
        ]
        last = max(left, key=lambda one: (one.since, one.id), default=None)
        if last is None:
            return None
        return Otherwise(id=last.id, time=last.since, source=last.source, quote=last.quote)

    def is_settled(self, identifier: str) -> bool:
        """Whether only what the owner said decided on a proposal, so that it may be proposed again."""
        lines = self.tables.decided.get(identifier, ())
        decisions = [one for line in lines if (one := self.tables.decisions.get(line)) is not None]
        return bool(decisions) and all(one.settled for one in decisions)

    def scope_of(self, identifier: str) -> str:
        """Return the scope of a fact or confirmation in the journal; the root's if there is none."""
        tables = self.tables
        line = tables.confirmations.get(identifier) or tables.corrections.get(identifier)
        item = self.of(identifier).fact or line
        return item.scope if item is not None else ""

    def is_own(self, identifier: str) -> bool:
        """Whether this machine wrote the line of a fact or confirmation."""
        tables = self.tables
        line = tables.confirmations.get(identifier) or tables.corrections.get(identifier)
        file = line.file if line is not None else self.of(identifier).file
        return file == self.journal.file

    def pending(self, scope: str | None = None) -> list[str]:
        """Return the ids of acknowledged lines that are in no file yet, oldest first."""
        return sorted(
            line
            for line in self.tables.waiting
            if scope in (None, self.scope_of(line))
            and (line in self.tables.corrections or not self.of(line).hidden)
        )

    def pending_confirmations(self, scope: str) -> list[Confirmation]:
        """Return the confirmations that are in no file yet, oldest first."""
        return [
            said for line in self.pending(scope) if (said := self.tables.confirmations.get(line)) is not None
        ]

    def ends(self, *, undone: bool = False) -> dict[str, FactEnd]:
        """Return the ends of facts that stand, or the undone ones, by their lines."""
        ends = self.tables.ends
        if undone:
            return {line: ends[line] for line in self.tables.undone if line in ends}
        return {line: end for line, end in ends.items() if line not in self.tables.undone}

    def withdrawn(self) -> list[Fact]:
        """Return the remembered facts that were undone; of corrections the files wait to be as they were."""
        states = (self.of(line) for line in self.tables.undone if line not in self.tables.corrections)
        return [fact for state in states if state.withdrawn and (fact := state.record) is not None]

    def corrections(self) -> dict[str, Correction]:
        """Return the corrections that stand, by their lines."""
        tables = self.tables
        return {line: one for line, one in tables.corrections.items() if line not in tables.undone}

    def wrong_facts(self) -> dict[str, Fact]:
        """Return the facts that were corrected, as they were, by their ids; undone corrections included."""
        found = self.tables.corrections.values()
        return {one.wrong: one.before for one in found if one.before is not None}

    def is_gone(self, identifier: str) -> bool:
        """Whether a fact was forgotten or taken back, not only corrected."""
        state = self.of(identifier)
        return state.withdrawn or state.erased or bool(state.hidden_by)

    def corrected(self, scope: str, words: Words) -> str:
        """Return the id of the last line that says that these words were wrong; empty if none does."""
        return max(self.tables.wrong.get((scope, words), ()), default="")

    def reviewed(self, identifier: str) -> Fact | None:
        """Return the fact of a proposal or hand edit, decided or not; None if there is none."""
        edit = self.tables.edits.get(identifier)
        return edit.fact if edit is not None else self.of(identifier).proposal

    def was_erased(self) -> dict[str, str]:
        """Return the id of the line that last erased a fact, by `said_mark` of its words.

        The fact is not learned again from older sources.
        """
        erased = dict(self.tables.said)
        for line, hides in self.tables.hides.items():
            lines.note_last(erased, hides, line)
        return erased
