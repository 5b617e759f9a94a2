"""Learn facts with a language model from the queue in `state.db`; failures and crashes lose nothing.

An item of the queue is a run of turns. Items are claimed with a lease, sent as a batch in one request, and
deleted from the queue when their facts are on the disk. A failed item is sent again later, alone, at most
`TRIES` times, and then marked as failed. A request that was not sent (no budget, no key) is no try.
"""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from mnemark.errors import ConfigError, UsageError
from mnemark.facts.model import Fact
from mnemark.facts.remember import facts
from mnemark.files import names
from mnemark.files.sessions import FOLDER, SessionLog
from mnemark.index.state import Item, State
from mnemark.llm import LLM, LLMUnavailable
from mnemark.memory.learning.by_rule import CandidateWriter, LearnedFact, Report, SourcedCandidate, learn
from mnemark.memory.learning.model_prompt import FACTS, Answer, TurnExcerpt, believed, question
from mnemark.memory.open_workspace import OpenWorkspace

_CHARACTERS: Final = 24_000
"""Maximum characters of turns in one request."""
_WAIT: Final = timedelta(minutes=5)
"""Delay before the second try; four times as long before the third."""
_SPARE: Final = 120.0
"""Seconds that a lease lasts longer than the requests may take."""


class Extracted(msgspec.Struct, frozen=True, kw_only=True):
    """The result of asking the model."""

    facts: tuple[LearnedFact, ...] = ()
    asked: int = 0
    """Number of requests, without the retries that the ledger counts."""
    done: int = 0
    """Number of items deleted from the queue."""
    rejected: int = 0
    """Number of proposals that their turn does not support."""
    problem: str = ""
    """Why the run stopped early, with the fix; empty if it did not."""


def work(ws: OpenWorkspace, *, seconds: float = 30.0, model: LLM | None = None) -> Extracted:
    """Send the queued turns to the model, until no item is due or the time is over.

    Args:
        ws: the workspace.
        seconds: time limit: no request begins after it, and it bounds the timeout of each request.
        model: used instead of the configured one; without either, nothing happens.
    """
    try:
        llm = model or ws.model()
    except ConfigError as error:
        return Extracted(problem=str(error))
    if llm is None or ws.readonly:
        return Extracted()
    return _Worker(ws, llm, time.monotonic() + seconds).run()


class _Worker:
    def __init__(self, ws: OpenWorkspace, llm: LLM, end: float) -> None:
        self._ws = ws
        self._llm = llm
        self._end = end
        self._state: State = ws.state
        self._timeout = ws.config.llm.timeout
        self._facts: list[LearnedFact] = []
        self._asked = self._done = self._rejected = 0
        self._problem = ""

    def run(self) -> Extracted:
        batch = self._ws.config.llm.batch
        lease = batch * self._timeout + _SPARE  # enough for one request for each item
        while not self._problem and self._left() > 0:
            items = self._state.claim(batch, self._ws.now(), lease=lease)
            if not items:
                break
            self._send_batches(items)
        return Extracted(
            facts=tuple(self._facts), asked=self._asked, done=self._done, rejected=self._rejected,
            problem=self._problem,
        )  # fmt: skip

    def _send_batches(self, items: Sequence[Item]) -> None:
        """Send new items in batches of up to `_CHARACTERS`, and items that failed before alone."""
        groups: list[list[tuple[Item, list[TurnExcerpt]]]] = []
        size = _CHARACTERS
        for item in items:
            said = self._read(item)
            if not said:  # deleted, or only tool, web and file turns
                self._state.done([item.id])
                self._done += 1
                continue
            length = sum(len(one.turn.content) for one in said)
            if item.tries > 1 or size + length > _CHARACTERS:
                groups.append([])
                size = 0 if item.tries == 1 else _CHARACTERS
            groups[-1].append((item, said))
            size += length
        for number, group in enumerate(groups):
            if self._problem or self._left() <= 0:
                rest = [item.id for later in groups[number:] for item, _ in later]
                self._state.give_back(rest, self._ws.now())
                return
            self._ask([item for item, _ in group], [one for _, said in group for one in said])

    def _read(self, item: Item) -> list[TurnExcerpt]:
        folder, _, name = item.path.rpartition("/")
        scope = folder.removesuffix(FOLDER).rstrip("/")
        try:
            names.inside(self._ws.root, item.path)
        except UsageError:
            return []
        found = []
        hidden = self._ws.index.hidden.current().turns
        for placed in SessionLog.at(self._ws.root / scope, f"{FOLDER}/{name}").turns():
            if placed.line > item.last:
                break
            if placed.line >= item.first and placed.turn.id not in hidden:
                turn = self._ws.redact(placed.turn)
                found.append(TurnExcerpt(turn=turn, ref=f"{item.path}#L{placed.line}", scope=scope))
        return found if any(one.turn.origin in {"owner", "agent", "import"} for one in found) else []

    def _ask(self, items: Sequence[Item], said: Sequence[TurnExcerpt]) -> None:
        known = self._known(said)
        ids = [item.id for item in items]
        self._asked += 1
        try:
            answer = self._llm.complete(
                question(said, known), schema=Answer, timeout=min(self._timeout, max(self._left(), 1.0))
            )
        except LLMUnavailable as error:
            self._failed(items, error)
            return
        proposals = answer.value.facts
        good = [pair for one in proposals if (pair := believed(one, said, known)) is not None]
        self._rejected += len(proposals) - len(good)
        if proposals and not good:
            self._retry_later(items, "the answer contains nothing that the turns say")
            return
        new = [
            SourcedCandidate(fact, one.ref, one.scope, one.turn.origin, one.turn.time, one.turn.role)
            for one, fact in good
        ]
        writer = CandidateWriter(self._ws)
        self._facts += [*writer.keep(new, by="model"), *writer.propose(by="model")]
        self._state.done(ids)
        self._done += len(ids)

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

    def _failed(self, items: Sequence[Item], error: LLMUnavailable) -> None:
        self._problem = f"{error.kind}: {error}"
        if not error.asked:
            self._state.give_back([item.id for item in items], self._later(error))
        elif error.kind == "too long" and len(items) > 1:
            self._problem = ""
            for item in items:  # send each alone: it fits, or only it fails
                said = self._read(item)
                if self._left() > 0 and not self._problem:
                    self._ask([item], said)
                else:
                    self._state.give_back([item.id], self._ws.now())
        else:
            self._retry_later(items, error.kind)

    def _retry_later(self, items: Sequence[Item], reason: str) -> None:
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


def learn_all(ws: OpenWorkspace, budget_seconds: float = 30.0) -> Report:
    """Learn by rule, then with the model if one is configured, within the time limit."""
    started = time.monotonic()
    report = learn(ws, budget_seconds=budget_seconds)
    left = budget_seconds - (time.monotonic() - started)
    if left <= 0:
        return report
    asked = work(ws, seconds=left)
    notes = (*report.notes, *((asked.problem,) if asked.problem else ()))
    return msgspec.structs.replace(report, facts=report.facts + asked.facts, asked=asked.asked, notes=notes)
