"""Request embeddings from an OpenAI-compatible `/embeddings` API: OpenAI, DashScope, Ollama and others."""

import base64
import binascii
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec
import numpy as np
from numpy.typing import NDArray

from mnemark.embed import EmbedderUnavailable
from mnemark.errors import ConfigError
from mnemark.hashes import blake2b
from mnemark.net import (
    OPENAI,
    Channel,
    GaveUpError,
    KeyMissingError,
    RefusedError,
    base_url,
    fix_for,
    json_bytes,
    key_from,
    persist,
)

_KNOWN_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "text-embedding-v1": 1536,
    "text-embedding-v2": 1536,
    "text-embedding-v3": 1024,
    "text-embedding-v4": 1024,
}
"""Default dimensions by model, so that `name` is known while the server is unreachable."""
_BATCH_SIZE = 64
_BATCH_SIZES = {"aliyuncs.com": 10}
"""Maximum texts per request by suffix of the host name. DashScope documents 10 for its text-embedding-v3
and -v4 models."""
_MAX_BATCH_CHARACTERS = 100_000
"""About as many tokens in Chinese; OpenAI's limit is 300,000 tokens per request."""
_MAYBE_TOO_LARGE = frozenset({400, 413, 422})
"""HTTP statuses that can mean that the batch is too large."""
_MAX_BYTES = 128 * 1024 * 1024
"""Maximum size of a response: ten times the largest batch of the longest vectors in decimal."""


@dataclass(frozen=True)
class ApiLimits:
    """Attempts and timeouts, in seconds."""

    attempts: int = 4
    attempt: float = 30.0
    """Read timeout of one attempt."""
    passages: float = 120.0
    """Time limit of one call of `passages`, all batches and retries together."""
    query: float = 8.0
    """Time limit of one query, retries included: a person or an agent is waiting."""


class _Item(msgspec.Struct):
    embedding: list[float] | str
    index: int | None = None


class _Vectors(msgspec.Struct):
    data: list[_Item]


