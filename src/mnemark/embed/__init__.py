"""Create the configured embedder.

Each embedder's module is imported only when `make` needs it.
"""

from mnemark.embed.base import Embedder, EmbedderUnavailable
from mnemark.errors import ConfigError

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
