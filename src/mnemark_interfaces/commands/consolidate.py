"""Implement `consolidate`: run the nightly consolidation now, or show what it would change."""

import shlex
from typing import Annotated

import typer

from mnemark.files.config import load
from mnemark.memory.consolidation.report import Applied, Consolidated
from mnemark.present.changes import of_run
from mnemark.present.facts import inside, learned
from mnemark_interfaces import speech
from mnemark_interfaces.commands.learn import STATUSES
from mnemark_interfaces.options import Json, Workspace
from mnemark_interfaces.output import BOLD, DIM, out, out_json, safe, safe_line, say, spoken, style
from mnemark_interfaces.workspace import locate, opened

_Force = Annotated[
    bool,
    typer.Option("--force", help="Run even if another machine consolidated this workspace in the last days."),
]
_Commit = Annotated[
    bool | None,
    typer.Option(
        "--commit/--no-commit",
        help="Make a git commit for each step, if the workspace is the root of a repository. "
        "Default: the setting consolidate.commit.",
        show_default=False,
    ),
]
_Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        help="Read daily notes since this day, e.g. 2026-02-01 or 'last month'. "
        "Default: the last 7 days, or since the last run.",
        show_default=False,
    ),
]
_Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="PART",
        help="Do this part alone, as --dry-run names it, or all parts of a step, such as refresh; "
        "can be repeated.",
    ),
]


def consolidate(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the changes without making them.")] = False,
    force: _Force = False,
    commit: _Commit = None,
    since: _Since = None,
    only: _Only = None,
    json: Json = False,
    workspace: Workspace = None,
) -> None:
    """Merge duplicates, archive unused facts, update core memory.

    Core memory is MEMORY.md and USER.md. This runs by itself once a day. Each change is listed and can be
    undone with `mnemark undo`.
    """
    root = locate(workspace)
    # A model is asked in a dry run, too, and what that costs is written down.
    with opened(root, readonly=dry_run and not load(root).llm.active) as memory:
        report = memory.consolidate(
            dry_run=dry_run, force=force, commit=commit, since=since, only=only or None
        )
        if not dry_run and (report.changed or report.learned):
            memory.sync(embed=False)
    if json:
        out_json(report)
    else:
        _show(report)


def _show(report: Consolidated) -> None:
    if report.skipped:
        say("Nothing was done: {reason}.", reason=spoken(report.skipped))
        return
    words = speech.words()
    if report.changed:
        out(safe(of_run(report, words)))
    for fact in report.found:
        status = "Would be learned" if report.dry_run else STATUSES.get(fact.status, "Learned")
        out(safe_line(f"{words.named(status, inside(learned(fact, words), words))}  {fact.ref}"))
    for edit in report.edits:
        _show_edit(edit, words, planned=report.dry_run)
    for note in report.notes:
        say("Note: {reason}", reason=spoken(note))
    if not report.edits:
        say("Nothing to change." if not report.learned else "Nothing else to change.")
    elif report.dry_run:
        say("Nothing was changed. Run it again without --dry-run to apply this.")
    elif report.group:
        say("Undo all of this with `mnemark undo {id}`.", id=report.group)


def _show_edit(edit: Applied, words: speech.CommandWords, *, planned: bool) -> None:
    told = words.named(edit.step, edit.path)
    if edit.status != "written":
        told = words("{value} ({more})", value=told, more=words(edit.status))
    out(style(told, BOLD))
    if planned:
        out(style(f"  --only {shlex.quote(safe(edit.part))}", DIM))
    for reason in edit.why:
        out(style(f"  {spoken(reason)}", DIM))
    if planned:
        out(safe(edit.diff))
