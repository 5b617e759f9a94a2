"""`mnemark learn`: what turns say that will still be true, and from which turn it is."""

from typing import TYPE_CHECKING, Annotated

import typer

from mnemark.errors import UsageError
from mnemark.interfaces import render
from mnemark.interfaces.output import DIM, Json, Workspace, out, out_json, safe, safe_line, say, style
from mnemark.interfaces.workspace import locate, opened

if TYPE_CHECKING:
    from mnemark.index.state import Item, Waiting
    from mnemark.memory.learning.by_rule import Report

_FAILED_SHOWN = 20


def learn(
    *,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this session. Default: all, what is new in them.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be learned.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Also from turns that were learned from.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="List what the model failed at.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Let the model try again what failed.")] = False,
    json: Json = False,
    workspace: Workspace = None,
) -> None:
    """Learn facts from what was said, each turn once; show the turn each comes from.

    By rule; where a model and a budget are configured ([llm] in mnemark.toml), the model is asked too.
    """
    if (failed or retry) and (dry_run or again or session):
        raise UsageError("--failed and --retry are about the queue; use them alone")
    root = locate(workspace)
    with opened(root, readonly=False) as memory:
        from mnemark.memory.learning.by_model import learn_all
        from mnemark.memory.learning.by_rule import learn as by_rule
        from mnemark.text.dates.clock import local_now

        state = memory.state
        now = local_now(memory.config.timezone)
        if retry:
            count = state.retry_failed(now)
            if json:
                out_json({"retried": count})
            else:
                again_next = f"{count:,} will be tried again by the next `mnemark learn`."
                say(again_next if count else "Nothing failed.")
            return
        if failed:
            _show_failed(state.failed(), json=json)
            return
        if dry_run or again or session or not memory.config.llm.active:
            report = by_rule(memory, session, dry_run=dry_run, again=again)
        else:
            report = learn_all(memory, budget_seconds=600.0)
        waiting = state.waiting(now)
    if json:
        out_json(report)
    else:
        _show(report, waiting, dry_run=dry_run)


def _show(report: "Report", waiting: "Waiting", *, dry_run: bool) -> None:
    for fact in report.facts:
        out(f"{safe_line(fact.subject)} {safe_line(fact.predicate)}: {safe_line(fact.value)} ({fact.status})")
        out(style(f"  {fact.ref}  {safe_line(fact.quote)}", DIM))
    for note in report.notes:
        say(f"To look at: {safe(note)}")
    new = sum(fact.status in {"learned", "would be learned"} for fact in report.facts)
    say(
        f"{render.counted(report.turns, 'new turn')} in {render.counted(report.sessions, 'session')}, "
        f"{render.counted(new, 'fact')}."
    )
    if dry_run:
        say("Nothing was changed; run it without --dry-run to do it.")
    if any(waiting):
        counts = f"{waiting.due:,} due, {waiting.later:,} later, {waiting.failed:,} failed (--failed)"
        say(f"For the model: {counts}.")


def _show_failed(items: "list[Item]", *, json: bool) -> None:
    if json:
        out_json({"failed": [{"ref": one.ref, "tries": one.tries, "reason": one.reason} for one in items]})
        return
    for item in items[:_FAILED_SHOWN]:
        out(f"{safe_line(item.ref)}  {safe_line(item.reason)}")
    say(f"{len(items):,} failed; `mnemark learn --retry` tries them again." if items else "Nothing failed.")
