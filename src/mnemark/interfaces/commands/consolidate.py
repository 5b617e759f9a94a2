"""`mnemark consolidate`: what a night's upkeep does, now, or what it would do."""

from typing import TYPE_CHECKING, Annotated

import typer

from mnemark.interfaces.output import BOLD, DIM, Json, Workspace, out, out_json, safe, say, style
from mnemark.interfaces.workspace import locate, opened

if TYPE_CHECKING:
    from mnemark.memory.consolidation.run import Report


def consolidate(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also where another machine consolidated these days.")
    ] = False,
    commit: Annotated[
        bool | None,
        typer.Option(
            "--commit/--no-commit",
            help="Commit each step's files, in the root of a git repository. Default: as configured.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            help="Read daily notes from this day on, e.g. 2026-02-01 or 'last month'. "
            "Default: the last 7 days, or since the last run.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    workspace: Workspace = None,
) -> None:
    """Merge what repeats, archive what has faded, refresh MEMORY.md and USER.md, and report."""
    root = locate(workspace)
    with opened(root) as memory:
        report = memory.consolidate(dry_run=dry_run, force=force, commit=commit, since=since)
        if not dry_run and (report.changed or report.learned):
            memory.sync(embed=False)
    if json:
        out_json(report)
    else:
        _show(report)


def _show(report: "Report") -> None:
    if report.skipped:
        say(f"Nothing done: {report.skipped}.")
        return
    for fact in report.learned:
        out(f"{'would be learned first' if report.dry_run else 'learned'}: {safe(fact)}")
    for edit in report.edits:
        state = "" if edit.status == "written" else f" ({edit.status})"
        out(style(f"{edit.step}: {edit.path}{state}", BOLD))
        for reason in edit.why:
            out(style(f"  {safe(reason)}", DIM))
        if report.dry_run:
            out(safe(edit.diff))
    for note in report.notes:
        say(f"To look at: {safe(note)}")
    if not report.edits:
        say("Nothing to change." if not report.learned else "Nothing else to change.")
    elif report.dry_run:
        say("Nothing was changed; run it without --dry-run to do it.")
    elif report.group:
        say(f"Take it all back with `mnemark undo {report.group}`.")
