"""Implement `init`, `trust`, `sync` and `status`: create, trust, index and inspect a workspace."""

from pathlib import Path
from typing import Annotated

import typer

from mnemark.errors import IncompleteError, NotFoundError, ReadOnlyError, UsageError
from mnemark.files import links, new_workspace, old_layouts
from mnemark.files import trust as trusts
from mnemark.files.layout import workspace_around
from mnemark_interfaces import options, output, render, speech, workspace
from mnemark_interfaces.status import Status
from mnemark_interfaces.status import show as show_status
from mnemark_interfaces.trusting import check_trust, show, what_trust_allows


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
        text = "{path}: created {names}" if made else "{path}: already a workspace; nothing was changed"
        output.tell(text, path=output.safe(str(root)), names=speech.words().listed(made))
    if is_new:
        trusts.trust_new(root)
    else:
        check_trust(root)
    if made:
        _tell_of_outer(root)
    if old is not None and not old.opens_as_is:
        output.say(
            "Found {kind} files here. Import them with `mnemark import {kind} {path}`.",
            kind=old.kind, path=output.safe(str(root)),
        )  # fmt: skip


def _tell_of_outer(root: Path) -> None:
    """Print a message where a new workspace is inside another, which no longer includes it."""
    outer = workspace_around(root)
    if outer is not None:
        output.say(
            "{path} is now a separate workspace; searches in {around} no longer include it.",
            path=output.safe(str(root)), around=output.safe(str(outer)),
        )  # fmt: skip


def trust(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="[FOLDER]", help="The folder. Default: the current folder.", show_default=False
        ),
    ] = Path(),
    *,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust it no longer.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: options.Json = False,
) -> None:
    """Trust a memory that was copied, cloned or moved to this machine.

    Shows what that allows and asks. Folders made here with `init`, `connect` or `restore` are trusted. For
    many folders, list what contains them as `trusted = ["/srv/memories"]` in your own configuration.
    """
    root = folder.expanduser().absolute()
    if not root.is_dir():
        raise NotFoundError(f"the folder {root} does not exist")
    links.check(root)
    if revoke:
        trusts.refuse(root)
        if trusts.is_trusted(root):
            raise UsageError(f"{root} is listed as trusted in your own configuration; take it out there")
        _tell(root, trusted=False, json=json)
        return
    if not trusts.is_trusted(root):
        allowed = what_trust_allows(root, notes=True)
        if not yes and output.can_ask() and allowed:
            show(root, allowed)
            if not output.confirm("Trust it?"):
                trusts.refuse(root)
                _tell(root, trusted=False, json=json)
                return
        elif not yes and allowed and not output.can_ask():
            show(root, allowed)
            raise UsageError("nobody can be asked here; add --yes to trust it")
    trusts.trust(root)
    _tell(root, trusted=True, json=json)


def _tell(root: Path, *, trusted: bool, json: bool) -> None:
    if json:
        output.out_json({"workspace": str(root), "trusted": trusted})
    else:
        text = "{path} is trusted on this machine." if trusted else "{path} is not trusted on this machine."
        output.tell(text, path=output.safe(str(root)))


def sync(*, workspace_: options.Workspace = None, json: options.Json = False) -> None:
    """Update the search index after files have changed, and finish what was left unfinished.

    Exits with 8 while something is not finished, such as an erase that waits for a file.
    """
    root = workspace.locate(workspace_, any_folder=True)
    if workspace_ is None and not json and workspace.is_empty(root):  # likely the wrong folder
        workspace.say_nothing_in(root)
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
        output.say("Note: {reason}", reason=output.spoken(note))
    if unfinished:
        raise typer.Exit(IncompleteError.exit_code)


def status(*, workspace_: options.Workspace = None, json: options.Json = False) -> None:
    """Show counts, the state of the index, and what needs your attention.

    Nothing is changed.
    """
    root = workspace.locate(workspace_, any_folder=True)
    with workspace.opened(root, readonly=True) as memory:
        state = Status.of(memory)
    if json:
        output.out_json(state)
    else:
        show_status(state)
