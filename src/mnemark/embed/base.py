"""Define the interface of embedders, `Embedder`, and their error, `EmbedderUnavailable`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from mnemark.errors import MnemarkError

if TYPE_CHECKING:
    # For annotations only: `mnemark.embed` itself must import without numpy.
    import numpy as np
    from numpy.typing import NDArray


class EmbedderUnavailable(MnemarkError):  # noqa: N818 - the name says what is the matter, as callers print it
    """The embedder cannot compute vectors now; the message gives the reason and the fix.

    A failing embedder raises this and never returns empty or zero vectors, which would look like an empty
    memory. Callers turn it into a `degraded` entry.
    """


def first_line(error: Exception | None) -> str:
    """Return the first line of an error's message, at most 300 characters."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:300]


class Embedder(Protocol):
    """Computes unit vectors of texts. Thread-safe."""

    @property
    def name(self) -> str:
        """Identifier of model, version and dimension; valid as a file name on every system.

        Two models whose vectors must not be mixed never share a name. May raise `EmbedderUnavailable`
        if the dimension must be requested from a server.
        """
        ...

    @property
    def dimension(self) -> int:
        """Length of the vectors. May raise `EmbedderUnavailable`, see `name`."""
        ...

    @property
    def semantic(self) -> bool:
        """Whether similar vectors mean similar meaning; False for hashing, which only compares spelling."""
        ...

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages: float32 of shape (len(texts), dimension), rows of L2 norm 1.

        A row is all zero if the text has nothing to embed (blank, or no known word).

        Raises:
            EmbedderUnavailable: a vector could not be computed; nothing is returned for any text.
        """
        ...

    def query(self, text: str) -> NDArray[np.float32]:
        """Embed a question: float32 of shape (dimension,), L2 norm 1, or all zero.

        Raises:
            EmbedderUnavailable: the vector could not be computed.
        """
        ...
