"""Print what checks found, a line each."""

import itertools
from collections.abc import Sequence
from typing import Final

from mnemark.memory.health.doctor import Finding
from mnemark_interfaces.output import DIM, RED, YELLOW, out, safe_line, style, told

_SHOWN_ALIKE: Final = 5
"""Maximum number of findings of one kind shown."""
_STYLES: Final = {"ok": DIM, "warn": YELLOW, "error": RED}


def show_findings(findings: Sequence[Finding]) -> None:
    """Print findings, one line each with its fix; of each kind at most `_SHOWN_ALIKE`."""
    for (level, kind, _), alike in itertools.groupby(
        enumerate(findings), lambda pair: (pair[1].level, pair[1].kind, pair[1].kind or pair[0])
    ):
        group = [finding for _, finding in alike]
        mark = style(f"{level:<5}", _STYLES[level])
        shown = group[: _SHOWN_ALIKE if kind else None]
        for finding in shown:
            fix = f": {told(finding.fix)}" if finding.fix not in finding.what else ""
            out(f"{mark}  {safe_line(told(finding.what) + fix)}")
        if len(group) > len(shown):
            fix = f": {safe_line(told(group[0].fix))}" if group[0].fix else ""
            out(f"{mark}  … and {len(group) - len(shown):,} more (--json lists all of them){fix}")
