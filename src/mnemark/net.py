"""Send HTTP POST requests to an API by a deadline, with retries; API keys never appear in messages.

`Channel.post` makes one attempt; `persist` repeats it after transient errors. Callers turn `RefusedError`,
`GaveUpError` and `KeyMissingError` into their own errors, which name the fix.
"""

import json
import os
import random
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction.redact import redact
from mnemark.threads import within

if TYPE_CHECKING:
    import httpx

_T = TypeVar("_T")

OPENAI = "https://api.openai.com/v1"
"""Default base URL of models that have none configured."""

_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_MIN_PAUSE = 0.5
_MAX_PAUSE = 8.0
_MAX_SHOWN = 200
_UNPRINTABLE = lazy_pattern(r"[^\x20-\x7e\u00a0-\uffff]+")


class TransientError(Exception):
    """An attempt failed with an error worth retrying.

    `after` is the server's Retry-After in seconds, or None; `billed` says whether the server may have
    processed the request all the same, so that it may cost.
    """

    def __init__(self, reason: str, after: float | None = None, *, billed: bool = False) -> None:
        super().__init__(reason)
        self.after = after
        self.billed = billed


class RefusedError(Exception):
    """The server answered with a client error or a redirect; `said` is the beginning of the response body."""

    def __init__(self, url: str, status: int, said: str) -> None:
        super().__init__(f"{url} answered HTTP {status} {said[:_MAX_SHOWN]}".rstrip())
        self.status = status
        self.said = said


class GaveUpError(Exception):
    """No attempt succeeded by the deadline; `after` is the server's last Retry-After in seconds, or None."""

    def __init__(self, reason: str, after: float | None) -> None:
        super().__init__(reason)
        self.after = after


class KeyMissingError(Exception):
    """The environment has no usable key; the message names the variable and never its value."""


@dataclass(frozen=True)
class Key:
    """An API key whose value is not in its `repr`, and so not in tracebacks that show local variables."""

    value: str = field(repr=False)

    def hide(self, text: str) -> str:
        """Replace the key in `text`, in case a server repeats it."""
        return text.replace(self.value, "[key]")


def key_from(variable: str | None) -> Key | None:
    """Return the API key in an environment variable; None if `variable` is None.

    Raises:
        KeyMissingError: the variable is unset, blank, or holds characters that no HTTP header can carry.
    """
    if variable is None:
        return None
    value = os.environ.get(variable, "").strip()
    if not value:
        raise KeyMissingError(f"no API key: set the environment variable {variable}")
    # The HTTP library would quote the key in its error message.
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise KeyMissingError(
            f"the API key in {variable} is not valid; set it again without spaces or line breaks"
        )
    return Key(value)


def fix_for(status: int, model: str, key_env: str | None, *, other: str) -> str:
    """Return the advice for a client error of a model's API; `other` for all other status codes."""
    key = f"the key in {key_env}" if key_env else "whether it needs a key (key_env names its variable)"
    return {
        401: f"check {key}",
        403: f"check {key}",
        404: f"check the URL and that the server has the model {model}",
        429: "check the account's credit",
    }.get(status, other)


def json_bytes(body: object) -> bytes:
    """Encode `body` as UTF-8 JSON; lone surrogates, which come from undecodable file names, become "?"."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def base_url(url: str, what: str) -> str:
    """Validate the base URL of an API and return it without its trailing slash.

    Raises:
        ValueError: it is not an HTTP URL, or has a user, password, query or fragment, which could be a secret
            and would appear in messages; the message names `what` and does not show them.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{what} url must be like https://host/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(
            f"{what} url must not carry a password or query; use {parts.scheme}://{parts.hostname}/… "
            "and put the key into the environment variable that key_env names"
        )
    return url.rstrip("/")


