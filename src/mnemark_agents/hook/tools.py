"""Record the tool calls of agents, without opening the index."""

from pathlib import Path

from mnemark.files.config import load
from mnemark.files.projects import PERSON, Project
from mnemark.files.workspace import Workspace
from mnemark.memory.journal.sessions import SessionJournal
from mnemark.memory.sessions.observing import observe
from mnemark_agents.hook.event import ToolUse
from mnemark_agents.hook.project import scope_for


def observe_alone(root: Path, session: str, done: ToolUse, project: Project = PERSON) -> None:
    """Record a tool call durably in the journal.

    Raises:
        MnemarkError: nothing was recorded.
    """
    scope = scope_for(root, project)
    observe(SessionJournal(Workspace(root, load(root))), session, scope=scope, **done._asdict())
