"""Choose and open the vector engine.

Vectors are kept by content key (a 16-byte hash of the embedded text), apart from passages: a passage that
moves or comes back keeps its vector. A store gives each vector a row number; the caller holds an int64 array
that maps its live passages to rows and passes that to `scores`, so that scopes and filters are applied by
choosing rows.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Protocol

from mnemark.errors import ConfigError
from mnemark.index.vectors.base import VectorStore

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
