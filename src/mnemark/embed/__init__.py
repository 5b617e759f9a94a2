"""Create the configured embedder.

Each embedder's module is imported only when `make` needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from mnemark.errors import ConfigError, MnemarkError

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


__all__ = ["Embedder", "EmbedderUnavailable", "make"]


def make(
    spec: str, *, url: str | None = None, key_env: str | None = None, dimension: int | None = None
) -> Embedder:
    """Create the embedder of `spec`: `bundled`, `hashing`, `fastembed:MODEL_OR_FOLDER` or `api:MODEL`.

    "none" (no vectors) must be handled by the caller. Nothing is sent over the network.

    Args:
        spec: the kind, and for some kinds a colon and the model.
        url: base URL of an OpenAI-compatible API, for `api`; None for OpenAI's own.
        key_env: name of the environment variable that holds the API key, for `api`; None for no key.
        dimension: length of the vectors, for `api` (sent with each request) and `hashing`; None for the
            model's own.

    Raises:
        ConfigError: the spec is not one of the above.
        EmbedderUnavailable: a package or file that the embedder needs is missing.
    """
    kind, _, model = spec.partition(":")
    if spec == "bundled":
        from mnemark.embed.bundled import BundledEmbedder

        return BundledEmbedder()
    if spec == "hashing":
        from mnemark.embed.hashing import HashingEmbedder

        return HashingEmbedder() if dimension is None else HashingEmbedder(dimension)
    if kind == "fastembed" and model:
        from mnemark.embed.local import LocalEmbedder

        return LocalEmbedder(model)
    if kind == "api" and model:
        from mnemark.embed.api import ApiEmbedder

        return ApiEmbedder(model, url=url, key_env=key_env, dimension=dimension)
    raise ConfigError(
        f'"{spec}" is not an embedder; use one like "bundled", "hashing", '
        '"fastembed:BAAI/bge-small-en-v1.5", "api:text-embedding-3-small", or "none"'
    )
