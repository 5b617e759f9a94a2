"""The exact vector store: one append-only, memory-mapped file per model, found by content hash.

Rows count once the header's `committed` says so, which is written after the rows have reached the disk: a
crash at any moment leaves a consistent prefix, and the next write goes over the torn tail. The file never
shrinks in place, so mappings of other processes stay valid; `compact` writes a new file and swaps it in.
The layout is in `vector_rows`.
"""

import errno
import os
import re
import secrets
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

import numpy as np
from numpy.typing import NDArray

from mnemark.errors import BusyError, IntegrityError, NewerFormatError, ReadOnlyError
from mnemark.files.platform import FS, make_folder, open_new
from mnemark.index.vectors.keys import KeyIndex, Words, as_words
from mnemark.index.vectors.rows import (
    COMMITTED_AT,
    HEADER_BYTES,
    Header,
    committed_bytes,
    cosines,
    empty_view,
    map_view,
    pack_rows,
    row_stride,
)

_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,119}")
_COPY_ROWS = 1 << 14
"""Rows copied at a time by `compact`."""


_TRIES: Final = 5
"""Times a new file is begun where several processes do so at the same moment."""
_ABANDONED: Final = 60.0
"""Seconds after which a file that is being written is one that a crash left."""


class VectorFile:
    """The exact vector store: every score is a full int8 scan, near memory bandwidth on one core.

    Reading is safe from several threads and processes while one writer adds. Writing needs the workspace's
    lock, which the caller holds. Made by `open`.
    """

    engine = "exact"

    def __init__(self, path: Path, model: str, dimension: int, *, readonly: bool) -> None:
        self.path = path
        self.model = model
        self.dimension = dimension
        self.readonly = readonly
        self.set_aside: Path | None = None
        """Where `open` put an unusable file that was in the way; None where there was none."""
        self._lock = threading.Lock()
        self._view = empty_view(dimension)
        self._index = KeyIndex()
        self._indexed_generation = 0

    @classmethod
    def open(cls, folder: Path, model: str, dimension: int, *, readonly: bool = False) -> Self:
        """Open `folder/<model>.vec`; a writer makes it where it is missing.

        A file of another model, dimension or an older format, or with a damaged header, is set aside by a
        writer (`set_aside`) and a new one begun. A reader treats a missing file as an empty one.

        Raises:
            IntegrityError: readonly, and the file is not one of this model.
            NewerFormatError: a newer mnemark wrote it; it is left alone.
            ReadOnlyError: the folder cannot be written to.
            ValueError: the model name is not safe as a file name, or the dimension is not 1 to 65,535.
        """
        if not _SAFE_NAME.fullmatch(model):
            raise ValueError(f"{model!r} is not safe as a file name")
        if not 1 <= dimension <= 0xFFFF:
            raise ValueError(f"dimension must be 1 to 65535, not {dimension}")
        self = cls(folder / f"{model}.vec", model, dimension, readonly=readonly)
        if not readonly:
            self._prepare()
        self.refresh()
        return self

    @property
    def count(self) -> int:
        """Rows that can be scored, 0 … count-1."""
        return self._view.count

    @property
    def generation(self) -> int:
        """Row numbers hold as long as this stays the same; `compact` and rebuilding change it."""
        return self._view.generation

    def refresh(self) -> bool:
        """Take in what the writer has added since; a stat and one read where there is nothing new.

        Returns:
            Whether rows were added or the file was replaced (then `generation` changed too).

        Raises:
            IntegrityError: the file was replaced by one that is not of this model.
        """
        with self._lock:
            return self._refresh()

    def lookup(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """Row numbers of content keys (16 bytes each), int64 (len(keys),); -1 where there is no vector."""
        words = as_words(keys)
        with self._lock:
            return self._keys().find(words)

    def missing(self, keys: Sequence[bytes]) -> list[bytes]:
        """The keys without a vector, in order, each once."""
        absent = np.flatnonzero(self.lookup(keys) < 0).tolist()
        return list(dict.fromkeys(keys[at] for at in absent))

    def add(self, keys: Sequence[bytes], matrix: NDArray[np.float32]) -> NDArray[np.int64]:
        """Append the vectors whose keys are new; on return they have reached the disk.

        Args:
            keys: content keys, 16 bytes each.
            matrix: float32 (len(keys), dimension); rows need not be normalised.

        Returns:
            The row of each key, int64 (len(keys),). A key that was there keeps its vector; of keys given
            twice the first counts.

        Raises:
            ReadOnlyError: opened readonly.
            ValueError: the shape does not fit, or a value is not finite.
        """
        self._must_write()
        if matrix.shape != (len(keys), self.dimension):
            raise ValueError(f"expected {(len(keys), self.dimension)} values, got {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise ValueError("a vector has values that are not finite")
        words = as_words(keys)
        with self._lock:
            self._refresh()
            new = np.flatnonzero(self._keys().find(words) < 0)
            firsts = np.sort(np.unique(words[new], axis=0, return_index=True)[1])
            new = new[firsts]
            if len(new):
                self._append(words[new], np.asarray(matrix, dtype=np.float32)[new])
            return self._keys().find(words)

    def scores(
        self, query: NDArray[np.float32], rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """Cosines of `query` (dimension,) with rows, float32 in the order of `rows`.

        Args:
            query: need not be normalised; a zero vector scores 0 everywhere.
            rows: row numbers in any order; -1 (no vector) scores 0. None for all rows in order.

        Raises:
            IndexError: a row number outside -1 … count-1.
            ValueError: the query has another dimension or is not finite.
        """
        if query.shape != (self.dimension,) or not np.isfinite(query).all():
            raise ValueError(f"expected {self.dimension} finite values, got shape {query.shape}")
        view = self._view
        if rows is not None and len(rows) and not (rows.min() >= -1 and rows.max() < view.count):
            raise IndexError(f"row numbers must be -1 to {view.count - 1}")
        return cosines(view, np.asarray(query, dtype=np.float32), rows)

    def compact(self, keep: Iterable[bytes]) -> int:
        """Rewrite the file with only the rows of `keep`, so that forgotten vectors are gone from it.

        Also deletes files set aside earlier. Kept vectors stay bit for bit the same; row numbers change.

        Returns:
            How many vectors were removed.

        Raises:
            BusyError: another process has the file open on a system where it then cannot be replaced.
            ReadOnlyError: opened readonly.
        """
        self._must_write()
        words = as_words(list(keep))
        with self._lock:
            self._refresh()
            rows = self._keys().find(words)
            rows = np.unique(rows[rows >= 0])
            removed = self.count - len(rows)
            exact_size = HEADER_BYTES + self.count * row_stride(self.dimension)
            # Behind the committed rows there may be what a crash left of forgotten ones.
            if removed or self.path.stat().st_size != exact_size:
                self._swap(rows)
            _beside(self.path, "set-aside").unlink(missing_ok=True)
            return removed

    def close(self) -> None:
        """Let go of the file. Scores already returned stay valid."""
        with self._lock:
            self._view = empty_view(self.dimension)
            self._index = KeyIndex()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _must_write(self) -> None:
        if self.readonly:
            raise ReadOnlyError(
                f"{self.path.name} is open for reading only; reopen it under the workspace lock"
            )

    def _prepare(self) -> None:
        """As the writer: make folder and file, and put an unusable file out of the way."""
        try:
            make_folder(self.path.parent)
            for left in reversed(range(_TRIES)):
                try:
                    self._begin()
                except (FileNotFoundError, FileExistsError):  # another process makes it, too
                    if not left:
                        raise
                else:
                    return
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                raise ReadOnlyError(f"{self.path.parent} cannot be written to: {error.strerror}") from error
            raise

    def _begin(self) -> None:
        self._remove_left_over()
        if self._is_usable():
            return
        if self.path.exists():
            self.set_aside = _beside(self.path, "set-aside")
            FS.replace(self.path, self.set_aside)
        self._write_new(np.empty(0, dtype=np.int64))

    def _remove_left_over(self) -> None:
        """Remove what a crash left while a file was written beside; one written at this moment stays."""
        for path in (_beside(self.path, "new"), *self.path.parent.glob(f"{self.path.stem}.*.vec.new")):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - _ABANDONED:
                    path.unlink()

    def _is_usable(self) -> bool:
        try:
            map_view(self.path, self.model, self.dimension, self._view)
        except NewerFormatError:
            raise
        except (FileNotFoundError, IntegrityError):
            return False
        return True

    def _refresh(self) -> bool:
        view = self._view
        try:
            status = self.path.stat()
            if (status.st_dev, status.st_ino) == view.file_id and view.committed() == view.count:
                return False
            self._view = map_view(self.path, self.model, self.dimension, view)
        except FileNotFoundError:
            self._view = empty_view(self.dimension)
        except NewerFormatError:
            raise
        except IntegrityError as error:
            raise IntegrityError(
                f"{self.path.name}: {error}; `mnemark sync` sets it aside and rebuilds"
            ) from error
        return self._view.generation != view.generation or self._view.count != view.count

    def _keys(self) -> KeyIndex:
        """The key index of the current view, built or extended when first needed."""
        view, known = self._view, len(self._index)
        if view.generation != self._indexed_generation or view.count < known:
            self._index, known = KeyIndex(), 0
            self._indexed_generation = view.generation
        if view.count > known:
            self._index = self._index.extended(view.words(known))
        return self._index

    def _append(self, words: Words, matrix: NDArray[np.float32]) -> None:
        """Write rows behind the committed ones, then commit them."""
        count = self.count
        with self.path.open("r+b") as file:
            if self._view.committed() != count:
                # The file was cut short: what is written now must not count before it is whole.
                _commit(file, count)
            file.seek(HEADER_BYTES + count * row_stride(self.dimension))
            file.write(pack_rows(words, matrix))
            _to_disk(file)
            _commit(file, count + len(words))
        self._refresh()

    def _swap(self, rows: NDArray[np.int64]) -> None:
        try:
            self._write_new(rows)
        except PermissionError as error:
            raise BusyError(
                f"{self.path.name} is open in another process; close it (`mnemark serve`, `watch`) and repeat"
            ) from error
        self._refresh()

    def _write_new(self, rows: NDArray[np.int64]) -> None:
        """Write a file with `rows` of the current view beside, and swap it in."""
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


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.name}.{what}")


def _commit(file: BinaryIO, count: int) -> None:
    file.seek(COMMITTED_AT)
    file.write(committed_bytes(count))
    _to_disk(file)


def _to_disk(file: BinaryIO) -> None:
    file.flush()
    FS.sync(file.fileno())
