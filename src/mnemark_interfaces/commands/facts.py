"""Implement `remember` and `facts`: record and list facts."""

from typing import Annotated, Any

import typer

from mnemark.errors import UsageError
from mnemark.facts.model import Fact
from mnemark.present.facts import TOPICS, clause, sentence, topic
from mnemark.present.phrases import bare, capital
from mnemark.present.sources import who
from mnemark_interfaces import options, output, render, speech, workspace

_LONGEST = 100
"""Characters of a sentence that are shown."""
_NO_VALUE = (
    'a fact needs a property and a value: mnemark remember "favorite tea" oolong; '
    'to note a sentence: mnemark add "…"'
)
_Predicate = Annotated[
    str, typer.Argument(metavar="PREDICATE", help='The property, such as "python version", city or 编辑器.')
]
_Value = Annotated[str | None, typer.Argument(metavar="VALUE", help="Its value.", show_default=False)]
_Subject = Annotated[str, typer.Option(metavar="NAME", help="The person or thing the fact is about.")]
_Type = Annotated[
    str, typer.Option("--type", metavar="TYPE", help="Kind of fact: fact, preference, rule, skill or error.")
]
_Since = Annotated[
    str | None,
    typer.Option(metavar="TIME", help='True since: 2026-02-20, "last week", 上周五. Default: now.'),
]
_Origin = Annotated[
    str,
    typer.Option(
        metavar="ORIGIN",
        help="Source of the fact: owner (you), agent, tool, web, file or import. Facts from tool and web "
        "wait for your review.",
    ),
]
_Importance = Annotated[
    float | None, typer.Option(metavar="NUMBER", help="From 0 to 1.", show_default="none")
]
_Confidence = Annotated[
    float | None, typer.Option(metavar="NUMBER", help="From 0 to 1: how certain it is.", show_default="none")
]
_Priority = Annotated[
    str, typer.Option(metavar="PRIORITY", help="How long to keep it: transient, short, long or permanent.")
]
_Source = Annotated[
    str | None, typer.Option(metavar="REF", help="Where it was said, for example sessions/ID.jsonl#L12.")
]
_Tag = Annotated[list[str] | None, typer.Option(metavar="WORD", help="A tag; can be given several times.")]
_Replaces = Annotated[
    str,
    typer.Option(metavar="FACT", help="The fact that this one replaces: its ref or id, see `mnemark facts`."),
]


def remember(
    predicate: _Predicate,
    value: _Value = None,
    *,
    workspace_: options.Workspace = None,
    subject: _Subject = "user",
    type_: _Type = "fact",
    since: _Since = None,
    origin: _Origin = "owner",
    importance: _Importance = None,
    confidence: _Confidence = None,
    priority: _Priority = "",
    source: _Source = None,
    tag: _Tag = None,
    replaces: _Replaces = "",
    scope: options.OneScope = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the result without saving it.")] = False,
    json: options.Json = False,
) -> None:
    """Remember a fact.

    A new value for the same subject and predicate replaces the old one; `mnemark facts --history` shows both.
    Of kinds of which one has many, such as rule, preference or project, each value stands by itself.
    """
    if value is None or not predicate.strip():
        raise UsageError(_NO_VALUE)
    fields: dict[str, Any] = {
        "predicate": predicate, "value": value, "subject": subject, "type": type_, "since": since,
        "origin": origin, "importance": importance, "confidence": confidence, "priority": priority,
        "source": source, "tags": tuple(tag or ()), "replaces": replaces,
    }  # fmt: skip
    at = workspace.place(workspace_)
    with workspace.opened(at.root, readonly=dry_run) as memory:
        fields["scope"] = scope or at.scope_of(subject, predicate, value, type_, dry_run=dry_run)
        known = {one.id: one for one in memory.facts(history=True, scope=str(fields["scope"]))}
        fact = memory.remember_many([fields], dry_run=dry_run)[0]
        waiting = dict(memory.workspace.fact_store.blocked)
    _say_remembered(fact, known, waiting, dry_run=dry_run, json=json)


def _say_remembered(
    fact: Fact, known: dict[str, Fact], waiting: dict[str, str], *, dry_run: bool, json: bool
) -> None:
    """Say what came of a fact that was remembered.

    `known` are the facts of its scope before, by id; `waiting` are the reasons why files were not written.
    """
    before = None if fact.id in known else known.get(fact.supersedes)
    done = {"dry_run": dry_run, "fact": row(fact), "replaces": row(before)}
    output.out_result(done, _outcome(fact, before, known=fact.id in known, dry_run=dry_run), json=json)
    for path, reason in waiting.items():
        say_later(path, reason)