class Channel:
    """HTTP client that posts JSON to one URL over pooled connections, without redirects. Thread-safe.

    Args:
        url: where to post.
        silence: longest wait for the next byte within one attempt, in seconds.
        most_bytes: maximum size of a response in bytes, decompressed; a longer one is a `TransientError`.
    """

    def __init__(self, url: str, *, silence: float, most_bytes: int) -> None:
        self.url = url
        self._silence = silence
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def post(self, body: bytes, key: Key | None, deadline: float) -> bytes:
        """Send one request and return the body of the response, by `deadline` (`time.monotonic()`).

        Raises:
            TransientError: the attempt failed and a retry may succeed.
            RefusedError: a client error or a redirect; a retry would fail the same way.
        """
        left = deadline - time.monotonic()
        if left <= 0:
            raise TransientError("the deadline passed")
        try:
            return within(left, lambda: self._exchange(body, key, deadline))
        except TimeoutError:
            raise TransientError(f"no answer within {left:.1f} s", billed=True) from None

    def close(self) -> None:
        """Close the pooled connections; the next `post` opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _exchange(self, body: bytes, key: Key | None, deadline: float) -> bytes:
        import httpx

        left = max(0.001, min(deadline - time.monotonic(), self._silence))
        request = self._open_client().build_request(
            "POST",
            self.url,
            content=body,
            headers={"content-type": "application/json", "accept": "application/json"},
            timeout=httpx.Timeout(left),
        )
        if key is not None:
            request.headers["authorization"] = f"Bearer {key.value}"
        try:
            response = self._open_client().send(request, stream=True)
            with closing(response):
                content = self._read(response, deadline)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise TransientError(f"the connection failed ({type(error).__name__})") from None
        except httpx.TimeoutException:
            raise TransientError(f"no answer within {left:.1f} s", billed=True) from None
        except httpx.TransportError as error:
            raise TransientError(f"the connection failed ({type(error).__name__})", billed=True) from None
        except httpx.DecodingError:
            raise TransientError("the answer could not be unpacked", billed=True) from None
        return self._checked_body(response, content, key)

    def _checked_body(self, response: "httpx.Response", content: bytes, key: Key | None) -> bytes:
        status = response.status_code
        if status == 200:
            return content
        said = _body_start(content, key)
        # OpenAI reports "out of credit" as 429 (too many requests), but waiting does not help.
        if status in _TRANSIENT and "insufficient_quota" not in said:
            after = retry_after(response.headers.get("retry-after"))
            raise TransientError(f"HTTP {status} {said[:_MAX_SHOWN]}".rstrip(), after)
        raise RefusedError(self.url, status, said)

    def _read(self, response: "httpx.Response", deadline: float) -> bytes:
        """Read the body; raise `TransientError` once it is past the deadline or over `most_bytes`."""
        parts, size = [], 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if time.monotonic() > deadline:
                raise TransientError("the answer was too slow", billed=True)
            if size > self._most_bytes:
                raise TransientError("the answer was too long", billed=True)
        return b"".join(parts)

    def _open_client(self) -> "httpx.Client":
        import httpx

        with self._lock:
            if self._client is None:
                self._client = httpx.Client(follow_redirects=False)
                weakref.finalize(self, self._client.close)
            return self._client


def persist(attempt: Callable[[], _T], attempts: int, deadline: float) -> _T:
    """Call `attempt` until it succeeds, with exponential back-off, or the server's Retry-After.

    Raises:
        GaveUpError: it raised `TransientError` `attempts` times, or the next try would be after `deadline`.
    """
    reason, after = "there was no time left to ask", None
    for number in range(attempts):
        try:
            return attempt()
        except TransientError as fault:
            reason, after = str(fault), fault.after
        if number + 1 == attempts:
            break
        pause = _pause(number) if after is None else after
        if time.monotonic() + pause >= deadline:
            reason += f", and the next try in {pause:.1f} s would be too late"
            break
        time.sleep(pause)
    raise GaveUpError(reason, after)


def printable(text: str) -> str:
    """Return `text` on one line, with secrets redacted and control characters replaced by spaces."""
    return _UNPRINTABLE.sub(" ", redact(text).text).strip()


def _body_start(content: bytes, key: Key | None) -> str:
    """Return the beginning of a response body; redact before cutting, as half a key is not recognised."""
    text = content.decode("utf-8", "replace")
    return printable((key.hide(text) if key else text)[:20_000])[:2000]


def _pause(number: int) -> float:
    """Return the back-off in seconds, half fixed, half jitter, so that many clients do not retry at once."""
    longest = min(_MAX_PAUSE, _MIN_PAUSE * (1 << number))
    return longest * (0.5 + 0.5 * random.random())  # noqa: S311 - jitter, not a secret


def retry_after(after: str | None) -> float | None:
    """Parse a Retry-After header (seconds or an HTTP date; RFC 9110, 10.2.3) as seconds from now."""
    if after is None:
        return None
    if after.strip().isdecimal():
        return float(after)
    import email.utils

    try:
        moment = email.utils.parsedate_to_datetime(after)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
