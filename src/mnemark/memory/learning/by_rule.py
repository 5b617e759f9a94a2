"""Learn from sessions by rule, each turn once; queue what a model may see better.

How far each session was learned from is noted in `state.db`. Losing that only means working again: a fact
that was learned from a turn is known by its words and its source and is not learned from there twice, also
where it was removed or forgotten since.
"""

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from mnemark.errors import IntegrityError, NotFoundError
from mnemark.facts.journal import Words, said_mark, words_of
from mnemark.facts.model import Fact
from mnemark.facts.remember import facts, remember_many
from mnemark.facts.timeline import order
from mnemark.files import listing, platform
from mnemark.files.ids import time_of
from mnemark.files.sessions import FOLDER, Placed, SessionLog
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.extraction.extract import Candidate, extract
from mnemark.types import Origin

POSITION: Final = "learn:"
"""What the names of positions in `state.db` begin with."""
STRETCH: Final = 8
"""Turns that are queued for the model as one item."""
_STRETCH_CHARACTERS: Final = 6_000
_CHECKPOINT: Final = 100
"""Turns after which the position is noted."""

Status = Literal["learned", "known", "review", "would be learned"]


class LearnedFact(msgspec.Struct, frozen=True, kw_only=True):
    """One fact and the turn it comes from."""

    status: Status
    """`known`: learned from this turn before; `review`: it waits for a person."""
    subject: str
    predicate: str
    value: str
    type: str
    since: str
    """ISO time from when it holds."""
    ref: str
    """The turn: `sessions/x.jsonl#L12`."""
    quote: str
    """The sentence it was read from."""
    by: Literal["rule", "model"] = "rule"
    id: str = ""
    """The fact's id; empty on a dry run."""
    importance: float | None = None
    confidence: float | None = None
    priority: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a run learned."""

    facts: tuple[LearnedFact, ...] = ()
    turns: int = 0
    """New turns that were read."""
    sessions: int = 0
    """Sessions that had any."""
    queued: int = 0
    """Stretches of turns queued for the model."""
    asked: int = 0
    """Requests that the model was sent, by stretch batch."""
    complete: bool = True
    """Nothing is left to read; False where the time ran out."""
    notes: tuple[str, ...] = ()
    """What a person should know."""


class _Position(msgspec.Struct, frozen=True):
    """How far a session was learned from: bytes and lines."""

    offset: int = 0
    lines: int = 0


def learn(
    ws: OpenWorkspace,
    session: str | None = None,
    *,
    dry_run: bool = False,
    budget_seconds: float | None = None,
    again: bool = False,
) -> Report:
    """Learn by rule from turns that were not learned from yet; queue them where a model is configured.

    Args:
        ws: whose sessions.
        session: the id of one session; all by default.
        dry_run: only say what would be learned.
        budget_seconds: stop at the next turn after so long; a later run goes on there.
        again: from the first turn, also what was learned from.

    Raises:
        NotFoundError: there is no such session.
        ReadOnlyError: the memory is open for reading only, and it is no dry run.
    """
    if not dry_run:
        ws.check_writable("learn")
    logs = [(scope, log) for scope, log in _logs(ws.root) if session in (None, log.id)]
    if session is not None and not logs:
        raise NotFoundError(f"session {session!r} not found; `mnemark sessions` lists all sessions")
    end = None if budget_seconds is None else time.monotonic() + budget_seconds
    run = _Run(ws, dry_run=dry_run, end=end)
    for scope, log in logs:
        run.read(scope, log, again=again)
        if run.late:
            break
    return run.report()


def _logs(root: Path) -> Iterator[tuple[str, SessionLog]]:
    """Every session with its scope, the longest unchanged first."""
    found = []
    for scope in ("", *listing.scopes(root)):
        for path in listing.files(root, f"{scope}/{FOLDER}".lstrip("/"), ".jsonl"):
            if path.name.startswith(".") or "conflict-" in path.name:
                continue
            state = platform.identity(path)
            if state is not None:
                found.append((state.mtime_ns, path.name, scope))
    for _, name, scope in sorted(found):
        yield scope, SessionLog.at(root / scope if scope else root, f"{FOLDER}/{name}")


class Sources:
    """Which facts were learned from which turn before, whatever became of them."""

    def __init__(self, ws: OpenWorkspace) -> None:
        facts = ws.fact_store
        with facts.lock:
            log = facts.log
            log.refresh()
            self._known: set[tuple[str, Words, str]] = set()
            everything = {**log.records, **log.proposals}
            for fact in everything.values():
                self.add(fact.scope, fact)
            for said in log.confirmations.values():
                same, source = everything.get(said.fact), said.fields.get("source", "")
                if same is not None and source:
                    self._known.add((same.scope, words_of(same), _source(source)))
            self._erased = {mark: time_of(line) for line, hides in log.forgets.items() for mark in hides.said}

    def add(self, scope: str, fact: Fact) -> None:
        """It is known now."""
        for source in fact.source.split(","):
            self._known.add((scope, words_of(fact), _source(source.strip())))

    def has(self, scope: str, fact: Fact) -> bool:
        """Whether it was learned from this very turn, or this note, before."""
        return (scope, words_of(fact), _source(fact.source)) in self._known

    def erased(self, scope: str, fact: Fact, said: datetime) -> bool:
        """Whether it was erased after it was said: then no other place that says so brings it back."""
        when = self._erased.get(said_mark(scope, words_of(fact)))
        return when is not None and said <= when


def _source(ref: str) -> str:
    """What a source is known by: a turn keeps its line, in a note lines move."""
    path, _, _ = ref.partition("#")
    return ref if path.endswith(".jsonl") else path


class Heard(NamedTuple):
    """A candidate and the turn it was found in."""

    fact: Candidate
    ref: str
    scope: str
    origin: Origin
    said: datetime


class CandidateWriter:
    """Keeps what was found in turns, each once."""

    def __init__(self, ws: OpenWorkspace, *, dry_run: bool = False) -> None:
        self.ws = ws
        self.dry_run = dry_run
        self.sources = Sources(ws)

    def keep(self, heard: Sequence[Heard], *, by: Literal["rule", "model"] = "rule") -> list[LearnedFact]:
        """Remember candidates as the agent's who cites the turn, or say why they are not needed.

        Those that follow each other are written together: one line of the journal, one edit of each file.
        """
        found: list[LearnedFact] = []
        waiting: list[tuple[int, Heard]] = []
        for one in heard:
            if one.fact.since < one.said:
                self._write(found, waiting)  # what is said before decides from when this one holds
            wanted = _fact(one)
            known = self.sources.has(one.scope, wanted) or self.sources.erased(one.scope, wanted, one.said)
            if not known:
                since = self._begin(one, wanted) if one.fact.since < one.said else one.fact.since
                one = one._replace(fact=msgspec.structs.replace(one.fact, since=since))  # noqa: PLW2901 - dated
                if not self.dry_run:
                    self.sources.add(one.scope, wanted)
                    waiting.append((len(found), one))
            found.append(_learned(one, "known" if known else "would be learned", by))
        self._write(found, waiting)
        return found

    def _write(self, found: list[LearnedFact], waiting: list[tuple[int, Heard]]) -> None:
        """Keep what waits, and say in `found` what became of it."""
        kept = remember_many(self.ws.fact_store, [_arguments(one) for _, one in waiting]) if waiting else []
        for (at, _), fact in zip(waiting, kept, strict=True):
            status: Status = "review" if fact.review else "learned"
            found[at] = msgspec.structs.replace(found[at], status=status, id=fact.id)
        waiting.clear()

    def _begin(self, one: Heard, wanted: Fact) -> datetime:
        """From when a fact holds that is said to hold since earlier.

        Where another value was told in between, which is dated by when it was told, the new one holds from
        when it was said: "I moved last month" comes after "I live in Bonn" of last week.
        """
        zone, since = self.ws.fact_store.zone, one.fact.since
        for other in facts(self.ws.fact_store, subject=wanted.subject, as_of=one.said, scope=one.scope):
            same = other.scope == one.scope and other.key == wanted.key
            if same and words_of(other) != words_of(wanted) and since < order(other, zone)[0]:
                return one.said
        return since


def _fact(one: Heard) -> Fact:
    fact = one.fact
    return Fact(id="", subject=fact.subject, predicate=fact.predicate, value=fact.value, source=one.ref)


def _arguments(one: Heard) -> dict[str, object]:
    """Those of `remember`."""
    fact = one.fact
    return {
        "predicate": fact.predicate, "value": fact.value, "subject": fact.subject, "type": fact.type,
        "origin": "import" if one.origin == "import" else "agent", "since": fact.since,
        "importance": fact.importance, "confidence": fact.confidence, "priority": fact.priority,
        "source": one.ref, "scope": one.scope,
    }  # fmt: skip


def _learned(one: Heard, status: Status, by: Literal["rule", "model"]) -> LearnedFact:
    fact = one.fact
    return LearnedFact(
        status=status, subject=fact.subject, predicate=fact.predicate, value=fact.value, type=fact.type,
        since=fact.since.isoformat(), ref=one.ref, quote=fact.quote, by=by,
        importance=fact.importance, confidence=fact.confidence, priority=fact.priority,
    )  # fmt: skip


class _Run:
    """One run over sessions."""

    def __init__(self, ws: OpenWorkspace, *, dry_run: bool, end: float | None) -> None:
        self._ws = ws
        self._dry_run = dry_run
        self._end = end
        self._state = ws.state
        self._keeper = CandidateWriter(ws, dry_run=dry_run)
        self._positions = self._state.positions(POSITION)
        self._hidden = ws.index.hidden.current().turns
        self._facts: list[LearnedFact] = []
        self._heard: list[Heard] = []
        self._turns = self._sessions = self._queued = 0
        self._notes: list[str] = []
        self.late = False

    def report(self) -> Report:
        """What was done."""
        problem = f"bookkeeping: {self._state.problem}" if self._state.problem else ""
        return Report(
            facts=tuple(self._facts), turns=self._turns, sessions=self._sessions, queued=self._queued,
            complete=not self.late, notes=tuple(filter(None, (*self._notes, problem))),
        )  # fmt: skip

    def read(self, scope: str, log: SessionLog, *, again: bool) -> None:
        """Learn from the turns of a session from where the last run stopped."""
        path = f"{scope}/{log.name}" if scope else log.name
        at = _Position() if again else self._position(path, log)
        state = platform.identity(log.path)
        if state is None or state.size <= at.offset:
            return
        waiting: list[Placed] = []
        before = self._turns
        try:
            for placed in log.turns(at.offset, start_line=at.lines + 1 if at.offset else None):
                self._from(placed, path, scope)
                waiting.append(placed)
                self.late = self._end is not None and time.monotonic() > self._end
                if self.late or len(waiting) >= _CHECKPOINT:
                    self._note(path, waiting)
                    waiting = []
                if self.late:
                    break
        except IntegrityError as error:
            self._notes.append(str(error))
        if waiting:
            self._note(path, waiting)
        self._sessions += self._turns > before

    def _position(self, path: str, log: SessionLog) -> _Position:
        text = self._positions.get(POSITION + path, "")
        try:
            at = msgspec.json.decode(text, type=_Position) if text else _Position()
        except msgspec.DecodeError:
            return _Position()
        return at if _ends_a_line(log.path, at.offset) else _Position()  # rewritten since: work again

    def _from(self, placed: Placed, path: str, scope: str) -> None:
        self._turns += 1
        turn = placed.turn
        if turn.origin in {"tool", "web", "file"} or turn.id in self._hidden:
            return
        turn = self._ws.redact(turn)
        ref = f"{path}#L{placed.line}"
        self._heard += [
            Heard(one, ref, scope, turn.origin, turn.time)
            for one in extract(turn.content, time=turn.time, role=turn.role, origin=turn.origin)
            if "[redacted:" not in one.value
        ]

    def _note(self, path: str, read: Sequence[Placed]) -> None:
        """Keep what was found; then queue what was read for the model and note the position, in one."""
        heard, self._heard = self._heard, []
        self._facts += self._keeper.keep(heard)
        if self._dry_run:
            return
        at = _Position(read[-1].end, read[-1].line)
        items = list(_stretches(path, read)) if self._ws.config.llm.active else []
        noting = {POSITION + path: msgspec.json.encode(at).decode()}
        now = self._ws.now()
        self._queued += self._state.enqueue(items, now, noting=noting)


def _stretches(path: str, read: Sequence[Placed]) -> Iterator[tuple[str, int, int]]:
    """Turns that belong together, a few at a time; those without a word of owner or agent are left out."""
    part: list[Placed] = []
    size = 0
    for placed in read:
        if part and (len(part) >= STRETCH or size + len(placed.turn.content) > _STRETCH_CHARACTERS):
            yield from _stretch(path, part)
            part, size = [], 0
        part.append(placed)
        size += len(placed.turn.content)
    yield from _stretch(path, part)


def _stretch(path: str, part: Sequence[Placed]) -> Iterator[tuple[str, int, int]]:
    if any(placed.turn.origin in {"owner", "agent", "import"} for placed in part):
        yield path, part[0].line, part[-1].line


def _ends_a_line(path: Path, offset: int) -> bool:
    if offset == 0:
        return True
    try:
        with platform.opened(path) as file:
            file.seek(offset - 1)
            return file.read(1) == b"\n"
    except OSError:
        return False