def say_later(path: str, reason: str) -> None:
    """Say that a file could not be written now, and why."""
    output.say(
        "note: the journal has it, and the next sync writes it to {path}: {reason}",
        path=output.safe_line(path), reason=output.spoken(reason),
    )  # fmt: skip


def _outcome(fact: Fact, before: Fact | None, *, known: bool, dry_run: bool) -> str:
    words = speech.words()
    told = clause(fact, words)
    if fact.scope:
        told = words("{fact} (in {scope})", fact=told, scope=fact.scope)
    if known:
        return words("Known already: {fact}", fact=told)
    if fact.review:
        reasons = {
            "untrusted": words("it comes from a tool or the web"),
            "conflict": words("it contradicts a fact from a more trusted source"),
            "removed": words("you removed this fact before"),
        }
        why = words(
            "It would wait for your review, because {reason}; see `mnemark review`."
            if dry_run
            else "It waits for your review, because {reason}; see `mnemark review`.",
            reason=reasons[fact.review],
        )
        held = words(" Until then: {value}.", value=bare(before.value)) if before is not None else ""
        return f"{capital(told)}{held}\n{why}"
    if before is not None:
        told = told + words(" Before: {value}.", value=bare(before.value))
    return words("Would be remembered: {fact}" if dry_run else "Remembered: {fact}", fact=told)


def facts(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="[SUBJECT]", help='Only facts about this person or thing: user, "Li Ming", 项目.'
        ),
    ] = None,
    *,
    workspace_: options.Workspace = None,
    as_of: Annotated[
        str | None, typer.Option(metavar="TIME", help="Facts that were true at that time.")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Also list replaced values.")] = False,
    scope: options.OneScope = "",
    json: options.Json = False,
) -> None:
    """List the facts in sentences, with who said each, since when, and its ref.

    With --history, replaced values are listed below the current one. --json has the parts of each.
    """
    at = workspace.place(workspace_)
    with workspace.opened(at.root, readonly=True) as memory:
        found = list(memory.facts(subject=subject, as_of=as_of, history=history, scope=at.scope(scope)))
    if json:
        output.out_json({"facts": [row(fact) for fact in found]})
        return
    for line in _listed(found, speech.words()):
        output.out(line)
    if found:
        return
    if subject is None:
        output.say("No facts. Add one with `mnemark remember PREDICATE VALUE`.")
    else:
        output.say(
            "No facts about {subject}. Add one with `mnemark remember PREDICATE VALUE`.",
            subject=output.safe_line(subject),
        )


def row(fact: Fact | None) -> dict[str, Any] | None:
    """Return a fact as JSON with all its fields."""
    import msgspec

    return None if fact is None else {**msgspec.structs.asdict(fact), "ref": fact.ref}


def _listed(found: list[Fact], words: speech.CommandWords) -> list[str]:
    """Return the sentences of facts under their headings, aligned; those that no longer hold are dimmed."""
    rows = [
        (
            f"  {_told(fact, words)}", fact.since[:10],
            words("edited by hand") if fact.origin == "file" else who(fact.origin, words),
            output.safe_line(fact.scope), output.safe_line(fact.ref) or words("not in its file yet"),
        )
        for fact in found
    ]  # fmt: skip
    used = [any(column) for column in zip(*rows, strict=True)]
    lines = render.table([[cell for cell, has in zip(row, used, strict=True) if has] for row in rows])
    by_topic: dict[str, list[str]] = {name: [] for name in TOPICS}
    for fact, line in zip(found, lines, strict=True):
        by_topic[topic(fact)].append(output.style(line, output.DIM) if fact.until else line)
    return [
        line
        for name, told in by_topic.items()
        if told
        for line in (output.style(words(name), output.BOLD), *told)
    ]


def _told(fact: Fact, words: speech.CommandWords) -> str:
    told = render.shortened(output.safe_line(sentence(fact, words)), _LONGEST)
    if fact.otherwise is None:
        return told
    doubt = words(
        " (but on {day}: “{quote}”)", day=fact.otherwise.time[:10],
        quote=render.shortened(fact.otherwise.quote, 40),
    )  # fmt: skip
    return told + output.safe_line(doubt)
