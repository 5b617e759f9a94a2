"""Looking for damage and mending it: doctor, verify."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemark.errors import IntegrityError, NewerFormatError
from mnemark.interfaces import options, output, render, workspace

if TYPE_CHECKING:
    from mnemark.memory.repair import Report


def doctor(
    *,
    workspace_: options.Workspace = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend: build the index anew beside the old, compare, exchange.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Say what keeps mnemark from working well.

    Nothing is changed without --fix, and no file that people wrote is changed with it. Ends with 6 where
    something is damaged.
    """
    from mnemark.memory.repair import doctor as examine

    root = workspace.locate(workspace_, any_folder=True)
    try:
        with workspace.opened(root, readonly=not fix) as memory:
            report = examine(memory, fix=fix)
    except NewerFormatError:
        raise
    except IntegrityError:
        report = examine(root, fix=fix)  # what cannot be opened can be looked at, and be built anew
    _show(report, root, json=json)


def verify(
    *,
    workspace_: options.Workspace = None,
    deep: Annotated[bool, typer.Option("--deep", help="Look at everything instead of a sample.")] = False,
    json: options.Json = False,
) -> None:
    """Check the index against itself and the files.

    Nothing is changed. Ends with 6 where something is damaged.
    """
    from mnemark.memory.repair import verify as examine

    root = workspace.locate(workspace_, any_folder=True)
    try:
        with workspace.opened(root, readonly=True) as memory:
            report = examine(memory, deep=deep)
    except IntegrityError:
        report = examine(root, deep=deep)
    _show(report, root, json=json)


def _show(report: "Report", root: Path, *, json: bool) -> None:
    if json:
        output.out_json(
            {
                "workspace": str(root),
                "level": report.level,
                "fixed": report.fixed,
                "findings": report.findings,
            }
        )
    else:
        render.findings(report.findings)
    if report.level == "error":
        raise typer.Exit(IntegrityError.exit_code)
