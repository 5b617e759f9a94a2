"""Decide whether a new fact is stored, confirms or supersedes another, or is proposed for review."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from mnemark.errors import NotFoundError
from mnemark.facts.ends import Orders, Retraction, Tastes, ended_by, is_order, opposite, orders_meant
from mnemark.facts.files import REVIEW, Confirmation
from mnemark.facts.fold import Words, payload_of, words_of
from mnemark.facts.keys import holds_many, subject_key
from mnemark.facts.model import TRUST, Fact, refs_in
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import FactVersion, confirmed, order, timeline
from mnemark.facts.versions import confirmed_by
from mnemark.files.ids import is_id, new_id, time_of
from mnemark.files.journal import Change
from mnemark.files.names import split_ref
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.quoting.memory_poisoning import speaks_for_owner
from mnemark.types import Json, Origin, Turn

CONFIDENCE: Final[dict[Origin, float]] = {
    "owner": 0.9, "agent": 0.7, "file": 0.9, "import": 0.6, "tool": 0.3, "web": 0.3,
}  # fmt: skip
"""Default confidence by origin."""

_COMMENT_BYTES: Final = 120
"""Bytes of a bullet beside its value, about."""


class Decision:
    """Decisions on new facts, in order, each aware of those before; `changes` are the journal lines."""

    def __init__(self, facts: FactStore, scopes: Iterable[str], *, fresh: bool = False) -> None:
        """`fresh`: the cached facts of these scopes are current, so do not refresh them."""
        self._facts = facts
        self._groups: dict[tuple[str, ...], Sequence[FactVersion]] = {}
        self._changed: dict[tuple[str, ...], list[Fact]] = {}
        """The facts of groups that were changed and not looked at since; ordered when they are."""
        self._scopes = {scope: facts.kept(scope) if fresh else facts.fresh(scope) for scope in scopes}
        self._tastes: dict[str, Tastes] = {}
        self._orders: dict[str, Orders] = {}
        self._ended: set[str] = set()
        self._paths: dict[tuple[str, str], str] = {}
        self._room: dict[str, int] = {}
        """Bytes left in each file that new facts go to."""
        self.changes: list[Change] = []

    def decide_all(self, given: Sequence[tuple[Fact, Turn | None]]) -> list[Fact]:
        """Return the resulting fact for each (fact, turn that its source names)."""
        return [self._decide(fact, turn) for fact, turn in given]

    def end_one(self, identifier: str, said: Retraction) -> list[Fact]:
        """End the fact of an id if it holds, whatever it says by now; return it."""
        versions = self._scopes[said.scope].versions()
        return [
            self._end(one.fact, said) for one in versions if one.fact.id == identifier and one.at(said.at)
        ]

    def end(self, said: Retraction) -> list[Fact]:
        """End the facts that a retraction names, from its time on; return them."""
        held = (one for groups in self._scopes[said.scope].groups() for one in groups.versions)
        return [self._end(fact, said) for fact in self._endable(said, held)]

    def otherwise(self, fact: Fact) -> list[Fact]:
        """Propose what a turn may say against facts that hold; return the proposals that are new.

        Each stands beside its fact until a person decides, the owner says it again, or it ends. `fact` says
        what would hold instead; with `until`, that facts of its predicate ended: the one its value names, if
        it has one. Facts of those who are trusted more than who says so are never in doubt.
        """
        start = order(fact, self._facts.zone)[0]
        if fact.until:
            said = Retraction(
                fact.subject, fact.predicate, fact.value, start, fact.source, fact.origin, fact.scope
            )
            versions = [one for groups in self._scopes[fact.scope].groups() for one in groups.versions]
            held = self._endable(said, versions) or orders_meant(said, versions)
            if not held and not holds_many(fact.predicate):  # a value that is not known: it was misheard
                held = self._endable(said._replace(value=""), versions)
            held = held if len(held) == 1 or not holds_many(fact.predicate) else []
        else:
            held = [one.fact for one in self._group(fact) if one.at(start)]
            held = [one for one in held if words_of(one) != words_of(fact)]
        return [
            self._propose_otherwise(fact, one)
            for one in held
            if TRUST[fact.origin] >= TRUST[one.origin]
            and fact.source not in refs_in(one.source)
            and not self._is_doubted(one, fact)
        ]

    def _is_doubted(self, held: Fact, fact: Fact) -> bool:
        """Whether the same was proposed before, and is open or was turned down, or by the same turn."""
        log = self._facts.log
        for identifier in log.tables.otherwise.get(held.id, ()):
            other = log.of(identifier).fact
            if other is None:
                continue
            ends = bool(fact.until)
            same = bool(other.until) == ends and (ends or words_of(other)[2] == words_of(fact)[2])
            if other.source == fact.source or (same and not log.is_settled(identifier)):
                return True
        return False

    def _propose_otherwise(self, fact: Fact, held: Fact) -> Fact:
        # The words of the fact itself are not repeated: an erasure of the turn would take them for its own.
        proposed = msgspec.structs.replace(
            fact, id=new_id(), subject=held.subject, predicate=held.predicate,
            value=fact.quote if fact.until else fact.value, supersedes=held.id, review="otherwise",
        )  # fmt: skip
        payload = payload_of(msgspec.structs.replace(proposed, supersedes="")) | {"fact": held.id}
        self.changes.append(
            Change(kind="otherwise", payload=payload, origin=fact.origin, scope=fact.scope, id=proposed.id)
        )
        return proposed

    def _settle_otherwise(self, fact: Fact, at: datetime) -> None:
        """Reject what was said before against a fact that its owner says again, without asking anybody."""
        log = self._facts.log
        against = (log.of(one).fact for one in log.tables.otherwise.get(fact.id, ()))
        ids = [
            one.id
            for one in against
            if one is not None and one.id not in log.tables.decided and order(one, self._facts.zone)[0] <= at
        ]
        if ids:
            payload: dict[str, Json] = {"ids": [*ids], "made": "", "settled": True}
            self.changes.append(Change(kind="reject", origin="owner", scope=fact.scope, payload=payload))

    def _endable(self, said: Retraction, held: Iterable[FactVersion]) -> list[Fact]:
        """Return the facts to end: neither ended before in this decision, nor once by the same turn.

        What was ended by a turn and holds again, because a person took that back, is not ended by it again.
        """
        ends = self._facts.log.tables.ends.values()
        done = {end.fact for end in ends if end.source and end.source == said.source} | self._ended
        return [fact for fact in ended_by(said, held) if fact.id not in done]

    def _end(self, fact: Fact, said: Retraction, *, by: str = "") -> Fact:
        until = said.at.isoformat()
        fields: dict[str, Json] = {"until": until} | ({"ended": said.source} if said.source else {})
        payload: dict[str, Json] = {"fact": fact.id, "path": fact.path, "fields": fields}
        payload |= {"by": by} if by else {}
        change = Change(kind="retract", payload=payload, origin=said.origin, scope=fact.scope, id=new_id())
        self.changes.append(change)
        self._ended.add(fact.id)
        ended = msgspec.structs.replace(fact, until=until, ended=said.source)
        others = [one.fact for one in self._group(fact) if one.fact.id != fact.id]
        self._changed[fact.scope, *fact.key] = [*others, ended]
        return ended

    def _group(self, fact: Fact) -> Sequence[FactVersion]:
        """Return the versions of the same fact, including those decided before."""
        key = (fact.scope, *fact.key)
        if key in self._changed:
            self._groups[key] = timeline(self._changed.pop(key), self._facts.zone)
        elif key not in self._groups:
            self._groups[key] = self._scopes[fact.scope].group(fact.key)
        return self._groups[key]

    def _decide(self, fact: Fact, turn: Turn | None) -> Fact:
        held = self._group(fact)
        start = order(fact, self._facts.zone)[0]
        current = [version.fact for version in held if version.at(start)]
        alike = list(self._orders_of(fact.scope).like(fact)) if is_order(fact.predicate) else []
        named, same, words = self._named(fact, start), None, words_of(fact)
        over = list(named)
        for says_same, version in alike:
            if version.at(start) and version.fact.id not in self._ended:
                same = version.fact if says_same else same
                over += [] if says_same else [version.fact]
        over = list({one.id: one for one in over if one not in current}.values())
        same = next((other for other in current if words_of(other) == words), same)
        if same is not None:
            self._settle_proposals(fact, words, made="")
            if fact.origin == "owner":
                self._settle_otherwise(same, start)
            trusted = [one for one in named if one.id != same.id and TRUST[fact.origin] >= TRUST[one.origin]]
            self._against(msgspec.structs.replace(fact, id=same.id), trusted, ())
            return self._confirm(same, fact)
        before = [*over, *current]
        rival = max(before, key=lambda other: TRUST[other.origin], default=None)
        removed = self._removed(fact.scope, words)
        if reason := _review_reason(fact, rival, turn, removed):
            return self._propose(fact, words, rival, reason)
        self._settle_proposals(fact, words, made=fact.id)
        path = (rival.path if rival is not None else "") or self._path_for(fact)
        fact = msgspec.structs.replace(fact, path=path, supersedes=before[-1].id if before else "")
        fact = self._against_opposite(self._against(fact, over, [one for _, one in alike]))
        self._write("remember", fact)
        kept = msgspec.structs.replace(fact, pending=True)
        self._changed[fact.scope, *fact.key] = [*(version.fact for version in held), kept]
        if is_order(fact.predicate):
            self._orders_of(fact.scope).add(FactVersion(kept, start, None))
        return kept

    def _removed(self, scope: str, words: Words) -> str | None:
        """Return when a person last removed a fact of these words, or said that it is wrong."""
        log = self._facts.log
        corrected = log.corrected(scope, words)
        times = [log.tables.removed.get((scope, words), "")]
        times += [time_of(corrected).isoformat()] if is_id(corrected) else []
        return max(times) or None

    def _named(self, fact: Fact, start: datetime) -> list[Fact]:
        """Return the fact that the caller says is replaced, by its id or ref, if it holds at `start`.

        Raises:
            NotFoundError: there is none.
        """
        if not fact.supersedes:
            return []
        versions = self._scopes[fact.scope].versions()
        named = [one for one in versions if fact.supersedes in {one.fact.id, one.fact.ref}]
        if not named:
            raise NotFoundError(
                f"there is no fact {fact.supersedes!r} to replace; `mnemark facts` lists them"
            )
        return [one.fact for one in named if one.at(start) and one.fact.id not in self._ended]

    def _orders_of(self, scope: str) -> Orders:
        if scope not in self._orders:
            self._orders[scope] = Orders(part.by_predicate for part in self._scopes[scope].groups())
        return self._orders[scope]

    def _against(self, fact: Fact, over: Iterable[Fact], alike: Iterable[FactVersion]) -> Fact:
        """End what a fact contradicts or replaces; if something newer contradicts it, it ends with that."""
        said = Retraction(
            subject=fact.subject, predicate=fact.predicate, value="", at=order(fact, self._facts.zone)[0],
            source=fact.source, origin=fact.origin, scope=fact.scope,
        )  # fmt: skip
        for other in over:
            self._end(other, said, by=fact.id)
        later = [one.begin for one in alike if one.begin is not None and one.begin > said.at]
        return msgspec.structs.replace(fact, until=min(later).isoformat()) if later else fact

    def _against_opposite(self, fact: Fact) -> Fact:
        """End what says the opposite, as a dislike ends the like; if that is newer, the fact ends with it."""
        said = opposite(fact)
        if said is None:
            return fact
        if fact.scope not in self._tastes:
            groups = self._scopes[fact.scope].groups()
            self._tastes[fact.scope] = Tastes(one for held in groups for one in held.versions)
        tastes = self._tastes[fact.scope]
        others = tastes.of(fact.value)
        for other in self._endable(said, others):
            self._end(other, said, by=fact.id)
            fact = fact if fact.supersedes else msgspec.structs.replace(fact, supersedes=other.id)
        later = sorted(one.begin for one in others if one.begin is not None and one.begin > said.at)
        end = next((at for at in later if any(ended_by(said._replace(at=at), others))), None)
        fact = fact if end is None else msgspec.structs.replace(fact, until=end.isoformat())
        tastes.add(FactVersion(fact, said.at, None))
        return fact

    def _path_for(self, fact: Fact) -> str:
        """Return the file of a fact with a new key, given those decided before."""
        about, files = (fact.subject, fact.scope), self._facts.files
        path = self._paths.get(about, "")
        if self._room.get(path, 0) <= 0:
            full = [known for known, room in self._room.items() if room <= 0]
            path = self._paths[about] = files.path_for(*about, full)
            self._room.setdefault(path, files.room(path))
        self._room[path] -= _COMMENT_BYTES + len(fact.value.encode("utf-8", "replace"))
        return path

    def said_already(self, fact: Fact, wrong: Fact) -> Fact | None:
        """Return another fact that says what is right already, when the wrong one began or until then."""
        start = order(fact, self._facts.zone)[0]
        same = [
            one
            for one in self._group(fact)
            if one.fact.id != wrong.id and words_of(one.fact) == words_of(fact)
        ]
        return next((one.fact for one in same if one.at(start) or one.end == start), None)

    def placed(self, fact: Fact, wrong: Fact) -> Fact:
        """Return a fact as corrected among those of its key: after which it comes, and in which file."""
        if wrong.path.endswith(REVIEW) or subject_key(fact.subject) != subject_key(wrong.subject):
            fact = msgspec.structs.replace(fact, path=self._path_for(fact))
        if fact.key == wrong.key or is_order(wrong.predicate) is is_order(fact.predicate) is True:
            return fact
        start = order(fact, self._facts.zone)[0]
        others = [one for one in self._group(fact) if one.fact.id != wrong.id]
        before = [one.fact.id for one in others if one.at(start)]
        later = [one for one in others if one.begin is not None and one.begin > start]
        until = fact.until or (later[0].fact.since if later else "")
        fact = msgspec.structs.replace(fact, supersedes=before[-1] if before else "", until=until)
        return self._against_opposite(fact)

    def before_it(self, fact: Fact) -> Fact | None:
        """Return what a fact had taken the place of."""
        return next((one.fact for one in self._group(fact) if one.fact.id == fact.supersedes), None)

    def revive(self, wrong: Fact, fact: Fact | None) -> list[str]:
        """Take the ends back that a wrong fact had brought about and the right one does not; return them."""
        taste = opposite(wrong) is not None
        if fact is not None and (fact.key == wrong.key or not taste):
            return []
        log = self._facts.log
        lines = [line for line, end in log.ends().items() if end.by == wrong.id]
        if lines:
            payload: dict[str, Json] = {"ids": [*lines]}
            self.changes.append(Change(kind="undo", payload=payload, origin="owner", scope=wrong.scope))
        return lines

    def propose(self, fact: Fact, wrong: Fact) -> str:
        """Propose what is right of a fact, and return the id of the proposal, or that of an equal one."""
        return self._propose(fact, words_of(fact), wrong, fact.review).id

    def _propose(self, fact: Fact, words: Words, rival: Fact | None, reason: str) -> Fact:
        """Propose a fact for review, unless an equal proposal is pending or was rejected."""
        for other in self._facts.log.proposals():
            if other.scope == fact.scope and other.origin == fact.origin and words_of(other) == words:
                return other
        against = rival.id if rival is not None else ""
        fact = msgspec.structs.replace(fact, review=reason, supersedes=against)
        self._write("conflict" if reason == "conflict" else "propose", fact)
        return fact

    def _settle_proposals(self, fact: Fact, words: Words, *, made: str) -> None:
        """Accept the proposals that say what the owner says now; `made`: the fact, if it is new."""
        if fact.origin != "owner":
            return
        waiting = self._facts.log.open_proposals()
        same = [
            other.id
            for other in waiting
            if other.scope == fact.scope and words_of(other) == words and other.review != "otherwise"
        ]
        if same:
            payload: dict[str, Json] = {"ids": [*same], "made": made}
            self.changes.append(Change(kind="accept", origin="owner", scope=fact.scope, payload=payload))

    def _write(self, kind: str, fact: Fact) -> None:
        self.changes.append(
            Change(kind=kind, payload=payload_of(fact), origin=fact.origin, scope=fact.scope, id=fact.id)
        )

    def _confirm(self, same: Fact, fact: Fact) -> Fact:
        """Confirm a fact: an independent source raises its confidence; an untrusted one changes nothing."""
        if fact.origin in {"tool", "web"}:
            return same
        every = self._facts.log.tables.confirmations.values()
        confirmations = (item for item in every if item.fact == same.id)
        refs = [*same.source.split(","), *(item.fields.get("source", "") for item in confirmations)]
        fields: dict[str, str] = {}
        if fact.source and _file_of(fact.source) not in map(_file_of, refs):
            before = CONFIDENCE[same.origin] if same.confidence is None else same.confidence
            by = CONFIDENCE[fact.origin] if fact.confidence is None else fact.confidence
            source = ", ".join(filter(None, (same.source, fact.source)))
            fields = {"confidence": f"{max(before, confirmed(before, by)):g}", "source": fact.source}
            same = msgspec.structs.replace(same, source=source)
        if TRUST[fact.origin] > TRUST[same.origin]:
            fields["origin"] = fact.origin
        if not fields:
            return same
        payload = {"fact": same.id, "path": same.path, "fields": fields}
        change = Change(kind="confirm", payload=payload, origin=fact.origin, scope=fact.scope, id=new_id())
        self.changes.append(change)
        kept = confirmed_by(same, [Confirmation(change.id, same.id, fields)])
        self._groups[fact.scope, *fact.key] = [
            v._replace(fact=kept) if v.fact.id == kept.id else v for v in self._group(fact)
        ]
        return kept


def _review_reason(fact: Fact, rival: Fact | None, turn: Turn | None, removed: str | None) -> str:
    """Return why a fact needs review by a person, who `removed` it at that time; empty if it does not."""
    if fact.origin in {"tool", "web"} or is_suspect(fact):
        return "untrusted"
    if fact.against or (rival is not None and TRUST[rival.origin] > TRUST[fact.origin]):
        return "conflict"
    if removed is None or (fact.origin == "owner" and not fact.source):
        return ""
    later = turn is not None and turn.time.astimezone(UTC) > datetime.fromisoformat(removed)
    return "" if fact.origin == "owner" and later else "removed"


def is_suspect(fact: Fact) -> bool:
    """Whether a fact of others than the owner looks like instructions, which an agent may copy unaware."""
    if fact.origin == "owner":
        return False
    marked = speaks_for_owner if fact.origin in {"tool", "web"} else looks_like_instructions
    return marked(fact.value) or marked(f"{fact.predicate}: {fact.value}")


def _file_of(source: str) -> str:
    """Return the file of a ref; sources in different files are independent."""
    return split_ref(source.strip())[0]
