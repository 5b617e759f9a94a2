"""Answer an agent's events without a daemon, with few imports.

Turns are recorded. A prompt is answered by words alone from the index as it is. Slow work (ending a session,
syncing the index) runs in a background process.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from mnemark.agent import daemon
from mnemark.agent.hook import agents, shown
from mnemark.agent.hook.event import HookCall, ToolUse, execution, is_question
from mnemark.agent.hook.project import folder_of, forget_note, project_of, scope_for
from mnemark.errors import NotFoundError
from mnemark.files import layout, links, platform
from mnemark.files.private import private
from mnemark.files.projects import PERSON, Project
from mnemark.files.sessions import SessionLog
from mnemark.types import Recall

_HITS: Final = 8
"""Maximum number of passages of a recall."""
_BUDGET: Final = 800
"""Tokens of a recall."""
_SLOW_SECONDS: Final = 1.5
"""Seconds of a recall without an index."""


def handle(root: Path, call: HookCall) -> dict[str, Any]:
    """Handle an event and return what the hook is to print; raise MnemarkError on failure."""
    links.check(root)
    return agents.answer(call.agent, call.native, _run(root, call))


def _run(root: Path, call: HookCall) -> str:
    begins = call.event in {"session-start", "tool"}
    project = project_of(root, call.session, folder_of(call.data), begins=begins)
    if call.event == "session-start":
        _capture(root, call, project)
        from mnemark.agent.hook.told import brief
        from mnemark.facts.visible import PlainWorkspace
        from mnemark.files.config import load

        try:
            return brief(PlainWorkspace(root, load(root)), call, project.scope)
        finally:  # last, as it takes a processor from what the agent waits for
            _run_in_background(root, "")
    if not call.session:
        return ""
    match call.event:
        case "prompt":
            block = _recall(root, call, project.scope)
            if not call.agent.transcript:
                _capture(root, call, project)
            return block
        case "tool":
            _observe(root, call, project)
        case "response":
            _capture(root, call, project)
            if not call.agent.ends:
                _run_in_background(root, "")
        case "compact":
            shown.note_compaction(root, _capture(root, call, project))
            shown.save(root, SessionLog(root, call.session).name, frozenset())
            _run_in_background(root, "")
        case "session-end":
            _capture(root, call, project)
            shown.save(root, SessionLog(root, call.session).name, frozenset())
            forget_note(root, call.session)
            _run_in_background(root, call.session)
    return ""


def _capture(root: Path, call: HookCall, project: Project) -> str:
    """Record new turns; return the path of the session's file, empty without a session."""
    if not call.session:
        return ""
    from mnemark.agent.hook.capture import PlainRecord, capture

    record = PlainRecord(root, call.session, project)
    capture(root, record, call.agent, call.data, call.event)
    make_up(root)
    return record.path


def make_up(root: Path) -> None:
    """Record what earlier hooks could not, where there is anything."""
    folders = filter(Path.is_dir, (private(root), platform.state_folder()))
    if any("hooks-missed.jsonl" in path.name for folder in folders for path in folder.iterdir()):
        from mnemark.agent.hook.missed import take_in

        take_in(root)


def _recall(root: Path, call: HookCall, scope: str) -> str:
    said = call.data.get("prompt")
    if not isinstance(said, str) or not is_question(said):
        return ""
    from mnemark.retrieval.words import by_words_of

    session = SessionLog(root, call.session).name
    path = layout.in_scope(scope, session)
    window = path, shown.first_visible_line(root, path)
    try:
        found = by_words_of(root, said, k=_HITS, exclude=[window], scopes=frozenset({"", scope}))
    except NotFoundError:  # a new workspace: the index is created in the background
        _run_in_background(root, "")
        return ""
    except Exception as error:  # noqa: BLE001 - whatever changed bytes cause; what is no damage fails again
        found = _recall_from_files(root, said, scope, window, error)
    marks = shown.load(root, session)
    text, new = shown.new_block(
        found, _HITS, marks, _BUDGET, agent=call.agent.name, folder=folder_of(call.data)
    )
    if text:
        shown.save(root, session, marks | new)
    return text


def _recall_from_files(root: Path, said: str, scope: str, window: tuple[str, int], why: Exception) -> Recall:
    """Recall with an index that cannot be read: from the files, while it is made anew in the background."""
    from mnemark.agent.hook.background import log
    from mnemark.memory.memory import Memory

    log(root, f"prompt: {type(why).__name__}: {why}; answered from the files, and the index is made anew")
    with Memory.open(root) as memory:
        found = memory.recall(said, k=_HITS, scope=scope, exclude=(window,), deadline=_SLOW_SECONDS)
    _run_in_background(root, "")
    return found


def _observe(root: Path, call: HookCall, project: Project) -> None:
    done = execution(call.data)
    if done is None:
        return
    from mnemark.files.config import load
    from mnemark.summary.tool_titles import is_significant, significant_tools

    if is_significant(done.tool, done.arguments, significant_tools(load(root).observe)):
        observe_alone(root, call.session, done, project)


def observe_alone(root: Path, session: str, done: ToolUse, project: Project = PERSON) -> None:
    """Record a tool call durably in the journal, without opening the index.

    Raises:
        MnemarkError: nothing was recorded.
    """
    from mnemark.files.config import load
    from mnemark.files.workspace import Workspace
    from mnemark.memory.journal.sessions import SessionJournal
    from mnemark.memory.sessions.observations import observe

    scope = scope_for(root, project)
    observe(SessionJournal(Workspace(root, load(root))), session, scope=scope, **done._asdict())


def _run_in_background(root: Path, session: str) -> None:
    """Sync the index, and end a session where one is named, in the background."""
    arguments = ["-P", "-m", "mnemark.agent.hook.background", str(root), session]
    if not _spawned(arguments):
        daemon.spawn(arguments)


def _spawned(arguments: Sequence[str]) -> bool:
    """Start Python as `daemon.spawn` does, without `subprocess`, which takes 5 ms to import.

    Nobody waits for the process, so this is for those that end soon. Where the system cannot, return False.
    """
    if sys.platform == "win32" or not hasattr(os, "posix_spawn"):
        return False
    silent = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
    ]
    command = [sys.executable, *arguments]
    try:
        closed = [(os.POSIX_SPAWN_CLOSE, number) for number in _inherited()]
        os.posix_spawn(command[0], command, os.environ, file_actions=[*silent, *closed], setsid=True)
    except (NotImplementedError, OSError):
        return False
    return True


def _inherited() -> list[int]:
    """Return the files, beside the standard ones, that a new process would hold open for the agent."""
    found: list[int] = []
    for number in (int(path.name) for path in Path("/dev/fd").iterdir()):
        with suppress(OSError):  # the listing's own is closed by now
            if number > 2 and os.get_inheritable(number):
                found.append(number)
    return found
