"""End a session: write the day's note, an episode, the scratchpad, and learn facts.

Each step follows from the turns and can be done again without doing anything twice: an episode is known by
the first turn of its sitting, the part of a note by the same, attachments and observations by their ids. A
line of kind "end" in the journal, written last, says up to where a session was written down. So a kill at any
moment costs nothing but doing it again.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from mnemark.errors import BusyError
from mnemark.facts import remember
from mnemark.files.episodes import episodes
from mnemark.files.journal import Change
from mnemark.files.locks import ending_lock
from mnemark.files.sessions import Placed
from mnemark.memory import file_edits
from mnemark.memory.curation.generated import withdraw
from mnemark.memory.learning.by_rule import LearnedFact, learn
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.sessions import attachments, observations, scratchpad
from mnemark.memory.sessions.episodes import (
    SessionAt,
    Sitting,
    actions_of,
    lines_of,
    note_block,
    sittings,
    write_episode,
)
from mnemark.memory.sessions.history import sessions
from mnemark.memory.sessions.recorder import Recorder
from mnemark.memory.sessions.summary import improved
from mnemark.text.markdown.generated import put
from mnemark.text.summary.summary import Action, Digest, Line, digest, summary_lines
from mnemark.text.summary.tool_titles import execution_of, words_of
from mnemark.types import Json

if TYPE_CHECKING:
    from mnemark.llm.base import LLM

FEWEST: Final = 3
"""Turns of a sitting that a summary is made of; below, one line serves."""
_PATIENCE: Final = 20.0
_RECENT: Final = timedelta(days=60)
_ASKED: Final = 2
"""Sittings at most that a model is asked about at one end; older ones are summed up by rule."""
_WRITING: Final = frozenset({"write", "add", "save", "store", "update", "remember", "append"})


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """What was written down."""

    session: str
    status: Literal["ended", "unchanged", "empty", "deferred"]
    """`unchanged`: all was written before. `deferred`: a file was being saved; end it again."""
    turns: int = 0
    """Turns that were new."""
    by: Literal["llm", "rule", ""] = ""
    """Who wrote the summary."""
    summary: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()
    """Paths that were written or extended."""
    notes: tuple[str, ...] = ()
    scratchpad: str = ""
    attachments: tuple[str, ...] = ()
    observations: int = 0
    facts: tuple[LearnedFact, ...] = ()
    """What was learned by rule."""
    problems: tuple[str, ...] = ()
    """What did not work, each with what was done instead."""
    group: str = ""
    """`mnemark undo GROUP` takes the edits back."""


class _Run:
    """One ending under way."""

    def __init__(self, ws: OpenWorkspace, session: Recorder, llm: "LLM | None", *, summary: bool) -> None:
        self.ws = ws
        self.session = session
        self.llm = llm
        self.summary = summary
        self.zone = ws.now().tzinfo
        self.problems: list[str] = []
        self.episodes: list[str] = []
        self.notes: list[str] = []
        self.words: list[str] = []
        self.by: Literal["llm", "rule", ""] = ""
        self.facts: tuple[LearnedFact, ...] = ()
        self.deferred = False
        self.group = ""

    @property
    def at(self) -> SessionAt:
        """Where it is written."""
        return SessionAt(self.session.id, self.session.path, self.session.scope, self.zone, self.group)

    def run(self) -> Ended:
        """Do it; hold the lock for endings."""
        ws, session = self.ws, self.session
        for problem in file_edits.finish(ws):
            self.problems.append(f"{problem.path}: {problem.reason}")
        remember.catch_up(ws.fact_store)  # what a killed end had acknowledged
        before = self._before()
        turns = self._turns(before)
        if not turns:
            return Ended(session=session.id, status="empty", observations=self._note_down())
        if before and turns[-1].turn.id == before.get("last"):
            return Ended(session=session.id, status="unchanged", observations=self._note_down())
        self.group = f"end-{turns[-1].turn.id}"
        noted = self._note_down()
        new = _after(turns, str(before.get("last", "")))
        given = frozenset(session.given)
        kept, busy = attachments.bring_in(
            ws, session.scope, session.path, turns, given=given, group=self.group
        )
        self._busy(busy)
        last = self._sittings(turns, before)
        pad = self._scratchpad(turns)
        self._learn()
        if not self.deferred:
            self._done(turns, last)
        return Ended(
            session=session.id, status="deferred" if self.deferred else "ended", turns=len(new), by=self.by,
            summary=tuple(self.words), episodes=tuple(self.episodes), notes=tuple(dict.fromkeys(self.notes)),
            scratchpad=pad, attachments=tuple(kept), observations=noted, facts=self.facts,
            problems=tuple(self.problems), group=self.group,
        )  # fmt: skip

    def _note_down(self) -> int:
        return observations.note_down(self.ws, self.session.id, timeout=1.5)

    def _before(self) -> Mapping[str, Json]:
        state = self.ws.session_journal
        with state.lock:
            state.refresh()
            ends = state.ends.get((self.session.scope, self.session.id), [])
            return ends[-1] if ends else {}

    def _turns(self, before: Mapping[str, Json]) -> list[Placed]:
        """From the beginning of the sitting that was ended last; forgotten turns are left out."""
        log = self.session.log
        hidden = self.ws.index.hidden.current()
        offset, line = before.get("offset"), before.get("line")
        if isinstance(offset, int) and isinstance(line, int) and offset > 0:
            found = list(log.turns(offset, start_line=line))
            if found and found[0].turn.id == before.get("first"):
                return [placed for placed in found if placed.turn.id not in hidden.turns]
        return [placed for placed in log.turns() if placed.turn.id not in hidden.turns]

    def _sittings(self, turns: Sequence[Placed], before: Mapping[str, Json]) -> Sitting:
        found = sittings(turns)
        done = {placed.turn.id for placed in turns} - {
            placed.turn.id for placed in _after(turns, str(before.get("last", "")))
        }
        link = str(before.get("episode", ""))
        for number, sitting in enumerate(found):
            if sitting.last in done:
                continue
            asks = self.llm is not None and len(found) - number <= _ASKED
            ours = str(before.get("first")) == sitting.first
            continues = "" if ours else link
            link = self._sitting(sitting, continues, asks=asks) or link
        self.last_episode = link
        return found[-1]

    def _sitting(self, sitting: Sitting, continues: str, *, asks: bool) -> str:
        """Write one sitting down; the path of its episode."""
        ws, session = self.ws, self.session
        lines = lines_of(sitting)
        actions = actions_of(ws, session.scope, session.id, sitting)
        found = digest(lines, actions, self._projects(sitting))
        if asks and self.llm is not None and self.summary and len(lines) >= FEWEST:
            found = self._improved(lines, actions, found)
        path = ""
        if found.title and (len(lines) >= FEWEST or actions):
            path, done = write_episode(
                ws, self.at, sitting, found=found, actions=actions, continues=continues
            )
            self._busy([path] if done.status == "deferred" else [])
            self.episodes.append(path)
        own = any(_is_own(action) for action in actions) or _said_own(sitting)
        if self.summary and found.title and not (own and len(lines) < FEWEST):
            self._note(sitting, found, path, short=own or len(lines) < FEWEST)
        return path

    def _projects(self, sitting: Sitting) -> list[str]:
        """Names of the projects of the last months."""
        since = (sitting.span(self.zone)[0] - _RECENT).date().isoformat()
        recent = episodes(self.ws.root, self.session.scope, since=since)
        return list(dict.fromkeys(name for one in recent for name in one.projects))

    def _improved(self, lines: Sequence[Line], actions: Sequence[Action], found: Digest) -> Digest:
        assert self.llm is not None  # noqa: S101 - for the type checker; the caller looked
        rules = self.ws.rules
        better, problem = improved(self.llm, lines, actions, found, rules)
        if problem:
            self.problems.append(problem)
        else:
            self.by = "llm"
        return better

    def _note(self, sitting: Sitting, found: Digest, episode: str, *, short: bool) -> None:
        scope = self.session.scope
        begin, end = sitting.span(self.zone)
        path = f"{scope}/memory/{begin:%Y-%m-%d}.md" if scope else f"memory/{begin:%Y-%m-%d}.md"
        link = episode.rpartition("memory/")[2]
        name = f"session-{_mark(self.session.id, sitting.first)}"
        rows = note_block(
            found, (begin, end), self.session.id, f"[{found.title}]({link})" if link else "", short=short
        )
        heading = f"# {begin:%Y-%m-%d}\n"
        done = file_edits.write(
            self.ws, path, lambda text: put(text or heading, name, rows), step="session end: summary",
            session=self.session.id, group=self.group,
        )  # fmt: skip
        self._busy([path] if done.status == "deferred" else [])
        self.notes.append(path)
        self.by = self.by or "rule"
        self.words += summary_lines(found, short=short)

    def _scratchpad(self, turns: Sequence[Placed]) -> str:
        if not self.episodes:
            return ""
        when = sittings(turns)[-1].span(self.zone)[1]
        done = scratchpad.refresh(
            self.ws, when, scope=self.session.scope, session=self.session.id, group=self.group
        )
        self._busy([done.path] if done.status == "deferred" else [])
        return done.path

    def _learn(self) -> None:
        """Facts by rule; what the model is to read stays queued."""
        try:
            self.facts = learn(self.ws, self.session.id).facts
        except BusyError as error:
            self.problems.append(
                f"facts: {error}; they are learned when a session ends next, or at the next consolidation"
            )
            return
        if self.facts:  # what the session replaced is core memory no more; what is new has to earn it
            scope, session = self.session.scope, self.session.id
            withdraw(self.ws, [scope], step="session end: core memory", session=session, group=self.group)

    def _busy(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.deferred = True
            self.problems.append(f"another program is saving {path}; end the session again to write it")

    def _done(self, turns: Sequence[Placed], last: Sitting) -> None:
        state = self.ws.session_journal
        payload = {
            "session": self.session.id, "first": last.first, "last": turns[-1].turn.id,
            "offset": last.turns[0].offset, "line": last.turns[0].line, "episode": self.last_episode,
        }  # fmt: skip
        with state.lock:
            state.append(Change(kind="end", payload=payload, scope=self.session.scope))


def end(ws: OpenWorkspace, session: Recorder, llm: "LLM | None" = None, *, summary: bool = True) -> Ended:
    """Write down what is to be kept of a session: note, episode, scratchpad, attachments, observations.

    Done again, or after a kill, it changes nothing twice. A session that went on is ended again: within six
    hours of silence its episode and note are extended, after that a new episode begins.

    Args:
        ws: whose.
        session: which.
        llm: writes the summary, within ten seconds; where it fails, rules do, and `problems` says so.
        summary: whether the day's note gets a summary; an agent that wrote notes itself gets a short one.

    Raises:
        ReadOnlyError: the memory is open for reading only.
    """
    ws.check_writable("end sessions")
    try:
        with ending_lock(ws.root, _PATIENCE):
            found = _Run(ws, session, llm, summary=summary).run()
    except BusyError as error:
        return Ended(session=session.id, status="deferred", problems=(str(error),))
    ws.searcher.refresher.mark_stale()
    return found


def catch_up(
    ws: OpenWorkspace,
    llm: "LLM | None" = None,
    *,
    idle: timedelta = timedelta(minutes=30),
    summary: bool = True,
) -> list[Ended]:
    """End all sessions that were silent for so long and have turns that were not written down yet."""
    return [end(ws, session, llm, summary=summary) for session in unended(ws, idle=idle)]


def unended(ws: OpenWorkspace, *, idle: timedelta = timedelta(minutes=30)) -> list[Recorder]:
    """The sessions that were silent for so long and have turns that were not written down yet."""
    now = ws.now()
    found = []
    for scope, info in sessions(ws):
        if scope.startswith("projects/"):
            continue
        session = Recorder(ws, info.id, scope=scope)
        if session.idle(idle.total_seconds(), now=now) and not _is_ended(ws, session):
            found.append(session)
    return found


def _is_ended(ws: OpenWorkspace, session: Recorder) -> bool:
    state = ws.session_journal
    with state.lock:
        state.refresh()
        ends = state.ends.get((session.scope, session.id), [])
    last = session.last(1)
    return bool(ends and last) and ends[-1].get("last") == last[-1].id


def _after(turns: Sequence[Placed], last: str) -> Sequence[Placed]:
    """Those after the turn of that id; all where it is not among them."""
    at = next((number for number, placed in enumerate(turns) if placed.turn.id == last), -1)
    return turns[at + 1 :]


def _mark(session: str, first: str) -> str:
    return hashlib.blake2b(f"{session}\0{first}".encode("utf-8", "replace"), digest_size=4).hexdigest()


def _is_own(action: Action) -> bool:
    """Whether the agent wrote to its memory by that."""
    words = set(words_of(action.tool))
    if words & {"memory", "remember", "memories"} and words & _WRITING:
        return True
    files = (path.removeprefix("./") for path in action.paths)
    return bool(words & {"write", "edit", "append"}) and any(
        path.startswith("memory/") or path.endswith("MEMORY.md") for path in files
    )


def _said_own(sitting: Sitting) -> bool:
    """Whether calls of memory tools stand in the turns; those are no significant executions."""
    for placed in sitting.turns:
        for call in placed.turn.tool_calls:
            made = execution_of(call)
            words = set(words_of(made.tool)) if made is not None else set()
            if words & {"memory", "remember", "memories"} and words & _WRITING:
                return True
    return False
