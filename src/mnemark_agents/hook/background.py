"""Sync the index for a hook, in a process: `python -m mnemark_agents.hook.background ROOT [SESSION …]`.

Ends the sessions first that are named, those of a user or an agent as the scope, a tab and the id; then the
language model, if one is configured, reads what waits, and the memory is consolidated, if that is due.
Another process that is syncing does the sync for us.
"""

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mnemark.errors import BusyError
from mnemark.files import layout
from mnemark_agents.hook.log import log

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory


def run(root: Path, *sessions: str) -> None:
    """End the sessions, sync, let the model read, and log any failure, also of what cannot be imported."""
    try:
        _run(root, *sessions)
    except BusyError:
        return
    except Exception as error:  # noqa: BLE001 - nobody is there to be told; it is logged
        log(root, f"in the background: {type(error).__name__}: {error}")


def _run(root: Path, *sessions: str) -> None:
    from mnemark.files.projects import scope_of_session
    from mnemark.files.sessions import SessionLog
    from mnemark.memory.memory import Memory
    from mnemark.memory.prompt.briefing import leading_facts
    from mnemark.memory.sessions.ending import end
    from mnemark.memory.sessions.recorder import Recorder
    from mnemark_agents.upkeep import keep_up

    scopes = [""]
    with Memory.open(root) as memory:
        for word in filter(None, sessions):
            named, session = _parts(word)
            scope = named or scope_of_session(root, SessionLog(root, session).name) or ""
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


def _parts(word: str) -> tuple[str, str]:
    """Return the scope that a session is named with, empty for none, and its id, which may hold a tab."""
    scope, tab, session = word.partition("\t")
    named = tab and (not scope or scope.partition("/")[0] in layout.SCOPES)
    return (scope, session) if named else ("", word)


def _read(root: Path, memory: "Memory") -> None:
    if not memory.config.llm.active or not memory.workspace.state.is_due(memory.workspace.now()):
        return
    from mnemark.memory.sessions.reading import BEHIND_SECONDS, read

    done = read(memory.workspace, seconds=BEHIND_SECONDS)
    if done.found.problem:
        log(root, f"language model: {done.found.problem}")
    if done.pages:
        memory.sync(wait=0.0)


if __name__ == "__main__":
    run(Path(sys.argv[1]), *sys.argv[2:])
