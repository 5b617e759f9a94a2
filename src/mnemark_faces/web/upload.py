"""Take in a file that a page sends: in parts, to a private file of the state folder, within limits.

Nothing of the file is kept before the form's key was seen, which stands before it in the form.
"""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from mnemark.errors import MnemarkError, UsageError
from mnemark.files import platform
from mnemark.files.disk_errors import translate_os_errors
from mnemark.text.lazy_pattern import lazy_pattern

MOST_BYTES: Final = 2_000_000_000
PART_SECONDS: Final = 30.0
"""Time limit for the next piece of a file."""
_FIELD_BYTES: Final = 4_096
_MOST_FIELDS: Final = 20
_AT_ONCE: Final = 1 << 20
"""Bytes that are written together."""
_FILE: Final = "file"
_DISPOSITION: Final = re.compile(
    rb'form-data\s*;\s*name="([^"]{1,60})"(?:\s*;\s*filename="([^"]*)")?', re.IGNORECASE
)
_UNUSUAL: Final = lazy_pattern(r"[^\w .()+-]|^[.\s]+")
_LONGEST_NAME: Final = 100
_DRAINED: Final = 64_000_000
_FOLDER: Final = "uploads"


def folder() -> Path:
    """Return the folder of files that were sent; it need not exist."""
    return platform.state_folder() / _FOLDER


def is_upload(path: Path) -> bool:
    """Whether a path is that of a file that was sent."""
    return path.is_absolute() and path.parent.parent == folder() and ".." not in path.parts


def discard(path: Path) -> None:
    """Delete a file that was sent, and its folder."""
    if is_upload(path):
        shutil.rmtree(path.parent, ignore_errors=True)


def discard_all() -> None:
    """Delete all files that were sent: nothing knows of them any more."""
    shutil.rmtree(folder(), ignore_errors=True)


