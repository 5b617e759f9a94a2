"""Export workspaces, notes and conversations."""

import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, Literal, get_args

import msgspec

from mnemark.errors import UsageError
from mnemark.facts.visible import Visible
from mnemark.files import jsonl, layout, manifest, platform
from mnemark.files.disk_errors import translate_os_errors, unread
from mnemark.files.scan import scan
from mnemark.files.sessions import SessionLog
from mnemark.files.tombstones import Tombstones
from mnemark.files.turns import encode_turn
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.markdown.other_texts import passages_of
from mnemark.text.redaction.json import redact_json
from mnemark.types import Problem

ExportFormat = Literal["zip", "jsonl"]
_BLOCK_BYTES: Final = 1 << 20
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_PASSAGE_TOKENS: Final = 256
SKIPPED: Final = "is a separate workspace and was skipped"
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
    entry of this workspace alone, with its source, without what was forgotten.

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
        *(Problem(inner, f"{SKIPPED}: export that one") for inner in found.inner),
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
    hidden = visible.hidden.current()
    try:
        if place.role == "journal":
            for line, record in jsonl.records(visible.root / path, problems=problems, name=path):
                if _is_hidden(record, hidden):
                    continue
                clean = redact_json(_without_hidden_lines(record, hidden), visible.rules)
                yield {"type": "change", "path": path, "line": line.number, "record": clean}
        elif place.role == "session":
            log = SessionLog.at(visible.root, path)
            for placed in log.turns(problems=problems):
                if placed.turn.id in hidden.turns:
                    continue
                turn = msgspec.json.decode(encode_turn(visible.turn(placed.turn)))
                at = {"path": path, "line": placed.line, "session": log.id, "scope": place.scope}
                yield {"type": "turn", **at, **turn}
        else:
            yield from _passages(visible, path, place, problems)
    except OSError as error:
        problems.append(Problem(path, unread(error)))


def _is_hidden(record: Mapping[str, Any], hidden: Tombstones) -> bool:
    """Whether a line of a journal is of a forgotten fact or observation."""
    payload = record.get("payload")
    named = {record.get("id"), payload.get("fact") if isinstance(payload, Mapping) else None}
    return any(isinstance(one, str) and (one in hidden.facts or one in hidden.turns) for one in named)


def _without_hidden_lines(record: dict[str, Any], hidden: Tombstones) -> dict[str, Any]:
    """Return a line of a journal whose changed lines of a note are empty where they are forgotten now."""
    payload = record.get("payload")
    if not (hidden.lines and isinstance(payload, dict)):
        return record
    path, hunks = payload.get("path"), payload.get("hunks")
    if not (isinstance(path, str) and isinstance(hunks, list)):
        return record

    def left(value: Any) -> Any:
        if not (isinstance(value, list) and all(isinstance(line, str) for line in value)):
            return value
        gone = hidden.lines_gone(path, "\n".join(value))
        return ["" if number in gone else line for number, line in enumerate(value, 1)]

    shown = [{k: left(v) for k, v in one.items()} if isinstance(one, dict) else one for one in hunks]
    return {**record, "payload": {**payload, "hunks": shown}}


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


def listed_in(archive: zipfile.ZipFile) -> list[manifest.Archived] | None:
    """Return what the manifest of a backup lists; None for other archives."""
    if manifest.NAME not in archive.namelist():
        return None
    with archive.open(manifest.NAME) as source:
        return list(manifest.read(source))
