"""Find whose memory a session of an agent is a part of: the person's, or a project's. Imports stay light.

A session stays where it began, wherever its agent goes: its log says where, and until there is one, a note.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from mnemark.errors import MnemarkError
from mnemark.files import layout, platform
from mnemark.files.config import Config, load
from mnemark.files.names import log_name
from mnemark.files.private import session_note, write_session_note
from mnemark.files.projects import FOLDER, PERSON, Project, folders, project_at, scope_of, scope_of_session
from mnemark.text.redaction.redact import without_keys

_SETTINGS: Final = (layout.CONFIG, "config.json")
_SETTING: Final = b"projects"
_NOTE: Final = ".project"


def project_of(
    root: Path,
    session: str,
    folder: str,
    *,
    begins: bool = False,
    kept: bool | None = None,
    settings: Callable[[], Config] | None = None,
) -> Project:
    """Return the project of a session.

    Args:
        root: the workspace.
        session: the id of the session; may be empty.
        folder: the folder that its agent works in now; see `folder_of`.
        begins: note where a session began that has no log yet.
        kept: whether projects have memories of their own; as configured by default.
        settings: loads the configuration, for who needs it again.
    """
    if not (_has_projects(root, settings) if kept is None else kept):
        return PERSON
    if not session:
        return project_at(root, folder)
    name = log_name(without_keys(session))
    if (scope := scope_of_session(root, name)) is not None:
        return Project(scope)
    if (noted := _noted(root, name)) is not None:
        return noted
    found = project_at(root, folder)
    if begins:
        _note(root, name, found)
    return found


def folder_of(data: Mapping[str, Any]) -> str:
    """Return the folder that an event of an agent names; Cursor's names a list of those that are open."""
    roots = data.get("workspace_roots")
    found = data.get("cwd") or (roots[0] if isinstance(roots, list) and roots else "")
    return found if isinstance(found, str) else ""


def scope_for(root: Path, project: Project) -> str:
    """Return the scope of a project that something is written to, made where it has none."""
    if not project.repository:
        return project.scope
    from mnemark.files.new_workspace import new_scope

    return new_scope(root, project.repository)


def scope_of_statement(root: Path, project: Project | None, *said: str) -> str:
    """Return the scope for a `StatedFact` that is said in a project: the person's, or its own."""
    if not project or project == PERSON:
        return ""
    from mnemark.memory.learning.placement import StatedFact, is_of_project

    return scope_for(root, project) if is_of_project(StatedFact(*said)) else ""


def _has_projects(root: Path, settings: Callable[[], Config] | None) -> bool:
    """Tell whether projects have memories of their own; settings that do not say so are not parsed."""
    for name in _SETTINGS:
        with suppress(OSError):
            if _SETTING in platform.content(root / name):
                return (settings() if settings else load(root)).projects
    return True


def _noted(root: Path, name: str) -> Project | None:
    """Return the project that a session began in; None where that was not noted."""
    try:
        noted = os.fsdecode(platform.content(session_note(root, name, _NOTE)))
    except OSError:
        return None
    if not noted or noted.removeprefix(f"{FOLDER}/") in folders(root):
        return Project(noted)
    scope = scope_of(root, noted)
    return Project(scope) if scope else Project("", noted)


def _note(root: Path, name: str, project: Project) -> None:
    """Note where a session began; where that cannot be written, its log will say so."""
    with suppress(OSError, MnemarkError):
        write_session_note(root, name, _NOTE, os.fsencode(project.scope or project.repository))


def forget_note(root: Path, session: str) -> None:
    """Remove the note of a session that has ended."""
    with suppress(OSError):
        platform.FS.unlink(session_note(root, log_name(without_keys(session)), _NOTE))
