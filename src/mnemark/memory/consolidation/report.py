"""Write what a consolidation did: as a page for people, and as commits where they are asked for."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

import msgspec

from mnemark.files import layout
from mnemark.files.edit import edit as edit_file
from mnemark.files.journal import changes_of
from mnemark.files.names import split_ref
from mnemark.memory.consolidation import cleanup
from mnemark.memory.journal.edits import AutomaticEdit
from mnemark.memory.learning.learned import LearnedFact
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.sessions.observations import AGE_OUT
from mnemark.memory.undo.runs import commit_files
from mnemark.text.markdown.writing import link
from mnemark.types import Json

REPORTS: Final = "memory/reports"
_LEARN: Final = "learn"
_ARROW: Final = " → "


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


class Consolidated(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a consolidation."""

    group: str
    """Group id for `undo`; empty where nothing was changed."""
    time: datetime
    dry_run: bool
    edits: tuple[Applied, ...]
    learned: tuple[str, ...] = ()
    """Facts learned before the steps, from turns and from the daily notes."""
    found: tuple[LearnedFact, ...] = ()
    """The same with all their parts."""
    notes: tuple[str, ...] = ()
    skipped: str = ""
    """Why the run was skipped; empty if it was not."""

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return any(edit.status == "written" for edit in self.edits)


def amounts(edits: Iterable[Applied], learned: int) -> dict[str, Json]:
    """Return how much each step did: the files it moved, else the facts it put away, else the files."""
    done: dict[str, Json] = {_LEARN: learned} if learned else {}
    written = [edit for edit in edits if edit.status == "written"]
    for step in dict.fromkeys(edit.step for edit in written):
        mine = [edit for edit in written if edit.step == step]
        moved = {edit.path for edit in mine if _ARROW in edit.path}
        away = {why for edit in mine if _is_archive(edit.path) for why in edit.why}
        done[step] = len(moved) or len(away) or len({edit.path for edit in mine})
    return done


def _is_archive(path: str) -> bool:
    place = layout.place(path)
    return place is not None and place.archived


def path_of(report: Consolidated) -> str:
    """Return the page of a report: one a day."""
    return f"{REPORTS}/{report.time.date().isoformat()}.md"


def write_report(ws: OpenWorkspace, report: Consolidated) -> None:
    """Add a report to the page of its day."""
    head = f"# Consolidation {report.time.date().isoformat()}\n".encode()
    text = report_text(report).encode("utf-8", "replace")
    edit_file(ws.truth, path_of(report), lambda old: (old or head) + b"\n" + text)


def report_text(report: Consolidated) -> str:
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
    path = edit.path.split(_ARROW)[-1]
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


def commit(ws: OpenWorkspace, report: Consolidated, after: str) -> None:
    """Make a commit of what was learned, and of each step that changed something.

    The first one holds what sessions wrote since the last consolidation, whose journal line has the id
    `after`: their episodes, notes and facts. The journal and the report go along with the first commit, as
    does what only tidied up; alone they make none. A commit names the groups that `undo` takes back, and the
    sessions.
    """
    written = [edit for edit in report.edits if edit.status == "written"]
    entries = [one for one in ws.edits.entries() if one.state == "done" and one.id > after]
    made = [one for one in entries if one.group != report.group and one.step != AGE_OUT]
    tidied = [path for edit in written if edit.step == cleanup.STEP for path in edit.path.split(_ARROW)]
    tidied += [one.path for one in entries if one.step == AGE_OUT]
    along = [path_of(report), *tidied]
    commit_files(ws, _learned_paths(ws, made, after), _learned_message(report, made), along)
    for step in dict.fromkeys(edit.step for edit in written if edit.step != cleanup.STEP):
        mine = [edit for edit in written if edit.step == step]
        paths = [path for edit in mine for path in edit.path.split(_ARROW)]
        reasons = [reason for edit in mine for reason in edit.why]
        message = _message(step, reasons, {"Origin": ["agent"], "Undo": [report.group]})
        commit_files(ws, paths, message, along)


def _learned_paths(ws: OpenWorkspace, made: Iterable[AutomaticEdit], after: str) -> list[str]:
    """Return the files of these edits, and the fact files written since then."""
    paths = [path for one in made for path in (one.path, one.to) if path]
    changes = changes_of(ws.root, ("project",))
    paths += [str(change.fields.get("path", "")) for change in changes if change.id > after]
    return [path for path in paths if path]


def _learned_message(report: Consolidated, made: Iterable[AutomaticEdit]) -> str:
    sessions = sorted({one.session for one in made if one.session})
    groups = dict.fromkeys([report.group, *(one.group for one in made)])
    told = sessions[0] if len(sessions) == 1 else f"{len(sessions)} sessions"
    step = f"{_LEARN} from {' '.join(told.split())}" if sessions else _LEARN
    return _message(step, report.learned, {"Session": sessions, "Origin": ["agent"], "Undo": groups})


def _message(step: str, reasons: Iterable[str], trailers: Mapping[str, Iterable[str]]) -> str:
    """Return a commit message; no name of a session or group can add a line to it."""
    told = "\n".join(dict.fromkeys(" ".join(reason.split()) for reason in reasons))
    rows = [f"{name}: {' '.join(one.split())}" for name, values in trailers.items() for one in values if one]
    return "\n\n".join(filter(None, (f"mnemark consolidate: {step}", told, "\n".join(rows))))
