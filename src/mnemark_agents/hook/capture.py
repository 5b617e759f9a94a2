"""Record the turns of an agent's transcript in a session, each exactly once.

The read position is stored in the last turn itself (`meta["transcript"]`), so that a kill can neither lose it
nor leave it ahead of the turns. One capture of a workspace runs at a time.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from mnemark.files import layout, platform, transcripts
from mnemark.files.config import load
from mnemark.files.private import drop_session_note, private_folder
from mnemark.files.projects import PERSON, Project
from mnemark.files.sessions import SessionLog
from mnemark.files.workspace import Workspace
from mnemark.types import Turn
from mnemark_agents.hook.agents import Agent, Event
from mnemark_agents.hook.project import folder_of, project_of, scope_for
from mnemark_agents.hook.spoken import exchange_of, transcript_of, turns_of_event

LOCK: Final = "hooks.lock"
PATIENCE: Final = 5.0
"""Seconds to wait for another hook's capture; after a timeout the next hook records the turns."""
_LOOK_BACK: Final = 50
_BATCH: Final = 500


class RecordedSession(Protocol):
    """Interface of a recorded session: a `Session` or a `PlainRecord`."""

    @property
    def path(self) -> str:
        """The session's file, relative to the workspace."""

    @property
    def log(self) -> SessionLog:
        """The session's file, including hidden turns."""

    def belongs_to(self, project: Project) -> None:
        """Note whose memory the session is, as looked up under the lock."""

    def add_many(self, turns: Sequence[Turn]) -> list[Turn]:
        """Record turns, redacted."""


class PlainRecord:
    """A session's log without an index, quick to load."""

    def __init__(self, root: Path, session: str, project: Project = PERSON) -> None:
        self._root = root
        self._session = session
        self.belongs_to(project)

    def belongs_to(self, project: Project) -> None:
        """Note whose memory the session is."""
        self._project = project
        self._begin(self._session, project.scope)

    def _begin(self, session: str, scope: str) -> None:
        self.log = SessionLog(self._root / scope, session)
        self.path = layout.in_scope(scope, self.log.name)

    def add_many(self, turns: Sequence[Turn]) -> list[Turn]:
        """Record turns, redacted; the scope of a project is made with the first."""
        if not turns:
            return []
        if self._project.repository:
            self._begin(self._session, scope_for(self._root, self._project))
        workspace = Workspace(self._root, load(self._root))
        placed = self.log.append(workspace.truth, [workspace.redact(turn) for turn in turns])
        return [one.turn for one in placed]


class Captured(NamedTuple):
    """The result of a capture."""

    turns: int
    problem: str = ""
    """Why the transcript could not be read."""


def capture(
    root: Path, record: RecordedSession, agent: Agent, data: Mapping[str, Any], event: Event
) -> Captured:
    """Record new turns from the transcript, or from the event where there is none.

    Where the session is, is looked up under the lock: another hook may just have begun it.

    Raises:
        BusyError: another hook's capture takes longer than `PATIENCE`.
        ReadOnlyError: the workspace cannot be written.
    """
    folder = private_folder(root)
    with platform.locked(folder / LOCK, os.O_RDWR | os.O_CREAT, timeout=PATIENCE):
        record.belongs_to(project_of(root, record.log.id, folder_of(data)))
        if transcript_of(agent, data) is not None:  # one that is not there yet is read by the next hook
            taken = take_transcript(root, record, agent, data) or Captured(0)
            if taken.turns:
                drop_session_note(root, record.log.name, layout.SAID)
            return taken
        spoken = turns_of_event(agent, data, event)
        turns = unrecorded(root, record, spoken, has_id=bool(exchange_of(data)))
        return Captured(len(record.add_many(turns)))


def take_transcript(
    root: Path, record: RecordedSession, agent: Agent, data: Mapping[str, Any]
) -> "Captured | None":
    """Record new turns from the transcript that an event names; None where that is not there (yet)."""
    path = transcript_of(agent, data)
    return _from_transcript(root, record, agent, path) if path is not None and path.is_file() else None


def _from_transcript(root: Path, record: RecordedSession, agent: Agent, path: Path) -> Captured:
    start, follows = _position(record, path)
    count = 0
    batch: list[Turn] = []
    known = frozenset[str]() if follows else _ids(root, record)
    known |= record.log.erased()  # the transcript still holds them
    try:
        for found in transcripts.read(path, agent.name, start):
            if found.turn.id not in known:
                batch.append(found.turn)
            if len(batch) == _BATCH:
                count += len(record.add_many(batch))
                batch = []
    except OSError as error:
        return Captured(count + len(record.add_many(batch)), f"{path.name} cannot be read: {error.strerror}")
    return Captured(count + len(record.add_many(batch)))


def _position(record: RecordedSession, path: Path) -> tuple[int, bool]:
    """Return the read position, and whether it is known to be behind all recorded turns."""
    for turn in reversed(record.log.last(_LOOK_BACK)):
        mark = turn.meta.get(transcripts.MARK)
        if not isinstance(mark, Mapping) or mark.get("name") != path.name:
            continue
        end = mark.get("end")
        if isinstance(end, int) and 0 <= end <= path.stat().st_size:
            return end, True
        break  # the transcript was rewritten and is shorter
    return 0, False


def _ids(root: Path, record: RecordedSession) -> frozenset[str]:
    if not (root / record.path).exists():
        return frozenset()
    return frozenset(placed.turn.id for placed in SessionLog.at(root, record.path).turns())


def unrecorded(root: Path, record: RecordedSession, turns: Sequence[Turn], *, has_id: bool) -> list[Turn]:
    """Return the turns that are not recorded yet; agents without ids of exchanges tell a prompt twice."""
    last = record.log.last(_LOOK_BACK) if (root / record.path).exists() else []
    known = {turn.id for turn in last}
    if turns and turns[-1].id in known:  # the event is handled: a daemon that was slow, and the hook alone
        return []
    return [turn for turn in turns if turn.id not in known and (has_id or not _is_repeated(root, turn, last))]


def _is_repeated(root: Path, turn: Turn, last: Sequence[Turn]) -> bool:
    """Tell whether a turn says again what the last one says, which was recorded redacted."""
    if not last or last[-1].role != turn.role:
        return False
    return last[-1].content in {turn.content, Workspace(root, load(root)).redact(turn).content}
