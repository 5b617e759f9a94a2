"""Export a workspace to a folder for people."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple, get_args

import msgspec

from mnemark.errors import UsageError
from mnemark.files import layout, platform
from mnemark.files.disk_errors import unread
from mnemark.files.scopes import check_known, one_scope
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.transfer.export.archive import Archive
from mnemark.memory.transfer.export.collect import Collector, Progress
from mnemark.memory.transfer.export.dialect import DIALECTS, Dialect
from mnemark.memory.transfer.export.model import OF_PAGES, Contents, FolderFormat, Talk
from mnemark.memory.transfer.export.names import FileNames
from mnemark.memory.transfer.export.output import OutputFolder
from mnemark.memory.transfer.export.pages import Pages
from mnemark.memory.transfer.export.paths import name_talk, order
from mnemark.memory.transfer.export.targets import Targets
from mnemark.memory.transfer.transfer import CutOffError, blocks, is_complete
from mnemark.types import Problem

FOLDER_FORMATS: Final[tuple[FolderFormat, ...]] = get_args(FolderFormat)


class ExportedFolder(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an export to a folder."""

    target: str
    format: FolderFormat
    files: int
    bytes: int
    talks: int
    notes: int
    facts: int
    changed: int
    """Files that are new or have another content than before."""
    removed: int
    problems: tuple[Problem, ...] = ()
    """What could not be read and is left out (`skipped`), and files of a person's that were kept."""
    complete: bool


def export_folder(
    ws: OpenWorkspace,
    target: Path,
    *,
    format: FolderFormat,  # noqa: A002 - the word of the command
    scope: str | None = None,
    progress: Progress | None = None,
) -> ExportedFolder:
    """Write what is visible of a workspace to a folder, with links between talks, days, episodes and facts.

    The same workspace gives the same bytes. Forgotten text, private passages and secrets are left out.

    Args:
        ws: the workspace.
        target: a new or empty folder, or one of an earlier export of this format, which is brought up to
            date: files that somebody changed there are kept and named.
        format: "obsidian" (a vault), "markdown" (for forges and any editor) or "html" (an archive of the
            talks).
        scope: only this scope, such as "users/ann" or "" for the shared memory; all by default.
        progress: is called with what is done, how many are done, and of how many; what it raises ends the
            export, and the folder stays as it was.

    Raises:
        UsageError: the format or scope is unknown, or the target is no folder for it.
        IntegrityError: a journal cannot be read, so that nobody knows what was forgotten.
        ReadOnlyError, MnemarkError: the target cannot be written.
    """
    if format not in FOLDER_FORMATS:
        raise UsageError(f"a folder is exported as {', '.join(FOLDER_FORMATS)}, not {format!r}")
    if scope is not None:
        scope = one_scope(scope)
        check_known(ws.scopes(), scope)
    tell: Progress = progress or _no_progress
    problems: list[Problem] = []
    with OutputFolder(ws.root, target, format) as out:
        contents = Collector(ws, OF_PAGES[format], scope, tell, problems).contents()
        if format == "html":
            Archive(ws, contents, out, tell).write()
        else:
            _Writer(_Job(ws, contents, out, scope, tell, problems), DIALECTS[format]).write()
        written = out.finish()
    problems += out.problems
    return ExportedFolder(
        target=layout.shown(str(out.path)), format=format, talks=len(contents.talks),
        notes=len(contents.notes), facts=sum(len(g) for one in contents.subjects for g in one.groups),
        problems=tuple(problems), complete=is_complete(problems), **msgspec.structs.asdict(written),
    )  # fmt: skip


def _no_progress(what: str, done: int, total: int) -> None:
    del what, done, total


class _Job(NamedTuple):
    """What is written where."""

    ws: OpenWorkspace
    contents: Contents
    out: OutputFolder
    scope: str | None
    progress: Progress
    problems: list[Problem]


class _Writer:
    """Writes all pages in Markdown."""

    def __init__(self, job: _Job, dialect: Dialect) -> None:
        self._ws, self._contents, self._out, scope, self._progress, self._problems = job
        self._names = FileNames(dialect.gap, linked=dialect.is_obsidian)
        self._months: list[tuple[str, str, list[Talk]]] = []
        self._home = ""
        self._name_pages()
        self._targets = Targets(self._ws.root, self._contents, self._names, scope)
        self._pages = Pages(self._ws, self._contents, self._targets, dialect)

    def _name_pages(self) -> None:
        """Give all pages their paths: notes keep theirs, and so come first."""
        contents, names = self._contents, self._names
        for note in contents.notes:
            folder = note.source.rpartition("/")[0]
            made = names.made(folder, f"{note.day} {note.role}", ".md") if note.unnamed else ""
            note.path = made or names.kept(note.source)
        for day in contents.days.values():
            day.path = (
                day.note.path if day.note else names.kept(layout.in_scope(day.scope, f"memory/{day.day}.md"))
            )
        for subject in contents.subjects:
            number = f" {subject.number}" if subject.number > 1 else ""
            folder = layout.in_scope(subject.scope, layout.FACTS)
            subject.path = names.made(folder, f"{subject.name}{number}", ".md")
        by_month: defaultdict[tuple[str, str], list[Talk]] = defaultdict(list)
        for talk in sorted(contents.talks, key=order):
            name_talk(talk, names, ".md")
            by_month[talk.scope, talk.month].append(talk)
        for (scope, month), talks in sorted(by_month.items()):
            path = names.made(layout.in_scope(scope, "talks"), month or "undated", ".md")
            self._months.append((path, f"{month} · {scope}" if scope else month, talks))
        self._home = names.made("", "Contents", ".md")

    def write(self) -> None:
        """Write the pages, and the files that notes show."""
        self._write_notes()
        for day in self._contents.days.values():
            if day.note is None:
                self._put(day.path, [self._pages.day(day)])
        for done, subject in enumerate(self._contents.subjects):
            self._progress("Writing facts", done, len(self._contents.subjects))
            self._put(subject.path, self._pages.subject(subject))
        for done, talk in enumerate(self._contents.talks):
            self._progress("Writing conversations", done, len(self._contents.talks))
            for path, pieces in self._pages.talk(talk):
                self._put(path, pieces)
        for path, month, talks in self._months:
            self._put(path, [self._pages.month(path, month, talks)])
        self._put(self._home, [self._pages.contents(self._home, self._months)])
        self._copy_files()

    def _write_notes(self) -> None:
        for done, note in enumerate(self._contents.notes):
            self._progress("Writing notes", done, len(self._contents.notes))
            text = self._pages.note(note)
            if isinstance(text, Problem):
                self._problems.append(text)
            else:
                self._put(note.path, [text])

    def _put(self, path: str, pieces: Iterable[str]) -> None:
        self._out.put(path, (piece.encode("utf-8", "replace") for piece in pieces))

    def _copy_files(self) -> None:
        for source, path in sorted(self._targets.files.items()):
            try:
                with platform.open_file(self._ws.root / source) as file:
                    self._out.put(path, blocks(file))
            except (OSError, CutOffError) as error:
                reason = (
                    unread(error) if isinstance(error, OSError) else f"cannot be read to its end: {error}"
                )
                self._problems.append(Problem(source, reason))
