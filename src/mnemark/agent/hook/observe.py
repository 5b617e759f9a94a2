"""Note an execution of a tool in the journal, without opening the workspace's index."""

from pathlib import Path

from mnemark.agent.hook.event import Execution
from mnemark.files.config import load
from mnemark.files.workspace import Workspace
from mnemark.memory.journal.sessions import SessionJournal
from mnemark.memory.sessions.observations import observe


def observe_alone(root: Path, session: str, done: Execution) -> None:
    """Keep an execution; when this returns it is on the disk.

    Raises:
        MnemarkError: it could not be written, and is not kept.
    """
    observe(
        SessionJournal(Workspace(root, load(root))), session, done.tool, done.arguments, done.result,
        call=done.call, error=done.error, duration_ms=done.duration_ms,
    )  # fmt: skip
