"""Print findings of checks: of a memory, and of an installation."""

import itertools
from collections.abc import Sequence
from typing import Final

from mnemark.memory.health.doctor import Finding
from mnemark_interfaces import output, render, speech

_SHOWN_ALIKE: Final = 5
"""Maximum number of findings of one kind shown."""


def show_findings(findings: Sequence[Finding]) -> None:
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
