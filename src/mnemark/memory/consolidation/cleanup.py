"""Archive by age: reports, and sessions where a retention is set."""

from datetime import date, timedelta
from typing import Final

from mnemark.files import layout
from mnemark.files.sessions import SessionLog, list_sessions
from mnemark.memory.curation.plan import Move, Proposal, ScopeView

STEP: Final = "clean up"
KEEP_REPORTS: Final = timedelta(days=30)


def propose(look: ScopeView) -> Proposal:
    """Move what is past its age to the archive."""
    return Proposal(STEP, (*_old_reports(look), *_old_sessions(look)))


def _old_sessions(look: ScopeView) -> list[Move]:
    """Session logs in which nothing was said for as long as they are kept; they stay as they are."""
    days = look.ws.config.retention_days
    moves: list[Move] = []
    if not days:
        return moves
    for info in list_sessions(look.ws.root / look.scope):
        last = SessionLog(look.ws.root / look.scope, info.id).last(1)
        if not last or look.now - last[0].time <= timedelta(days=days):
            continue
        path = info.path.relative_to(look.ws.root).as_posix()
        to = _free(look, f"{layout.OLD_SESSIONS}/{info.path.name}")
        moves.append(Move(path, to, (f"no turn for more than {days} days",)))
    return moves


def _free(look: ScopeView, path: str) -> str:
    """A name in the archive; a session that went on after it was archived gets another number."""
    stem, number, found = path.removesuffix(".jsonl"), 1, path
    while (look.ws.root / look.path(found)).exists():
        number += 1
        found = f"{stem}-{number}.jsonl"
    return look.path(found)


def _old_reports(look: ScopeView) -> list[Move]:
    moves = []
    for name in look.names("memory/reports"):
        path = look.path(f"memory/reports/{name}")
        place = layout.place(path)
        day = date.fromisoformat(place.dated) if place is not None and place.dated else None
        if day is not None and look.now.date() - day > KEEP_REPORTS:
            to = path.replace("memory/reports/", "memory/archive/reports/", 1)
            moves.append(Move(path, to, (f"older than {KEEP_REPORTS.days} days",)))
    return moves
