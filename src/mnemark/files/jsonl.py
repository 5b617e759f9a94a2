"""Append to and read files of JSON lines; an acknowledged line survives any crash, once and whole.

Appending is: lock, one `write`, `fsync`, return. A line torn by a crash is closed by the next append and
stays a line of its own; a failed write is taken back.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import msgspec

from mnemark.errors import MnemarkError, UsageError
from mnemark.files import platform
from mnemark.files.disk_errors import raise_translated, translate_os_errors
from mnemark.types import Json, Problem

PATIENCE = 10.0
"""Seconds to wait for another writer of the same file."""

TEMPORARY = platform.TEMPORARY
"""Prefix of temporary files; those that a crash leaves are removed at the next start."""

_BLOCK = 1 << 20
_FIRST_BLOCK = 1 << 14  # often only the header of a long log is needed
_BOM = b"\xef\xbb\xbf"
_decode = msgspec.json.Decoder().decode


class Line(NamedTuple):
    """A line: offset of its first byte, number (from 1), bytes without the line end, end offset."""

    offset: int
    number: int
    data: bytes
    end: int


def append(
    path: Path, lines: Sequence[bytes], *, header: bytes = b"", timeout: float = PATIENCE
) -> list[int]:
    """Append all lines (without newlines) or none, with one `fsync`, and return their byte offsets.

    `header` is written first where the file is new, or where its last line was torn (it may have been the
    header). Raises BusyError, ReadOnlyError, or MnemarkError (disk full or failing); then nothing was kept,
    unless it says so, as a disk that fails may not let go of what it took.
    """
    if any(b"\n" in line for line in lines):
        raise UsageError("a line of JSON cannot hold a newline")
    if not lines:
        return []
    try:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        with platform.locked(path, flags, timeout=timeout, make_parent=True) as fd:
            size = os.fstat(fd).st_size
            before = b"\n" if size and _last_byte(fd, size) != b"\n" else b""
            if header and (before or not size):
                before += header + b"\n"
            try:
                write_all(fd, before + b"\n".join(lines) + b"\n")
                if not size:
                    platform.FS.sync_folder(path.parent)
            except OSError as error:
                with suppress(OSError):  # raise the first error; the next append closes a torn line
                    platform.FS.truncate(fd, size)
                    platform.FS.sync(fd)
                if os.fstat(fd).st_size != size:
                    raise MnemarkError(
                        f"{path}: what was to be written may be there or not ({error.strerror or error}); "
                        "check its disk"
                    ) from error
                raise
    except OSError as error:
        raise_translated(error, path)
    return list(accumulate((len(line) + 1 for line in lines[:-1]), initial=size + len(before)))


def _last_byte(fd: int, size: int) -> bytes:
    os.lseek(fd, size - 1, os.SEEK_SET)
    return os.read(fd, 1)


def write_all(fd: int, data: bytes, *, durable: bool = True) -> None:
    """Write all of the data to an open file, to the disk if it is to be durable. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[platform.FS.write(fd, rest) :]
    if durable:
        platform.FS.sync(fd)


def read(path: Path, start_offset: int = 0, *, start_line: int | None = None) -> Iterator[Line]:
    """Yield the lines from `start_offset` on, which begins a line; none if there is no file.

    Blank lines count but are not yielded. A last line without newline is yielded only if it is whole JSON,
    as editors leave the newline out; otherwise it is being written, or was torn. `start_line` is the number
    of the line at `start_offset`; without it, lines are counted.
    """
    with suppress(FileNotFoundError), platform.opened(path) as file:
        number = start_line or (1 + count_lines(path, start_offset) if start_offset else 1)
        file.seek(start_offset)
        offset, parts, size = start_offset, list[bytes](), _FIRST_BLOCK
        while block := file.read(size):
            size = min(4 * size, _BLOCK)
            if b"\n" not in block:  # join once: a line may span many blocks
                parts.append(block)
                continue
            *whole, rest = b"".join((*parts, block)).split(b"\n")
            parts = [rest]
            for data in whole:
                end = offset + len(data) + 1
                if kept := _clean(data, offset):
                    yield Line(offset, number, kept, end)
                offset, number = end, number + 1
        rest = b"".join(parts)
        if (kept := _clean(rest, offset)) and _is_whole(kept):
            yield Line(offset, number, kept, offset + len(rest))


def _clean(data: bytes, offset: int) -> bytes:
    if not offset:
        data = data.removeprefix(_BOM)
    return data.strip(b" \t\r")


def _is_whole(data: bytes) -> bool:
    return data.endswith(b"}") and decode(data) is not None


def count_lines(path: Path, stop: int, *, start: int = 0) -> int:
    """Count the lines that end between the bytes `start` and `stop`."""
    count = 0
    with platform.opened(path) as file:
        file.seek(start)
        while start < stop and (block := file.read(min(_BLOCK, stop - start))):
            count += block.count(b"\n")
            start += len(block)
    return count


