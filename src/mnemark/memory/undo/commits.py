"""Commit to git what an undo changed, where mnemark had committed it."""

import logging
from collections.abc import Collection
from datetime import datetime
from typing import Final

from mnemark.files import git
from mnemark.files.journal import FOLDER
from mnemark.memory import file_edits
from mnemark.memory.open_workspace import OpenWorkspace

_LOG: Final = logging.getLogger(__name__)
_OURS: Final = "mnemark "


def commit_undo(ws: OpenWorkspace, what: str, undone: Collection[str], since: datetime) -> None:
    """Commit the files of the edits `undone`, and those written since, if their last commit is mnemark's.

    So an undo leaves the tree as clean as it found it, and commits nothing where people commit themselves.
    """
    entries = file_edits.entries(ws)
    later = [one for one in entries if one.step == "undo" and one.time is not None and one.time >= since]
    made = [one for one in entries if one.id in undone] + later
    paths = [path for one in made for path in (one.path, one.to) if path]
    committed = git.last_commits(ws.root, paths)
    ours = [path for path, subject in committed.items() if subject.startswith(_OURS)]
    if not ours:
        return
    message = f"mnemark undo: {' '.join(what.split())}\n\nOrigin: owner"
    along = [f"{FOLDER}/{ws.edits.journal.file}"]
    if problem := git.commit(ws.root, ours, message, along=along):
        _LOG.warning("no commit of %s: %s", ", ".join(ours), problem)
