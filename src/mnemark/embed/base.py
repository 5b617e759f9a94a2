"""Interface between text and vectors: an embedder, and how it says that it cannot answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from mnemark.errors import MnemarkError

if TYPE_CHECKING:
    # Only names in annotations: `mnemark.embed` itself must import without numpy.
    import numpy as np
    from numpy.typing import NDArray


class EmbedderUnavailable(MnemarkError):  # noqa: N818 - the name says what is the matter, as callers print it
    """The embedder cannot answer now; the message gives the reason and the fix.

    A failing embedder raises this and never returns empty or zero vectors, which would look like an empty
    memory. Callers turn it into a `degraded` entry.
    """


def first_line(error: Exception | None) -> str:
    """Return the first line of an error's text, cut short."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:300]


class Embedder(Protocol):
    """Text in, unit vectors out. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """Identifies the model with version and dimension; safe as a file name on every system.

        Two models whose vectors must not be mixed never share a name. May raise `EmbedderUnavailable`
        where the dimension has to be asked from a server.
        """
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector. May raise `EmbedderUnavailable`, see `name`."""
        ...

    @property
    def semantic(self) -> bool:
        """Whether near vectors mean near meaning; False for hashing, which only sees spelling."""
        ...

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages: float32 of shape (len(texts), dimension), rows of L2 norm 1.

        A row is all zero where the text has nothing to embed (empty, or nothing the model knows).

        Raises:
            EmbedderUnavailable: the vectors could not be made; nothing is returned for any text.
        """
        ...

    def query(self, text: str) -> NDArray[np.float32]:
        """Embed a question: float32 of shape (dimension,), L2 norm 1, or all zero.

        Raises:
            EmbedderUnavailable: the vector could not be made.
        """
        ...
