"""Implement `self-check`: try an installation without touching a memory."""

from pathlib import Path
from typing import Annotated, Final

import typer

from mnemark._version import __version__
from mnemark.errors import NotFoundError
from mnemark_interfaces import options, output, speech
from mnemark_interfaces.findings import show_findings
from mnemark_interfaces.self_check import self_checked

_ENDS: Final = {
    "ok": "mnemark works here.",
    "warn": "mnemark works here; the lines that begin with warn say what could be better.",
    "error": "mnemark does not work here; the lines that begin with error say what to do.",
}


def self_check(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]",
            help="Try the disk of this folder, in a new folder that is removed. Default: the temporary one.",
            show_default=False,
        ),
    ] = None,
    *,
    json: options.Json = False,
) -> None:
    """Check that mnemark works on this machine, without touching a memory.

    In a temporary folder it writes and finds notes, messages and facts in English and Chinese, compares the
    index with the files, and answers a hook and a tool. It also looks at the disk, the extras, the PATH, the
    daemon, and the settings of connected agents. Nothing is sent to a network. Exits with 0 if mnemark works,
    also where a line begins with `warn`, else with 1. `mnemark doctor` checks a memory of yours.
    """
    place = None if folder is None else folder.expanduser().absolute()
    if place is not None and not place.is_dir():
        raise NotFoundError(f"the folder {place} does not exist")
    found = []
    for finding in self_checked(place):
        found.append(finding)
        if not json:
            show_findings([finding])
            output.flush()
    levels = {finding.level for finding in found}
    works = "error" not in levels
    if json:
        output.out_json({"version": __version__, "works": works, "findings": found})
    else:
        worst = "error" if not works else "warn" if "warn" in levels else "ok"
        output.out(f"\n{speech.words()(_ENDS[worst])}")
    if not works:
        raise typer.Exit(1)
