"""Export and import workspaces, notes and conversations."""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, Literal, get_args

import msgspec

from mnemark.errors import IntegrityError, MnemarkError, NotFoundError, UsageError
from mnemark.facts.visible import Visible
from mnemark.files import jsonl, layout, manifest, platform
from mnemark.files.disk_errors import translate_os_errors, unread
from mnemark.files.reading import READ_LIMIT
from mnemark.files.scan import scan
from mnemark.files.sessions import SessionLog
from mnemark.files.turns import encode_turn
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.transfer.importer import Incoming, Summary
from mnemark.text.markdown.other_texts import passages_of
from mnemark.text.redaction.json import redact_json
from mnemark.types import Problem

ExportFormat = Literal["zip", "jsonl"]
ImportFormat = Literal[
    "markdown", "jsonl", "zip", "openclaw", "nanobot", "openakita", "chatgpt", "claude", "mem0", "claude-mem",
    "claude-code", "codex",
]  # fmt: skip
FORMATS: Final[tuple[ImportFormat, ...]] = get_args(ImportFormat)
_BLOCK_BYTES: Final = 1 << 20
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_MAX_UNPACKED: Final = 4 << 30
"""Maximum unpacked size of an archive: a larger one is a zip bomb or no memory."""
_MAX_LINE_BYTES: Final = 64 << 20
"""Maximum bytes of a line of a log in an archive."""
_PASSAGE_TOKENS: Final = 256
_SKIPPED: Final = "is a separate workspace and was skipped"
UNREADABLE: Final = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, UnicodeDecodeError, RuntimeError,
    NotImplementedError, EOFError,
)  # fmt: skip
"""Exceptions raised by reading a damaged or unsupported archive."""


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an export."""

    target: str
    files: int
    records: int = 0
    bytes: int
    problems: tuple[Problem, ...] = ()
    """Files that could not be read and are left out (`skipped`), and other problems."""
    complete: bool


def export_workspace(ws: OpenWorkspace, target: Path, *, format: ExportFormat = "zip") -> Exported:  # noqa: A002
    """Write all notes, sessions and journals of the workspace into one file, without `.mnemark`.

    The same workspace gives the same bytes. "zip" holds the files as they are, including those of nested
    workspaces, so that the folder can be restored; "jsonl" has a line for each passage, turn and journal
    entry of this workspace alone, with its source.

    Raises:
        UsageError: the format is unknown, or the target is a folder or would be indexed as memory.
        ReadOnlyError, MnemarkError: the target cannot be written; no partial file is left.
    """
    if format not in get_args(ExportFormat):
        raise UsageError(f'the export format must be "zip" or "jsonl", not {format!r}')
    target = target_for(ws.root, target)
    write = _write_zip if format == "zip" else partial(_write_jsonl, ws.visible)
    with put_in_place(target) as temporary:
        with platform.open_new(temporary) as out:
            files, records, problems = write(ws.root, out)
            out.flush()
            platform.FS.sync(out.fileno())
        size = temporary.stat().st_size
    return Exported(
        target=layout.shown(str(target)), files=files, records=records, bytes=size, problems=tuple(problems),
        complete=is_complete(problems),
    )  # fmt: skip


def is_complete(problems: Sequence[Problem]) -> bool:
    """Return whether nothing was left out."""
    return not any(problem.skipped for problem in problems)


def target_for(root: Path, target: Path) -> Path:
    """Return the absolute path to write an export or a backup to.

    Raises:
        UsageError: it is a folder, or would be indexed as memory.
    """
    target = target.expanduser().absolute()
    if target.is_dir():
        raise UsageError(f"{target} is a folder; give a file name")
    if target.is_relative_to(root) and layout.place(target.relative_to(root).as_posix()):
        raise UsageError(f"{target} would become part of the memory; choose a place outside of it")
    return target


@contextmanager
def put_in_place(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target`; at the end, that file atomically replaces `target`."""
    platform.sweep_folder(target.parent)
    temporary = platform.temporary_beside(target)
    with translate_os_errors(target):
        try:
            yield temporary
            platform.FS.replace(temporary, target)
            platform.FS.sync_folder(target.parent)
        finally:
            platform.FS.unlink(temporary)


