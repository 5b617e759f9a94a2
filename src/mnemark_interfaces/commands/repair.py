"""Implement `doctor` and `verify`: check for damage and repair it."""

from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from mnemark.embed.fetch import RECOMMENDED, describe
from mnemark.embed.fetch import fetch as download
from mnemark.embed.local import LocalEmbedder
from mnemark.errors import IncompleteError, IntegrityError, NewerFormatError, UsageError
from mnemark.memory.health import doctor as health
from mnemark.memory.health import upgrades
from mnemark_agents.connect.check import moved
from mnemark_interfaces import options, output, workspace
from mnemark_interfaces.findings import show_findings

_Fix = Annotated[
    bool, typer.Option("--fix", help="Repair: rebuild a damaged index and close files to other users.")
]
_Fetch = Annotated[
    bool,
    typer.Option(
        "--fetch",
        help="Download an embedding model for fastembed: --model, else the configured one, else the "
        "recommended one.",
    ),
]
_Model = Annotated[
    str, typer.Option(metavar="NAME", help="With --fetch: the name of a model that fastembed supports.")
]


def doctor(
    *,
    workspace_: options.Workspace = None,
    fix: _Fix = False,
    fetch: _Fetch = False,
    model: _Model = "",
    yes: Annotated[bool, typer.Option("--yes", help="With --fetch: download without asking.")] = False,
    json: options.Json = False,
) -> None:
    """Check a workspace and its settings; say what to fix.

    Changes nothing without --fix or --fetch, and never changes your notes. Exits with 6 if something is
    damaged, else with 8 if something is not finished, such as an erase. `mnemark self-check` tries the
    program itself, without a workspace.
    """
    if (model or yes) and not fetch:
        raise UsageError("--model and --yes can only be used with --fetch")
    root = workspace.locate(workspace_, any_folder=True)
    if fetch and not _fetched(root, model, yes=yes):
        return
    try:
        with workspace.opened(root, readonly=not fix) as memory:
            memory.workspace.index.check()
            report = health.doctor(memory.workspace, fix=fix)
    except NewerFormatError:
        raise
    except IntegrityError:
        report = health.doctor(root, fix=fix)  # what cannot be opened can be looked at, and be built anew
    agents = (
        health.Finding("warn", problem, "`mnemark connect --check` tries them all") for problem in moved(root)
    )
    report = replace(report, findings=(*report.findings, *agents))
    _show(report, root, json=json)


def verify(
    *,
    workspace_: options.Workspace = None,
    deep: Annotated[bool, typer.Option("--deep", help="Check everything instead of a sample.")] = False,
    json: options.Json = False,
) -> None:
    """Check the index for damage and compare it with the files.

    Nothing is changed. Exits with 6 if something is damaged, else with 8 if something is not finished.
    """
    root = workspace.locate(workspace_, any_folder=True)
    try:
        with workspace.opened(root, readonly=True) as memory:
            memory.workspace.index.check()
            report = health.verify(memory.workspace, deep=deep)
    except IntegrityError:
        report = health.verify(root, deep=deep)
    _show(report, root, json=json)


def _fetched(root: Path, name: str, *, yes: bool) -> bool:
    """Download a model, after asking, and return whether it is here now.

    Raises:
        UsageError: nobody is there to be asked.
        EmbedderUnavailable: fastembed or the network is missing, or does not know the model.
    """
    with workspace.opened(root, readonly=True) as memory:
        configured = memory.config.embedder
        kind, _, wanted = configured.partition(":")
        model = describe(name or (wanted if kind == "fastembed" else "") or RECOMMENDED)
        size = f"{model.megabytes} MB" if model.megabytes else "of unknown size"
        about = f"{model.name} ({model.dimension} dimensions, {size}, licence {model.licence})"
        if not model.here:
            output.say(f"{about} will be downloaded to {output.safe(str(model.folder))}.")
            refusal = "the download needs a confirmation; add --yes"
            if not yes and not output.confirm("Download it?", "", refusal):
                return False
        seconds = download(model)
        done = f"was downloaded in {seconds:.0f} s" if seconds else "is already downloaded"
        output.say(f"{model.name} {done}.")
        active = f"fastembed:{model.name}"
        if configured != active:
            pace = upgrades.pace(
                LocalEmbedder(model.name), upgrades.sample(memory.workspace), "; embedding all texts"
            )
            output.say(
                f'To use it, set embedder = "{active}" in mnemark.toml, then run `mnemark sync`{pace}.'
            )
    return True


def _show(report: health.HealthReport, root: Path, *, json: bool) -> None:
    if json:
        output.out_json({
            "workspace": str(root), "level": report.level, "fixed": report.fixed, "findings": report.findings,
        })  # fmt: skip
    else:
        show_findings(report.findings)
    if report.level == "error":
        raise typer.Exit(IntegrityError.exit_code)
    if any(finding.kind == health.UNFINISHED for finding in report.findings):
        raise typer.Exit(IncompleteError.exit_code)
