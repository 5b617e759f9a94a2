"""Learn facts from sessions by rule, each turn once, and queue the turns for a model.

The position up to which each session was read is stored in `state.db`. If that is lost, the turns are read
again without effect: a fact is identified by its words and its source turn and not learned from there twice,
even if it was removed or forgotten since.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import IntegrityError, NotFoundError
from mnemark.extraction.extract import extract
from mnemark.files import listing, off_record, platform
from mnemark.files.layout import in_scope
from mnemark.files.sessions import FOLDER, Placed, SessionLog
from mnemark.index.state import LEARNED, State
from mnemark.memory.learning.candidates import CandidateWriter, SourcedCandidate
from mnemark.memory.learning.learned import LearnedFact
from mnemark.memory.learning.model_prompt import LONGEST, REQUEST_CHARACTERS, TASK_TOKENS
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.words.tokens import estimate_tokens

STRETCH: Final = 8
"""Maximum number of turns queued for the model as one item."""
_STRETCH_CHARACTERS: Final = 6_000
_ASKED_ABOUT: Final = frozenset({"owner", "agent", "import"})
_BYTES_PER_TOKEN: Final = 5
"""Of a log, whose lines have more than the words: about."""
_CHECKPOINT_TURNS: Final = 100
"""Number of turns after which the position is stored."""


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """What it costs to let a model read turns: an estimate, as it answers as it likes."""

    requests: int = 0
    tokens: int = 0
    """Of the questions, without the answers."""

    def __add__(self, other: "Price") -> "Price":
        return Price(requests=self.requests + other.requests, tokens=self.tokens + other.tokens)


class LearningReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run."""

    facts: tuple[LearnedFact, ...] = ()
    turns: int = 0
    """New turns that were read."""
    sessions: int = 0
    """Sessions with new turns."""
    queued: int = 0
    """Items (runs of up to `STRETCH` turns) queued for the model."""
    price: Price = Price()
    """What a model would be asked about these turns."""
    asked: int = 0
    """Requests sent to the model."""
    noted: int = 0
    """Notes of the model on sittings."""
    rejected: int = 0
    """Proposals of the model that the turns do not support."""
    complete: bool = True
    """False if the time budget ran out."""
    notes: tuple[str, ...] = ()


class _Position(msgspec.Struct, frozen=True):
    offset: int = 0
    lines: int = 0


