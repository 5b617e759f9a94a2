"""Implement `correct`: say that a fact is wrong, and what is right."""

from typing import Annotated

import typer

from mnemark.facts.correct import Corrected, Right
from mnemark.facts.model import Fact
from mnemark.memory.review.correct import ManyMeantError, meant
from mnemark.memory.review.correct import correct as correct_fact
from mnemark.present.facts import clause, sentence
from mnemark.present.phrases import closed
from mnemark_interfaces import options, output, speech, workspace
from mnemark_interfaces.commands.facts import row, say_later

_Ref = Annotated[
    str,
    typer.Argument(
        metavar="REF",
        help="The fact: its id, or its ref as `mnemark facts` shows it; the id of what waits for review; "
        'or words that only one fact has, such as dentist or "who is my dentist".',
    ),
]
_Value = Annotated[str | None, typer.Argument(metavar="[VALUE]", help="The right value.", show_default=False)]


def correct(
    ref: _Ref,
    value: _Value = None,
    *,
    workspace_: options.Workspace = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help='When it began to hold: 2026-02-20, "last week", 上周五.'),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="When it ended.")] = None,
    subject: Annotated[str | None, typer.Option(metavar="NAME", help="Whom or what it is about.")] = None,
    predicate: Annotated[str | None, typer.Option(metavar="PREDICATE", help="The right property.")] = None,
    never: Annotated[
        bool, typer.Option("--never", help="It was never true: it leaves no value and no history.")
    ] = False,
    scope: options.OneScope = "",
    json: options.Json = False,
) -> None:
    """Correct a fact that is wrong: its value, date, property or subject, or say that it was never true.

    The wrong value leaves at once, as if it had never been so; what was said stays as it was said, marked as
    corrected. For a value that has changed, use `mnemark remember`, which keeps the earlier one as history.
    `mnemark undo` takes a correction back.
    """
    right = Right(value, predicate, subject, since, until, never)
    at = workspace.place(workspace_)
    with workspace.opened(at.root) as memory:
        try:
            done = correct_fact(memory.workspace, meant(memory.workspace, ref, scope=at.scope(scope)), right)
        except ManyMeantError as many:
            _list(many)
            raise
        waiting = dict(memory.workspace.fact_store.blocked)
    result = {"id": done.id, "before": row(done.before), "after": row(done.after), "again": row(done.again)}
    output.out_result({**result, "review": done.review}, _outcome(done), json=json)
    for path, reason in waiting.items():
        say_later(path, reason)


def _list(many: ManyMeantError) -> None:
    """Print what to type for each of the facts that may be meant."""
    words = speech.words()
    for fact in many.found:
        where = f" ({fact.scope})" if fact.scope else ""
        output.hint(f"  mnemark correct {fact.id} …   {output.safe_line(sentence(fact, words))}{where}")


def _outcome(done: Corrected) -> str:
    """Say what came of it, a sentence a line."""
    words = speech.words()
    before = clause(done.before, words)
    if done.after is None:
        lines = [words("It was never true: {fact}", fact=before)]
    else:
        lines = [words("Corrected: {fact}", fact=_right(done, done.after, words))]
        lines += [words("Not: {fact}", fact=before)] if clause(done.after, words) != before else []
    if done.again is not None:
        lines.append(words("This holds again: {fact}", fact=clause(done.again, words)))
    lines.append(words("`mnemark undo {id}` takes it back.", id=done.id))
    return output.safe("\n".join(lines))


def _right(done: Corrected, after: Fact, words: speech.CommandWords) -> str:
    """Return what is right, with the day since when where that was corrected; its end is in the sentence."""
    told = clause(after, words)
    if not after.since or after.since == done.before.since:
        return told
    day = words.date(after.since[:10])
    since = words("{said} (since {day})", said=told.rstrip(".。"), day=day)
    return closed(since, chinese=words.language == "zh")
