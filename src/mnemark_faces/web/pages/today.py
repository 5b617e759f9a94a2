"""Today: what needs a person, what was learned, changed and recalled, and what it cost."""

from mnemark.memory.browse.check import to_check
from mnemark.memory.transfer.brought import brought
from mnemark.memory.transfer.imports import format_titles
from mnemark_faces.web import charts
from mnemark_faces.web.at import At, PageContent

_DAYS = 30
_LATEST = 8


def today(at: At) -> PageContent:
    """Show the start page."""
    browse = at.memory.browse
    days = browse.activity(days=_DAYS)
    spend = browse.spend(days=1)
    facts = browse.facts(order="recent", limit=_LATEST)
    came = brought(at.memory.workspace)
    _ = at.words
    bars = [
        charts.Bar(
            f"{day.day}: {_.count(day.turns, '{n} turn', '{n} turns')}, "
            f"{_.count(day.changes, '{n} change', '{n} changes')}",
            (day.turns, day.changes),
        )
        for day in days
    ]
    values = {
        "needs": at.memory.attention(),  # after the lists, which have brought the index up to date
        "learned": facts.rows,
        "facts": facts.total or 0,
        "changed": browse.changes(limit=_LATEST).rows,
        "recalled": browse.recalled(limit=_LATEST),
        "activity": charts.bars(_("Turns and changes of the last 30 days"), bars),
        "active": any(day.turns or day.changes for day in days),
        "days": days,
        "turns": sum(day.turns for day in days),
        "spent": spend,
        "brought": came,
        "titles": format_titles() if came else {},
        "unchecked": len(to_check(at.memory.workspace)) if came else 0,
        "empty": not at.memory.workspace.index.exists() or not (facts.total or browse.timeline(limit=1).rows),
    }
    return PageContent("today.html", values, {"attention": values["needs"], "activity": days, "spend": spend})
