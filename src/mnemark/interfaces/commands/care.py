"""Commands that look after a workspace: init, sync, status."""

from pathlib import Path
from typing import Annotated

import typer

from mnemark.errors import ReadOnlyError
from mnemark.interfaces import output, render, workspace


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Made if missing.", show_default=False)
    ] = Path(),
    *,
    json: output.Json = False,
) -> None:
    """Make a folder a workspace.

    It gets MEMORY.md, memory/ and mnemark.toml; what is there already stays as it is.
    """
    from mnemark.files import layout, links, old_layouts

    root = folder.expanduser().absolute()
    links.check(root)
    old = old_layouts.detect(root)
    try:
        made = layout.init(root)
    except OSError as error:
        raise ReadOnlyError(
            f"cannot make {root} a workspace: {error.strerror}; name another folder"
        ) from error
    if json:
        output.out_json({"workspace": str(root), "created": made})
    else:
        names = ", ".join(made) or "nothing; it was a workspace already"
        output.out(f"{output.safe(str(root))}: made {names}")
    if made:
        workspace.tell_of_outer(root)
    if old is not None and not old.opens_as_is:
        output.say(f"There are {old.kind} files here: bring them in with `mnemark import {old.kind} {root}`.")


def sync(*, workspace_: output.Workspace = None, json: output.Json = False) -> None:
    """Bring the index to the state of the files."""
    root = workspace.locate(workspace_, any_folder=True)
    with workspace.opened(root) as memory:
        report, problem = workspace.synced(memory)
    if json:
        import msgspec

        output.out_json(msgspec.structs.asdict(report) | {"degraded": [problem] if problem else []})
    else:
        render.report(report)
    if problem:
        output.say(f"Note: {output.safe(problem)}")


def status(*, workspace_: output.Workspace = None, json: output.Json = False) -> None:
    """Show what a workspace holds and how fresh its index is.

    Nothing is changed.
    """
    root = workspace.locate(workspace_, any_folder=True)
    with workspace.opened(root, readonly=True) as memory:
        found = render.Status.of(memory)
    if json:
        output.out_json(found)
    else:
        render.status(found)