def import_from(
    ws: OpenWorkspace,
    format: ImportFormat,  # noqa: A002 - the word of the command
    path: Path,
    *,
    dry_run: bool = False,
    progress: Callable[[Mapping[str, int]], None] | None = None,
) -> Summary:
    """Import notes and conversations; importing again adds nothing.

    Args:
        ws: the workspace to import into.
        format: "markdown" (a folder of notes, kept below `imported/`), "zip" (our export), "jsonl" (our
            export, or OpenAI-style messages), "openclaw", "nanobot" or "openakita" (such an agent's folder),
            "chatgpt" or "claude" (the export of conversations: the archive, its folder, or the file), "mem0"
            (the JSON of its `get_all`), "claude-mem" (its exported JSON), "claude-code" or "codex" (the
            transcripts that these keep: a folder of them, or one).
        path: the file or folder to read. It is never changed.
        dry_run: only return what would be done.
        progress: is called with the counts so far; what it raises ends the import, which can be continued.

    Nothing is overwritten: a note with other content is imported as `NAME.imported.md`, sessions get the
    turns that they lack. Secrets are redacted from conversations before they are written.

    Raises:
        UsageError: the format is unknown.
        NotFoundError, IntegrityError: there is nothing of that format at `path`.
        ReadOnlyError, BusyError: the workspace cannot be written (now).
    """
    path = _source(format, path)
    if not dry_run:
        ws.check_writable("import")
    with nullcontext() if dry_run else ws.truth.change():
        incoming = Incoming(ws, format, path, dry_run=dry_run, progress=progress)
        with _source_errors(path):
            read = _READERS.get(format) or partial(_migrate, ws, dry_run=dry_run)
            read(incoming, path)
        return incoming.finish()


def _source(kind: str, path: Path) -> Path:
    """Return the absolute path of what is imported, which is there and of a known format."""
    if kind not in FORMATS:
        raise UsageError(f"{kind!r} is not an import format; use one of {', '.join(FORMATS)}")
    path = path.expanduser().absolute()
    if not path.exists():
        raise NotFoundError(f"{path} does not exist")
    return path


def _migrate(ws: OpenWorkspace, incoming: Incoming, path: Path, *, dry_run: bool) -> None:
    """Bring in the folder of another agent."""
    old = import_module("mnemark_adapters.importers.old_layouts")
    incoming.migrated(old.migrate(path, ws.truth, dry_run=dry_run, cleaning=incoming))


@contextmanager
def _source_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:  # of the source: errors of writing here were translated already
        raise MnemarkError(
            f"{layout.shown(error.filename or str(path))} cannot be read: {error.strerror}; make it "
            "readable and import again to continue"
        ) from error


class CutOffError(Exception):
    """A file could be opened, but reading failed before its end."""


def blocks(source: IO[bytes], size: int | None = None) -> Iterator[bytes]:
    """Yield the first `size` bytes of a file in blocks, or all of them.

    Raises:
        CutOffError: reading failed; it is no OSError, so that errors of writing the blocks are told apart.
    """
    while size is None or size > 0:
        try:
            block = source.read(_BLOCK_BYTES if size is None else min(_BLOCK_BYTES, size))
        except OSError as error:
            raise CutOffError(error.strerror) from error
        if not block:
            return
        size = None if size is None else size - len(block)
        yield block


def _write_zip(root: Path, out: BinaryIO) -> tuple[int, int, list[Problem]]:
    files = 0
    paths, problems = _files(root)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in paths:
            if path.endswith("/"):
                archive.writestr(zipfile.ZipInfo(path, _EPOCH), b"")
                continue
            try:
                source = platform.open_file(root / path)
            except OSError as error:
                problems.append(Problem(path, unread(error)))
                continue
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = platform.PRIVATE_FILE << 16
            entry.create_system = 3
            try:
                with source, archive.open(entry, "w", force_zip64=True) as inside:
                    for block in blocks(source):
                        inside.write(block)
            except CutOffError as error:
                problems.append(Problem(path, f"cannot be read to its end: {error}"))
            files += 1
    return files, 0, problems


