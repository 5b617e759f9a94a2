"""Read notes, and what mnemark itself exports or saves."""

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final

from mnemark.errors import IntegrityError, NotFoundError, UsageError
from mnemark.files import disk_errors, layout, platform, unread
from mnemark.files.reading import READ_LIMIT
from mnemark.files.scan import scan
from mnemark.memory.transfer.importer import Incoming
from mnemark.memory.transfer.transfer import SKIPPED, UNREADABLE, listed_in
from mnemark.types import Problem

_MAX_UNPACKED: Final = 4 << 30
"""Maximum unpacked size of an archive: a larger one is a zip bomb or no memory."""
_MAX_LINE_BYTES: Final = 64 << 20
"""Maximum bytes of a line of a log in an archive."""


def read_markdown(incoming: Incoming, folder: Path) -> None:
    """Import a folder of notes, which are kept below `imported/`."""
    if not folder.is_dir():
        raise NotFoundError(f"{folder} is not a folder")
    if folder.resolve() == incoming.root.resolve():
        raise UsageError(f"{folder} is this workspace itself; its notes are already searched")
    found = scan(folder)
    incoming.problems.extend(found.problems)
    incoming.problems.extend(Problem(inner, f"{SKIPPED}: import that one") for inner in found.inner)
    for suffix, count in found.unread.items():
        incoming.left(f"{suffix} file", unread.reason(suffix) or "this format is not read", count)
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
            incoming.problems.append(Problem(entry.path, disk_errors.unread(error)))
        else:
            incoming.note(f"imported/{folder.name}/{entry.path}", data)


def read_notes_in_zip(incoming: Incoming, path: Path) -> None:
    """Import the notes of an archive, as programs for notes export them; they are kept as of a folder."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
            if sum(one.file_size for one in members) > _MAX_UNPACKED:
                raise IntegrityError(f"{path.name} would unpack to more than {_MAX_UNPACKED >> 30} GB")
            for member in sorted(members, key=lambda one: one.filename):
                name = f"imported/{path.stem}/{member.filename}"
                suffix = f".{name.rpartition('.')[2].lower()}"
                if suffix == ".zip":
                    incoming.left("archive in the archive", "unpack it, and import it by itself")
                elif layout.place(name) is None or suffix == ".jsonl":
                    incoming.left(f"{suffix} file", unread.reason(suffix) or "it is no note")
                else:
                    _read_member(incoming, archive, member, name)
    except UNREADABLE as error:
        raise IntegrityError(f"{path.name} is not a readable zip archive: {error}") from error


def read_zip(incoming: Incoming, path: Path) -> None:
    """Import an export of a workspace, or a backup."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = _paths_by_member(archive)
            members = [member for member in archive.infolist() if member.filename in names]
            notes = [member for member in members if layout.place(names[member.filename])]
            if sum(member.file_size for member in notes) > _MAX_UNPACKED:
                raise IntegrityError(f"{path.name} would unpack to more than {_MAX_UNPACKED >> 30} GB")
            inner = _nested(names.values(), archive)
            incoming.problems.extend(Problem(layout.shown(one), f"{SKIPPED}: restore it") for one in inner)
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
