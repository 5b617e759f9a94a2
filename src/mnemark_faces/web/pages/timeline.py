"""The timeline: what was said, noted and changed, by day."""

from itertools import groupby
from typing import Any

from mnemark.memory.browse.entries import SHOWN
from mnemark.types import ORIGINS
from mnemark_faces.web.at import At, PageContent


def timeline(at: At) -> PageContent:
    """Show entries, the latest first."""
    kinds: Any = [one for one in at.all_asked("kind") if one in {*SHOWN, "fact"}]
    origins: Any = [one for one in at.all_asked("origin") if one in ORIGINS]
    page = at.memory.browse.timeline(
        kinds=kinds or SHOWN, origins=origins, until=at.asked("until") or None, session=at.asked("session"),
        tool=at.asked("tool"), limit=at.number("limit", 50), after=at.asked("after"),
    )  # fmt: skip
    days = [(day, list(rows)) for day, rows in groupby(page.rows, key=lambda entry: entry.time[:10])]
    newest = page.rows[0].key if page.rows else ""
    narrowed = kinds or origins or any(map(at.asked, ("until", "after", "session", "tool")))
    values = {
        "days": days, "next": page.next, "kinds": kinds, "origins": origins, "until": at.asked("until"),
        "session": at.asked("session"), "tool": at.asked("tool"),
        "all_kinds": SHOWN, "all_origins": ORIGINS,
        "newest": "" if narrowed else newest,
    }  # fmt: skip
    return PageContent("timeline.html", values, page)
