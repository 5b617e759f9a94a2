"""Archive files: old reports, sessions past their retention, and conflict copies once they are merged.

Of the copies that syncing tools leave, session logs are joined by the ids of their turns. Of other files only
those are archived whose lines are all in the original; the rest is for a person.
"""

from datetime import date, timedelta
from pathlib import Path
from typing import Final

from mnemark.files import layout, platform
from mnemark.files.copies import Copy, lacking, plan_copies
from mnemark.files.layout import in_scope
from mnemark.files.reading import read
from mnemark.files.scan import scan
from mnemark.files.sessions import SessionLog, list_sessions
from mnemark.files.truth import Folder
from mnemark.memory import file_edits
from mnemark.memory.consolidation.archive import free_name
from mnemark.memory.curation.plan import Proposal, ProposedMove, ScopeView
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import Problem

STEP: Final = "clean up"
KEEP_REPORTS: Final = timedelta(days=30)
_COPIES: Final = "consolidate: copies"
ARCHIVE: Final = "memory/archive/copies"


def propose(view: ScopeView) -> Proposal:
    """Move files past their age to the archive."""
    return Proposal(STEP, (*_old_reports(view), *_old_sessions(view)))


def _old_sessions(view: ScopeView) -> list[ProposedMove]:
    days, root = view.ws.config.retention_days, view.ws.root
    moves: list[ProposedMove] = []
    for info in list_sessions(root / view.scope) if days else ():
        last = SessionLog(root / view.scope, info.id).last(1)
        if last and view.now - last[0].time > timedelta(days=days):
            # A session that went on after it was archived gets another number.
            to = free_name(root, view.path(f"{layout.OLD_SESSIONS}/{info.path.name}"))
            why = (f"no turn for more than {days} days",)
            moves.append(ProposedMove(info.path.relative_to(root).as_posix(), to, why))
    return moves


def _old_reports(view: ScopeView) -> list[ProposedMove]:
    moves = []
    for name in view.names("memory/reports"):
        path = view.path(f"memory/reports/{name}")
        place = layout.place(path)
        day = date.fromisoformat(place.dated) if place is not None and place.dated else None
        if day is not None and view.now.date() - day > KEEP_REPORTS:
            to = path.replace("memory/reports/", "memory/archive/reports/", 1)
            moves.append(ProposedMove(path, to, (f"older than {KEEP_REPORTS.days} days",)))
    return moves


def merge_copies(ws: OpenWorkspace, *, dry_run: bool = False) -> list[str]:
    """Merge the copies that can be merged, and return a line for each, for the report.

    `dry_run` only says which would be. A kill between joining and moving leaves a copy that lacks nothing,
    which the next run moves.
    """
    found = scan(ws.root, ignore=ws.config.ignore)
    told = []
    for copy in plan_copies(entry.path for entry in found.entries):
        if not (ws.root / copy.original).is_file():
            continue
        joined = _joined_log(ws.truth, copy, dry_run=dry_run) if _is_log(copy) else _all_there(ws.root, copy)
        if joined is None:
            continue
        if dry_run:
            told.append(f"{copy.path}: {joined}; would be moved to {ARCHIVE}")
            continue
        scope = layout.scope_of(copy.path)
        flat = copy.path.removeprefix(f"{scope}/").replace("/", "-")
        to = free_name(ws.root, in_scope(scope, f"{ARCHIVE}/{flat}"))
        if file_edits.move(ws, copy.path, to, step=_COPIES).status == "written":
            told.append(f"{copy.path}: {joined}; moved to {to}")
    return told


def _is_log(copy: Copy) -> bool:
    place = layout.place(copy.original)
    return copy.kind == "jsonl" and place is not None and place.kind == "turn"


def _joined_log(truth: Folder, copy: Copy, *, dry_run: bool) -> str | None:
    """Join a log, and return what was done; None where a person has to decide."""
    target, source = truth.root / copy.original, truth.root / copy.path
    with truth.change():
        missing = lacking(platform.content(target), platform.content(source))
        if missing.unclear:
            return None
        if not dry_run:
            truth.append(copy.original, missing.lines)
    turns = "1 turn" if len(missing.lines) == 1 else f"{len(missing.lines):,} turns"
    done = "would be" if dry_run else "was" if len(missing.lines) == 1 else "were"
    return f"{turns} {done} joined to {copy.original}"


def _all_there(root: Path, copy: Copy) -> str | None:
    if copy.kind != "markdown":
        return None
    original, other = read(root, copy.original), read(root, copy.path)
    if isinstance(original, Problem) or isinstance(other, Problem):
        return None
    here = {line.strip() for line in original.text.splitlines()}
    there = {line.strip() for line in other.text.splitlines()} - {""}
    return f"{copy.original} has all its turns" if there <= here else None
