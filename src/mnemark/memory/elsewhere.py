"""Edits of Markdown files that the journals tell of: by another process, or another part of this one.

Turns and facts are found at once, as the logs are read behind the index. A note has no line of its own there,
but what was written by `mnemark.memory.ledger` has: so a search looks at the files when such a line has come,
without waiting for the next look that is due.
"""

from pathlib import Path
from typing import Final

from mnemark.files import platform
from mnemark.index.pending import LogSizes

_FOLDER: Final = "journal/"
_MARKS: Final = (b'"kind":"done"', b'"kind":"project"')
"""An edit is in its file; words in a payload have their quotes escaped."""
_MOST: Final = 1 << 20
"""More than so many new bytes are not read: then an edit is among them, as far as anybody knows."""


class EditsElsewhere:
    """Tells once of edits that came since it was last asked."""

    def __init__(self, root: Path, logs: LogSizes) -> None:
        self._root = root
        self._logs = logs
        self._version = -1
        self._read: dict[str, int] = {}

    def came(self) -> bool:
        """Whether a file was edited; what came before the first call does not count."""
        version, sizes = self._logs.current()
        if version == self._version:
            return False
        first, self._version = self._version < 0, version
        grown = {
            path: (self._read.get(path, 0), size)
            for path, size in sizes.items()
            if path.startswith(_FOLDER) and size != self._read.get(path, 0)
        }
        self._read = self._read | {path: size for path, (_, size) in grown.items()}
        return not first and any(self._holds(path, *span) for path, span in grown.items())

    def _holds(self, path: str, start: int, end: int) -> bool:
        if not 0 <= end - start <= _MOST:
            return True
        try:
            with platform.opened(self._root / path) as file:
                file.seek(start)
                data = file.read(end - start)
        except OSError:  # it goes or is replaced just now: then a look is due in any case
            return True
        return any(mark in data for mark in _MARKS)
