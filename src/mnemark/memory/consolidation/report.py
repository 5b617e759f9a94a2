"""Write what a consolidation did as a page for people."""

from datetime import datetime
from typing import Final

import msgspec

from mnemark.files.edit import edit as edit_file
from mnemark.files.names import split_ref
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.markdown.writing import link

REPORTS: Final = "memory/reports"


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """An edit of a consolidation."""

    step: str
    path: str
    status: str
    """written, deferred, or planned in a dry run."""
    diff: str
    why: tuple[str, ...] = ()
    part: str = ""
    """What it is chosen by (`only`), with the edits that belong to it."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a consolidation."""

    group: str
    """Group id for `undo`; empty where nothing was changed."""
    time: datetime
    dry_run: bool
    edits: tuple[Applied, ...]
    learned: tuple[str, ...] = ()
    """Facts learned before the steps, from turns and from the daily notes."""
    notes: tuple[str, ...] = ()
    skipped: str = ""
    """Why the run was skipped; empty if it was not."""

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return any(edit.status == "written" for edit in self.edits)


def path_of(report: Report) -> str:
    """Return the page of a report: one a day."""
    return f"{REPORTS}/{report.time.date().isoformat()}.md"


def write_report(ws: OpenWorkspace, report: Report) -> None:
    """Add a report to the page of its day."""
    head = f"# Consolidation {report.time.date().isoformat()}\n".encode()
    text = report_text(report).encode("utf-8", "replace")
    edit_file(ws.truth, path_of(report), lambda old: (old or head) + b"\n" + text)


def report_text(report: Report) -> str:
    """Return a report for people, in Markdown, with links to the pages that it names."""
    page = path_of(report)
    lines = [f"## {report.time:%H:%M}", ""]
    if report.learned:
        lines += ["### Learned", "", *(f"- {_sourced(fact, page)}" for fact in report.learned), ""]
    for step in dict.fromkeys(edit.step for edit in report.edits):
        told = [row for edit in report.edits if edit.step == step for row in _rows(edit, page)]
        lines += [f"### {step.capitalize()}", "", *told, ""] if told else []
    if report.notes:
        lines += ["### To look at", "", *(f"- {note}" for note in report.notes), ""]
    if report.group:
        lines.append(f"Take it all back: `mnemark undo {report.group}`")
    return "\n".join(lines).rstrip() + "\n"


def _rows(edit: Applied, page: str) -> list[str]:
    """Return an edit with its reasons; nothing of a move that another edit of its step tells of."""
    waits = "" if edit.status in {"written", "planned"} else f" ({edit.status}: try again later)"
    path = edit.path.split(" → ")[-1]
    if not edit.why and not waits:
        return [] if path != edit.path else [f"- {link(path, path, page)}"]
    reasons = dict.fromkeys(edit.why)
    if len(reasons) == 1:
        return [f"- {link(path, path, page)}{waits}: {next(iter(reasons))}"]
    return [f"- {link(path, path, page)}{waits}", *(f"  - {reason}" for reason in reasons)]


def _sourced(fact: str, page: str) -> str:
    """Return a line of `learned` with its ref as a link."""
    words, dash, rest = fact.rpartition(" — ")
    ref, blank, more = rest.partition(" ")
    path, first, last = split_ref(ref)
    if not dash or "/" not in path:
        return fact
    anchor = f"#L{first}" if last is not None else ""
    return f"{words} ({link('source', path, page)[:-1]}{anchor})){blank}{more}"
