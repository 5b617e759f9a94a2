"""Commit to git what a consolidation wrote, and what sessions wrote since the one before."""

import logging
from collections.abc import Iterable, Mapping
from typing import Final

from mnemark.files import git
from mnemark.files.journal import FOLDER, changes_of
from mnemark.memory import file_edits
from mnemark.memory.consolidation import cleanup
from mnemark.memory.consolidation.report import Report, path_of
from mnemark.memory.journal.edits import Entry
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.sessions.observations import AGE_OUT

_LOG: Final = logging.getLogger(__name__)
_LEARN: Final = "learn"


def commit(ws: OpenWorkspace, report: Report, after: str) -> None:
    """Make a commit of what was learned, and of each step that changed something.

    The first one holds what sessions wrote since the last consolidation, whose journal line has the id
    `after`: their episodes, notes and facts. The journal and the report go along with the first commit, as
    does what only tidied up; alone they make none. A commit names the groups that `undo` takes back, and the
    sessions.
    """
    written = [edit for edit in report.edits if edit.status == "written"]
    entries = [one for one in file_edits.entries(ws) if one.state == "done" and one.id > after]
    made = [one for one in entries if one.group != report.group and one.step != AGE_OUT]
    tidied = [path for edit in written if edit.step == cleanup.STEP for path in edit.path.split(" → ")]
    tidied += [one.path for one in entries if one.step == AGE_OUT]
    along = [f"{FOLDER}/{ws.edits.journal.file}", path_of(report), *tidied]
    _commit(ws, _learned_paths(ws, made, after), along, _learned_message(report, made))
    for step in dict.fromkeys(edit.step for edit in written if edit.step != cleanup.STEP):
        mine = [edit for edit in written if edit.step == step]
        paths = [path for edit in mine for path in edit.path.split(" → ")]
        reasons = [reason for edit in mine for reason in edit.why]
        _commit(ws, paths, along, _message(step, reasons, {"Origin": ["agent"], "Undo": [report.group]}))


def last_run(ws: OpenWorkspace) -> str:
    """Return the id of the last consolidation's journal line; empty if there is none."""
    return max((change.id for change in changes_of(ws.root, ("consolidate",))), default="")


def _commit(ws: OpenWorkspace, paths: Iterable[str], along: Iterable[str], message: str) -> None:
    paths = list(dict.fromkeys(paths))
    if paths and (problem := git.commit(ws.root, paths, message, along=list(along))):
        _LOG.warning("no commit of %s: %s", ", ".join(paths), problem)


def _learned_paths(ws: OpenWorkspace, made: Iterable[Entry], after: str) -> list[str]:
    """Return the files of these edits, and the fact files written since then."""
    paths = [path for one in made for path in (one.path, one.to) if path]
    for change in changes_of(ws.root, ("project",)):
        payload = change.payload if isinstance(change.payload, Mapping) else {}
        if change.id > after:
            paths.append(str(payload.get("path", "")))
    return [path for path in paths if path]


def _learned_message(report: Report, made: Iterable[Entry]) -> str:
    sessions = sorted({one.session for one in made if one.session})
    groups = dict.fromkeys([report.group, *(one.group for one in made)])
    told = sessions[0] if len(sessions) == 1 else f"{len(sessions)} sessions"
    step = f"{_LEARN} from {' '.join(told.split())}" if sessions else _LEARN
    return _message(step, report.learned, {"Session": sessions, "Origin": ["agent"], "Undo": groups})


def _message(step: str, reasons: Iterable[str], trailers: Mapping[str, Iterable[str]]) -> str:
    """Return a commit message; no name of a session or group can add a line to it."""
    told = "\n".join(dict.fromkeys(" ".join(reason.split()) for reason in reasons))
    rows = [f"{name}: {' '.join(one.split())}" for name, values in trailers.items() for one in values if one]
    return "\n\n".join(filter(None, (f"mnemark consolidate: {step}", told, "\n".join(rows))))
