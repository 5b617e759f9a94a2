"""Cleaning up by age: reports go to the archive, and so do sessions where a retention is set."""

from datetime import date, timedelta
from typing import Final

from mnemark.files import layout
from mnemark.memory.upkeep.plan import Look, Move, Proposal

STEP: Final = "clean up"
KEEP_REPORTS: Final = timedelta(days=30)


def propose(look: Look) -> Proposal:
    """Move what is past its age to the archive."""
    return Proposal(STEP, tuple(_old_reports(look)))


def _old_reports(look: Look) -> list[Move]:
    folder = look.memory.root / look.path("memory/reports")
    moves = []
    for file in sorted(folder.glob("*.md")) if folder.is_dir() else ():
        path = look.path(f"memory/reports/{file.name}")
        place = layout.place(path)
        day = date.fromisoformat(place.dated) if place is not None and place.dated else None
        if day is not None and look.now.date() - day > KEEP_REPORTS:
            to = path.replace("memory/reports/", "memory/archive/reports/", 1)
            moves.append(Move(path, to, (f"older than {KEEP_REPORTS.days} days",)))
    return moves
