"""Interface of vector engines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from mnemark.errors import MnemarkError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
