"""Define the interface of vector stores and their shared behaviour."""

import errno
import os
import sys
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from mnemark.errors import IntegrityError, MnemarkError, NewerFormatError, ReadOnlyError
from mnemark.files.platform import FS, make_folder
from mnemark.index.vectors.keys import Packed, as_words

_DENIED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class EngineUnavailable(MnemarkError):  # noqa: N818 - the name says what is the matter, as callers print it
    """The configured vector engine cannot be used; the message gives the reason and the fix."""


class VectorStore(ABC):
    """The vectors of one model. Create it with `open`.

    One process writes at a time, under the workspace's lock, which the caller holds; any number of processes
    and threads may read.
    """

    engine: ClassVar[str]
    """The engine's name in the configuration."""
    suffix: ClassVar[str]
    """Suffix of the file or folder, after the model's name."""

    def __init__(self, folder: Path, model: str, dimension: int, *, readonly: bool) -> None:
        self.path = folder / f"{model}{self.suffix}"
        self.model = model
        self.dimension = dimension
        self.readonly = readonly
        self.set_aside: Path | None = None
        """Path to which `open` moved an unusable file or folder; None if there was none."""
        self._covered: tuple[int, int, Mapping[int, str]] = 0, 0, {}
        self._checked: tuple[Callable[[], object], int] = (lambda: None), 0
        """The read-only rows that were checked last, and the largest of them; see `_check_rows`."""
        self._lock = threading.RLock()

    @classmethod
    def open(cls, folder: Path, model: str, dimension: int, *, readonly: bool = False) -> Self:
        """Open the vectors of `model` in `folder`.

        A writer creates a missing store. One that is damaged, of another model or dimension, or of an older
        format is moved away (`set_aside`) and a new one created. For a reader a missing store is empty.

        Raises:
            EngineUnavailable: the engine's package is not installed or does not load.
            IntegrityError: readonly, and the vectors are not those of this model.
            NewerFormatError: a newer mnemark wrote them; they are left alone.
            ReadOnlyError: the folder cannot be written to.
            ValueError: the model name is not safe as a file name, or the dimension is not 1 to 65,535.
        """
        self = cls(folder, model, dimension, readonly=readonly)
        try:
            if not readonly:
                make_folder(folder)
                self._prepare()
            self.refresh()
        except Exception as error:
            self.close()
            if isinstance(error, OSError) and error.errno in _DENIED:
                raise ReadOnlyError(f"{folder} cannot be written to: {error.strerror}") from error
            raise
        return self

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of rows; row numbers are 0 … count-1."""

    @property
    @abstractmethod
    def generation(self) -> int:
        """A number that changes when row numbers become invalid; 0 if nothing is stored on disk."""

    @property
    def covered(self) -> Mapping[int, str]:
        """The checksums of the index's segments whose passages all have a vector in this generation."""
        generation, count, known = self._covered
        return known if generation and generation == self.generation and count <= self.count else {}

    @covered.setter
    def covered(self, segments: Mapping[int, str]) -> None:
        self._covered = self.generation, self.count, segments

    def refresh(self) -> bool:
        """Load changes of other processes; return whether rows were added or the generation changed.

        Raises:
            IntegrityError: the stored vectors are damaged or of another model.
        """
        with self._lock:
            before = self.count, self.generation
            try:
                self._refresh()
            except NewerFormatError:
                raise
            except IntegrityError as error:
                raise IntegrityError(
                    f"{self.path.name}: {error}; `mnemark sync` sets it aside and rebuilds"
                ) from error
            return before != (self.count, self.generation)

    def lookup(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """Return the row numbers of 16-byte content keys, (len(keys),); -1 for keys without a vector."""
        packed = _packed(keys)
        with self._lock:
            return self._find(packed)

    def missing(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return the distinct keys without a vector, in order."""
        absent = np.flatnonzero(self.lookup(keys) < 0).tolist()
        return list(dict.fromkeys(keys[at] for at in absent))

    def add(self, keys: Sequence[bytes], matrix: NDArray[np.float32]) -> NDArray[np.int64]:
        """Append the vectors whose keys are new and flush them to disk.

        Args:
            keys: content keys, 16 bytes each.
            matrix: float32 (len(keys), dimension); rows need not be normalised.

        Returns:
            The row of each key, int64 (len(keys),). Existing keys keep their vectors; of duplicate keys the
            first counts.

        Raises:
            ReadOnlyError: opened readonly.
            ValueError: the shape does not fit, or a value is not finite.
        """
        self._check_writable()
        if matrix.shape != (len(keys), self.dimension):
            raise ValueError(f"expected {(len(keys), self.dimension)} values, got {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise ValueError("a vector has values that are not finite")
        packed = _packed(keys)
        with self._lock:
            self.refresh()
            firsts: dict[bytes, int] = {}
            for at in np.flatnonzero(self._find(packed) < 0).tolist():
                firsts.setdefault(packed[at], at)
            new = list(firsts.values())
            if new:
                self._append(_packed(list(firsts)), np.asarray(matrix, dtype=np.float32)[new])
            return self._find(packed)

    def scores(
        self, query: NDArray[np.float32], rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """Return the cosines of `query` (dimension,) with rows, float32 in the order of `rows`.

        Args:
            query: need not be normalised; a zero vector scores 0 everywhere.
            rows: row numbers in any order; -1 (no vector) scores 0. None for all rows in order.

        Raises:
            IndexError: a row number outside -1 … count-1.
            ValueError: the query has another dimension or is not finite.
        """
        return self._scores(self._valid(query), rows)

    def begin_scores(
        self, query: NDArray[np.float32], rows: NDArray[np.int64] | None = None
    ) -> Callable[[], NDArray[np.float32]]:
        """Begin to compute `scores`; return the function that waits for them, to be called once.

        A store that can computes them beside the calling thread.
        """
        return self._begin_scores(self._valid(query), rows)

    def _valid(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        if query.shape != (self.dimension,) or not np.isfinite(query).all():
            raise ValueError(f"expected {self.dimension} finite values, got shape {query.shape}")
        return np.asarray(query, dtype=np.float32)

    def compact(self, keep: Iterable[bytes]) -> int:
        """Erase every vector whose key is not in `keep` from disk, and any store moved away by `open`.

        Returns:
            The number of vectors removed.

        Raises:
            BusyError: another process has the file open on a system where it then cannot be replaced.
            ReadOnlyError: opened readonly.
        """
        self._check_writable()
        kept = _packed(list(keep))
        with self._lock:
            self.refresh()
            removed = self._compact(kept)
            _remove(_set_aside_path(self.path))
            return removed

    @abstractmethod
    def close(self) -> None:
        """Close the files. Scores already returned stay valid."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_writable(self) -> None:
        if self.readonly:
            raise ReadOnlyError(
                f"{self.path.name} is open for reading only; reopen it under the workspace lock"
            )

    def _prepare(self) -> None:
        """Move an unusable store away, and create a new one if there is none."""
        try:
            self.refresh()
        except NewerFormatError:
            raise
        except IntegrityError:
            self.set_aside = _set_aside_path(self.path)
            _remove(self.set_aside)
            FS.replace(self.path, self.set_aside)
        if not self.generation:
            self._create()

    def _check_rows(self, rows: NDArray[np.int64] | None, count: int) -> None:
        """Raise IndexError for rows that are not there; an array that cannot change is read once."""
        if rows is None or not len(rows):
            return
        checked, largest = self._checked
        if rows.flags.writeable or checked() is not rows:
            largest = int(rows.max()) if rows.min() >= -1 else sys.maxsize
            self._checked = weakref.ref(rows), largest
        if largest >= count:
            raise IndexError(f"row numbers must be -1 to {count - 1}")

    @abstractmethod
    def _refresh(self) -> None:
        """Implement `refresh`; errors need not name the file."""

    @abstractmethod
    def _create(self) -> None:
        """Create an empty store and open it."""

    @abstractmethod
    def _find(self, keys: Packed) -> NDArray[np.int64]:
        """Implement `lookup`."""

    @abstractmethod
    def _append(self, keys: Packed, matrix: NDArray[np.float32]) -> None:
        """Append vectors of new, distinct keys, and refresh."""

    @abstractmethod
    def _scores(self, query: NDArray[np.float32], rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
        """Implement `scores` for a validated query."""

    def _begin_scores(
        self, query: NDArray[np.float32], rows: NDArray[np.int64] | None
    ) -> Callable[[], NDArray[np.float32]]:
        return lambda: self._scores(query, rows)

    @abstractmethod
    def _compact(self, keep: Packed) -> int:
        """Implement `compact`."""


def new_generation() -> int:
    """Return a random generation; never 0, which stands for "no file"."""
    return (int.from_bytes(os.urandom(8)) >> 2) + 1


def _packed(keys: Sequence[bytes]) -> Packed:
    return keys if isinstance(keys, Packed) else Packed(as_words(keys).view(np.uint8))


def _set_aside_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.set-aside")


def _remove(path: Path) -> None:
    if path.is_dir():
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