def _files(root: Path) -> tuple[list[str], list[Problem]]:
    """Return the paths of everything a person or an agent wrote, and the problems of files that are left out.

    Conflict copies, configurations and the files of nested workspaces are included. If such a workspace has
    no configuration, an empty `.mnemark/` is included, too, as it marks that folder as a workspace.
    """
    found = scan(root)
    paths = [entry.path for entry in (*found.entries, *found.journals)]
    paths += [layout.CONFIG] if (root / layout.CONFIG).is_file() else []
    problems = list(found.problems)
    for inner in found.inner:
        has_config = (root / inner / layout.CONFIG).is_file()
        below, wrong = _files(root / inner)
        paths += [f"{inner}/{path}" for path in below]
        paths += [] if has_config else [f"{inner}/{layout.PRIVATE}/"]
        problems += [msgspec.structs.replace(one, path=f"{inner}/{one.path}") for one in wrong]
    return sorted(paths), problems


def _write_jsonl(visible: Visible, root: Path, out: BinaryIO) -> tuple[int, int, list[Problem]]:
    files, records = 0, 1
    found = scan(root)
    problems = [
        *found.problems,
        *(Problem(inner, f"{_SKIPPED}: export that one") for inner in found.inner),
    ]
    out.write(jsonl.encode({"mnemark": "export", "version": 1}) + b"\n")
    for path in sorted(entry.path for entry in (*found.entries, *found.journals)):
        count = 0
        for record in _records(visible, path, problems):
            out.write(jsonl.encode(record) + b"\n")
            count += 1
        skipped = any(problem.path == path and problem.skipped for problem in problems)
        files, records = files + (not skipped), records + count
    return files, records, problems


