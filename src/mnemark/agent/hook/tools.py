"""Record the tool calls of agents, without opening the index."""

from pathlib import Path

from mnemark.agent.hook.event import ToolUse
from mnemark.agent.hook.project import scope_for
from mnemark.files.config import load
from mnemark.files.projects import PERSON, Project
from mnemark.files.workspace import Workspace
from mnemark.memory.journal.sessions import SessionJournal
from mnemark.memory.sessions.observing import observe


def observe_alone(root: Path, session: str, done: ToolUse, project: Project = PERSON) -> None:
    """Record a tool call durably in the journal.

    Raises:
        MnemarkError: nothing was recorded.
    """
    scope = scope_for(root, project)
    observe(SessionJournal(Workspace(root, load(root))), session, scope=scope, **done._asdict())
