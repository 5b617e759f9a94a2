"""Learn with a language model from the queue in `state.db`; failures and crashes lose nothing.

An item of the queue is a run of turns. Items are claimed with a lease; those of one sitting are sent in one
request, which asks for facts and for notes on the sitting, and deleted from the queue when both are on the
disk. A failed item is sent again later, alone, at most `TRIES` times, and then marked as failed. A request
that was not sent (no budget, no key, no program) is no try.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from mnemark.errors import ConfigError, UsageError
from mnemark.facts.model import Fact
from mnemark.facts.remember import facts
from mnemark.files.journal import Change
from mnemark.files.layout import scope_of
from mnemark.files.sessions import SessionLog
from mnemark.index.state import Queued, State
from mnemark.llm import LLM, LLMUnavailable
from mnemark.memory.journal.sessions import NOTES
from mnemark.memory.learning.candidates import CandidateWriter, SourcedCandidate
from mnemark.memory.learning.learned import LearnedFact
from mnemark.memory.learning.model_checks import believed, believed_change
from mnemark.memory.learning.model_prompt import (
    FACTS,
    REQUEST_CHARACTERS,
    SITTING_TASK,
    Answer,
    SittingAnswer,
    TurnExcerpt,
    question,
)
from mnemark.memory.learning.sitting_notes import PARTS, SittingNotes, checked, payload_of
from mnemark.memory.open_workspace import OpenWorkspace

GAP: Final = timedelta(hours=6)
"""Pause that ends a sitting."""
MIN_TURNS: Final = 3
"""Minimum number of turns of a sitting for a summary."""
_SPOKEN: Final = frozenset({"user", "human", "assistant"})
_MOST: Final = 200
"""Items of one session that are claimed at once."""
_WAIT: Final = timedelta(minutes=5)
"""Delay before the second try; four times as long before the third."""
_SPARE: Final = 120.0
"""Seconds that a lease lasts longer than the requests may take."""


class Extracted(msgspec.Struct, kw_only=True):
    """The result of asking the model."""

    facts: list[LearnedFact] = []
    asked: int = 0
    """Number of requests that were sent, without the retries that the ledger counts."""
    done: int = 0
    """Number of items deleted from the queue."""
    notes: int = 0
    """Number of notes on sittings."""
    rejected: int = 0
    """Number of proposals that their turns do not support."""
    problem: str = ""
    """Why the run stopped early, with the fix; empty if it did not."""


def work(
    ws: OpenWorkspace,
    *,
    seconds: float = 30.0,
    model: LLM | None = None,
    path: str = "",
    noted: Callable[[str, str], None] | None = None,
) -> Extracted:
    """Send the queued turns to the model, until no item is due or the time is over.

    Args:
        ws: the workspace.
        seconds: time limit: no request begins after it, and it bounds the timeout of each request.
        model: used instead of the configured one; without either, nothing happens.
        path: only turns of this session's log.
        noted: called with the path of a log and the id of a turn, when notes on its sitting were stored.
    """
    try:
        llm = model or ws.model()
    except ConfigError as error:
        return Extracted(problem=str(error))
    if llm is None or ws.readonly:
        return Extracted()
    return _ModelReader(ws, llm, time.monotonic() + seconds, path, noted).run()


class _Batch(NamedTuple):
    """Turns for one request, and the items of the queue that they are of."""

    items: tuple[Queued, ...]
    said: tuple[TurnExcerpt, ...]
    sitting: bool
    """Whether it is a part of one sitting, to be noted; else turns of several short ones."""


class _ModelReader:
    def __init__(
        self, ws: OpenWorkspace, llm: LLM, end: float, path: str, noted: Callable[[str, str], None] | None
    ) -> None:
        self._ws = ws
        self._llm = llm
        self._end = end
        self._path = path
        self._noted = noted
        self._state: State = ws.state
        self._timeout = ws.config.llm.timeout
        self._result = Extracted()

    def run(self) -> Extracted:
        while not self._result.problem and self._left() > 0:
            items = self._claim()
            if not items:
                break
            self._send(items)
        return self._result

    def _claim(self) -> list[Queued]:
        """Claim items, with all that are due of the last one's session, so that a sitting stays whole."""
        batch = self._ws.config.llm.batch
        lease = batch * self._timeout + _SPARE  # enough for one request for each item
        items = self._state.claim(batch, self._ws.now(), lease=lease, path=self._path)
        if len(items) == batch:
            items += self._state.claim(_MOST, self._ws.now(), lease=lease, path=items[-1].path)
        return sorted(items, key=lambda item: (item.path, item.first))

    def _send(self, items: Sequence[Queued]) -> None:
        parts = self._parts(items)
        for number, part in enumerate(parts):
            if self._result.problem or self._left() <= 0:
                rest = [item.id for later in parts[number:] for item in later.items]
                self._state.give_back(rest, self._ws.now())
                return
            self._ask(part)

    def _parts(self, items: Sequence[Queued]) -> list[_Batch]:
        """Divide items into sittings, of up to `REQUEST_CHARACTERS` a request; short ones share a request.

        An item that failed before is sent alone.
        """
        sittings: list[list[tuple[Queued, list[TurnExcerpt]]]] = []
        for item in items:
            said = self._read(item)
            if not said:  # deleted, or only tool, web and file turns
                self._state.done([item.id])
                self._result.done += 1
                continue
            follows = bool(sittings) and _follows(sittings[-1][-1], item, said)
            if not follows or item.tries > 1 or sittings[-1][-1][0].tries > 1:
                sittings.append([])
            sittings[-1].append((item, said))
        parts: list[_Batch] = []
        for sitting in sittings:
            spoken = sum(one.turn.role in _SPOKEN for _, said in sitting for one in said)
            alone = spoken >= MIN_TURNS or sitting[0][0].tries > 1
            for item, said in sitting:
                last = parts[-1] if parts else None
                shares = last is not None and (
                    not (alone or last.sitting) if item is sitting[0][0] else last.sitting == alone
                )
                if last is not None and shares and _length((*last.said, *said)) <= REQUEST_CHARACTERS:
                    parts[-1] = _Batch((*last.items, item), (*last.said, *said), alone)
                else:
                    parts.append(_Batch((item,), tuple(said), alone))
        return parts

    def _read(self, item: Queued) -> list[TurnExcerpt]:
        try:
            log = SessionLog.at(self._ws.root, item.path)
        except UsageError:
            return []
        found, scope = [], scope_of(item.path)
        hidden = self._ws.index.hidden.current().turns
        for placed in log.turns():
            if placed.line > item.last:
                break
            if placed.line >= item.first and placed.turn.id not in hidden:
                turn = self._ws.redact(placed.turn)
                found.append(TurnExcerpt(turn=turn, ref=f"{item.path}#L{placed.line}", scope=scope))
        return found if any(one.turn.origin in {"owner", "agent", "import"} for one in found) else []

    def _ask(self, part: _Batch) -> None:
        known = self._known(part.said)
        timeout = min(self._timeout, max(self._left(), 1.0))
        try:
            if part.sitting:
                asked = question(part.said, known, SITTING_TASK)
                answer = self._llm.complete(asked, schema=SittingAnswer, timeout=timeout).value
            else:
                asked = question(part.said, known)
                facts_only = self._llm.complete(asked, schema=Answer, timeout=timeout).value
                answer = SittingAnswer(facts=facts_only.facts, changes=facts_only.changes)
        except LLMUnavailable as error:
            self._result.asked += error.asked
            self._failed(part, error)
            return
        self._result.asked += 1
        self._take(part, answer, known)

    def _take(self, part: _Batch, answer: SittingAnswer, known: Sequence[Fact]) -> None:
        """Keep what of an answer the turns support: facts, then notes, then the items are done."""
        good = [pair for one in answer.facts if (pair := believed(one, part.said, known)) is not None]
        changed = [
            found for one in answer.changes if (found := believed_change(one, part.said, known)) is not None
        ]
        notes, dropped = checked(answer, part.said, self._ws.rules)
        proposed = (
            len(answer.facts)
            + len(answer.changes)
            + sum(len(getattr(answer, name)) for name in PARTS)
            + bool(answer.title)
        )
        self._result.rejected += len(answer.facts) - len(good) + len(answer.changes) - len(changed) + dropped
        if proposed and not good and not changed and notes.empty:
            self._retry_later(part.items, "the answer contains nothing that the messages say")
            return
        new = [
            SourcedCandidate(fact, one.ref, one.scope, one.turn.origin, one.turn.time, one.turn.role)
            for one, fact in (*((one, new) for one, all_new in changed for new in all_new), *good)
        ]
        writer = CandidateWriter(self._ws)
        self._result.facts += [*writer.keep(new, by="model"), *writer.propose(by="model")]
        if part.sitting and not notes.empty:
            self._note(part, notes)
        self._state.done([item.id for item in part.items])
        self._result.done += len(part.items)

    def _note(self, part: _Batch, notes: SittingNotes) -> None:
        path = part.items[0].path
        turns = [one.turn.id for one in part.said]
        session = SessionLog.at(self._ws.root, path).id
        payload = payload_of(notes, session, turns)
        noted = Change(kind=NOTES, payload=payload, scope=part.said[0].scope, origin="agent")
        self._ws.session_journal.append(noted)
        self._result.notes += sum(len(getattr(notes, name)) for name in PARTS)
        if self._noted is not None:
            self._noted(path, turns[-1])

    def _known(self, said: Sequence[TurnExcerpt]) -> list[Fact]:
        text = " ".join(one.turn.content for one in said).casefold()
        found = [
            fact
            for scope in dict.fromkeys(one.scope for one in said)
            for fact in facts(self._ws.fact_store, scope=scope)
            if fact.subject in {"user", "project"} or fact.subject.casefold() in text
        ]
        # Facts whose predicate occurs in the turns come first, as only `FACTS` fit.
        return sorted(found, key=lambda fact: fact.predicate.casefold() not in text)[:FACTS]

    def _failed(self, part: _Batch, error: LLMUnavailable) -> None:
        self._result.problem = f"{error.kind}: {error}"
        if not error.asked:
            self._state.give_back([item.id for item in part.items], self._later(error))
        elif error.kind == "too long" and len(part.items) > 1:
            self._result.problem = ""
            for item in part.items:  # send each alone: it fits, or only it fails
                if self._left() > 0 and not self._result.problem:
                    self._ask(_Batch((item,), tuple(self._read(item)), part.sitting))
                else:
                    self._state.give_back([item.id], self._ws.now())
        else:
            self._retry_later(part.items, error.kind)

    def _retry_later(self, items: Sequence[Queued], reason: str) -> None:
        for item in items:
            due = self._ws.now() + _WAIT * 4 ** (item.tries - 1)
            self._state.missed([item.id], reason, due)

    def _later(self, error: LLMUnavailable) -> datetime:
        """Return when to retry: as the error says, tomorrow for a used-up budget, else after `_WAIT`."""
        now = self._ws.now()
        if error.after is not None:
            return now + timedelta(seconds=error.after)
        if error.kind == "budget":
            return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return now + _WAIT

    def _left(self) -> float:
        return self._end - time.monotonic()


def _follows(before: tuple[Queued, list[TurnExcerpt]], item: Queued, said: Sequence[TurnExcerpt]) -> bool:
    """Tell whether an item goes on with the sitting of the one before."""
    pause = said[0].turn.time - before[1][-1].turn.time
    return before[0].path == item.path and before[0].last < item.first and abs(pause) <= GAP


def _length(said: Iterable[TurnExcerpt]) -> int:
    return sum(len(one.turn.content) for one in said)
