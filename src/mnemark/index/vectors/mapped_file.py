"""Store int8 vectors in one append-only, memory-mapped file per model, and scan it exactly.

Rows are valid up to the header's `committed`, which is written after the rows are flushed: a crash leaves a
consistent prefix, and the next write overwrites the torn tail. The file never shrinks in place, so mappings
of other processes stay valid; `compact` writes a new file and replaces the old one.
The layout is in `rows`.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from mnemark.errors import BusyError
from mnemark.files.platform import FS, open_new
from mnemark.index.vectors.base import VectorStore, new_generation
from mnemark.index.vectors.keys import KeyIndex, Packed
from mnemark.index.vectors.rows import (
    COMMITTED,
    COMMITTED_AT,
    HEADER_BYTES,
    Header,
    begin_cosines,
    empty_view,
    map_view,
    pack_rows,
    row_stride,
)
from mnemark.text.lazy_pattern import lazy_pattern

_SAFE_NAME = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,119}")
_COPY_ROWS = 1 << 14
"""Rows copied at a time by `compact`."""
_CREATE_TRIES: Final = 5
"""Attempts to create a file when several processes do so at once."""
_ABANDONED: Final = 60.0
"""Seconds after which an unfinished new file counts as left by a crash."""


class VectorFile(VectorStore):
    """The exact vector store: every score is a full int8 scan, near memory bandwidth on one core.

    Several processes may read while one writes. Compaction copies vectors bit for bit.
    """

    engine = "exact"
    suffix = ".vec"

    def __init__(self, folder: Path, model: str, dimension: int, *, readonly: bool) -> None:
        if not _SAFE_NAME.fullmatch(model):
            raise ValueError(f"{model!r} is not safe as a file name")
        if not 1 <= dimension <= 0xFFFF:
            raise ValueError(f"dimension must be 1 to 65535, not {dimension}")
        super().__init__(folder, model, dimension, readonly=readonly)
        self._view = empty_view(dimension)
        self._index = KeyIndex()
        self._indexed_generation = 0

    @property
    def count(self) -> int:
        """The number of rows; row numbers are 0 … count-1."""
        return self._view.count

    @property
    def generation(self) -> int:
        """A number that changes when row numbers become invalid, by `compact` or a rebuild."""
        return self._view.generation

    def close(self) -> None:
        """Close the file. Scores already returned stay valid."""
        with self._lock:
            self._view = empty_view(self.dimension)
            self._index = KeyIndex()

    def _find(self, keys: Packed) -> NDArray[np.int64]:
        # Build or extend the key index of the current view on demand.
        view, known = self._view, len(self._index)
        if view.generation != self._indexed_generation or view.count < known:
            self._index, known = KeyIndex(), 0
            self._indexed_generation = view.generation
        if view.count > known:
            self._index = self._index.extended(view.words(known))
        return self._index.find(keys.words)

    def _scores(self, query: NDArray[np.float32], rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
        return self._begin_scores(query, rows)()

    def _begin_scores(
        self, query: NDArray[np.float32], rows: NDArray[np.int64] | None
    ) -> Callable[[], NDArray[np.float32]]:
        view = self._view
        self._check_rows(rows, view.count)
        return begin_cosines(view, query, rows)

    def _compact(self, keep: Packed) -> int:
        rows = self._find(keep)
        rows = np.unique(rows[rows >= 0])
        removed = self.count - len(rows)
        exact_size = HEADER_BYTES + self.count * row_stride(self.dimension)
        # A crash may have left bytes of forgotten rows after the committed ones.
        if removed or self.path.stat().st_size != exact_size:
            try:
                self._write_new(rows)
            except PermissionError as error:
                raise BusyError(
                    f"{self.path.name} is open in another process; "
                    "close it (`mnemark serve`, `watch`) and repeat"
                ) from error
            self.refresh()
        return removed

    def _prepare(self) -> None:
        for left in reversed(range(_CREATE_TRIES)):
            try:
                self._remove_abandoned()
                super()._prepare()
            except (FileNotFoundError, FileExistsError):  # another process makes it, too
                if not left:
                    raise
            else:
                return

    def _create(self) -> None:
        self._write_new(np.empty(0, dtype=np.int64))

    def _remove_abandoned(self) -> None:
        """Remove new files left by a crash, but not those still being written."""
        old = self.path.with_name(f"{self.path.name}.new")
        for path in (old, *self.path.parent.glob(f"{self.path.stem}.*.vec.new")):
            with suppress(FileNotFoundError):
                if abs(time.time() - path.stat().st_mtime) > _ABANDONED:
                    path.unlink()

    def _refresh(self) -> None:
        view = self._view
        try:
            status = self.path.stat()
            cut = status.st_size < view.size  # by another program; reading the map would end this process
            if (status.st_dev, status.st_ino) != view.file_id or cut or view.committed() != view.count:
                self._view = map_view(self.path, self.model, self.dimension, view)
        except FileNotFoundError:
            self._view = empty_view(self.dimension)

    def _append(self, keys: Packed, matrix: NDArray[np.float32]) -> None:
        count = self.count
        with self.path.open("r+b") as file:
            if self._view.committed() != count:
                # The file was truncated: new rows must not count before they are complete.
                _commit(file, count)
            file.seek(HEADER_BYTES + count * row_stride(self.dimension))
            file.write(pack_rows(keys.words, matrix))
            _flush(file)
            _commit(file, count + len(keys))
        self.refresh()

    def _write_new(self, rows: NDArray[np.int64]) -> None:
        """Write a new file with `rows` of the current view, and replace the old one."""
        new = self.path.with_name(f"{self.path.stem}.{os.getpid()}-{threading.get_ident()}.vec.new")
        raw = self._view.raw
        header = Header(self.model, self.dimension, generation=new_generation())
        with open_new(new) as file:
            file.write(header.pack(len(rows)))
            for start in range(0, len(rows), _COPY_ROWS):
                file.write(raw[rows[start : start + _COPY_ROWS]].tobytes())
            _flush(file)
        FS.replace(new, self.path)
        FS.sync_folder(self.path.parent)


def _commit(file: BinaryIO, count: int) -> None:
    file.seek(COMMITTED_AT)
    file.write(COMMITTED.pack(count))
    _flush(file)


def _flush(file: BinaryIO) -> None:
    file.flush()
    FS.sync(file.fileno())
