"""Open the vector store of the configured engine.

Vectors are stored by content key (a 16-byte hash of the embedded text), apart from passages: a passage that
is moved or restored keeps its vector. A store gives each vector a row number; the caller maps its live
passages to an int64 array of rows for `scores`, so that scopes and filters are applied by choosing rows.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from mnemark.errors import ConfigError

if TYPE_CHECKING:
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


def open_store(
    folder: Path, model: str, dimension: int, *, engine: str = "exact", readonly: bool = False
) -> "VectorStore":
    """Open the vectors of `model` (an embedder's `name`) below `folder` (`.mnemark/vectors`).

    Raises:
        ConfigError: there is no such engine.
        EngineUnavailable, IntegrityError, NewerFormatError, ReadOnlyError: see `VectorStore.open`.
    """
    store: type[VectorStore]
    if engine == "exact":
        from mnemark.index.vectors.mapped_file import VectorFile

        store = VectorFile
    elif engine == "sqlite-vec":
        from mnemark.index.vectors.sqlite_vec import SqliteVecStore

        store = SqliteVecStore
    elif engine == "chroma":
        store = import_module("mnemark_adapters.chroma").ChromaStore
    else:
        raise ConfigError(f'"{engine}" is no vector engine; use one of exact, sqlite-vec, chroma')
    return store.open(folder, model, dimension, readonly=readonly)


def discard_other_models(folder: Path, model: str) -> list[str]:
    """Delete the vectors of every model but `model`, so that forgetting also covers unused models.

    Returns:
        The names of the files that were deleted, sorted.
    """
    deleted = []
    for path in sorted(folder.glob("*")):
        own = path.name.endswith(_OWN_SUFFIXES)
        if own and not any(path.name == model + suffix for suffix in _OWN_SUFFIXES):
            if path.is_dir():
                import shutil

                shutil.rmtree(path)
            else:
                path.unlink()
            deleted.append(path.name)
    return deleted
