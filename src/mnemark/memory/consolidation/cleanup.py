"""Archive files: old reports, and sessions past their retention."""

from datetime import date, timedelta
from typing import Final

from mnemark.files import layout
from mnemark.files.names import free_name
from mnemark.files.sessions import SessionLog, list_sessions
from mnemark.memory.curation.plan import Proposal, ProposedMove, ScopeView

STEP: Final = "clean up"
KEEP_REPORTS: Final = timedelta(days=30)


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
            why = (f"no message for more than {days} days",)
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
