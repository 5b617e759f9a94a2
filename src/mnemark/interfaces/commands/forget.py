"""Command that hides or erases: forget."""

from typing import TYPE_CHECKING, Annotated

import typer

from mnemark.interfaces import output, workspace

if TYPE_CHECKING:
    from mnemark.memory.forgetting.receipt import Receipt


def forget(
    ref: Annotated[
        str | None,
        typer.Argument(metavar="[REF]", help="PATH#L12, PATH#L12-L14, PATH, or the id of a turn or fact."),
    ] = None,
    *,
    workspace_: output.Workspace = None,
    query: Annotated[
        str | None, typer.Option(metavar="WORDS", help="What holds these very words, letter for letter.")
    ] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="All turns of this session.")] = None,
    origin: Annotated[
        str | None,
        typer.Option(metavar="ORIGIN", help="Turns and facts of owner, agent, tool, web, file or import."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help='Turns and facts recorded from then on: 2026-02-13, "yesterday".'),
    ] = None,
    scope: Annotated[
        str | None, typer.Option(metavar="SCOPE", help="Only in users/NAME, agents/NAME or projects/NAME.")
    ] = None,
    erase: Annotated[
        bool,
        typer.Option("--erase", help="Take the bytes out of every file and the index. Cannot be undone."),
    ] = False,
    git: Annotated[
        bool, typer.Option("--git", help="With --erase: say what to run to rewrite git history too.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would go, and from where.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Erase without asking.")] = False,
    json: output.Json = False,
) -> None:
    """Hide something from every answer, or erase it.

    Without --erase it stays in the files, and `mnemark undo` shows it again. With --erase nothing in the
    folder holds it afterwards; what was found is shown first, and the receipt names what still holds it.
    """
    root = workspace.locate(workspace_)
    asked = {"query": query, "session": session, "origin": origin, "since": since, "scope": scope}
    with workspace.opened(root, readonly=dry_run) as memory:
        if erase and not dry_run and not yes:
            shown = memory.forget(ref, **asked, erase=True, dry_run=True, git=git)
            if shown.action == "nothing" or not _confirmed(shown):
                output.out_result(shown, shown.text, json=json)
                return
        receipt = memory.forget(ref, **asked, erase=erase, dry_run=dry_run, git=git)
    output.out_result(receipt, receipt.text, json=json)
    if receipt.action == "nothing" and query:
        output.say(
            "--query takes words letter for letter, capitals too; `mnemark search` shows how they stand."
        )


def _confirmed(shown: "Receipt") -> bool:
    return output.confirm(
        "Erase this for good?",
        output.safe(shown.text.removesuffix("Nothing was changed.").rstrip()),
        "erasing cannot be undone and nobody can be asked here; look with --dry-run, add --yes",
    )
