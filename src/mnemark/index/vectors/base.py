"""Interface of vector engines, and what all of them do alike."""

import errno
import shutil
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
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
    """The vectors of one model. Made by `open`.

    One process writes at a time, under the workspace's lock, which the caller holds; any number read. Reading
    is safe from several threads.
    """

    engine: ClassVar[str]
    """The engine's name in the configuration."""
    suffix: ClassVar[str]
    """Of the file or folder, behind the model's name."""

    def __init__(self, folder: Path, model: str, dimension: int, *, readonly: bool) -> None:
        self.path = folder / f"{model}{self.suffix}"
        self.model = model
        self.dimension = dimension
        self.readonly = readonly
        self.set_aside: Path | None = None
        """Where `open` put an unusable file or folder that was in the way; None where there was none."""
        self._lock = threading.RLock()

    @classmethod
    def open(cls, folder: Path, model: str, dimension: int, *, readonly: bool = False) -> Self:
        """Open the vectors of `model` in `folder`.

        A writer makes them where they are missing; those of another model, dimension or an older format, or
        damaged ones, are set aside (`set_aside`) and new ones begun. For a reader missing ones are empty.

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
        """Row numbers are 0 … count-1."""

    @property
    @abstractmethod
    def generation(self) -> int:
        """Row numbers hold as long as this stays the same; 0 where nothing is on the disk."""

    def refresh(self) -> bool:
        """Take in what another process wrote; whether rows were added or the generation changed.

        Raises:
            IntegrityError: what is on the disk now is not of this model, or damaged.
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
        """Return the row numbers of content keys of 16 bytes, (len(keys),); -1 where there is no vector."""
        packed = _packed(keys)
        with self._lock:
            return self._find(packed)

    def missing(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return the keys without a vector, in order, each once."""
        absent = np.flatnonzero(self.lookup(keys) < 0).tolist()
        return list(dict.fromkeys(keys[at] for at in absent))

    def add(self, keys: Sequence[bytes], matrix: NDArray[np.float32]) -> NDArray[np.int64]:
        """Keep the vectors whose keys are new; on return they have reached the disk.

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
        """Return cosines of `query` (dimension,) with rows, float32 in the order of `rows`.

        Args:
            query: need not be normalised; a zero vector scores 0 everywhere.
            rows: row numbers in any order; -1 (no vector) scores 0. None for all rows in order.

        Raises:
            IndexError: a row number outside -1 … count-1.
            ValueError: the query has another dimension or is not finite.
        """
        if query.shape != (self.dimension,) or not np.isfinite(query).all():
            raise ValueError(f"expected {self.dimension} finite values, got shape {query.shape}")
        return self._scores(np.asarray(query, dtype=np.float32), rows)

    def compact(self, keep: Iterable[bytes]) -> int:
        """Erase every vector whose key is not in `keep` from the disk, and what was set aside earlier.

        Returns:
            How many vectors were removed.

        Raises:
            BusyError: another process has the file open on a system where it then cannot be replaced.
            ReadOnlyError: opened readonly.
        """
        self._check_writable()
        kept = _packed(list(keep))
        with self._lock:
            self.refresh()
            removed = self._compact(kept)
            _remove(_beside(self.path))
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
        """As the writer: put unusable vectors out of the way, and begin new ones where there are none."""
        try:
            self.refresh()
        except NewerFormatError:
            raise
        except IntegrityError:
            self.set_aside = _beside(self.path)
            _remove(self.set_aside)
            FS.replace(self.path, self.set_aside)
        if not self.generation:
            self._begin()

    def _check_rows(self, rows: NDArray[np.int64] | None, count: int) -> None:
        if rows is not None and len(rows) and not (rows.min() >= -1 and rows.max() < count):
            raise IndexError(f"row numbers must be -1 to {count - 1}")

    @abstractmethod
    def _refresh(self) -> None:
        """As `refresh`, without the name of the file in errors."""

    @abstractmethod
    def _begin(self) -> None:
        """Write vectors that hold no row, and open them."""

    @abstractmethod
    def _find(self, keys: Packed) -> NDArray[np.int64]:
        """As `lookup`."""

    @abstractmethod
    def _append(self, keys: Packed, matrix: NDArray[np.float32]) -> None:
        """Keep vectors of keys that are new and distinct, and take them in."""

    @abstractmethod
    def _scores(self, query: NDArray[np.float32], rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
        """As `scores`, for a query that is sound."""

    @abstractmethod
    def _compact(self, keep: Packed) -> int:
        """As `compact`."""


def _packed(keys: Sequence[bytes]) -> Packed:
    return keys if isinstance(keys, Packed) else Packed(as_words(keys).view(np.uint8))


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.set-aside")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
