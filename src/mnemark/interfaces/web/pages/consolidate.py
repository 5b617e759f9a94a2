"""Consolidation: what it would change, as diffs, and running it."""

from mnemark.interfaces.web.at import At, Go, Shown


def consolidate(at: At) -> Shown:
    """Show the button, or after it was asked for, what a run would change."""
    report = at.memory.consolidate(dry_run=True, force=True) if at.asked("look") else None
    return Shown("consolidate.html", {"report": report}, report)


def run(at: At) -> Go:
    """Run it."""
    report = at.memory.consolidate(force=True)
    if report.changed:
        at.tell(at.words.count(len(report.edits), "Consolidated: {n} edit", "Consolidated: {n} edits"),
                undo=report.group)  # fmt: skip
    else:
        at.tell("Nothing was to be consolidated.")
    return Go(at.link("changes") if report.changed else at.link("consolidate"))
