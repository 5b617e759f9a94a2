"""The exact vector store: one append-only, memory-mapped file per model, found by content hash.

Rows count once the header's `committed` says so, which is written after the rows have reached the disk: a
crash at any moment leaves a consistent prefix, and the next write goes over the torn tail. The file never
shrinks in place, so mappings of other processes stay valid; `compact` writes a new file and swaps it in.
The layout is in `rows`.
"""

import os
import secrets
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from mnemark.errors import BusyError
from mnemark.files.platform import FS, open_new
from mnemark.index.vectors.base import VectorStore
from mnemark.index.vectors.keys import KeyIndex, Packed
from mnemark.index.vectors.rows import (
    COMMITTED,
    COMMITTED_AT,
    HEADER_BYTES,
    Header,
    cosines,
    empty_view,
    map_view,
    pack_rows,
    row_stride,
)
from mnemark.text.lazy_pattern import lazy_pattern

_SAFE_NAME = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,119}")
_COPY_ROWS = 1 << 14
"""Rows copied at a time by `compact`."""
_TRIES: Final = 5
"""Times a new file is begun where several processes do so at the same moment."""
_ABANDONED: Final = 60.0
"""Seconds after which a file that is being written is one that a crash left."""


class VectorFile(VectorStore):
    """The exact vector store: every score is a full int8 scan, near memory bandwidth on one core.

    Several processes may read while one writer adds. Kept vectors stay bit for bit the same when the file is
    compacted.
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
        """Rows that can be scored, 0 … count-1."""
        return self._view.count

    @property
    def generation(self) -> int:
        """Row numbers hold as long as this stays the same; `compact` and rebuilding change it."""
        return self._view.generation

    def close(self) -> None:
        """Close the file. Scores already returned stay valid."""
        with self._lock:
            self._view = empty_view(self.dimension)
            self._index = KeyIndex()

    def _find(self, keys: Packed) -> NDArray[np.int64]:
        # The key index of the current view is built or extended when first needed.
        view, known = self._view, len(self._index)
        if view.generation != self._indexed_generation or view.count < known:
            self._index, known = KeyIndex(), 0
            self._indexed_generation = view.generation
        if view.count > known:
            self._index = self._index.extended(view.words(known))
        return self._index.find(keys.words)

    def _scores(self, query: NDArray[np.float32], rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
        view = self._view
        self._check_rows(rows, view.count)
        return cosines(view, query, rows)

    def _compact(self, keep: Packed) -> int:
        rows = self._find(keep)
        rows = np.unique(rows[rows >= 0])
        removed = self.count - len(rows)
        exact_size = HEADER_BYTES + self.count * row_stride(self.dimension)
        # Behind the committed rows there may be what a crash left of forgotten ones.
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
        for left in reversed(range(_TRIES)):
            try:
                self._remove_left_over()
                super()._prepare()
            except (FileNotFoundError, FileExistsError):  # another process makes it, too
                if not left:
                    raise
            else:
                return

    def _begin(self) -> None:
        self._write_new(np.empty(0, dtype=np.int64))

    def _remove_left_over(self) -> None:
        """Remove what a crash left of new files; one that is being written stays."""
        old = self.path.with_name(f"{self.path.name}.new")
        for path in (old, *self.path.parent.glob(f"{self.path.stem}.*.vec.new")):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - _ABANDONED:
                    path.unlink()

    def _refresh(self) -> None:
        view = self._view
        try:
            status = self.path.stat()
            if (status.st_dev, status.st_ino) != view.file_id or view.committed() != view.count:
                self._view = map_view(self.path, self.model, self.dimension, view)
        except FileNotFoundError:
            self._view = empty_view(self.dimension)

    def _append(self, keys: Packed, matrix: NDArray[np.float32]) -> None:
        count = self.count
        with self.path.open("r+b") as file:
            if self._view.committed() != count:
                # The file was cut short: what is written now must not count before it is whole.
                _commit(file, count)
            file.seek(HEADER_BYTES + count * row_stride(self.dimension))
            file.write(pack_rows(keys.words, matrix))
            _to_disk(file)
            _commit(file, count + len(keys))
        self.refresh()

    def _write_new(self, rows: NDArray[np.int64]) -> None:
        """Write a new file with `rows` of the current view, and swap it in."""
        new = self.path.with_name(f"{self.path.stem}.{os.getpid()}-{threading.get_ident()}.vec.new")
        raw = self._view.raw
        # Never 0, which stands for "no file".
        header = Header(self.model, self.dimension, generation=secrets.randbits(63) + 1)
        with open_new(new) as file:
            file.write(header.pack(len(rows)))
            for start in range(0, len(rows), _COPY_ROWS):
                file.write(raw[rows[start : start + _COPY_ROWS]].tobytes())
            _to_disk(file)
        FS.replace(new, self.path)
        FS.sync_folder(self.path.parent)


def _commit(file: BinaryIO, count: int) -> None:
    file.seek(COMMITTED_AT)
    file.write(COMMITTED.pack(count))
    _to_disk(file)


def _to_disk(file: BinaryIO) -> None:
    file.flush()
    FS.sync(file.fileno())