class ApiEmbedder:
    """Embedder that calls an OpenAI-compatible server. Creating it does not connect.

    Args:
        model: the server's name for the model.
        url: base URL, with `/v1` where the server has one; None for OpenAI's.
        key_env: name of the environment variable with the API key, read at each request; None for no key.
        dimension: sent with each request, for models that can shorten their vectors; None for the model's
            own, which is requested from the server when first needed, unless known.
        limits: attempts and timeouts.

    Raises:
        ConfigError: the URL is invalid, or has a user, password, query or fragment.
    """

    semantic = True
    remote = True
    """Whether texts leave this process."""

    def __init__(
        self,
        model: str,
        *,
        url: str | None = None,
        key_env: str | None = None,
        dimension: int | None = None,
        limits: ApiLimits | None = None,
    ) -> None:
        self.model = model
        try:
            self._base = base_url(url or OPENAI, "the embedder's").removesuffix("/embeddings")
        except ValueError as error:
            raise ConfigError(str(error)) from None
        self._key_env = key_env
        self._requested_dimension = dimension
        self._dimension = dimension or _KNOWN_DIMENSIONS.get(model)
        self._limits = limits or ApiLimits()
        url = f"{self._base}/embeddings"
        self._channel = Channel(url, silence=self._limits.attempt, most_bytes=_MAX_BYTES)
        host = urlsplit(self._base).hostname or ""
        small = (size for end, size in _BATCH_SIZES.items() if host.endswith(end))
        self._batch = next(small, _BATCH_SIZE)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"ApiEmbedder({self.model!r}, url={self._base!r})"

    @property
    def dimension(self) -> int:
        """Length of the vectors; requested from the server once if neither configured nor known."""
        if self._dimension is None:
            # One thread sends the request; the others wait for its result.
            with self._lock:
                if self._dimension is None:
                    self._dimension = self._embed(["dimension"], self._limits.query).shape[1]
        return self._dimension

    @property
    def name(self) -> str:
        """The name `api-HOST-MODEL-DIMENSION-HASH`; the hash covers the whole URL and the model name."""
        dimension = self.dimension
        identity = "\0".join([self._base, self.model, str(dimension)])
        digest = blake2b(identity.encode(), digest_size=5).hexdigest()
        host = urlsplit(self._base).hostname or ""
        slug = re.sub(r"[^a-z0-9.]+", "-", f"{host}-{self.model}".lower()).strip("-")
        return f"api-{slug[:80]}-{dimension}-{digest}"

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed `texts` in batches: float32 (len(texts), dimension); rows of blank texts are zero, not sent.

        Raises:
            EmbedderUnavailable: the server did not return every vector in time.
        """
        return self._rows(texts, self._limits.passages)

    def query(self, text: str) -> NDArray[np.float32]:
        """Embed one question: float32 (dimension,).

        Raises:
            EmbedderUnavailable: the server did not answer in time.
        """
        vector: NDArray[np.float32] = self._rows([text], self._limits.query)[0]
        return vector

    def close(self) -> None:
        """Close the connections."""
        self._channel.close()

    def _rows(self, texts: Sequence[str], seconds: float) -> NDArray[np.float32]:
        filled = [place for place, text in enumerate(texts) if text.strip()]
        vectors = self._embed([texts[place] for place in filled], seconds) if filled else None
        matrix = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if vectors is not None:
            matrix[filled] = vectors
        return matrix

    def _embed(self, texts: Sequence[str], seconds: float) -> NDArray[np.float32]:
        """Return the unit vectors of at least one text, none of them blank."""
        deadline = time.monotonic() + seconds
        return np.vstack([self._request(batch, deadline) for batch in self._batches(texts)])

    def _batches(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        start = 0
        while start < len(texts):
            end, size = start + 1, len(texts[start])
            # Read the batch size anew for each batch: `_request` makes it smaller after a refusal.
            while end < len(texts) and end - start < self._batch:
                size += len(texts[end])
                if size > _MAX_BATCH_CHARACTERS:
                    break
                end += 1
            yield texts[start:end]
            start = end

    def _request(self, texts: Sequence[str], deadline: float) -> NDArray[np.float32]:
        """Request the vectors of one batch; split it in halves if the server refuses it as too large."""
        body: dict[str, object] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self._requested_dimension is not None:
            body["dimensions"] = self._requested_dimension
        try:
            key, data = key_from(self._key_env), json_bytes(body)
            content = persist(
                lambda: self._channel.post(data, key, deadline), self._limits.attempts, deadline
            )
        except KeyMissingError as error:
            raise EmbedderUnavailable(str(error)) from None
        except GaveUpError as error:
            raise EmbedderUnavailable(
                f"{self._channel.url} gave no vectors: {error}; try later or check the server"
            ) from None
        except RefusedError as error:
            if error.status in _MAYBE_TOO_LARGE and len(texts) > 1:
                middle = len(texts) // 2
                halves = [self._request(texts[:middle], deadline), self._request(texts[middle:], deadline)]
                self._batch = max(1, min(self._batch, middle))
                return np.vstack(halves)
            other = f"check the model name {self.model}, the dimension and the length of the texts"
            fix = fix_for(error.status, self.model, self._key_env, other=other)
            raise EmbedderUnavailable(f"{error}; {fix}") from None
        return self._decode(content, len(texts))

    def _decode(self, content: bytes, count: int) -> NDArray[np.float32]:
        """Decode a response: unit vectors in the order of the texts."""
        try:
            matrix = _matrix(msgspec.json.decode(content, type=_Vectors).data, count)
        except (msgspec.DecodeError, ValueError) as error:
            raise EmbedderUnavailable(
                f"{self._base} sent no valid embeddings for {self.model} ({error}); check that "
                "the URL is the base of an OpenAI-compatible API and the model an embedding model"
            ) from None
        if self._dimension is None:
            self._dimension = matrix.shape[1]
        if matrix.shape[1] != self._dimension:
            raise EmbedderUnavailable(
                f"{self._base} sent {matrix.shape[1]} dimensions for {self.model}, expected "
                f"{self._dimension}; configure dimension {matrix.shape[1]} or a model that can shorten its "
                "vectors"
            )
        return matrix


def _matrix(items: Sequence[_Item], count: int) -> NDArray[np.float32]:
    """Validate and order `items`: float32 (count, dimension), rows normalised.

    Raises:
        ValueError: count, indexes, lengths or values are wrong.
    """
    if len(items) != count:
        raise ValueError(f"{len(items)} vectors for {count} texts")
    places = [item.index for item in items if item.index is not None] or list(range(count))
    if sorted(places) != list(range(count)):
        raise ValueError("the vectors' indexes are not those of the texts")
    rows = [_values(item.embedding) for item in items]
    if len({len(row) for row in rows}) != 1 or not len(rows[0]):
        raise ValueError("vectors of different lengths, or empty")
    with np.errstate(over="ignore"):
        found = np.array(rows, dtype=np.float32)
    if not np.isfinite(found).all():
        raise ValueError("values that are not finite")
    if not found.any():
        raise ValueError("only zeros")
    matrix = np.empty_like(found)
    matrix[places] = found
    norms = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    unit: NDArray[np.float32] = (matrix / np.where(norms > 0, norms, 1)).astype(np.float32)
    return unit


def _values(embedding: list[float] | str) -> Sequence[float] | NDArray[np.float32]:
    """Return a vector's values; decode base64 of little-endian float32, which some servers send unasked."""
    if not isinstance(embedding, str):
        return embedding
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    except binascii.Error:
        raise ValueError("invalid base64") from None
