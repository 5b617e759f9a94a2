"""Consolidation: what it would change, as diffs, and running it or the chosen parts of it."""

import hashlib
from collections.abc import Mapping, Sequence

from mnemark.memory.consolidation.report import Applied, Consolidated
from mnemark.memory.consolidation.run import LEARN
from mnemark_faces.web.at import At, Go, PageContent


def consolidate(at: At) -> PageContent:
    """Show the button, or after it was asked for, what a run would change."""
    if not at.asked("look"):
        return PageContent("consolidate.html", {"report": None}, None)
    return _shown(at.memory.consolidate(dry_run=True, force=True), whole=True)


def run(at: At) -> Go | PageContent:
    """Run it; of a choice, only if the others left out do not change what it does."""
    chosen = at.all_sent("part")
    shown = dict(one.rpartition(" ")[::2] for one in at.all_sent("shown"))
    only = None if at.sent("whole") and shown.keys() <= set(chosen) else chosen
    if only is not None:
        plan = at.memory.consolidate(dry_run=True, force=True, only=only)
        now = {part: _digest(edits) for part, edits in _parts(plan).items()}
        if any(shown.get(part) != digest for part, digest in now.items()):
            made = _shown(plan, whole=False)
            return PageContent(made.template, {**made.values, "changed": True, "status": 409})
    report = at.memory.consolidate(force=True, only=only)
    if report.changed:
        at.tell(at.words.count(len(report.edits), "Consolidated: {n} edit", "Consolidated: {n} edits"),
                undo=report.group)  # fmt: skip
    elif report.learned:
        n = len(report.learned)
        at.tell("{text}", text=at.words.count(n, "Learned: 1 fact", "Learned: {n} facts"), undo=report.group)
    else:
        at.tell("Nothing was to be consolidated.")
    return Go(at.link("changes") if report.changed or report.learned else at.link("consolidate"))


def _shown(report: Consolidated, *, whole: bool) -> PageContent:
    parts = [(part, _digest(edits), edits) for part, edits in _parts(report).items()]
    values = {
        "report": report, "parts": parts, "whole": whole, "learn": LEARN, "changed": False,
        "planned": [edit for edit in report.edits if edit.diff],
    }  # fmt: skip
    return PageContent("consolidate.html", values, report)


def _parts(report: Consolidated) -> Mapping[str, Sequence[Applied]]:
    """Return the edits by what they are chosen by; those of learned facts go with these."""
    found: dict[str, list[Applied]] = {LEARN: []} if report.learned else {}
    for edit in report.edits:
        found.setdefault(LEARN if edit.step == LEARN else edit.part, []).append(edit)
    return found


def _digest(edits: Sequence[Applied]) -> str:
    """Return a hash of what a part does."""
    said = "\0".join(f"{edit.path}\n{edit.diff}" for edit in edits)
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()
