"""What a `Memory` does beside searching: each method hands over to the module that does it.

The modules are imported when first needed, so that a search does not wait for what it does not use.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from mnemark.types import Origin

if TYPE_CHECKING:
    from pathlib import Path

    from mnemark.facts.model import Fact
    from mnemark.llm.base import LLM
    from mnemark.memory.consolidation.run import Report
    from mnemark.memory.file_edits import Written
    from mnemark.memory.forgetting.receipt import Receipt
    from mnemark.memory.health.stats import Stats
    from mnemark.memory.learning.by_rule import Report as Learning
    from mnemark.memory.memory import Memory
    from mnemark.memory.prompt.prompt import Prompt
    from mnemark.memory.review.attention import Attention
    from mnemark.memory.review.explain import Why
    from mnemark.memory.review.review import Waiting
    from mnemark.memory.sessions.history import Said
    from mnemark.memory.sessions.session import Session
    from mnemark.memory.transfer.importer import Summary
    from mnemark.memory.transfer.transfer import ImportFormat
    from mnemark.memory.undo.pin import Pinned
    from mnemark.memory.undo.revert import Reverted
    from mnemark.memory.undo.undo import Undone


class Operations:
    """Methods of `Memory`."""

    @property
    def _memory(self) -> "Memory":
        return cast("Memory", self)

    def context(self, *, scope: str = "", budget: int | None = None, now: datetime | None = None) -> str:
        """Curated memory and today's notes as one text, without recall; see `memory.context`."""
        from mnemark.memory.curation.files import context

        return context(self._memory, scope=scope, budget=budget, now=now)

    def remember(
        self,
        predicate: str,
        value: str,
        *,
        subject: str = "user",
        type: str = "fact",  # noqa: A002 - the word of the file format
        origin: Origin = "owner",
        since: datetime | str | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        priority: str = "",
        tags: Sequence[str] = (),
        source: str | None = None,
        scope: str = "",
        dry_run: bool = False,
    ) -> "Fact":
        """Keep a fact; when this returns, it is on the disk. See `mnemark.facts.remember`."""
        said = {
            "predicate": predicate, "value": value, "subject": subject, "type": type, "origin": origin,
            "since": since, "importance": importance, "confidence": confidence, "priority": priority,
            "tags": tags, "source": source, "scope": scope,
        }  # fmt: skip
        return self.remember_many([said], dry_run=dry_run)[0]

    def remember_many(self, said: Iterable[Mapping[str, Any]], *, dry_run: bool = False) -> "list[Fact]":
        """Keep many facts, each given as the arguments of `remember`: all of them or none."""
        from mnemark.facts.remember import remember_many

        kept = remember_many(self._memory, said, dry_run=dry_run)
        if not dry_run and any(fact.supersedes for fact in kept):
            from mnemark.memory.curation.generated import withdraw_replaced

            withdraw_replaced(self._memory, kept)  # core memory says it no more
        return kept

    def facts(
        self,
        *,
        subject: str | None = None,
        as_of: datetime | str | None = None,
        history: bool = False,
        scope: str = "",
    ) -> Iterator["Fact"]:
        """The facts that hold now, or held then; see `mnemark.facts.remember.facts`."""
        from mnemark.facts.remember import facts

        return facts(self._memory, subject=subject, as_of=as_of, history=history, scope=scope)

    def turns(
        self,
        *,
        session: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        role: str | None = None,
        tool: str | None = None,
        limit: int | None = 100,
        scope: str | Iterable[str] | None = None,
    ) -> "list[Said]":
        """What was said, by session, time, role and tool; see `mnemark.memory.sessions.history.turns`."""
        from mnemark.memory.sessions.history import turns

        return turns(
            self._memory, session=session, since=since, until=until, role=role, tool=tool, limit=limit,
            scope=scope,
        )  # fmt: skip

    def describe(
        self,
        attachment: str,
        description: str = "",
        *,
        transcription: str = "",
        text: str = "",
        scope: str = "",
    ) -> "Written":
        """Say what an attachment shows or holds; see `mnemark.memory.sessions.attachments.describe`."""
        from mnemark.memory.sessions.attachments import describe

        return describe(
            self._memory, attachment, description, transcription=transcription, text=text, scope=scope
        )

    def review(self, *, scope: str = "") -> "list[Waiting]":
        """What waits for a person: proposals, conflicts, changes made in the fact files."""
        from mnemark.memory.review.review import review

        return review(self._memory, scope=scope)

    def accept(self, id: str) -> "Fact | None":  # noqa: A002 - the word of the file format
        """Make what waits a fact of the owner's, or agree to a change in a file ("edits": to all)."""
        from mnemark.memory.review.review import accept

        return accept(self._memory, id)

    def reject(self, id: str) -> "Fact | None":  # noqa: A002 - the word of the file format
        """Drop what waits, or take a change made in a file back."""
        from mnemark.memory.review.review import reject

        return reject(self._memory, id)

    def why(self, ref: str, query: str | None = None) -> "Why":
        """Where a passage or fact came from, and why a question found it or not; see `memory.facts_why`."""
        from mnemark.memory.review.explain import why

        return why(self._memory, ref, query)

    def learn(
        self, session: str | None = None, *, dry_run: bool = False, budget_seconds: float | None = None
    ) -> "Learning":
        """Learn facts from turns that were not learned from yet; see `mnemark.memory.learning.by_rule`."""
        from mnemark.memory.learning.by_rule import learn

        found = learn(self._memory, session, dry_run=dry_run, budget_seconds=budget_seconds)
        if found.facts and not dry_run:
            from mnemark.memory.curation.generated import withdraw_all

            withdraw_all(self._memory)  # what was replaced is core memory no more
        return found

    def consolidate(
        self,
        *,
        dry_run: bool = False,
        now: datetime | None = None,
        force: bool = False,
        llm: "LLM | None" = None,
        commit: bool | None = None,
        since: datetime | str | None = None,
    ) -> "Report":
        """Deduplicate, let fade, refresh and clean up; see `mnemark.memory.consolidation.run.consolidate`."""
        from mnemark.memory.consolidation.run import consolidate

        return consolidate(
            self._memory, dry_run=dry_run, now=now, force=force, llm=llm, commit=commit, since=since
        )

    def forget(
        self,
        ref: str | None = None,
        *,
        query: str | None = None,
        session: str | None = None,
        origin: str | None = None,
        since: datetime | str | None = None,
        id: str | None = None,  # noqa: A002 - the word of the file format
        erase: bool = False,
        dry_run: bool = False,
        scope: str | None = None,
        git: bool = False,
    ) -> "Receipt":
        """Hide turns, notes and facts, or erase their bytes; see `mnemark.memory.forgetting.forget`."""
        from mnemark.memory.forgetting.forget import forget

        return forget(
            self._memory, ref, query=query, session=session, origin=origin, since=since, id=id,
            erase=erase, dry_run=dry_run, scope=scope, git=git,
        )  # fmt: skip

    def undo(self, id: str | None = None) -> "list[Undone]":  # noqa: A002 - the word of the file format
        """Take back the last change, or that of an id or group; see `mnemark.memory.undo.undo.undo`."""
        from mnemark.memory.undo.undo import undo

        return undo(self._memory, id)

    def revert(
        self,
        *,
        session: str | None = None,
        origin: str | None = None,
        since: datetime | str | None = None,
        dry_run: bool = False,
    ) -> "Reverted":
        """Take back all that one source brought in; see `mnemark.memory.undo.revert.revert`."""
        from mnemark.memory.undo.revert import revert

        return revert(self._memory, session=session, origin=origin, since=since, dry_run=dry_run)

    def pin(self, ref: str) -> "Pinned":
        """Keep a fact, a turn or a piece of a note from fading; see `mnemark.memory.undo.pin.pin`."""
        from mnemark.memory.undo.pin import pin

        return pin(self._memory, ref)

    def prompt(
        self,
        query: str | None = None,
        *,
        session: "Session | str | None" = None,
        scope: str = "",
        budget: int = 3_000,
        layers: Mapping[str, int] | None = None,
        deadline: float | None = None,
        persona: str | None = None,
        now: datetime | None = None,
    ) -> "Prompt":
        """What an agent sees of its memory and what it costs; see `mnemark.memory.prompt.prompt.prompt`."""
        from mnemark.memory.prompt.prompt import prompt

        return prompt(
            self._memory, query, session=session, scope=scope, budget=budget, layers=layers,
            deadline=deadline, persona=persona, now=now,
        )  # fmt: skip

    def import_(
        self,
        format: "ImportFormat",  # noqa: A002 - the word of the command
        path: "Path | str",
        *,
        dry_run: bool = False,
    ) -> "Summary":
        """Bring notes and conversations in; twice adds nothing. See `mnemark.memory.transfer`."""
        from pathlib import Path

        from mnemark.memory.transfer.transfer import import_from

        return import_from(self._memory, format, Path(path), dry_run=dry_run)

    def attention(self) -> "list[Attention]":
        """What needs a person, each with what to do; see `mnemark.memory.review.attention`."""
        from mnemark.memory.review.attention import attention

        return attention(self._memory)

    def stats(self) -> "Stats":
        """Counts and states, without changing anything."""
        from mnemark.memory.health.stats import collect

        return collect(self._memory)
