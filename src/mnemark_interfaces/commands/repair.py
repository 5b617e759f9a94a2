"""Implement `doctor` and `verify`: check for damage and repair it."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from mnemark.embed.fetch import RECOMMENDED, Model, describe
from mnemark.embed.fetch import fetch as download
from mnemark.embed.local import LocalEmbedder
from mnemark.errors import IncompleteError, IntegrityError, NewerFormatError, UsageError
from mnemark.memory.health import doctor as health
from mnemark.memory.health import upgrades
from mnemark_agents.connect.check import moved
from mnemark_interfaces import options, output, render, speech, workspace

_SHOWN_ALIKE = 5
"""Maximum number of findings of one kind shown."""


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
    """Check installation, settings and workspace; say what to fix.

    Changes nothing without --fix or --fetch, and never changes your notes. Exits with 6 if something is
    damaged, else with 8 if something is not finished, such as an erase.
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
        if not model.here:
            _describe(model)
            refusal = "the download needs a confirmation; add --yes"
            if not yes and not output.confirm("Download it?", refusal=refusal):
                return False
        seconds = download(model)
        text = "{model} was downloaded in {seconds} s." if seconds else "{model} is already downloaded."
        output.say(text, model=model.name, seconds=f"{seconds:.0f}")
        active = f"fastembed:{model.name}"
        if configured != active:
            pace = upgrades.pace(
                LocalEmbedder(model.name), upgrades.sample(memory.workspace), "; embedding all texts"
            )
            output.say(
                'To use it, set embedder = "{model}" in mnemark.toml, then run `mnemark sync`{pace}.',
                model=active, pace=output.spoken(pace),
            )  # fmt: skip
    return True


def _describe(model: Model) -> None:
    words = speech.words()
    size = f"{model.megabytes} MB" if model.megabytes else words("of unknown size")
    output.say(
        "{model} ({n} dimensions, {size}, licence {licence}) will be downloaded to {path}.",
        model=model.name, n=model.dimension, size=size, licence=model.licence,
        path=output.safe(str(model.folder)),
    )  # fmt: skip


def _show(report: health.HealthReport, root: Path, *, json: bool) -> None:
    if json:
        output.out_json({
            "workspace": str(root), "level": report.level, "fixed": report.fixed, "findings": report.findings,
        })  # fmt: skip
    else:
        _show_findings(report.findings)
    if report.level == "error":
        raise typer.Exit(IntegrityError.exit_code)
    if any(finding.kind == health.UNFINISHED for finding in report.findings):
        raise typer.Exit(IncompleteError.exit_code)


def _show_findings(findings: Sequence[health.Finding]) -> None:
    """Print findings, one line each with its fix; of each kind at most `_SHOWN_ALIKE`."""
    words = speech.words()
    styles = {"ok": output.DIM, "warn": output.YELLOW, "error": output.RED}
    width = max(render.width(words(name)) for name in styles)
    for (_, kind, _), alike in itertools.groupby(
        enumerate(findings), lambda pair: (pair[1].level, pair[1].kind, pair[1].kind or pair[0])
    ):
        group = [finding for _, finding in alike]
        first = group[0]
        level = words(first.level)
        mark = output.style(level, styles[first.level]) + " " * (width - render.width(level))
        shown = group[: _SHOWN_ALIKE if kind else None]
        for finding in shown:
            fix = finding.fix if finding.fix not in finding.what else ""
            output.out(f"{mark}  {_with_fix(output.spoken(finding.what), fix)}")
        if len(group) > len(shown):
            more = words("… and {n} more (--json lists all of them)", n=len(group) - len(shown))
            output.out(f"{mark}  {_with_fix(more, first.fix)}")


def _with_fix(what: str, fix: str) -> str:
    return speech.words()("{name}: {value}", name=what, value=output.spoken(fix)) if fix else what
