"""Commands that look for damage and repair it: doctor, verify."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemark.errors import IntegrityError, NewerFormatError, UsageError
from mnemark.interfaces import output, render, workspace

if TYPE_CHECKING:
    from mnemark.memory.health.doctor import Report


def doctor(
    *,
    workspace_: output.Workspace = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend: build the index anew beside the old, compare, exchange.")
    ] = False,
    fetch: Annotated[
        bool,
        typer.Option(
            "--fetch",
            help="Download a model for fastembed: the configured one, --model, or the one we recommend.",
        ),
    ] = False,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="With --fetch: a name of fastembed's list.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="With --fetch: do not ask.")] = False,
    json: output.Json = False,
) -> None:
    """Say what keeps mnemark from working well.

    Nothing is changed without --fix or --fetch, and no file that people wrote is changed with them. Ends with
    6 where something is damaged.
    """
    from mnemark.memory.health.doctor import doctor as examine

    if (model or yes) and not fetch:
        raise UsageError("--model and --yes belong to --fetch")
    root = workspace.locate(workspace_, any_folder=True)
    if fetch and not _fetched(root, model, yes=yes):
        return
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
    workspace_: output.Workspace = None,
    deep: Annotated[bool, typer.Option("--deep", help="Look at everything instead of a sample.")] = False,
    json: output.Json = False,
) -> None:
    """Check the index against itself and the files.

    Nothing is changed. Ends with 6 where something is damaged.
    """
    from mnemark.memory.health.doctor import verify as examine

    root = workspace.locate(workspace_, any_folder=True)
    try:
        with workspace.opened(root, readonly=True) as memory:
            report = examine(memory, deep=deep)
    except IntegrityError:
        report = examine(root, deep=deep)
    _show(report, root, json=json)


def _fetched(root: Path, name: str, *, yes: bool) -> bool:
    """Download a model, after asking, and return whether it is here now.

    Raises:
        UsageError: nobody is there to be asked.
        EmbedderUnavailable: fastembed or the network is missing, or does not know the model.
    """
    from mnemark.embed.fetch import RECOMMENDED, describe
    from mnemark.embed.fetch import fetch as download
    from mnemark.embed.local import LocalEmbedder
    from mnemark.memory.health import upgrades

    with workspace.opened(root, readonly=True) as memory:
        configured = memory.config.embedder
        kind, _, wanted = configured.partition(":")
        model = describe(name or (wanted if kind == "fastembed" else "") or RECOMMENDED)
        size = f"{model.megabytes} MB" if model.megabytes else "of unknown size"
        about = f"{model.name} ({model.dimension} dimensions, {size}, licence {model.licence})"
        if not model.here:
            output.say(f"{about} will be downloaded into {output.safe(str(model.folder))}.")
            refusal = "nobody can be asked here whether to download that; add --yes"
            if not yes and not output.confirm("Download it?", "", refusal):
                return False
        seconds = download(model)
        done = f"was fetched in {seconds:.0f} s" if seconds else "was here already"
        output.say(f"{model.name} {done}.")
        active = f"fastembed:{model.name}"
        if configured != active:
            pace = upgrades.pace(LocalEmbedder(model.name), upgrades.sample(memory), "; embedding all")
            output.say(f'To use it, set embedder = "{active}" in mnemark.toml{pace}.')
    return True


def _show(report: "Report", root: Path, *, json: bool) -> None:
    if json:
        output.out_json({
            "workspace": str(root), "level": report.level, "fixed": report.fixed, "findings": report.findings,
        })  # fmt: skip
    else:
        render.findings(report.findings)
    if report.level == "error":
        raise typer.Exit(IntegrityError.exit_code)
