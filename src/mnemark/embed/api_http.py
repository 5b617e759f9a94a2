"""POST once to an embeddings server: how long to try, and faults as an embedder's."""

from dataclasses import dataclass

from mnemark.embed.base import EmbedderUnavailable
from mnemark.net import Channel, GaveUpError, Key, RefusedError, persist

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


class Refused(EmbedderUnavailable):
    """The server answered with a client error; `status` is its code."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Poster:
    """Posts JSON to one URL with one key, over connections that are kept.

    Args:
        url: where to post.
        limits: how often to try.
    """

    def __init__(self, url: str, limits: Limits) -> None:
        self.url = url
        self._limits = limits
        self._channel = Channel(url, silence=limits.attempt, most_bytes=_MOST_BYTES)

    def post(self, body: bytes, key: Key | None, deadline: float) -> bytes:
        """Post `body` (JSON) and return the bytes of a successful answer by `deadline` (`time.monotonic()`).

        Raises:
            Refused: a client error, not worth repeating.
            EmbedderUnavailable: no good answer within the attempts and the deadline.
        """
        try:
            return persist(lambda: self._channel.post(body, key, deadline), self._limits.attempts, deadline)
        except RefusedError as error:
            raise Refused(error.status, str(error)) from None
        except GaveUpError as error:
            raise EmbedderUnavailable(
                f"{self.url} gave no vectors: {error}; try later or check the server"
            ) from None

    def close(self) -> None:
        """Close the kept connections; the next post opens new ones."""
        self._channel.close()
