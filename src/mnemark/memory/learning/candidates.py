"""Store candidates as facts: whose words they are, what they end, contradict or wait for."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

import msgspec

from mnemark.extraction.addressed import is_addressed
from mnemark.extraction.extract import OWNER_ROLES, Candidate
from mnemark.facts.ends import Retraction
from mnemark.facts.fold import Words, words_of
from mnemark.facts.keys import holds_many, subject_key
from mnemark.facts.model import EXPLICIT, Fact
from mnemark.facts.remember import facts, otherwise, remember_against, retract
from mnemark.facts.store import source_of
from mnemark.facts.timeline import order
from mnemark.files.names import split_ref
from mnemark.memory.learning.by_hand import LinesByHand
from mnemark.memory.learning.heard import HeardWords, line_of
from mnemark.memory.learning.learned import LearnedFact, Status
from mnemark.memory.learning.placement import StatedFact, scope_for
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Origin

PROPOSALS: Final = 3
"""Maximum number of statements of an agent that wait for review from one session: who reads more?"""

_ASKED: Final = lazy_pattern(
    r"(?i)\b(?:remember|keep in mind|note down|don't forget)\b|记住|记下|记好|别忘|请记得|牢记"
)


class SourcedCandidate(NamedTuple):
    """A candidate fact with the ref, origin, time and role of its source turn."""

    fact: Candidate
    ref: str
    scope: str
    origin: Origin
    said: datetime
    role: str = "user"

    @property
    def is_of_owner(self) -> bool:
        """Whether the owner said it, or a note does, which is theirs."""
        return self.origin in {"owner", "file"} or (self.origin == "import" and self.role in OWNER_ROLES)

    @property
    def importance(self) -> float:
        """How much it matters; more where the owner asked to remember it."""
        asked = self.is_of_owner and _ASKED.search(self.fact.quote) is not None
        return max(self.fact.importance, EXPLICIT) if asked else self.fact.importance

    @property
    def trusted_as(self) -> Origin:
        """How far it is trusted when it ends facts: a note as the agent that may have written it."""
        return "agent" if self.origin == "file" else self.origin

    @property
    def retraction(self) -> Retraction:
        """What it says of the facts that hold, if it speaks against them."""
        new = self.fact
        return Retraction(
            new.subject, new.predicate, new.value, self.said, self.ref, self.trusted_as, self.scope
        )

    @property
    def stored_origin(self) -> Origin:
        """The origin of the fact: of a turn of the owner's the store decides, by its words."""
        return "agent" if self.origin in {"owner", "file"} else self.origin


