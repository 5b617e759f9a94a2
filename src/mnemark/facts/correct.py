"""Correct a fact: what was wrong leaves at once, as if it had never been so; what is right takes its place.

A correction is no later value: "no, that's wrong" says that the value never held. It is one line of the
journal, which hides what was wrong, holds what is right, and is taken back as a whole.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec

from mnemark.errors import MnemarkError, NotFoundError, UsageError, one_of, text_given
from mnemark.facts.decide import CONFIDENCE, Decision, is_suspect
from mnemark.facts.files import REVIEW, fact_of
from mnemark.facts.fold import payload_of
from mnemark.facts.model import TRUST, Fact
from mnemark.facts.parse import parse
from mnemark.facts.pending import bring_in
from mnemark.facts.remember import record_edits, redacted, redacted_value
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import FactVersion, when
from mnemark.facts.write import predicate_words
from mnemark.files import layout, platform
from mnemark.files.ids import new_id
from mnemark.files.journal import Change
from mnemark.files.names import split_ref
from mnemark.text.dates import local
from mnemark.text.dates.ranges import moment
from mnemark.text.lines import decode
from mnemark.types import ORIGINS, Json, Origin

SURE: Final = 1.0
"""Confidence of what its owner corrected."""
NEVER: Final = "never"
"""Why a proposal waits that says that a fact was never true."""
CORRECTION: Final = "correction"
"""Why a proposal waits that says that a fact is wrong, and what is right."""


class Right(msgspec.Struct, frozen=True):
    """What is right of a fact; None where it is as it was."""

    value: str | None = None
    predicate: str | None = None
    subject: str | None = None
    since: str | None = None
    until: str | None = None
    never: bool = False
    """Whether it was never true."""
    origin: Origin = "owner"
    """Who says so."""


class Corrected(msgspec.Struct, frozen=True, kw_only=True):
    """A correction."""

    id: str
    """For `undo`; where it waits for review, of the proposal."""
    before: Fact
    """The fact that was wrong."""
    after: Fact | None = None
    """The fact as corrected; None if it was never true."""
    again: Fact | None = None
    """What holds now that it had taken the place of."""
    revived: tuple[tuple[Fact, str], ...] = ()
    """What it had ended, each with the end that is taken back."""
    review: str = ""
    """Why it waits for a person, and the fact still holds: who says so is trusted less than its source."""


def correct(store: FactStore, ref: str, right: Right) -> Corrected:
    """Say that a fact is wrong, and what is right; once this returns, it is on disk.

    Nothing shows the wrong value then. The right one has its dates unless others are given, and stands in its
    line. Values before and after it stay as they are. What the fact had replaced holds again if it was
    never true. The turns that it was learned from keep their words; what shows them says that they were
    corrected.

    Args:
        store: the fact store.
        ref: id or ref (`memory/facts/user.md#L3`) of a fact, an earlier value included, or of a proposal.
        right: what is right.

    Raises:
        NotFoundError: there is no such fact.
        UsageError: nothing or too much is said to be right, or it is so already.
        BusyError, ReadOnlyError: it could not be written; nothing was corrected.
    """
    _check(ref, right)
    store.workspace.check_writable("correct")
    with store.lock:
        with store.truth.change():
            store.log.refresh()
            scopes = _scopes_of(store, ref)
            for scope in scopes:
                layout.check_border(store.root, scope)
            recorded = sum(record_edits(store, scope) for scope in scopes)
            version = found(store, ref, scopes)
            _check_still_wrong(store, ref, right)
            decision = Decision(store, [version.fact.scope], fresh=not recorded)
            corrected = _Correction(store, decision, version, right).made()
            store.log.append(*decision.changes)
        with suppress(MnemarkError, OSError):  # the journal has it: each sync tries again, and says why
            bring_in(store, version.fact.scope, own=corrected.id)
        store.changed()
        held = {one.fact.id: one.fact for one in store.held(version.fact.scope)}
    after, again = corrected.after, corrected.again
    return msgspec.structs.replace(
        corrected,
        after=held.get(after.id, after) if after else None,
        again=held.get(again.id) if again else None,
    )


def _check(ref: str, right: Right) -> None:
    if not text_given(ref, "the ref"):
        raise UsageError("say what to correct: the id or ref of a fact, as `mnemark facts --json` lists them")
    one_of(right.origin, ORIGINS, "origin")
    given = {name: getattr(right, name) for name in ("value", "predicate", "subject", "since", "until")}
    given = {name: text for name, text in given.items() if text is not None}
    for name, text in given.items():
        text_given(text, f"the {name} of a correction")
    if right.never and given:
        raise UsageError(f"what was never true has no {next(iter(given))}; give one of both")
    if not right.never and not given:
        raise UsageError("say what is right: a value, a date (since), a subject, or that it was never true")


def _scopes_of(store: FactStore, ref: str) -> Sequence[str]:
    path, _, last = split_ref(ref)
    return [layout.scope_of(path)] if last is not None else store.workspace.scopes()


def found(store: FactStore, ref: str, scopes: Sequence[str]) -> FactVersion:
    """Return the version of a fact, or the open proposal, that an id or a ref names; hold the lock.

    A fact that was corrected before is what it was corrected to.

    Raises:
        NotFoundError: there is none.
    """
    path, first, last = split_ref(ref)
    by_wrong = {one.wrong: one for one in store.log.corrections().values()}
    seen = {ref}
    while ref in by_wrong:
        one = by_wrong[ref]
        if one.fact is None or one.id in seen:
            raise NotFoundError(
                f"{ref!r} was corrected already: it is not true; `mnemark undo {one.id}` takes that back"
            )
        ref = one.id
        seen.add(ref)
    for scope in scopes:
        for held in store.held(scope):
            fact = held.fact
            if fact.id == ref or (last is not None and fact.path == path and first <= fact.line <= last):
                return held
    for proposal in store.log.open_proposals():
        if proposal.id == ref:
            path = layout.in_scope(proposal.scope, REVIEW)
            return FactVersion(
                msgspec.structs.replace(proposal, path=path), when(proposal.since, store.zone), None
            )
    raise NotFoundError(f"there is no fact {ref!r} to correct; `mnemark facts` lists them")


def _check_still_wrong(store: FactStore, ref: str, right: Right) -> None:
    """Raise UsageError for a value that was corrected already, said to be never true: it is gone.

    Who says so has not seen what it was corrected to, which is right.
    """
    if right.never and any(one.wrong == ref for one in store.log.corrections().values()):
        raise UsageError(
            f"the value of {ref!r} was corrected already and is gone; `mnemark why {ref}` shows it"
        )


class _Correction:
    """A correction under way; its journal lines are added to those of the decision."""

    def __init__(self, store: FactStore, decision: Decision, wrong: FactVersion, right: Right) -> None:
        self._store = store
        self._decision = decision
        self._wrong = wrong.fact
        self._right = right

    def made(self) -> Corrected:
        wrong, right = self._wrong, self._right
        new = None if right.never else self._as_corrected()
        if reason := self._reason(new):
            return self._proposed(new, reason)
        kept = None if new is None else self._decision.said_already(new, wrong)
        fact = new if kept is None else None
        if fact is not None:
            fact = self._decision.placed(fact, wrong)
        line = fact.id if fact is not None else new_id()
        revived = self._decision.revive(wrong, fact)
        bullet, number = self._bullet()
        before: dict[str, Json] = payload_of(wrong) | {"id": wrong.id, "origin": wrong.origin}
        before |= {"bullet": bullet, "line": number} if bullet else {}
        payload: dict[str, Json] = {} if fact is None else payload_of(fact)
        payload |= {"fact": wrong.id, "before": before} | ({"revived": [*revived]} if revived else {})
        payload |= {"never": True} if right.never else {}
        change = Change(kind="correct", payload=payload, origin=right.origin, scope=wrong.scope, id=line)
        self._decision.changes.insert(0, change)
        after = kept if fact is None else fact
        again = self._decision.before_it(wrong) if fact is None or fact.key != wrong.key else None
        again = None if again is not None and after is not None and again.id == after.id else again
        return Corrected(id=line, before=wrong, after=after, again=again, revived=self._ended_by_it(revived))

    def _ended_by_it(self, lines: Sequence[str]) -> tuple[tuple[Fact, str], ...]:
        """Return the facts of these ends, each with the time of its end."""
        held = {one.fact.id: one.fact for one in self._store.held(self._wrong.scope)}
        ends = (self._store.log.tables.ends[line] for line in lines)
        return tuple((held[end.fact], end.until) for end in ends if end.fact in held)

    def _as_corrected(self) -> Fact:
        """Return the fact as it should have been.

        Raises:
            UsageError: it is so already, or would end before it begins.
        """
        wrong, right, rules = self._wrong, self._right, self._store.rules
        predicate = (
            wrong.predicate if right.predicate is None else predicate_words(redacted(rules, right.predicate))
        )
        subject = wrong.subject if right.subject is None else redacted(rules, right.subject) or "user"
        value = wrong.value if right.value is None else redacted_value(rules, predicate, right.value)
        since = wrong.since if right.since is None else self._time(right.since, "since")
        until = wrong.until if right.until is None else self._time(right.until, "until")
        same = (subject, predicate, value) == (wrong.subject, wrong.predicate, wrong.value)
        if same and (since, until) == (wrong.since, wrong.until) and not wrong.review:
            raise UsageError("nothing to correct: it says so already")
        begin, end = when(since, self._store.zone), when(until, self._store.zone)
        if begin and end and end <= begin:
            raise UsageError(f"it cannot end ({until[:10]}) before it begins ({since[:10]})")
        says_same = (predicate, value) == (wrong.predicate, wrong.value)
        own = right.origin == "owner"
        # Undated facts are in the order in which they were recorded.
        recorded = wrong.recorded if not since else ""
        return msgspec.structs.replace(
            wrong, id=new_id(), subject=subject, predicate=predicate, value=value, since=since, until=until,
            recorded=recorded, origin=right.origin, confidence=SURE if own else CONFIDENCE[right.origin],
            source=wrong.source if says_same else "", line=0, pending=True, otherwise=None, review="",
            against="", quote="",
        )  # fmt: skip

    def _time(self, given: str, name: str) -> str:
        """Return a day as a day, and other times to the second."""
        store = self._store
        at = moment(given, name, store.workspace.now())
        if at is None:
            raise UsageError(f"give {name} as a day, such as 2026-02-13, or in words such as 'last week'")
        return local(at, store.zone).isoformat()

    def _reason(self, new: Fact | None) -> str:
        """Return why a correction waits for a person; empty if it does not."""
        wrong, origin = self._wrong, self._right.origin
        if wrong.review and origin != "owner":
            raise UsageError("what waits for review is for its owner to decide: `mnemark review` shows it")
        trusted = TRUST[origin] >= TRUST[wrong.origin] and origin not in {"tool", "web"}
        if trusted and (new is None or not is_suspect(new)):
            return ""
        return NEVER if new is None else CORRECTION

    def _proposed(self, new: Fact | None, reason: str) -> Corrected:
        """Propose a correction for review; the fact holds until a person decides."""
        wrong = self._wrong
        fact = msgspec.structs.replace(
            new or msgspec.structs.replace(wrong, id=new_id(), line=0), origin=self._right.origin,
            review=reason, supersedes=wrong.id, path="", recorded=self._store.workspace.now().isoformat(),
        )  # fmt: skip
        return Corrected(id=self._decision.propose(fact, wrong), before=wrong, after=fact, review=reason)

    def _bullet(self) -> tuple[str, int]:
        """Return the line that is wrong, as it stands in its file, and its number; empty if it is in none.

        Raises:
            UsageError: it holds a secret, which the journal must not repeat.
        """
        wrong, store = self._wrong, self._store
        try:
            text = decode(platform.content(store.root / wrong.path)) if wrong.path else ""
        except OSError:
            return "", 0
        for parsed in parse(text):
            if fact_of(parsed, wrong.path, "").id == wrong.id:
                bullet = text[parsed.bullet.start : parsed.bullet.end]
                if store.redacted(bullet) != bullet:
                    raise UsageError(
                        f"{wrong.path}#L{parsed.bullet.line} holds a secret; change that line by hand"
                    )
                return bullet, parsed.bullet.line
        return "", 0
