"""The seam between the index and the engines that keep vectors, and the choice of one.

Vectors are kept by content key (a 16-byte hash of the embedded text), apart from passages: a passage that
moves or comes back keeps its vector. A store gives each vector a row number; the caller holds an int64 array
that maps its live passages to rows and passes that to `scores`, so that scopes and filters are applied by
choosing rows.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mnemark.errors import ConfigError, MnemarkError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OWN_SUFFIXES = (
    ".vec",
    ".vec.new",
    ".vec.set-aside",
    ".vectors.db",
    ".vectors.db-journal",
    ".vectors.db.set-aside",
    ".chroma",
    ".chroma.set-aside",
)


class EngineUnavailable(MnemarkError):  # noqa: N818 - the name says what is the matter, as callers print it
    """The configured vector engine cannot be used; the message gives the reason and the fix."""


class VectorStore(Protocol):
    """The vectors of one model.

    One process writes at a time, under the workspace's lock, which the caller holds; any number read. Reading
    is safe from several threads.
    """

    engine: str
    """The engine's name in the configuration."""

    @property
    def count(self) -> int:
        """Row numbers are 0 … count-1."""
        ...

    @property
    def generation(self) -> int:
        """Row numbers hold as long as this stays the same."""
        ...

    def refresh(self) -> bool:
        """Take in what another process wrote; whether rows were added or the generation changed."""
        ...

    def lookup(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """Row numbers of content keys of 16 bytes, (len(keys),); -1 where there is no vector."""
        ...

    def missing(self, keys: Sequence[bytes]) -> list[bytes]:
        """The keys without a vector, in order, each once."""
        ...

    def add(self, keys: Sequence[bytes], matrix: NDArray[np.float32]) -> NDArray[np.int64]:
        """Keep vectors (len(keys), dimension) durably; the row of each key. Keys already there stay."""
        ...

    def scores(
        self, query: NDArray[np.float32], rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """Cosines of `query` (dimension,) with `rows`, in their order; row -1 scores 0. None: all rows."""
        ...

    def compact(self, keep: Iterable[bytes]) -> int:
        """Erase every vector whose key is not in `keep` from the disk; how many there were."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...


def _exact(folder: Path, model: str, dimension: int, *, readonly: bool) -> VectorStore:
    from mnemark.index.vectors.mapped_file import VectorFile

    return VectorFile.open(folder, model, dimension, readonly=readonly)


def _sqlite_vec(folder: Path, model: str, dimension: int, *, readonly: bool) -> VectorStore:
    from mnemark.index.vectors.sqlite_vec import SqliteVecStore

    return SqliteVecStore.open(folder, model, dimension, readonly=readonly)


def _chroma(folder: Path, model: str, dimension: int, *, readonly: bool) -> VectorStore:
    from mnemark.index.vectors.chroma import ChromaStore

    return ChromaStore.open(folder, model, dimension, readonly=readonly)


class _Opener(Protocol):
    def __call__(self, folder: Path, model: str, dimension: int, *, readonly: bool) -> VectorStore: ...


_ENGINES: dict[str, _Opener] = {"exact": _exact, "sqlite-vec": _sqlite_vec, "chroma": _chroma}


def open_store(
    folder: Path, model: str, dimension: int, *, engine: str = "exact", readonly: bool = False
) -> VectorStore:
    """Open the vectors of `model` (an embedder's `name`) below `folder` (`.mnemark/vectors`).

    Raises:
        ConfigError: there is no such engine.
        EngineUnavailable: the engine's package is missing or cannot be loaded.
        IntegrityError, NewerFormatError, ReadOnlyError: see `VectorFile.open`.
    """
    opener = _ENGINES.get(engine)
    if opener is None:
        raise ConfigError(f'"{engine}" is no vector engine; use one of {", ".join(_ENGINES)}')
    return opener(folder, model, dimension, readonly=readonly)


def discard_other_models(folder: Path, model: str) -> list[str]:
    """Delete the vectors of every model but `model`, so that forgetting reaches those not in use any more.

    Returns:
        The names of the files that were deleted, sorted.
    """
    deleted = []
    for path in sorted(folder.glob("*")):
        own = any(path.name.endswith(suffix) for suffix in _OWN_SUFFIXES)
        if own and not any(path.name == model + suffix for suffix in _OWN_SUFFIXES):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            deleted.append(path.name)
    return deleted