class CandidateWriter:
    """Store candidates as facts, each only once for each source turn.

    A fact about the owner is only learned from the owner's words, a rule only from an order to the agent.
    What an agent states in words of web pages or tools waits for `propose`.
    """

    def __init__(self, ws: OpenWorkspace, *, dry_run: bool = False) -> None:
        self.ws = ws
        self.dry_run = dry_run
        self.dropped = 0
        """Statements of agents that `propose` left out."""
        self._new: set[tuple[str, Words, str]] = set()
        self._heard: dict[str, HeardWords] = {}
        self._by_hand = LinesByHand(ws)
        self._doubtful: dict[str, list[SourcedCandidate]] = {}
        """By session, with the origin of their words."""

    def keep(
        self, candidates: Sequence[SourcedCandidate], *, by: Literal["rule", "model"] = "rule"
    ) -> list[LearnedFact]:
        """Store candidates with the origin "agent" (or "import") and their turn as source; skip known ones.

        Consecutive candidates are written as a batch: one line of the journal, one edit of each file.
        """
        found: list[LearnedFact] = []
        waiting: list[tuple[int, SourcedCandidate]] = []
        if candidates:  # where nothing was found, the facts known are not read
            with self.ws.fact_store.lock:
                self.ws.fact_store.sources.refresh()
        for one in self._believed([self._placed(one) for one in candidates]):
            new, since = one.fact, one.fact.since
            if new.against == "doubt":
                self._write(found, waiting)
                found += self._doubted(one, by)
                continue
            if new.over:
                self._write(found, waiting)
                found += self._ended(one, by)
                continue
            if since < one.said:
                self._write(found, waiting)  # earlier candidates decide the start of this one's validity
            wanted = Fact(
                id="", subject=new.subject, predicate=new.predicate, value=new.value, source=one.ref,
                scope=one.scope,
            )  # fmt: skip
            if new.against and not self._changes(one, wanted, found):
                continue
            mark = one.scope, words_of(wanted), source_of(one.ref)
            known = mark in self._new or self.ws.fact_store.sources.knows(wanted, one.said)
            if not known:
                since = self._valid_from(one, wanted) if since < one.said else since
                if not self.dry_run:
                    self._new.add(mark)
                    waiting.append((len(found), one))
            found.append(LearnedFact(
                status="known" if known else "would be learned", subject=new.subject,
                predicate=new.predicate, value=new.value, type=new.type, since=since.isoformat(),
                ref=one.ref, quote=new.quote, by=by, importance=one.importance, confidence=new.confidence,
                priority=new.priority, topic=new.topic, against="" if known else self._against(one, wanted),
                scope=one.scope,
            ))  # fmt: skip
        self._write(found, waiting)
        return found

    def _changes(self, one: SourcedCandidate, wanted: Fact, found: Sequence[LearnedFact]) -> bool:
        """Return whether a candidate says otherwise than a fact of its key that holds, or was just found."""
        if any((other.subject, other.predicate) == (wanted.subject, wanted.predicate) for other in found):
            return True
        known = facts(self.ws.fact_store, subject=wanted.subject, as_of=one.said, scope=one.scope)
        return any(other.key == wanted.key for other in known)

    def _placed(self, one: SourcedCandidate) -> SourcedCandidate:
        """Return a candidate with the scope of what it is about."""
        if not self.ws.config.projects:
            return one
        new = one.fact
        said = StatedFact(new.subject, new.predicate, new.value, new.type, new.topic, new.quote)
        return one._replace(scope=scope_for(said, one.scope))

    def _believed(self, candidates: Sequence[SourcedCandidate]) -> Iterator[SourcedCandidate]:
        """Yield the candidates that may be stored; put aside what rests on web pages or tools."""
        over = {(one.ref, one.fact.quote) for one in candidates if one.fact.over}
        for one in candidates:
            new = one.fact
            of_owner = one.is_of_owner or subject_key(new.subject) != "user"
            order = new.type != "rule" or new.over or new.standing or is_addressed(new.quote or new.value)
            # Of a sentence that says what is no more, the end is kept, not the sentence.
            ends = bool(new.predicate) or new.over or (one.ref, new.quote) not in over
            if not (of_owner and order and ends):
                continue
            if (outside := self._outside(one)) is not None:
                self._doubtful.setdefault(split_ref(one.ref)[0], []).append(one._replace(origin=outside))
            else:
                yield one

    def _against(self, one: SourcedCandidate, wanted: Fact) -> str:
        """Return the line written by hand that what the owner says contradicts; empty if there is none."""
        if one.origin not in {"owner", "file"}:
            return ""
        line = self._by_hand.against(wanted, one.fact.quote, one.said)
        return f"{line.text} ({line.ref})" if line is not None else ""

    def _outside(self, one: SourcedCandidate) -> Origin | None:
        """Return where the words of an agent's statement come from if that is a web page or a tool."""
        path, line = line_of(one.ref)
        if one.origin != "agent" or not path:
            return None
        if path not in self._heard:
            known = facts(self.ws.fact_store, scope=one.scope)
            own = [str(fact) for fact in known if fact.origin == "owner"]
            self._heard[path] = HeardWords(self.ws.root, path, own)
        return self._heard[path].origin_of(one.fact.value, line)

    def propose(self, *, by: Literal["rule", "model"] = "rule") -> list[LearnedFact]:
        """Propose the best statements that rest on web pages or tools, at most `PROPOSALS` a session."""
        found: list[LearnedFact] = []
        for path, waiting in self._doubtful.items():
            before = self.ws.fact_store.log.proposals()
            room = max(0, PROPOSALS - sum(split_ref(fact.source)[0] == path for fact in before))
            new = list({one.fact.value: one for one in waiting}.values())
            best = sorted(new, key=lambda one: -one.fact.importance)
            self.dropped += len(best[room:])
            found += self.keep(best[:room], by=by)
        self._doubtful.clear()
        return found

    def _ended(self, one: SourcedCandidate, by: Literal["rule", "model"]) -> list[LearnedFact]:
        """End the facts that a turn says no longer hold; nothing where there are none."""
        new = one.fact
        if not new.value and new.against and holds_many(new.predicate):  # which of them it does not say
            return self._doubted(one, by)
        ended = retract(self.ws.fact_store, one.retraction, dry_run=self.dry_run)
        if not ended and new.value and new.against == "change":
            return self._doubted(one, by)
        return self._told(one, ended, "would be ended" if self.dry_run else "ended", by)

    def _doubted(self, one: SourcedCandidate, by: Literal["rule", "model"]) -> list[LearnedFact]:
        """Note what a turn may say against facts that hold; nothing where there are none."""
        if self.dry_run:
            return []
        new = one.fact
        proposed = otherwise(self.ws.fact_store, one.retraction, new.quote, over=new.over)
        return self._told(one, proposed, "review", by)

    def _told(
        self, one: SourcedCandidate, facts: Sequence[Fact], status: Status, by: Literal["rule", "model"]
    ) -> list[LearnedFact]:
        """Return what a turn did to facts."""
        return [
            LearnedFact(
                status=status, subject=fact.subject, predicate=fact.predicate, value=fact.value,
                type=fact.type, since=one.said.isoformat(), ref=one.ref, quote=one.fact.quote, by=by,
                id=fact.id, scope=fact.scope,
            )
            for fact in facts
        ]  # fmt: skip

    def _write(self, found: list[LearnedFact], waiting: list[tuple[int, SourcedCandidate]]) -> None:
        """Store the waiting candidates, and update their entries in `found`."""
        if not waiting:
            return
        kept = remember_against(self.ws.fact_store, [
            (remember_arguments(found[at], one.scope, one.stored_origin), found[at].against)
            for at, one in waiting
        ])  # fmt: skip
        for (at, _), fact in zip(waiting, kept, strict=True):
            status: Status = "review" if fact.review else "learned"
            found[at] = msgspec.structs.replace(found[at], status=status, id=fact.id)
        waiting.clear()

    def _valid_from(self, one: SourcedCandidate, wanted: Fact) -> datetime:
        """Return the start of validity of a fact that is said to be valid since a time before the turn.

        If another value was recorded between that time and the turn, the new one is valid from the turn on:
        "I moved last month" supersedes "I live in Bonn", said last week.
        """
        zone, since = self.ws.fact_store.zone, one.fact.since
        for other in facts(self.ws.fact_store, subject=wanted.subject, as_of=one.said, scope=one.scope):
            same = other.scope == one.scope and other.key == wanted.key
            if same and words_of(other) != words_of(wanted) and since < order(other, zone)[0]:
                return one.said
        return since


def remember_arguments(fact: LearnedFact, scope: str, origin: Origin = "agent") -> dict[str, object]:
    """Return the arguments of `remember` for a fact."""
    return {
        "predicate": fact.predicate, "value": fact.value, "subject": fact.subject, "type": fact.type,
        "origin": origin, "since": datetime.fromisoformat(fact.since), "importance": fact.importance,
        "confidence": fact.confidence, "source": fact.ref, "scope": scope,
        "priority": "" if fact.priority == "long" else fact.priority,  # long is assumed
        "tags": (fact.topic,) if fact.topic else (),
    }  # fmt: skip
