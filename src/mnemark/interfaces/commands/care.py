"""Implement `init`, `sync` and `status`: create, index and inspect a workspace."""

from pathlib import Path
from typing import Annotated

import typer

from mnemark.errors import IncompleteError, ReadOnlyError
from mnemark.interfaces import options, output, render, workspace


def init(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="[FOLDER]",
            help="The folder to use; created if missing. Default: the current folder.",
            show_default=False,
        ),
    ] = Path(),
    *,
    json: options.Json = False,
) -> None:
    """Turn a folder into a workspace.

    Creates MEMORY.md and mnemark.toml; existing files are not changed.
    """
    from mnemark.files import links, new_workspace, old_layouts, trust
    from mnemark.interfaces.trusting import check_trust, what_trust_allows

    root = folder.expanduser().absolute()
    links.check(root)
    old = old_layouts.detect(root)
    is_new = not what_trust_allows(root, notes=True)
    try:
        made = new_workspace.init(root)
    except OSError as error:
        raise ReadOnlyError(
            f"cannot create a workspace in {root}: {error.strerror}; choose another folder"
        ) from error
    if json:
        output.out_json({"workspace": str(root), "created": made})
    else:
        names = f"created {', '.join(made)}" if made else "already a workspace; nothing was changed"
        output.out(f"{output.safe(str(root))}: {names}")
    if is_new:
        trust.trust_new(root)
    else:
        check_trust(root)
    if made:
        workspace.tell_of_outer(root)
    if old is not None and not old.opens_as_is:
        output.say(f"Found {old.kind} files here. Import them with `mnemark import {old.kind} {root}`.")


def sync(*, workspace_: options.Workspace = None, json: options.Json = False) -> None:
    """Update the search index after files have changed, and finish what was left unfinished.

    Exits with 8 while something is not finished, such as an erase that waits for a file.
    """
    root = workspace.locate(workspace_, any_folder=True)
    if workspace_ is None and not json and workspace.is_empty(root):  # likely the wrong folder
        output.say(workspace.nothing_in(root))
        return
    with workspace.opened(root) as memory:
        report, problem = workspace.synced(memory.sync, memory)
        memory.workspace.searcher.mounts.sync()
        unfinished = memory.workspace.to_finish()
    notes = [*([problem] if problem else []), *unfinished]
    if json:
        import msgspec

        output.out_json(msgspec.structs.asdict(report) | {"degraded": notes})
    else:
        render.report(report)
    for note in notes:
        output.say(f"Note: {output.safe(note)}")
    if unfinished:
        raise typer.Exit(IncompleteError.exit_code)


def status(*, workspace_: options.Workspace = None, json: options.Json = False) -> None:
    """Show counts, the state of the index, and what needs your attention.

    Nothing is changed.
    """
    root = workspace.locate(workspace_, any_folder=True)
    with workspace.opened(root, readonly=True) as memory:
        found = render.Status.of(memory)
    if json:
        output.out_json(found)
    else:
        render.status(found)