def _records(visible: Visible, path: str, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    """Yield the records of a file; append a problem if it cannot be read, or not to its end."""
    place = layout.place(path)
    if place is None or place.role == "copy":
        return
    try:
        if place.role == "journal":
            for line, record in jsonl.records(visible.root / path, problems=problems, name=path):
                clean = redact_json(record, visible.rules)
                yield {"type": "change", "path": path, "line": line.number, "record": clean}
        elif place.role == "session":
            log = SessionLog.at(visible.root, path)
            for placed in log.turns(problems=problems):
                turn = msgspec.json.decode(encode_turn(visible.turn(placed.turn)))
                at = {"path": path, "line": placed.line, "session": log.id, "scope": place.scope}
                yield {"type": "turn", **at, **turn}
        else:
            yield from _passages(visible, path, place, problems)
    except OSError as error:
        problems.append(Problem(path, unread(error)))


def _passages(
    visible: Visible, path: str, place: layout.Place, problems: list[Problem]
) -> Iterator[dict[str, Any]]:
    found = visible.read(path)
    if isinstance(found, Problem):
        problems.append(found)
        return
    for one in passages_of(path, found.text, limit=_PASSAGE_TOKENS):
        yield {
            "type": "passage", "path": path, "start_line": one.start_line, "end_line": one.end_line,
            "kind": place.kind, "origin": place.origin, "scope": place.scope, "date": place.dated,
            "title": one.title, "text": one.text,
        }  # fmt: skip


def _read_markdown(incoming: Incoming, folder: Path) -> None:
    if not folder.is_dir():
        raise NotFoundError(f"{folder} is not a folder")
    if folder.resolve() == incoming.root.resolve():
        raise UsageError(f"{folder} is this workspace itself; its notes are already searched")
    found = scan(folder)
    incoming.problems.extend(found.problems)
    incoming.problems.extend(Problem(inner, f"{_SKIPPED}: import that one") for inner in found.inner)
    for entry in found.entries:
        place = layout.place(entry.path)
        if entry.path.lower().endswith(".jsonl") or place is None or place.role == "copy":
            continue
        if entry.size > READ_LIMIT:
            incoming.problems.append(Problem(entry.path, "is too large"))
            continue
        try:
            data, _ = platform.read_file(folder / entry.path)
        except OSError as error:
            incoming.problems.append(Problem(entry.path, unread(error)))
        else:
            incoming.note(f"imported/{folder.name}/{entry.path}", data)


def _read_zip(incoming: Incoming, path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = _paths_by_member(archive)
            members = [member for member in archive.infolist() if member.filename in names]
            notes = [member for member in members if layout.place(names[member.filename])]
            if sum(member.file_size for member in notes) > _MAX_UNPACKED:
                raise IntegrityError(f"{path.name} would unpack to more than {_MAX_UNPACKED >> 30} GB")
            inner = _nested(names.values(), archive)
            incoming.problems.extend(Problem(layout.shown(one), f"{_SKIPPED}: restore it") for one in inner)
            below = tuple(f"{one}/" for one in inner)
            for member in sorted(members, key=lambda member: member.filename):
                if not names[member.filename].startswith(below):
                    _read_member(incoming, archive, member, names[member.filename])
    except UNREADABLE as error:
        raise IntegrityError(f"{path.name} is not a readable zip archive: {error}") from error


def _paths_by_member(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the paths of the files in an archive by member name; those of a backup are in its manifest."""
    names = {one.filename: one.filename for one in archive.infolist() if not one.is_dir()}
    listed = listed_in(archive)
    return names if listed is None else {one.place: one.name for one in listed if one.kind == "file"}


def listed_in(archive: zipfile.ZipFile) -> list[manifest.Archived] | None:
    """Return what the manifest of a backup lists; None for other archives."""
    if manifest.NAME not in archive.namelist():
        return None
    with archive.open(manifest.NAME) as source:
        return list(manifest.read(source))


def _nested(files: Iterable[str], archive: zipfile.ZipFile) -> list[str]:
    folders = [name for name in archive.namelist() if name.endswith("/")]
    folders += [f"{one.name}/" for one in listed_in(archive) or () if one.kind == "folder"]
    marks = (f"/{layout.CONFIG}", f"/{layout.PRIVATE}/")
    return sorted({
        name.removesuffix(mark) for name in (*files, *folders) for mark in marks if name.endswith(mark)
    })  # fmt: skip


def _read_member(incoming: Incoming, archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> None:
    if layout.shown(name) != name:
        incoming.problems.append(Problem(layout.shown(name), "name is not valid UTF-8: skipped"))
        return
    try:
        layout.safe_path(incoming.root, name)
    except UsageError as error:
        incoming.problems.append(Problem(layout.shown(name), str(error)))
        return
    place = layout.place(name)
    if place is None:  # the other machine's configuration, or no file of a memory
        incoming.problems.append(Problem(layout.shown(name), "is not part of a memory: skipped"))
    elif place.role in {"session", "journal"}:
        with archive.open(member) as file:
            incoming.lines(name, _lines(file, name))
    elif member.file_size > READ_LIMIT:
        incoming.problems.append(Problem(layout.shown(name), "is too large"))
    else:
        incoming.note(name, archive.read(member))


def _lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the lines of a member one at a time, as it may unpack to a thousand times its size."""
    while line := file.readline(_MAX_LINE_BYTES + 1):
        if len(line) > _MAX_LINE_BYTES:
            raise IntegrityError(f"{layout.shown(name)} has a line longer than {_MAX_LINE_BYTES >> 20} MB")
        yield line


def _imported(module: str, name: str) -> Callable[[Incoming, Path], None]:
    """Return a reader of what other programs export, which lies outside of `mnemark`."""

    def read(incoming: Incoming, path: Path) -> None:
        getattr(import_module(f"mnemark_adapters.importers.{module}"), name)(incoming, path)

    return read


_READERS: Final[Mapping[ImportFormat, Callable[[Incoming, Path], None]]] = {
    "markdown": _read_markdown,
    "zip": _read_zip,
    "jsonl": _imported("chats", "read_jsonl"),
    "chatgpt": _imported("chats", "read_chatgpt"),
    "claude": _imported("chats", "read_claude"),
    "mem0": _imported("other_memories", "read_mem0"),
    "claude-mem": _imported("other_memories", "read_claude_mem"),
    "claude-code": _imported("chats", "read_claude_code"),
    "codex": _imported("chats", "read_codex"),
}
