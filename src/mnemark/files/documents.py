"""Convert documents to text, those that need a library in a process of their own.

A damaged file may keep a library busy for hours or take all memory, and no thread can be ended. So a process
converts them, with limits, and is ended when a file takes too long. It is started for the first file, and
used again inside of `converting`.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import msgspec

from mnemark.files import pipes
from mnemark.hashes import blake2b
from mnemark.text import documents
from mnemark.text.documents import UnreadableDocumentError, format_of

if TYPE_CHECKING:
    from subprocess import Popen

SECONDS: Final = 60.0
"""Longest time for one document."""
_KEPT: Final = 4
"""Views that are kept in memory: lines of a document are read one after the other."""
_SHORTEST: Final = 20_000
"""Characters of a view that is worth to be kept."""


class _Converter:
    """The process that converts, and who uses it."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin without a process."""
        self.lock = threading.RLock()
        self.users = 0
        self.process: Popen[bytes] | None = None
        self.views: OrderedDict[bytes, str] = OrderedDict()

    def started(self, command: list[str]) -> "Popen[bytes]":
        """Return the process, started if there is none."""
        if self.process is None:
            from subprocess import DEVNULL, PIPE, Popen

            self.process = Popen(
                command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, creationflags=pipes.NO_WINDOW
            )
        return self.process

    def stop(self) -> None:
        """End the process."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            with suppress(OSError):  # what was not sent
                process.communicate()


_converter: Final = _Converter()
if hasattr(os, "register_at_fork"):  # the process answers the parent alone
    os.register_at_fork(after_in_child=_converter.reset)


@contextmanager
def converting() -> Iterator[None]:
    """Keep the process for all documents that are converted in this block."""
    with _converter.lock:
        _converter.users += 1
    try:
        yield
    finally:
        with _converter.lock:
            _converter.users -= 1
            if not _converter.users:
                _converter.stop()


def view_of(path: str, data: bytes) -> str:
    """Return the view of a document (see `text.documents`); `path` is its name.

    Raises:
        UnreadableDocumentError: it cannot be converted, or not within the limits.
    """
    how = format_of(path)
    if how is None or not how.packages:
        return documents.convert(path, data)
    if any(path.lower().endswith(suffix) for suffix in documents.missing()):
        raise UnreadableDocumentError(f"is not text; to have it read, run {documents.EXTRA}")
    key = blake2b(path.rpartition(".")[2].lower().encode() + b"\0" + data, digest_size=16).digest()
    with converting(), _converter.lock:
        view = _converter.views.pop(key, None)
        if view is None:
            try:
                view = _asked(path, data)
            except _LostProgramError:  # somebody may have ended it, who ended this process, too
                view = _asked(path, data)
        if len(view) >= _SHORTEST:
            _converter.views[key] = view
            if len(_converter.views) > _KEPT:
                _converter.views.popitem(last=False)
        return view


class _LostProgramError(UnreadableDocumentError):
    """The program that converts ended before its answer."""


def _asked(path: str, data: bytes) -> str:
    command = pipes.program("mnemark.files.document_process")
    if command is None:  # inside of another program, without the limits
        return documents.convert(path, data)
    try:
        process = _converter.started(command)
    except OSError as error:
        raise UnreadableDocumentError(f"cannot be converted: no process can be started ({error})") from error
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(SECONDS, end)
    timer.start()
    try:
        assert process.stdin is not None and process.stdout is not None  # noqa: PT018, S101
        pipes.send(process.stdin, (path, data))  # type: ignore[arg-type]
        view, problem = pipes.receive(process.stdout)  # type: ignore[arg-type]
    except (pipes.LostError, OSError, ValueError, msgspec.MsgspecError) as error:
        _converter.stop()
        if late.is_set():
            raise UnreadableDocumentError(
                f"cannot be converted, as it takes longer than {SECONDS:.0f} s: save it as text"
            ) from error
        raise _LostProgramError(
            "cannot be converted, as it ends the program that reads it: save it as text"
        ) from error
    finally:
        timer.cancel()
    if problem:
        raise UnreadableDocumentError(str(problem))
    return str(view)


def forget_views() -> None:
    """Forget the views that are kept in memory, after an erasure."""
    with _converter.lock:
        _converter.views.clear()
