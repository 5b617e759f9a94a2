"""Implement `remember` and `facts`: record and list facts."""

from typing import Annotated, Any

import typer

from mnemark.errors import UsageError
from mnemark.facts.model import Fact
from mnemark_interfaces import options, output, render, workspace

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
        output.say(f"note: the journal has it, and the next sync writes it to {path}: {output.safe(reason)}")


def _outcome(fact: Fact, before: Fact | None, *, known: bool, dry_run: bool) -> str:
    kept_in = f" (in {fact.scope})" if fact.scope else ""
    if known:
        return f"{fact} (known already){kept_in}"
    if fact.review:
        reasons = {
            "untrusted": "it comes from a tool or the web",
            "conflict": "it contradicts a fact from a more trusted source",
            "removed": "you removed this fact before",
        }
        would = "would wait" if dry_run else "waiting"
        held = f" (current value: {before.value})" if before is not None else ""
        why = f"{would} for your review, because {reasons[fact.review]}; see `mnemark review`"
        return f"{fact}{held}{kept_in}\n{why}"
    would = "would be remembered: " if dry_run else ""
    replaced = f" (replaces: {before.value})" if before is not None else ""
    return f"{would}{fact}{replaced}{kept_in}"


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
    """List the facts: subject, predicate, value and dates.

    With --history, replaced values are listed below the current one.
    """
    at = workspace.place(workspace_)
    with workspace.opened(at.root, readonly=True) as memory:
        found = list(memory.facts(subject=subject, as_of=as_of, history=history, scope=at.scope(scope)))
    if json:
        output.out_json({"facts": [row(fact) for fact in found]})
        return
    for line in _table(found):
        output.out(line)
    if not found:
        about = "" if subject is None else f" about {output.safe(subject)}"
        output.say(f"No facts{about}. Add one with `mnemark remember PREDICATE VALUE`.")


def row(fact: Fact | None) -> dict[str, Any] | None:
    """Return a fact as JSON with all its fields."""
    import msgspec

    return None if fact is None else {**msgspec.structs.asdict(fact), "ref": fact.ref}


def _value(fact: Fact) -> str:
    doubt = "" if fact.otherwise is None else f" ({render.shortened(str(fact.otherwise), 60)})"
    return render.shortened(output.safe_line(fact.value), 60) + output.safe_line(doubt)


def _table(found: list[Fact]) -> list[str]:
    """Return aligned columns; facts that no longer hold are dimmed."""
    if not found:
        return []
    safe = output.safe_line
    scopes = any(fact.scope for fact in found)
    head = ["subject", "predicate", "value", "since", "until", "origin", *(["scope"] * scopes), "ref"]
    rows = [
        [
            safe(fact.subject), safe(fact.predicate) or "-", _value(fact),
            fact.since[:10], fact.until[:10],
            "edited by hand" if fact.origin == "file" else fact.origin, *([fact.scope] * scopes),
            safe(fact.ref) or "pending",
        ]
        for fact in found
    ]  # fmt: skip
    first, *lines = render.table([head, *rows])
    styled = (
        output.style(line, output.DIM) if fact.until else line
        for line, fact in zip(lines, found, strict=True)
    )
    return [output.style(first, output.BOLD), *styled]
