"""Recall before a nanobot turn and record it afterwards, with nanobot's own memory files beside ours.

Nothing of nanobot is imported: `mnemark_adapters.nanobot`, which nanobot loads, passes plain values.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemark.errors import UsageError
from mnemark_adapters.bridge import IDLE, PATIENCE, Bridge, RecallRequest, Where
from mnemark_adapters.nanobot_turns import HISTORY, executions, history, is_skipped, turns
from mnemark_adapters.remote_bridge import RemoteBridge

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory
    from mnemark.memory.sessions.session import Session
    from mnemark.types import Turn

MOUNT: Final = "nanobot"
"""The name of the mount with nanobot's own memory files."""
_LAST_TURNS: Final = 200
"""Number of last turns that new ones are compared with."""


def root_for(home: Path, given: str | None) -> Path | None:
    """Return mnemark's workspace for a workspace of nanobot, or None.

    Args:
        home: nanobot's workspace, such as `~/.nanobot/workspace`.
        given: the value of MNEMARK_WORKSPACE; by default the folder `mnemark` beside `home`.

    Raises:
        UsageError: one of the two workspaces lies in the other.
    """
    home = home.expanduser().absolute()
    root = Path(given).expanduser().absolute() if given else home.parent / "mnemark"
    if not given and not (root / "mnemark.toml").is_file():
        return None
    if root == home or root in home.parents or home in root.parents:
        raise UsageError(
            f"{root} and nanobot's workspace {home} lie in each other; set MNEMARK_WORKSPACE to a folder "
            "of its own, as nanobot moves session files out of its workspace"
        )
    return root


class NanobotBridge(Bridge):
    """A workspace in a nanobot process.

    Args:
        root: the workspace; created if missing.
        home: nanobot's workspace, whose `memory/` is searched too and never written.
        limit: as for `Bridge`.
        idle: as for `Bridge`.
    """

    def __init__(self, root: Path, home: Path, *, limit: float | None = None, idle: float = IDLE) -> None:
        self.home = home
        self._opening = threading.Lock()
        self._tool_memory: Memory | None = None
        super().__init__(root, limit=limit, idle=idle)

    async def recall(self, request: RecallRequest) -> str:
        """Return the recall for a turn, as `Bridge.recall` does; none in nanobot's own sessions."""
        return "" if is_skipped(request.where.session) else await super().recall(request)

    def record(self, key: str, messages: Sequence[Mapping[str, Any]]) -> None:
        """Record a turn's messages (as nanobot stores them, without its own context) in the background."""
        if is_skipped(key) or not messages or self.closed:
            return
        found = [dict(message) for message in messages]
        self._later(Where(key), lambda session: _record(session, found), len(found))

    def tools(self) -> "Memory":
        """Return the memory for tools, with nanobot's own memory files mounted.

        Raises:
            MnemarkError: the workspace cannot be opened.
        """
        self._wait(PATIENCE)
        with self._opening:
            if self._tool_memory is None:
                self._tool_memory = self._open_mounted()
            return self._tool_memory

    def _memories(self) -> "list[Memory]":
        return [*super()._memories(), *([] if self._tool_memory is None else [self._tool_memory])]

    def _open_mounted(self) -> "Memory":
        memory = self._open()
        folder = self.home / "memory"
        if not folder.is_dir() or MOUNT in memory.config.mounts:
            return memory
        # nanobot puts these files into each prompt itself, so only tools search them.
        mounts = {**memory.config.mounts, MOUNT: str(folder)}
        memory.close()
        return self._open(mounts=mounts)

    def _was_loaded(self) -> None:
        self._worker.submit(self._record_history, patience=0.0)

    def _record_history(self) -> None:
        """Record nanobot's condensed history; its file is only read."""
        try:
            session = self._session(self._wait(PATIENCE), Where(HISTORY))
            last: list[Turn] = session.log.last(1) if session.log.path.exists() else []
            session.add_many(history(self.home / "memory" / "history.jsonl", last[0] if last else None))
        except Exception as error:  # noqa: BLE001 - the agent goes on; counted and told
            self._failed("history", error)


def _record(session: "Session", messages: Sequence[Mapping[str, Any]]) -> "list[Turn]":
    """Record the messages that are not recorded yet, and what tools did; return the new turns."""
    seen = session.log.last(_LAST_TURNS) if session.log.path.exists() else []
    known = {turn.id for turn in seen}
    new = [turn for turn in turns(session.id, messages) if turn.id not in known]
    session.add_many(new)
    for execution in executions(messages):
        session.observe(**execution)
    return new


class RemoteNanobotBridge(RemoteBridge):
    """A memory on a server in a nanobot process.

    nanobot's own memory files and its condensed history stay where they are: `mnemark import` takes them.
    """

    async def recall(self, request: RecallRequest) -> str:
        """Return the recall for a turn, as `Bridge.recall` does; none in nanobot's own sessions."""
        return "" if is_skipped(request.where.session) else await super().recall(request)

    def record(self, key: str, messages: Sequence[Mapping[str, Any]]) -> None:
        """Record a turn's messages in the background; see `NanobotBridge.record`."""
        if is_skipped(key) or not messages or self.closed:
            return
        # Each turn is a call of its own, so that one that is recorded again is there once.
        said = [("turns", {"turns": [_sent(turn)], "call": turn.id}) for turn in turns(key, messages)]
        self.deliver(Where(key), [*said, *(("observe", one) for one in executions(messages))])


def _sent(turn: "Turn") -> dict[str, Any]:
    """Return a turn as the call `turns` takes it."""
    about = {name: getattr(turn, name) for name in ("role", "content", "origin", "meta")}
    return {**about, "time": turn.time.isoformat()}


_bridges: dict[tuple[Path | str, Path], NanobotBridge | RemoteNanobotBridge] = {}
_making = threading.Lock()


def bridge(place: Path | str, home: Path) -> NanobotBridge | RemoteNanobotBridge:
    """Return the bridge of this process for a workspace, or for a memory on a server by its address."""
    with _making:
        found = _bridges.get((place, home))
        if found is None or found.closed:
            made = NanobotBridge(place, home) if isinstance(place, Path) else RemoteNanobotBridge(place)
            found = _bridges[(place, home)] = made
        return found