def learn(
    ws: OpenWorkspace,
    session: str | None = None,
    *,
    dry_run: bool = False,
    budget_seconds: float | None = None,
    again: bool = False,
    queue: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> LearningReport:
    """Learn by rule from turns that were not read yet; queue them where a model is configured.

    Args:
        ws: the workspace.
        session: the id of one session; all by default.
        dry_run: only return what would be learned.
        budget_seconds: stop after the turn at which this time is exceeded; a later run continues there.
        again: read from the first turn, instead of the stored position.
        queue: queue the turns for a model even if none is configured.
        progress: is called with the number of sessions that were read, and of all, after each.

    Raises:
        NotFoundError: there is no such session.
        ReadOnlyError: the memory is open for reading only, and it is no dry run.
        OffRecordError: it is off the record, and it is no dry run.
    """
    if not dry_run:
        ws.check_writable("learn")
        off_record.check(ws.root, "learn")
    logs = list(_logs(ws.root)) if session is None else _logs_of(ws, session)
    if session is not None and not logs:
        raise NotFoundError(f"session {session!r} not found; `mnemark sessions` lists all sessions")
    end = None if budget_seconds is None else time.monotonic() + budget_seconds
    run = _LearningRun(ws, dry_run=dry_run, end=end, queue=queue or ws.config.llm.active)
    for number, (scope, log) in enumerate(logs, 1):
        run.read(scope, log, again=again)
        if progress is not None:
            progress(number, len(logs))
        if run.late:
            break
    return run.report()


def price_ahead(ws: OpenWorkspace) -> Price:
    """Return about what a model would be asked about the turns not read yet, by their bytes alone."""
    ahead = 0
    for scope, log in _logs(ws.root):
        state = platform.identity(log.path)
        at = _position(ws.state, in_scope(scope, log.name), log)
        ahead += max(0, state.size - at.offset) if state is not None else 0
    requests = -(-ahead // REQUEST_CHARACTERS)
    return Price(requests=requests, tokens=ahead // _BYTES_PER_TOKEN + requests * TASK_TOKENS)


def _logs_of(ws: OpenWorkspace, session: str) -> list[tuple[str, SessionLog]]:
    """Return the logs of a session in all scopes, by file name, else by the id inside the logs."""
    named = [(scope, SessionLog(ws.root / scope, session)) for scope in ws.scopes()]
    found = [(scope, log) for scope, log in named if log.exists()]
    return found or [(scope, log) for scope, log in _logs(ws.root) if log.id == session]


def has_sessions(root: Path) -> bool:
    """Return whether a workspace has any conversation to learn from."""
    return next(_logs(root), None) is not None


def _logs(root: Path) -> Iterator[tuple[str, SessionLog]]:
    """Yield the log of every session with its scope, the least recently modified first."""
    found = []
    for scope in ("", *listing.scopes(root)):
        for path in listing.files(root, in_scope(scope, FOLDER), ".jsonl"):
            if path.name.startswith(".") or "conflict-" in path.name:
                continue
            state = platform.identity(path)
            if state is not None:
                found.append((state.mtime_ns, path.name, scope))
    for _, name, scope in sorted(found):
        yield scope, SessionLog.at(root / scope, f"{FOLDER}/{name}")


class _LearningRun:
    def __init__(self, ws: OpenWorkspace, *, dry_run: bool, end: float | None, queue: bool) -> None:
        self._ws = ws
        self._queue = queue
        self._dry_run = dry_run
        self._end = end
        self._state = ws.state
        self._writer = CandidateWriter(ws, dry_run=dry_run)
        self._hidden = ws.index.hidden.current().turns
        self._facts: list[LearnedFact] = []
        self._candidates: list[SourcedCandidate] = []
        self._turns = self._sessions = self._queued = 0
        self._notes: list[str] = []
        self._price = Price()
        self.late = False

    def report(self) -> LearningReport:
        problem = f"bookkeeping: {self._state.problem}" if self._state.problem else ""
        dropped = self._writer.dropped
        left_out = (
            f"{dropped} statements of agents in the words of web pages or tools left out" if dropped else ""
        )
        return LearningReport(
            facts=tuple(self._facts), turns=self._turns, sessions=self._sessions, queued=self._queued,
            price=self._price, complete=not self.late,
            notes=tuple(filter(None, (*self._notes, problem, left_out))),
        )  # fmt: skip

    def read(self, scope: str, log: SessionLog, *, again: bool) -> None:
        path = in_scope(scope, log.name)
        at = _Position() if again else _position(self._state, path, log)
        state = platform.identity(log.path)
        if state is None or state.size <= at.offset:
            return
        waiting: list[Placed] = []
        before = self._turns
        try:
            for placed in log.turns(at.offset, start_line=at.lines + 1 if at.offset else None):
                self._extract_candidates(placed, path, scope)
                waiting.append(placed)
                self.late = self._end is not None and time.monotonic() > self._end
                if self.late or len(waiting) >= _CHECKPOINT_TURNS:
                    self._checkpoint(path, waiting)
                    waiting = []
                if self.late:
                    break
        except IntegrityError as error:
            self._notes.append(str(error))
        if waiting:
            self._checkpoint(path, waiting)
        self._facts += self._writer.propose()
        self._sessions += self._turns > before

    def _extract_candidates(self, placed: Placed, path: str, scope: str) -> None:
        self._turns += 1
        turn = placed.turn
        if turn.origin in {"tool", "web", "file"} or turn.id in self._hidden:
            return
        turn = self._ws.redact(turn)
        ref = f"{path}#L{placed.line}"
        self._candidates += [
            SourcedCandidate(one, ref, scope, turn.origin, turn.time, turn.role)
            for one in extract(turn.content, time=turn.time, role=turn.role, origin=turn.origin)
            if "[redacted:" not in one.value
        ]

    def _checkpoint(self, path: str, read: Sequence[Placed]) -> None:
        """Store the candidates; then queue the turns for the model and set the position in a transaction."""
        candidates, self._candidates = self._candidates, []
        self._facts += self._writer.keep(candidates)
        if self._dry_run:
            self._price += _price_of(read)
            return
        items = list(_queue_items(path, read)) if self._queue else []
        at = msgspec.json.encode(_Position(read[-1].end, read[-1].line)).decode()
        self._queued += self._state.enqueue(items, self._ws.now(), noting={LEARNED + path: at})


def _position(state: State, path: str, log: SessionLog) -> _Position:
    text = state.position(LEARNED + path)
    try:
        at = msgspec.json.decode(text, type=_Position) if text else _Position()
    except msgspec.DecodeError:
        return _Position()
    return at if _is_line_start(log.path, at.offset) else _Position()  # rewritten since: read it again


def _price_of(read: Sequence[Placed]) -> Price:
    """Return what a model would be asked about turns: each request has its task beside them."""
    shown = [one.turn.content[:LONGEST] for one in read if one.turn.origin in _ASKED_ABOUT]
    requests = -(-sum(map(len, shown)) // REQUEST_CHARACTERS)
    return Price(requests=requests, tokens=sum(map(estimate_tokens, shown)) + requests * TASK_TOKENS)


def _queue_items(path: str, read: Sequence[Placed]) -> Iterator[tuple[str, int, int]]:
    """Yield path, first and last line of queue items; skip those with only tool, web and file turns."""
    parts: list[list[Placed]] = []
    size = 0
    for placed in read:
        size += len(placed.turn.content)
        if not parts or len(parts[-1]) >= STRETCH or size > _STRETCH_CHARACTERS:
            parts.append([])
            size = len(placed.turn.content)
        parts[-1].append(placed)
    for part in parts:
        if any(placed.turn.origin in _ASKED_ABOUT for placed in part):
            yield path, part[0].line, part[-1].line


def _is_line_start(path: Path, offset: int) -> bool:
    if offset == 0:
        return True
    try:
        with platform.opened(path) as file:
            file.seek(offset - 1)
            return file.read(1) == b"\n"
    except OSError:
        return False
