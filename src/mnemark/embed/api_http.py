"""One POST to an embeddings server: retries with back-off, a deadline for all of them, no key in any word."""

import email.utils
import random
import re
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mnemark.embed.base import EmbedderUnavailable

if TYPE_CHECKING:
    import httpx

_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0
_MOST_BYTES = 128 * 1024 * 1024
"""More than any honest reply: the largest batch of the longest vectors in decimal is a tenth of it."""
_SHOWN = 200
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\u00a0-\uffff]+")


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


class _Transient(Exception):  # noqa: N818 - not an error to callers: it never leaves this module
    """Worth another attempt, `after` seconds from now where the server said so."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


class Poster:
    """Posts JSON to one URL with one key, over connections that are kept.

    Args:
        url: where to post.
        limits: how often to try.
    """

    def __init__(self, url: str, limits: Limits) -> None:
        self.url = url
        self._limits = limits
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def post(self, body: bytes, headers: Mapping[str, str], secret: str, deadline: float) -> bytes:
        """Post `body` and return the bytes of a successful answer.

        Args:
            body: JSON.
            headers: for this request.
            secret: never to be shown, should the server repeat it; empty for none.
            deadline: `time.monotonic()` by which to have answered.

        Raises:
            Refused: a client error, not worth repeating.
            EmbedderUnavailable: no good answer within the attempts and the deadline.
        """
        reason = "there was no time left to ask"
        for attempt in range(self._limits.attempts):
            try:
                return self._once(body, headers, secret, deadline)
            except _Transient as fault:
                reason = str(fault)
                pause = fault.after if fault.after is not None else _pause(attempt)
            if attempt + 1 == self._limits.attempts:
                break
            if time.monotonic() + pause >= deadline:
                reason += f", and the next try in {pause:.1f} s would be too late"
                break
            time.sleep(pause)
        raise EmbedderUnavailable(f"{self.url} gave no vectors: {reason}; try later or check the server")

    def close(self) -> None:
        """Close the kept connections; the next post opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _once(self, body: bytes, headers: Mapping[str, str], secret: str, deadline: float) -> bytes:
        import httpx

        left = deadline - time.monotonic()
        if left <= 0:
            raise _Transient("the deadline passed")
        timeout = httpx.Timeout(min(left, self._limits.attempt))
        try:
            with self._kept().stream(
                "POST", self.url, content=body, headers=dict(headers), timeout=timeout
            ) as response:
                content = _read(response, deadline)
                status, after = response.status_code, response.headers.get("retry-after")
        except httpx.TimeoutException:
            raise _Transient(f"no answer within {min(left, self._limits.attempt):.1f} s") from None
        except httpx.TransportError as error:
            raise _Transient(f"the connection failed ({type(error).__name__})") from None
        except httpx.DecodingError:
            raise _Transient("the answer could not be unpacked") from None
        if status == 200:
            return content
        said = _shown(content, secret)
        # Out of credit comes as "too many requests", but waiting does not help.
        if status in _TRANSIENT and "insufficient_quota" not in said:
            raise _Transient(f"HTTP {status} {said}".rstrip(), _seconds(after))
        raise Refused(status, f"{self.url} answered HTTP {status} {said}".rstrip())

    def _kept(self) -> "httpx.Client":
        import httpx

        with self._lock:
            if self._client is None:
                self._client = httpx.Client(follow_redirects=False)
                weakref.finalize(self, self._client.close)
            return self._client


def _read(response: "httpx.Response", deadline: float) -> bytes:
    """The whole body, unless it trickles past the deadline or never ends."""
    parts, size = [], 0
    for part in response.iter_bytes():
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise _Transient("the answer was too slow")
        if size > _MOST_BYTES:
            raise _Transient("the answer was too long")
    return b"".join(parts)


def _pause(attempt: int) -> float:
    """Back-off with jitter: half fixed, half random, so that many clients do not come back at once."""
    longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * (1 << attempt))
    return longest * (0.5 + 0.5 * random.random())  # noqa: S311 - jitter, not a secret


def _seconds(after: str | None) -> float | None:
    """The Retry-After header as seconds from now: a number or an HTTP date (RFC 9110, 10.2.3)."""
    if after is None:
        return None
    if after.strip().isdecimal():
        return float(after)
    try:
        moment = email.utils.parsedate_to_datetime(after)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _shown(content: bytes, secret: str) -> str:
    """The beginning of what the server said, printable and without the key."""
    text = content.decode("utf-8", "replace")
    if secret:
        text = text.replace(secret, "[key]")
    return _UNPRINTABLE.sub(" ", text)[:_SHOWN].strip()
