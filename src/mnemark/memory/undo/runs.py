"""Find the changes that were made together, and commit to git what an undo of them changed."""

import logging
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final

from mnemark.files import git
from mnemark.files.journal import FOLDER
from mnemark.memory.open_workspace import OpenWorkspace

_LOG: Final = logging.getLogger(__name__)
_OURS: Final = "mnemark "


def facts_of_runs(ws: OpenWorkspace) -> dict[str, str]:
    """Return the facts that consolidations learned, each with the group of its run."""
    return {fact: run.group for run in ws.edits.runs() for fact in run.facts}


def run_of(ws: OpenWorkspace, identifier: str) -> str:
    """Return the group that an edit, or a fact that was learned, was made in; empty if there is none."""
    edited = next((one.group for one in ws.edits.entries([identifier])), "")
    return edited or facts_of_runs(ws).get(identifier, "")


def members(ws: OpenWorkspace, group: str, known: Collection[str]) -> list[str]:
    """Return the facts and edits of a group that are among the known changes, the last first."""
    if not group:
        return []
    facts = [fact for fact, run in facts_of_runs(ws).items() if run == group]
    edits = [one.id for one in ws.edits.entries() if one.group == group]
    return [one for one in reversed(facts + edits) if one in known]


def commit_undo(ws: OpenWorkspace, what: str, undone: Collection[str], since: datetime) -> None:
    """Commit the files of the edits `undone`, and those written since, if their last commit is mnemark's.

    So an undo leaves the tree as clean as it found it, and commits nothing where people commit themselves.
    """
    entries = ws.edits.entries()
    later = [one for one in entries if one.step == "undo" and one.time is not None and one.time >= since]
    made = [one for one in entries if one.id in undone] + later
    paths = [path for one in made for path in (one.path, one.to) if path]
    committed = git.last_commits(ws.root, paths)
    ours = [path for path, subject in committed.items() if subject.startswith(_OURS)]
    if not ours:
        return
    commit_files(ws, ours, f"mnemark undo: {' '.join(what.split())}\n\nOrigin: owner")


def commit_files(ws: OpenWorkspace, paths: Iterable[str], message: str, along: Iterable[str] = ()) -> None:
    """Commit files to git, with the journal and what goes `along`; a failure is only logged."""
    paths = list(dict.fromkeys(paths))
    along = [f"{FOLDER}/{ws.journal.file}", *along]
    if paths and (problem := git.commit(ws.root, paths, message, along=along)):
        _LOG.warning("no commit of %s: %s", ", ".join(paths), problem)