def holds(path: Path, wanted: bytes) -> bool:
    """Whether a file contains the bytes; False if there is none."""
    with suppress(FileNotFoundError), platform.opened(path) as file:
        before = b""
        while block := file.read(_BLOCK):
            if wanted in before + block:
                return True
            before = block[1 - len(wanted) :]
    return False


def read_back(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, bytes) of the lines, last one first; rules as for `read`."""
    with suppress(FileNotFoundError), platform.opened(path) as file:
        position = file.seek(0, os.SEEK_END)
        parts, last = list[bytes](), True  # blocks of the incomplete line, last first
        while position:
            step = min(_BLOCK // 16, position)
            position -= step
            file.seek(position)
            block = file.read(step)
            if b"\n" not in block:
                parts.append(block)
                continue
            first, *whole = b"".join((block, *reversed(parts))).split(b"\n")
            parts = [first]
            end = position + len(first) + 1 + sum(len(data) + 1 for data in whole)
            for data in reversed(whole):
                end -= len(data) + 1
                if (kept := _clean(data, end)) and (not last or _is_whole(kept)):
                    yield end, kept
                last = False
        rest = b"".join(reversed(parts))
        if (kept := _clean(rest, 0)) and (not last or _is_whole(kept)):
            yield 0, kept


def decode(data: bytes) -> dict[str, Json] | None:
    """Decode a line to a JSON object; None if it is none."""
    try:
        value = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:  # `json` accepts more: NaN, and halves of surrogate pairs, which become visible
            text = json.dumps(json.loads(data), ensure_ascii=False)
            value = json.loads(text.encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def encode(record: Json) -> bytes:
    """Encode a record as a line without newline. Raises UsageError for what JSON cannot hold."""
    try:
        return msgspec.json.encode(record)
    except UnicodeEncodeError:
        # Half of a surrogate pair, from a broken emoji: no UTF-8 holds it. It becomes a visible "?".
        plain = json.dumps(msgspec.to_builtins(record, str_keys=True), ensure_ascii=False)
        return plain.encode("utf-8", "replace")
    except (TypeError, RecursionError) as error:
        raise UsageError(f"cannot be written as JSON: {error}") from error


def records(
    path: Path,
    start_offset: int = 0,
    *,
    start_line: int | None = None,
    problems: list[Problem] | None = None,
    name: str = "",
) -> Iterator[tuple[Line, dict[str, Json]]]:
    """Yield lines with their JSON objects; others become problems of the path `name`."""
    for line in read(path, start_offset, start_line=start_line):
        record = decode(line.data)
        if record is not None:
            yield line, record
        elif problems is not None:
            reason = f"line {line.number} is not a JSON object and was skipped"
            problems.append(Problem(name or path.name, reason, skipped=False))


def rewrite(path: Path, change: Callable[[Line], bytes | None]) -> int:
    """Change lines, for erasing, and return how many changed; hold the workspace's lock.

    `change` returns the new bytes of a line (`{}` blanks it), or None to keep it. Lines keep their numbers,
    so that refs hold. Appending processes wait and go on in the new file.
    """
    changed = 0

    def rewritten(data: bytes) -> bytes:
        nonlocal changed
        parts, kept, number, offset = list[bytes | memoryview](), 0, 0, 0
        view = memoryview(data)
        while offset < len(data):
            end = data.find(b"\n", offset)
            stop = len(data) if end < 0 else end
            number += 1
            new = change(Line(offset, number, data[offset:stop], stop + 1)) if stop > offset else None
            if new is not None and new != view[offset:stop]:
                parts += [view[kept:offset], new]
                kept = stop
            offset = stop + 1
        changed = len(parts) // 2
        return b"".join([*parts, view[kept:]]) if changed else data

    transform(path, rewritten)
    return changed


def transform(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change a file of lines as a whole; hold the workspace's lock.

    Appending processes wait and go on in the new file.
    """
    with translate_os_errors(path), platform.locked(path, os.O_RDWR | os.O_APPEND, timeout=PATIENCE):
        data, status = platform.read_file(path)
        new = change(data)
        if new is not data and new != data:
            replace_file(path, new, status)
            platform.FS.sync_folder(path.parent)


def replace_file(
    path: Path, data: bytes, like: os.stat_result | None = None, *, durable: bool = True
) -> None:
    """Replace a file atomically by a temporary one beside it, with the permissions of `like`."""
    temporary = platform.temporary_beside(path)
    write_new(temporary, data, like, durable=durable)
    try:
        platform.FS.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            platform.FS.unlink(temporary)
        raise


def write_new(path: Path, data: bytes, like: os.stat_result | None = None, *, durable: bool = True) -> int:
    """Write a file that must not exist, with the permissions of `like`, and return its inode.

    It is removed again where writing fails.
    """
    fd = platform.FS.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        if like is not None:
            platform.keep_permissions(fd, like)
        write_all(fd, data, durable=durable)
        return os.fstat(fd).st_ino
    except OSError:
        with suppress(OSError):  # the sweep at the next start removes it
            platform.FS.unlink(path)
        raise
    finally:
        platform.FS.close(fd)
