"""Work behind a hook: a sync of the index in a process, and the log of what failed where nobody looks.

`python -m mnemark.agent.hook.background ROOT [SESSION …]` ends the sessions that are named, and syncs; then
the language model, if one is configured, reads what waits, and the memory is consolidated, if that is due.
Another process that is syncing does the sync for us.
"""

import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemark.errors import BusyError, MnemarkError
from mnemark.files import platform

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_LOG: Final = "hook.log"
MAX_BYTES: Final = 256 * 1024
"""Size at which the log is rotated to `hook.log.1`."""
_MAX_LINE: Final = 2_000


def run(root: Path, *sessions: str) -> None:
    """End the sessions, sync, let the model read, and log any failure."""
    try:
        from mnemark.agent.upkeep import keep_up
        from mnemark.memory.memory import Memory
        from mnemark.memory.prompt.briefing import leading_facts

        scopes = [""]
        with Memory.open(root) as memory:
            for session in filter(None, sessions):
                from mnemark.files.projects import scope_of_session
                from mnemark.files.sessions import SessionLog
                from mnemark.memory.sessions.ending import end
                from mnemark.memory.sessions.recorder import Recorder

                scope = scope_of_session(root, SessionLog(root, session).name) or ""
                scopes.append(scope)
                end(memory.workspace, Recorder(memory.workspace, session, scope=scope))
            with suppress(BusyError):
                memory.sync(wait=0.0)
            memory.workspace.searcher.mounts.sync()
            _read(root, memory)
            if keep_up(memory):
                memory.sync(wait=0.0)
            for scope in dict.fromkeys(scopes):
                # Kept for the next briefing.
                leading_facts(memory.workspace, memory.workspace.now(), scope=scope)
    except BusyError:
        return
    except Exception as error:  # noqa: BLE001 - nobody is there to be told; it is logged
        log(root, f"in the background: {type(error).__name__}: {error}")


def _read(root: Path, memory: "Memory") -> None:
    if not memory.config.llm.active or not memory.workspace.state.is_due(memory.workspace.now()):
        return
    from mnemark.memory.sessions.reading import BEHIND_SECONDS, read

    done = read(memory.workspace, seconds=BEHIND_SECONDS)
    if done.found.problem:
        log(root, f"language model: {done.found.problem}")
    if done.pages:
        memory.sync(wait=0.0)


def log(root: Path | None, message: str) -> None:
    """Append a redacted line to the workspace's log, or the user's without a workspace; never raise."""
    try:
        path = _path(root)
        line = _line(message)
        if path.exists() and path.stat().st_size > MAX_BYTES:
            path.replace(path.with_name(f"{_LOG}.1"))
        with platform.open_appended(path) as file:
            file.write(line)
    except Exception:  # noqa: BLE001, S110 - there is nowhere left to say so, and the agent must go on
        pass


def _path(root: Path | None) -> Path:
    if root is not None and root.is_dir():
        from mnemark.files.private import private_folder

        with suppress(MnemarkError):  # read-only, or a link: use the user's log
            return private_folder(root) / _LOG
    folder = platform.state_folder()
    platform.private_folder(folder)
    return folder / _LOG


def _line(message: str) -> bytes:
    from mnemark.text.redaction.redact import redact

    clean = " ".join(redact(message).text.split())[:_MAX_LINE]
    return f"{datetime.now(UTC).astimezone().isoformat(timespec='seconds')} {clean}\n".encode(
        "utf-8", "replace"
    )


if __name__ == "__main__":
    run(Path(sys.argv[1]), *sys.argv[2:])
