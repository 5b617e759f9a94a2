"""Facts by hand: remember, facts."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemark.interfaces import output, render, workspace

if TYPE_CHECKING:
    from mnemark.facts.model import Fact

_OneScope = Annotated[
    str, typer.Option(metavar="SCOPE", help="Whose memory: users/NAME, agents/NAME, projects/NAME.")
]


def remember(
    predicate: Annotated[
        str, typer.Argument(metavar="PREDICATE", help='What it is about: "python version", 编辑器.')
    ],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="What it is.")],
    *,
    workspace_: output.Workspace = None,
    subject: Annotated[str, typer.Option(metavar="NAME", help="Whom or what it is about.")] = "user",
    type_: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="fact, preference, rule, skill or error.")
    ] = "fact",
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help='From when it holds: 2026-02-20, "last week", 上周五.')
    ] = None,
    origin: Annotated[
        str, typer.Option(metavar="ORIGIN", help="Who says so: owner, agent, tool, web, file or import.")
    ] = "owner",
    importance: Annotated[
        float | None, typer.Option(metavar="SHARE", help="From 0 to 1.", show_default="none")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="WORD", help="May be given several times.")] = None,
    scope: _OneScope = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would become of it.")] = False,
    json: output.Json = False,
) -> None:
    """Remember a fact.

    A newer value of the same subject and predicate takes the place of the older one, which stays as history.
    """
    fields: dict[str, Any] = {
        "predicate": predicate, "value": value, "subject": subject, "type": type_, "since": since,
        "origin": origin, "importance": importance, "tags": tuple(tag or ()), "scope": scope,
    }  # fmt: skip
    with workspace.opened(workspace.locate(workspace_), readonly=dry_run) as memory:
        fact = memory.remember_many([fields], dry_run=dry_run)[0]
        versions = memory.facts(subject=fact.subject, history=True, scope=fact.scope)
        before = next((one for one in versions if one.id == fact.supersedes), None)
    done = {"dry_run": dry_run, "fact": row(fact), "replaces": row(before)}
    output.out_result(done, _outcome(fact, before, dry_run=dry_run), json=json)


def _outcome(fact: "Fact", before: "Fact | None", *, dry_run: bool) -> str:
    if fact.review:
        reasons = {
            "untrusted": "what tools and the web say is no fact until you accept it",
            "conflict": "it contradicts someone who is trusted more",
            "removed": "you removed it before",
        }
        would = "would wait" if dry_run else "waits"
        held = f" (now: {before.value})" if before is not None else ""
        return f"{fact}{held}\n{would} for review: {reasons[fact.review]}; `mnemark review` decides"
    would = "would be remembered: " if dry_run else ""
    replaced = f" (before: {before.value})" if before is not None else ""
    return f"{would}{fact}{replaced}"


def facts(
    subject: Annotated[
        str | None, typer.Argument(metavar="[SUBJECT]", help='Only about this one: user, "Li Ming", 项目.')
    ] = None,
    *,
    workspace_: output.Workspace = None,
    as_of: Annotated[str | None, typer.Option(metavar="TIME", help="Those that held then.")] = None,
    history: Annotated[bool, typer.Option("--history", help="Also the values before.")] = False,
    scope: _OneScope = "",
    json: output.Json = False,
) -> None:
    """List what is known: subject, predicate, value, since when.

    With --history a value that was replaced stands below the one that took its place.
    """
    root = workspace.locate(workspace_)
    with workspace.opened(root) as memory:
        found = list(memory.facts(subject=subject, as_of=as_of, history=history, scope=scope))
    if json:
        output.out_json({"facts": [row(fact) for fact in found]})
        return
    for line in _table(found):
        output.out(line)
    if not found:
        about = "" if subject is None else f" about {output.safe(subject)}"
        output.say(f"No facts{about}. Add one: mnemark remember PREDICATE VALUE")


def row(fact: "Fact | None") -> dict[str, Any] | None:
    """Return a fact as JSON with all its fields."""
    import msgspec

    return None if fact is None else {**msgspec.structs.asdict(fact), "ref": fact.ref}


def _table(found: "list[Fact]") -> list[str]:
    """Return aligned columns; facts that no longer hold are dimmed."""
    if not found:
        return []
    safe = output.safe_line
    scopes = any(fact.scope for fact in found)
    head = ["subject", "predicate", "value", "since", "until", "origin", *(["scope"] * scopes), "ref"]
    rows = [
        [
            safe(fact.subject), safe(fact.predicate) or "-", render.shortened(safe(fact.value), 60),
            fact.since[:10], fact.until[:10], fact.origin, *([fact.scope] * scopes),
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
