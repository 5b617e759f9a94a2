"""Answer an agent's events without a daemon, with few imports.

Turns are recorded. A prompt is answered by words alone from the index as it is. Slow work (ending a session,
syncing the index) runs in a background process.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from mnemark.files import links, platform
from mnemark.files.config import Config, load
from mnemark.files.names import log_name
from mnemark.files.private import private
from mnemark.files.projects import Project
from mnemark_agents.hook import agents
from mnemark_agents.hook.event import HookCall, execution, is_question, said_in
from mnemark_agents.hook.project import folder_of, forget_note, project_of
from mnemark_agents.hook.start import start_python


def handle(root: Path, call: HookCall) -> dict[str, Any]:
    """Handle an event and return what the hook is to print; raise MnemarkError on failure."""
    links.check(root)
    return agents.answer(call.agent, call.native, _run(root, call))


def _run(root: Path, call: HookCall) -> str:
    begins = call.event in {"session-start", "tool"}
    settings = cache(partial(load, root))  # which some events need never, and some twice
    project = project_of(root, call.session, folder_of(call.data), begins=begins, settings=settings)
    if call.event == "session-start":
        return _begin(root, call, project)
    if not call.session:
        return ""
    match call.event:
        case "prompt":
            block = _recall(root, call, project.scope)
            _keep_prompt(root, call, project, settings)
            return block
        case "tool":
            _observe(root, call, project)
        case "response":
            _capture(root, call, project)
            if not call.agent.ends:
                _run_in_background(root, "")
        case "compact":
            _forget_shown(root, call, compacted=_capture(root, call, project))
            _run_in_background(root, "")
        case "session-end":
            _capture(root, call, project)
            _forget_shown(root, call)
            forget_note(root, call.session)
            _run_in_background(root, call.session)
    return ""


def _begin(root: Path, call: HookCall, project: Project) -> str:
    """Return the briefing of a session that starts."""
    _capture(root, call, project)
    from mnemark_agents.hook.told import brief_alone

    try:
        return brief_alone(root, call, project.scope)
    finally:  # last, as it takes a processor from what the agent waits for
        _run_in_background(root, "")


def _keep_prompt(root: Path, call: HookCall, project: Project, settings: Callable[[], Config]) -> None:
    """Record a prompt; a transcript has it only once it is answered: until then it is kept for itself."""
    if not call.agent.transcript:
        _capture(root, call, project)
        return
    from mnemark.files import said
    from mnemark.files.secrets import configured_rules

    said.note(root, log_name(call.session), said_in(call.data), lambda: configured_rules(root, settings()))


def _forget_shown(root: Path, call: HookCall, *, compacted: str = "") -> None:
    """Drop the marks of what a session was shown; after a compaction, note where its file (a path) ends."""
    from mnemark_agents.hook import shown

    if compacted:
        shown.note_compaction(root, compacted)
    shown.save(root, log_name(call.session), frozenset())


def _capture(root: Path, call: HookCall, project: Project) -> str:
    """Record new turns; return the path of the session's file, empty without a session."""
    if not call.session:
        return ""
    from mnemark_agents.hook.capture import PlainRecord, capture

    record = PlainRecord(root, call.session, project)
    capture(root, record, call.agent, call.data, call.event)
    make_up(root)
    return record.path


def make_up(root: Path) -> None:
    """Record what earlier hooks could not, where there is anything."""
    folders = filter(Path.is_dir, (private(root), platform.state_folder()))
    if any("hooks-missed.jsonl" in path.name for folder in folders for path in folder.iterdir()):
        from mnemark_agents.hook.missed import take_in

        take_in(root)


def _recall(root: Path, call: HookCall, scope: str) -> str:
    said = said_in(call.data)
    if not is_question(said):
        return ""
    from mnemark_agents.hook.cold_recall import recall

    return recall(root, call, said, scope, make_index=lambda: _run_in_background(root, ""))


def _observe(root: Path, call: HookCall, project: Project) -> None:
    done = execution(call.data)
    if done is None:
        return
    from mnemark.summary.tool_titles import is_significant, significant_tools

    if is_significant(done.tool, done.arguments, significant_tools(load(root).observe)):
        from mnemark_agents.hook.tools import observe_alone

        observe_alone(root, call.session, done, project)


def _run_in_background(root: Path, session: str) -> None:
    """Sync the index, and end a session where one is named, in the background."""
    start_python(["-P", "-m", "mnemark_agents.hook.background", str(root), session])
