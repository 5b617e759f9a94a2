"""Implement `forget`: hide or erase."""

from typing import Annotated

import typer

from mnemark.errors import IncompleteError
from mnemark.memory.forgetting.receipt import Receipt
from mnemark.present.receipts import forgotten, receipt_text
from mnemark_interfaces import options, output, queries, speech, workspace

_Ref = Annotated[
    str | None,
    typer.Argument(metavar="[REF]", help="PATH#L12, PATH#L12-L14, PATH, or the id of a message or fact."),
]
_Query = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS",
        help='Everything that contains exactly this text, words as a whole; "-" reads it from stdin.',
    ),
]
_Origin = Annotated[
    str | None,
    typer.Option(
        metavar="ORIGIN",
        help="Messages and facts from this source: owner (you), agent, tool, web, file or import.",
    ),
]
_Since = Annotated[
    str | None,
    typer.Option(metavar="TIME", help='Messages and facts recorded since then: 2026-02-13, "yesterday".'),
]
_Scope = Annotated[
    str | None,
    typer.Option(metavar="SCOPE", help="Only in the memory of users/NAME, agents/NAME or projects/NAME."),
]
_Erase = Annotated[
    bool, typer.Option("--erase", help="Delete it from every file and the index. Cannot be undone.")
]
_Git = Annotated[
    bool, typer.Option("--git", help="With --erase: also show how to remove it from git history.")
]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be forgotten, without changing anything.")
]


def forget(
    ref: _Ref = None,
    *,
    workspace_: options.Workspace = None,
    query: _Query = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="All messages of this session.")] = None,
    origin: _Origin = None,
    since: _Since = None,
    scope: _Scope = None,
    erase: _Erase = False,
    git: _Git = False,
    dry_run: _DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Erase without asking.")] = False,
    json: options.Json = False,
) -> None:
    """Hide something from all searches, or erase it from all files.

    Without --erase it stays in the files but is never found, until `mnemark undo`. With --erase it is deleted
    from the whole folder: you see what was found and confirm first; the receipt lists copies that remain
    elsewhere, such as git history. Exits with 8 while something is not erased yet; every sync goes on with
    it.
    """
    at = workspace.place(workspace_)
    if scope:
        at.scope(scope)
    if query == "-":
        query = queries.read_text(query).strip()
    asked = {"query": query, "session": session, "origin": origin, "since": since, "scope": scope}
    with workspace.opened(at.root, readonly=dry_run) as memory:
        if erase and not dry_run and not yes:
            found = memory.forget(ref, **asked, erase=True, dry_run=True, git=git)
            shown = forgotten(memory.workspace, found, None if json else speech.words())
            if shown.action == "nothing" or not _confirmed(shown):
                output.out_result(shown, receipt_text(shown, speech.words()), json=json)
                return
        receipt = memory.forget(ref, **asked, erase=erase, dry_run=dry_run, git=git)
        receipt = forgotten(memory.workspace, receipt, None if json else speech.words())
    output.out_result(receipt, receipt_text(receipt, speech.words()), json=json)
    if receipt.action == "nothing" and query:
        output.say(
            "--query must match the text exactly, capitals too; find the exact text with `mnemark search`."
        )
    if receipt.waiting and not dry_run:
        raise typer.Exit(IncompleteError.exit_code)


def _confirmed(shown: Receipt) -> bool:
    if output.can_ask():
        output.hint(output.safe(receipt_text(shown, speech.words(), closing=False)))
    return output.confirm(
        "Erase this permanently?",
        refusal="erasing cannot be undone and needs a confirmation; check with --dry-run, then add --yes",
    )
