"""Embeddings from any server that speaks OpenAI's `/embeddings`: OpenAI, DashScope, Ollama and others."""

import base64
import binascii
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import urlsplit

import msgspec
import numpy as np
from numpy.typing import NDArray

from mnemark.embed.base import EmbedderUnavailable
from mnemark.errors import ConfigError
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
"""What these models send unless told otherwise, so that the name is known while the server is away."""
_BATCH = 64
_SMALL_BATCHES = {"aliyuncs.com": 10}
"""Hosts, by the end of their name, that take fewer texts a request. DashScope documents 10 for its
text-embedding-v3 and -v4 models."""
_BATCH_CHARACTERS = 100_000
"""About as many tokens in Chinese; OpenAI takes 300,000 tokens a request."""
_TOO_MUCH = frozenset({400, 413, 422})
"""Answers that can mean "fewer texts at a time, please"."""


_MOST_BYTES = 128 * 1024 * 1024
"""More than any honest reply: the largest batch of the longest vectors in decimal is a tenth of it."""


@dataclass(frozen=True)
class Limits:
    """How long to try. Times in seconds."""

    attempts: int = 4
    attempt: float = 30.0
    """Longest silence of the server within one attempt."""
    passages: float = 120.0
    """For one call of `passages`, all batches and retries together."""
    query: float = 8.0
    """For one query, retries included: a person or an agent is waiting."""


class _Item(msgspec.Struct):
    embedding: list[float] | str
    index: int | None = None


class _Reply(msgspec.Struct):
    data: list[_Item]


class ApiEmbedder:
    """Asks an OpenAI-compatible server. Building it does not connect.

    Args:
        model: the server's name for the model.
        url: base URL, with `/v1` where the server has one; None for OpenAI's.
        key_env: name of the environment variable with the API key, read at each request; None for no key.
        dimension: sent with each request, for models that can shorten their vectors; None for the model's
            own, which is asked from the server when first needed, unless known.
        limits: attempts and deadlines.

    Raises:
        ConfigError: the URL is not one, or carries a password or query.
    """

    semantic = True

    def __init__(
        self,
        model: str,
        *,
        url: str | None = None,
        key_env: str | None = None,
        dimension: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.model = model
        try:
            self._base = base_url(url or OPENAI, "the embedder's").removesuffix("/embeddings")
        except ValueError as error:
            raise ConfigError(str(error)) from None
        self._key_env = key_env
        self._asked = dimension
        self._dimension = dimension or _KNOWN_DIMENSIONS.get(model)
        self._limits = limits or Limits()
        url = f"{self._base}/embeddings"
        self._channel = Channel(url, silence=self._limits.attempt, most_bytes=_MOST_BYTES)
        host = urlsplit(self._base).hostname or ""
        small = (size for end, size in _SMALL_BATCHES.items() if host.endswith(end))
        self._batch = next(small, _BATCH)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"ApiEmbedder({self.model!r}, url={self._base!r})"

    @property
    def dimension(self) -> int:
        """Length of the vectors; asks the server once where neither configuration nor table knows."""
        if self._dimension is None:
            # One question at a time; who waits finds the answer there.
            with self._lock:
                if self._dimension is None:
                    self._dimension = self._embed(["dimension"], self._limits.query).shape[1]
        return self._dimension

    @property
    def name(self) -> str:
        """`api-HOST-MODEL-DIMENSION-HASH`; the hash covers the whole URL and the exact model name."""
        dimension = self.dimension
        identity = "\0".join([self._base, self.model, str(dimension)])
        digest = blake2b(identity.encode(), digest_size=5).hexdigest()
        host = urlsplit(self._base).hostname or ""
        slug = re.sub(r"[^a-z0-9.]+", "-", f"{host}-{self.model}".lower()).strip("-")
        return f"api-{slug[:80]}-{dimension}-{digest}"

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed `texts` in batches: float32 (len(texts), dimension); blank texts are not sent and stay zero.

        Raises:
            EmbedderUnavailable: the server did not give every vector in time.
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
        spoken = [place for place, text in enumerate(texts) if text.strip()]
        vectors = self._embed([texts[place] for place in spoken], seconds) if spoken else None
        matrix = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if vectors is not None:
            matrix[spoken] = vectors
        return matrix

    def _embed(self, texts: Sequence[str], seconds: float) -> NDArray[np.float32]:
        """Return unit vectors of texts that are not blank, at least one."""
        deadline = time.monotonic() + seconds
        return np.vstack([self._ask(batch, deadline) for batch in self._batches(texts)])

    def _batches(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        start = 0
        while start < len(texts):
            end, size = start + 1, len(texts[start])
            # The size is read anew for each batch: a refusal may have made it smaller meanwhile.
            while end < len(texts) and end - start < self._batch:
                size += len(texts[end])
                if size > _BATCH_CHARACTERS:
                    break
                end += 1
            yield texts[start:end]
            start = end

    def _ask(self, texts: Sequence[str], deadline: float) -> NDArray[np.float32]:
        """Send one batch; in halves where the server refuses it as it is."""
        body: dict[str, object] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self._asked is not None:
            body["dimensions"] = self._asked
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
            if error.status in _TOO_MUCH and len(texts) > 1:
                middle = len(texts) // 2
                halves = [self._ask(texts[:middle], deadline), self._ask(texts[middle:], deadline)]
                self._batch = max(1, min(self._batch, middle))
                return np.vstack(halves)
            other = f"check the model name {self.model}, the dimension and the length of the texts"
            fix = fix_for(error.status, self.model, self._key_env, other=other)
            raise EmbedderUnavailable(f"{error}; {fix}") from None
        return self._checked_matrix(content, len(texts))

    def _checked_matrix(self, content: bytes, count: int) -> NDArray[np.float32]:
        """Return the reply's vectors in the order of the texts, each of norm 1."""
        try:
            matrix = _matrix(msgspec.json.decode(content, type=_Reply).data, count)
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
    """Check and order `items`, float32 (count, dimension), rows normalised.

    Raises:
        ValueError: count, order, lengths or values are wrong.
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
    """Decode base64 of little-endian float32, which some servers send unasked."""
    if not isinstance(embedding, str):
        return embedding
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    except binascii.Error:
        raise ValueError("invalid base64") from None
