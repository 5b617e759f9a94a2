"""Embedders: text in, vectors out.

`make` turns the words of the configuration into an embedder; each embedder's module is imported only when it
is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mnemark.embed.base import Embedder, EmbedderUnavailable
from mnemark.errors import ConfigError

__all__ = ["Embedder", "EmbedderUnavailable", "make"]


@dataclass(frozen=True)
class _Options:
    """What the configuration says besides the spec; an embedder takes what concerns it."""

    model: str
    url: str | None
    key_env: str | None
    dimension: int | None


def _hashing(options: _Options) -> Embedder:
    from mnemark.embed.hashing import HashingEmbedder

    return HashingEmbedder() if options.dimension is None else HashingEmbedder(options.dimension)


def _bundled(_options: _Options) -> Embedder:
    from mnemark.embed.bundled import BundledEmbedder

    return BundledEmbedder()


def _fastembed(options: _Options) -> Embedder:
    from mnemark.embed.local import LocalEmbedder

    return LocalEmbedder(options.model)


def _api(options: _Options) -> Embedder:
    from mnemark.embed.api import ApiEmbedder

    return ApiEmbedder(options.model, url=options.url, key_env=options.key_env, dimension=options.dimension)


@dataclass(frozen=True)
class _Kind:
    build: Callable[[_Options], Embedder]
    takes_model: bool
    example: str


_KINDS = {
    "bundled": _Kind(_bundled, takes_model=False, example="bundled"),
    "hashing": _Kind(_hashing, takes_model=False, example="hashing"),
    "fastembed": _Kind(_fastembed, takes_model=True, example="fastembed:BAAI/bge-small-en-v1.5"),
    "api": _Kind(_api, takes_model=True, example="api:text-embedding-3-small"),
}


def make(
    spec: str, *, url: str | None = None, key_env: str | None = None, dimension: int | None = None
) -> Embedder:
    """Make the embedder that `spec` names: `bundled`, `hashing`, `fastembed:MODEL_OR_FOLDER` or `api:MODEL`.

    "none" (no vectors at all) is for the caller to handle. Building does not touch the network.

    Args:
        spec: kind, and model where the kind takes one, joined by the first colon.
        url: base URL of an OpenAI-compatible API, for `api`; None for OpenAI's own.
        key_env: name of the environment variable that holds the API key, for `api`; None for no key.
        dimension: length of the vectors, for `api` (sent with each request) and `hashing`; None for the
            model's own.

    Raises:
        ConfigError: the spec is not one of the above.
        EmbedderUnavailable: a package or file that the embedder needs is missing.
    """
    kind_name, colon, model = spec.partition(":")
    kind = _KINDS.get(kind_name)
    if kind is None or kind.takes_model != bool(model) or (colon and not model):
        examples = ", ".join(f'"{known.example}"' for known in _KINDS.values())
        raise ConfigError(f'"{spec}" is not an embedder; use one like {examples}, or "none"')
    return kind.build(_Options(model=model, url=url, key_env=key_env, dimension=dimension))
