"""Capture turns of an agent's transcript into a session, each once, however often it is called.

Where reading stopped is in the last turn itself (`meta["transcript"]`), written with it in one step: there is
no position that could be lost, or be ahead of the turns after a kill. One capture of a workspace runs at a
time.
"""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from mnemark.agent.hook.agents import Agent, Event, session_of
from mnemark.files import layout, platform, transcripts
from mnemark.files.config import Config, load
from mnemark.files.ids import derived_id
from mnemark.files.sessions import SessionLog
from mnemark.files.workspace import Workspace
from mnemark.text.quoting.fence import strip_fences
from mnemark.types import Turn

LOCK: Final = "hooks.lock"
PATIENCE: Final = 5.0
"""Seconds to wait for another hook that is reading; the next hook reads what is left then."""
_HOOKED: Final = re.compile(r"\s*<hook_context>.*?</hook_context>", re.DOTALL)
"""What Gemini CLI puts before a prompt that hooks had something to say about, and tells as part of it."""
_LOOK_BACK: Final = 50
_BATCH: Final = 500


class Record(Protocol):
    """Where turns go: a `Session`, or `PlainRecord`."""

    @property
    def path(self) -> str:
        """The session's file, relative to the workspace."""

    @property
    def log(self) -> SessionLog:
        """The session's file, with what is hidden."""

    def add_many(self, turns: Sequence[Turn]) -> list[Turn]:
        """Keep turns, without what is secret in them."""


class PlainRecord:
    """A session's file alone: what is needed to write turns down, and nothing that is slow to load."""

    def __init__(self, root: Path, session: str, config: Config | None = None) -> None:
        self._root = root
        self._config = config
        self.log = SessionLog(root, session)
        self.path = self.log.name

    def add_many(self, turns: Sequence[Turn]) -> list[Turn]:
        """Keep turns, redacted."""
        if not turns:
            return []
        workspace = Workspace(self._root, self._config or load(self._root))
        return self.log.append_many([workspace.redact(turn) for turn in turns])


class Captured(NamedTuple):
    """What a capture kept."""

    turns: int
    problem: str = ""
    """Why the transcript was not read; empty where it was, or there is none."""


def capture(root: Path, record: Record, agent: Agent, data: Mapping[str, Any], event: Event) -> Captured:
    """Keep what was said and is not kept yet: from the transcript, or from the event where there is none.

    Raises:
        BusyError: another hook is reading for longer than `PATIENCE`.
        ReadOnlyError: the workspace cannot be written.
    """
    folder = layout.private_folder(root)
    with platform.locked(folder / LOCK, os.O_RDWR | os.O_CREAT, timeout=PATIENCE):
        path = _transcript(agent, data)
        if path is not None:
            return _from_transcript(root, record, agent, path)
        return Captured(len(record.add_many(_new(root, record, _from_event(agent, data, event)))))


def _transcript(agent: Agent, data: Mapping[str, Any]) -> Path | None:
    given = data.get("transcript_path")
    if not agent.transcript or not isinstance(given, str) or not given:
        return None
    path = Path(given).expanduser()
    return path if path.is_absolute() and path.suffix == ".jsonl" and path.is_file() else None


def _from_transcript(root: Path, record: Record, agent: Agent, path: Path) -> Captured:
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


def _position(record: Record, path: Path) -> tuple[int, bool]:
    """Where reading goes on, and whether nothing behind it can be kept already."""
    for turn in reversed(record.log.last(_LOOK_BACK)):
        mark = turn.meta.get(transcripts.MARK)
        if not isinstance(mark, Mapping) or mark.get("name") != path.name:
            continue
        end = mark.get("end")
        if isinstance(end, int) and 0 <= end <= path.stat().st_size:
            return end, True
        break  # it was written anew, and is shorter
    return 0, False


def _ids(root: Path, record: Record) -> frozenset[str]:
    """Ids of all turns of a session."""
    log = SessionLog.at(root, record.path)
    return (
        frozenset(placed.turn.id for placed in log.turns()) if (root / record.path).exists() else frozenset()
    )


def _new(root: Path, record: Record, turns: Sequence[Turn]) -> list[Turn]:
    """Those of `turns` that an earlier event has not told already."""
    last = record.log.last(_LOOK_BACK) if (root / record.path).exists() else []
    known = {turn.id for turn in last}
    return [turn for turn in turns if turn.id not in known and not (not turn.id and _is_told(turn, last))]


def _is_told(turn: Turn, last: Sequence[Turn]) -> bool:
    """Whether the words are those of the last exchange: agents without numbers tell a prompt twice."""
    for earlier in reversed(last):
        if earlier.role == turn.role:
            return earlier.content == turn.content
        if turn.role == "user":
            return False
    return False


def _from_event(agent: Agent, data: Mapping[str, Any], event: Event) -> list[Turn]:
    """Turns as the event itself tells them, for agents whose transcripts are not read."""
    found: list[tuple[str, Any]] = []
    if event == "prompt":
        found.append(("user", data.get("prompt")))
    elif event == "response" and agent.name == "gemini-cli":
        found += [("user", _unhooked(data.get("prompt"))), ("assistant", data.get("prompt_response"))]
    elif event == "response":
        found.append(("assistant", data.get("last_assistant_message") or data.get("text")))
    turns = []
    for role, text in found:
        said = strip_fences(text).strip() if isinstance(text, str) else ""
        if said:
            turns.append(_turn(agent, data, role, said))
    return turns


def _unhooked(prompt: Any) -> Any:
    """A prompt of Gemini CLI without what hooks had to say, which stands before it, escaped or not."""
    if not isinstance(prompt, str):
        return prompt
    left = _HOOKED.match(prompt)
    return prompt[left.end() :] if left else prompt


def _turn(agent: Agent, data: Mapping[str, Any], role: str, said: str) -> Turn:
    """A turn with an id that follows from what was said and in which exchange."""
    now = datetime.now(UTC).astimezone()
    exchange = next((str(data[k]) for k in ("turn_id", "prompt_id", "generation_id") if data.get(k)), "")
    source = f"{session_of(agent, data)}\n{exchange}\n{role}\n{said}"
    identifier = derived_id(source.encode("utf-8", "replace")) if exchange else ""
    origin = "owner" if role == "user" else "agent"
    return Turn(id=identifier, time=now, role=role, content=said, origin=origin, meta={"agent": agent.name})  # type: ignore[arg-type] # one of two