class Upload:
    """A form with a file, as it comes in."""

    def __init__(self, is_own_form: Callable[[str], bool]) -> None:
        self.fields: dict[str, str] = {}
        self.path: Path | None = None
        """Where the file is; None before it came."""
        self._is_own_form = is_own_form
        self._file: BinaryIO | None = None
        self._waiting = bytearray()
        self._name = ""
        self._is_file = False
        self._value = bytearray()
        self._header = bytearray()

    def callbacks(self) -> Mapping[str, Callable[..., None]]:
        """Return what the parser calls."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda *_: None,
            "on_header_value": self._head,
            "on_header_end": self._header_ends,
            "on_headers_finished": self._headers_end,
            "on_part_data": self._data,
            "on_part_end": self._end,
        }

    def _begin(self) -> None:
        self._name, self._is_file = "", False
        self._value.clear()
        self._header.clear()

    def _head(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]
        if len(self._header) > _FIELD_BYTES:
            raise UsageError("this is not the form of a page")

    def _header_ends(self) -> None:
        if (found := _DISPOSITION.fullmatch(self._header.strip())) is not None:
            self._name = found[1].decode("utf-8", "replace")
            if found[2] is not None:
                self._is_file = True
                self.fields["name"] = file_name(found[2].decode("utf-8", "replace"))
        self._header.clear()

    def _headers_end(self) -> None:
        if not self._is_file:
            if not self._name or len(self.fields) > _MOST_FIELDS:
                raise UsageError("this is not the form of a page")
            return
        if not self._is_own_form(self.fields.get("form_key", "")):
            raise UsageError(
                "this form is from an earlier visit; go back, load the page again, and send it anew"
            )
        if self._name != _FILE or self.path is not None:
            raise UsageError("send one file")
        place = platform.temporary_beside(folder() / "file")
        with translate_os_errors(place):
            platform.private_folder(folder())
            platform.private_folder(place)
            self.path = place / self.fields["name"]
            self._file = platform.open_new(self.path)

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self._waiting += data[start:end]
            return
        self._value += data[start:end]
        if len(self._value) > _FIELD_BYTES:
            raise UsageError("this is not the form of a page")

    def _end(self) -> None:
        if not self._is_file:
            self.fields[self._name] = self._value.decode("utf-8", "replace")
        elif self._file is not None:
            self.write()
            self._file.close()
            self._file = None

    @property
    def much(self) -> bool:
        """Whether enough waits to be written."""
        return len(self._waiting) >= _AT_ONCE

    def write(self) -> None:
        """Write what waits."""
        if self._file is not None and self.path is not None:
            with translate_os_errors(self.path):
                self._file.write(self._waiting)
            self._waiting.clear()

    def check(self) -> None:
        """Raise UsageError where no file came, or an empty one: of a field in which none was chosen."""
        if self.path is None or not self.path.exists() or not self.path.stat().st_size:
            raise UsageError("choose a file first")

    def abandon(self) -> None:
        """Delete what came."""
        if self._file is not None:
            self._file.close()
        if self.path is not None:
            discard(self.path)


def file_name(given: str) -> str:
    """Return the name of a file that was sent as one that is safe in a folder, with its ending."""
    name = _UNUSUAL.sub("_", given.replace("\\", "/").rpartition("/")[2])
    stem, dot, ending = name.rpartition(".")
    kept = f"{stem[:_LONGEST_NAME]}{dot}{ending[:20]}" if dot else name[:_LONGEST_NAME]
    return kept.encode("utf-8")[:200].decode("utf-8", "ignore") or "file"


async def receive(
    stream: AsyncIterator[bytes], kind: str, length: str, is_own_form: Callable[[str], bool]
) -> Upload:
    """Take in the form of a request, whose file is on the disk when this returns.

    Args:
        stream: the pieces of the body.
        kind: the content type, with the boundary.
        length: the length that was announced; empty if none was.
        is_own_form: whether a form's key is that of these pages.

    Raises:
        UsageError: the form is not one of these pages, or has no file.
        MnemarkError: it is too large, did not come, or cannot be written.
    """
    from python_multipart.exceptions import FormParserError
    from python_multipart.multipart import MultipartParser, parse_options_header

    taken = Upload(is_own_form)
    try:
        _check_size(length)
        _, options = parse_options_header(kind)
        parser = MultipartParser(options.get(b"boundary", b""), dict(taken.callbacks()), MOST_BYTES)  # type: ignore[arg-type] # by name
        try:
            async for piece in _pieces(stream):
                parser.write(piece)
                if taken.much:
                    await asyncio.to_thread(taken.write)
            parser.finalize()
        except FormParserError as error:
            raise UsageError("this is not the form of a page") from error
        taken.check()
    except BaseException:
        taken.abandon()
        await _drain(stream)
        raise
    return taken


async def _pieces(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces of a body, each within its time and all within the size."""
    count = 0
    while True:
        try:
            piece = await asyncio.wait_for(anext(stream), PART_SECONDS)
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            raise MnemarkError("the file did not come; send it again") from error
        count += len(piece)
        if count > MOST_BYTES:
            raise _too_large()
        yield piece


def _check_size(length: str) -> None:
    if not length.isdecimal():
        return
    if int(length) > MOST_BYTES:
        raise _too_large()
    with suppress(OSError):
        if shutil.disk_usage(platform.state_folder()).free < 2 * int(length):
            raise MnemarkError(
                "there is not enough room on the disk for this file; free some, and send it again"
            )


def _too_large() -> UsageError:
    return UsageError(
        f"a file that is sent can have {MOST_BYTES // 1_000_000_000} GB; give a larger one by its path"
    )


async def _drain(stream: AsyncIterator[bytes]) -> None:
    """Read what still comes, so that the browser reads why it was refused."""
    left = _DRAINED
    with suppress(Exception):
        async with asyncio.timeout(5.0):
            while left > 0:
                left -= len(await anext(stream))
