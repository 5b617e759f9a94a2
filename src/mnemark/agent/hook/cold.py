"""Answer an agent's events without a daemon: as little work as keeps every promise.

Turns are kept as always. A prompt is answered from the full text as it stands, without numpy. What takes
longer (ending a session, bringing the index up to date) is left to a process in the background.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from mnemark.agent.hook import agents
from mnemark.agent.hook.capture import PlainRecord, capture
from mnemark.agent.hook.event import FLOOR, Asked, checked, execution, is_question
from mnemark.agent.hook.window import from_line, note_compaction
from mnemark.errors import NotFoundError
from mnemark.files import links


def handle(root: Path, what: Asked) -> dict[str, Any]:
    """Do what an event calls for; returns what the hook is to print.

    Raises:
        MnemarkError: it could not be done.
    """
    links.check(root)
    return agents.answer(what.agent, what.native, checked(_run(root, what)))


def _run(root: Path, what: Asked) -> str:
    if what.event == "session-start":
        _capture(root, what)
        _later(root, "")
        from mnemark.agent.hook.briefing import briefing
        from mnemark.facts.visible import Visible
        from mnemark.files.config import load
        from mnemark.text.dates.clock import local_now

        config = load(root)
        return briefing(Visible(root, config), local_now(config.timezone))
    if not what.session:
        return ""
    match what.event:
        case "prompt":
            block = _recall(root, what)
            if not what.agent.transcript:
                _capture(root, what)
            return block
        case "tool":
            _observe(root, what)
        case "response":
            _capture(root, what)
        case "compact":
            path = _capture(root, what)
            note_compaction(root, path)
            _later(root, "")
        case "session-end":
            _capture(root, what)
            _later(root, what.session)
    return ""


def _capture(root: Path, what: Asked) -> str:
    """Keep what was said; the path of the session's file."""
    if not what.session:
        return ""
    record = PlainRecord(root, what.session)
    capture(root, record, what.agent, what.data, what.event)
    return record.path


def _recall(root: Path, what: Asked) -> str:
    said = what.data.get("prompt")
    if not isinstance(said, str) or not is_question(said):
        return ""
    from mnemark.files.sessions import SessionLog
    from mnemark.retrieval import render
    from mnemark.retrieval.quick_search import quick_search

    session = SessionLog(root, what.session).name
    try:
        found = quick_search(root, said, exclude=(session, from_line(root, session)))
    except NotFoundError:  # a new workspace: the index is made in the background
        _later(root, "")
        return ""
    return render.block(found.hits, budget=800) if found.believable >= FLOOR else ""


def _observe(root: Path, what: Asked) -> None:
    done = execution(what.data)
    if done is None:
        return
    from mnemark.files.config import load
    from mnemark.text.summary.tool_titles import SIGNIFICANT, is_significant

    if is_significant(done.tool, done.arguments, (*SIGNIFICANT, *load(root).observe)):
        from mnemark.agent.hook.observe import observe_alone

        observe_alone(root, what.session, done)


def _later(root: Path, session: str) -> None:
    """Bring the index up to date, and end a session, in the background; it outlives this process."""
    flags = 0x0000_0208 if sys.platform == "win32" else 0  # no console, a group of its own
    subprocess.Popen(
        [sys.executable, "-P", "-m", "mnemark.agent.hook.background", str(root), session],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, creationflags=flags,
    )  # fmt: skip
