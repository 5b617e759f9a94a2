"""Implement `trust`: say that a folder which was not made here is one's own."""

from pathlib import Path
from typing import Annotated

import typer

from mnemark.errors import NotFoundError, UsageError
from mnemark.interfaces import options, output


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
    from mnemark.files import links
    from mnemark.files import trust as known
    from mnemark.interfaces.trusting import show, what_trust_allows

    root = folder.expanduser().absolute()
    if not root.is_dir():
        raise NotFoundError(f"the folder {root} does not exist")
    links.check(root)
    if revoke:
        known.refuse(root)
        if known.is_trusted(root):
            raise UsageError(f"{root} is listed as trusted in your own configuration; take it out there")
        _tell(root, trusted=False, json=json)
        return
    if not known.is_trusted(root):
        allowed = what_trust_allows(root, notes=True)
        if not yes and output.can_ask() and allowed:
            show(root, allowed)
            if not typer.confirm("Trust it?", default=False, err=True):
                known.refuse(root)
                _tell(root, trusted=False, json=json)
                return
        elif not yes and allowed and not output.can_ask():
            show(root, allowed)
            raise UsageError("nobody can be asked here; add --yes to trust it")
    known.trust(root)
    _tell(root, trusted=True, json=json)


def _tell(root: Path, *, trusted: bool, json: bool) -> None:
    if json:
        output.out_json({"workspace": str(root), "trusted": trusted})
    else:
        state = "is trusted" if trusted else "is not trusted"
        output.out(f"{output.safe(str(root))} {state} on this machine.")
