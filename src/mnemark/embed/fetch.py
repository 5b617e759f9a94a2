"""Download a fastembed model, only on explicit request; mnemark downloads nothing else.

The recommended model is small enough for a laptop and supports Chinese and English. Other names are those of
fastembed's list.
"""

import os
import socket
import time
import urllib.parse
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.embed import EmbedderUnavailable, first_line
from mnemark.embed.local import LocalEmbedder, cache_folder

RECOMMENDED: Final = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""About 50 languages, 384 dimensions, Apache-2.0, 0.22 GB."""
_TIMEOUT: Final = 8.0
"""Seconds to connect to the model hub: its own client would try for 40."""


class Model(NamedTuple):
    """Metadata of a model before its download."""

    name: str
    dimension: int
    megabytes: int
    """Size of the download; 0 if unknown."""
    licence: str
    folder: Path
    """The cache folder."""
    here: bool
    """Whether it is downloaded already."""


def describe(name: str) -> Model:
    """Return a model's metadata from fastembed's list, without downloading it.

    Raises:
        EmbedderUnavailable: fastembed is not installed, or does not know the name.
    """
    embedder = LocalEmbedder(name)
    dimension = embedder.dimension  # an unknown name has its own message
    from fastembed import TextEmbedding

    entry: dict[str, Any] = next(
        found for found in TextEmbedding.list_supported_models() if found["model"].lower() == name.lower()
    )
    try:
        embedder.query("ready?")
        here = True
    except EmbedderUnavailable:
        here = False
    return Model(
        name=name,
        dimension=dimension,
        megabytes=round(float(entry.get("size_in_GB") or 0) * 1000),
        licence=str(entry.get("license") or "not stated"),
        folder=cache_folder(),
        here=here,
    )


def fetch(model: Model) -> float:
    """Download a model and test it on one query; return the seconds it took.

    Raises:
        EmbedderUnavailable: the hub is unreachable, or the model cannot be run; the message names the fix.
    """
    if model.here:
        return 0.0
    _check_hub()
    from fastembed import TextEmbedding

    started = time.monotonic()
    try:
        model.folder.mkdir(parents=True, exist_ok=True)
        TextEmbedding(model.name, cache_dir=str(model.folder))
    except Exception as error:  # fastembed and its hub raise bare Exceptions and many kinds of them
        raise EmbedderUnavailable(
            f"{model.name} could not be downloaded to {model.folder}: {first_line(error)}; try again, set "
            "HF_ENDPOINT to a mirror, or copy a folder with the model here (fastembed:/path)"
        ) from error
    LocalEmbedder(model.name).query("ready?")
    return time.monotonic() - started


def _check_hub() -> None:
    """Check that the hub accepts connections; skipped behind a proxy, which the hub's client handles."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}:
        raise EmbedderUnavailable("HF_HUB_OFFLINE forbids downloading; unset it and try again")
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return
    hub = urllib.parse.urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    host = hub.hostname or "huggingface.co"
    try:
        with socket.create_connection((host, hub.port or (80 if hub.scheme == "http" else 443)), _TIMEOUT):
            return
    except OSError as error:
        raise EmbedderUnavailable(
            f"{host} cannot be reached ({error.strerror or error}); connect to the network, set HF_ENDPOINT "
            "to a mirror, or copy a folder with the model here (fastembed:/path)"
        ) from error
