"""Implement `learn`: extract facts from turns, with their sources."""

from datetime import datetime
from functools import partial
from typing import Annotated, Final

import typer
from msgspec import to_builtins
from msgspec.structs import replace

from mnemark.errors import UsageError
from mnemark.files import layout
from mnemark.files.config import load_reported
from mnemark.files.user_config import LLMConfig
from mnemark.index.state import QueueCounts, Queued
from mnemark.memory.learning.by_rule import LearningReport, Price, has_sessions
from mnemark.memory.learning.by_rule import learn as by_rule
from mnemark.memory.sessions.reading import learn_all
from mnemark.present.facts import inside, learned
from mnemark.text.dates import local_now
from mnemark_interfaces import render, speech
from mnemark_interfaces.options import Json, Workspace
from mnemark_interfaces.output import DIM, Progress, out, out_json, safe_line, say, spoken, style
from mnemark_interfaces.workspace import locate, opened

_FAILED_SHOWN = 20
STATUSES: Final = {
    "known": "Known already", "review": "Waits for your review", "ended": "No longer so",
    "would be learned": "Would be learned", "would be ended": "Would no longer be so",
}  # fmt: skip
"""What came of a fact that was read and is not just learned."""


_Session = Annotated[
    str | None, typer.Option(metavar="ID", help="Only this session. Default: all new messages.")
]
_Failed = Annotated[
    bool, typer.Option("--failed", help="List messages the language model could not process.")
]
_Retry = Annotated[
    bool, typer.Option("--retry", help="Let the language model read those messages again, now.")
]


def learn(
    *,
    session: _Session = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the facts without saving them.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Also read messages that were read before.")] = False,
    failed: _Failed = False,
    retry: _Retry = False,
    json: Json = False,
    workspace: Workspace = None,
) -> None:
    """Extract facts from conversations.

    Shows the message that each fact comes from. Uses built-in rules; a language model is used as well
    if it has a daily budget ([llm] in mnemark.toml).
    """
    if (failed or retry) and (dry_run or again or session or (failed and retry)):
        raise UsageError("--failed and --retry cannot be combined with another option")
    root = locate(workspace)
    with opened(root, readonly=dry_run or failed) as memory:
        state = memory.workspace.state
        now = local_now(memory.config.timezone)
        count = state.retry_failed(now) if retry else 0
        if retry:
            say("Reading {n} of them again.", n=count) if count else say("Nothing to retry.")
        if failed:
            _show_failed(state.failed(), json=json)
            return
        with Progress() as progress:
            tell = partial(progress.tell, "Reading", more=speech.words()(" conversations"))
            if dry_run or again or session or not memory.config.llm.active:
                report = by_rule(memory.workspace, session, dry_run=dry_run, again=again, progress=tell)
            else:
                report = learn_all(memory.workspace, budget_seconds=600.0, progress=tell)
        ignored = [one.reason for one in load_reported(root).problems if one.path == layout.CONFIG]
        report = replace(report, notes=(*report.notes, *ignored))
        waiting, next_try = state.waiting(now), state.next_try(now)
        none_there = not report.turns and not has_sessions(memory.root)
        llm = memory.config.llm
    if json:
        out_json(to_builtins(report) | ({"retried": count} if retry else {}))
    else:
        _show(report, waiting, next_try, dry_run=dry_run, none_there=none_there)
        if dry_run and report.turns:
            _show_price(report.price, llm)
        elif report.facts:
            say("Look over what was learned with `mnemark review learned`.")


def _show(
    report: LearningReport,
    waiting: QueueCounts,
    next_try: datetime | None,
    *,
    dry_run: bool,
    none_there: bool,
) -> None:
    words = speech.words()
    for fact in report.facts:
        told = learned(fact, words)
        out(
            safe_line(
                told if fact.status == "learned" else words.named(STATUSES[fact.status], inside(told, words))
            )
        )
        out(style(f"  “{safe_line(fact.quote)}”  {fact.ref}", DIM))
    for note in report.notes:
        say("Note: {reason}", reason=spoken(note))
    new = sum(fact.status in {"learned", "would be learned"} for fact in report.facts)
    say(
        "Read {turns} in {sessions}; found {facts}.",
        turns=render.counted(report.turns, "new message"),
        sessions=render.counted(report.sessions, "session"), facts=render.counted(new, "fact"),
    )  # fmt: skip
    if none_there:
        say(
            "There are no conversations here: facts are learned from sessions, not from notes, which are "
            "searched as they are. Record some with `mnemark connect` or `mnemark add --session`, import "
            "them with `mnemark import`, or state a fact with `mnemark remember`."
        )
    if report.asked:
        say(
            "The language model was sent {requests}: {notes} on conversations; {n} of its statements were "
            "not in the messages and left out.",
            requests=render.counted(report.asked, "request"), notes=render.counted(report.noted, "note"),
            n=report.rejected,
        )  # fmt: skip
    if dry_run:
        say("Nothing was changed. Run it again without --dry-run to apply this.")
    if any(waiting):
        counts = [words("{n} now", n=waiting.due)]
        if next_try is not None:
            later = words("{n} later (retry at {time})", n=waiting.later, time=f"{next_try:%H:%M}")
            counts.append(later)
        if waiting.failed:
            counts.append(words("{n} failed (list them with --failed)", n=waiting.failed))
        say("Parts of conversations for the language model to read: {counts}.", counts=words.listed(counts))


def _show_price(price: Price, llm: LLMConfig) -> None:
    """Print what it costs to read these turns: by rule nothing, by a model this much."""
    say("By rule this is done on this machine, and costs nothing.")
    requests = render.counted(price.requests, "request")
    asked = speech.words()("about {requests} and {n} tokens", requests=requests, n=price.tokens)
    if llm.active:
        days = max(-(-price.tokens // llm.tokens_per_day), -(-price.requests // llm.calls_per_day))
        say(
            "The language model is asked as well: {asked}; with its budget, {days}.",
            asked=asked, days=render.counted(days, "day"),
        )  # fmt: skip
    else:
        say("A language model would take {asked}; none is asked, as none has a budget.", asked=asked)


def _show_failed(items: list[Queued], *, json: bool) -> None:
    if json:
        out_json({"failed": [{"ref": one.ref, "tries": one.tries, "reason": one.reason} for one in items]})
        return
    for item in items[:_FAILED_SHOWN]:
        out(f"{safe_line(item.ref)}  {spoken(item.reason)}")
    if items:
        say("{n} failed; retry with `mnemark learn --retry`.", n=len(items))
    else:
        say("Nothing failed.")
