"""POST to an HTTP API by a deadline: retries with back-off, keys kept unseen.

Nothing here knows what is asked for. `Channel.post` is one attempt, `persist` repeats attempts while the
fault may pass; callers turn the three errors below into their own, which name the fix.
"""

import email.utils
import ipaddress
import json
import os
import random
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from mnemark.errors import ConfigError
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction.redact import redact

if TYPE_CHECKING:
    import httpx

_T = TypeVar("_T")

HOSTS = "MNEMARK_HOSTS"
"""Environment variable with the hosts that texts and keys may be sent to."""
OPENAI = "https://api.openai.com/v1"
"""Where models are asked that have no URL of their own."""

_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0
_SHOWN = 200
_UNPRINTABLE = lazy_pattern(r"[^\x20-\x7e\u00a0-\uffff]+")


class TransientError(Exception):
    """An attempt failed in a way that may pass.

    `after` is how many seconds the server asked to wait, where it did; `billed` says whether the server may
    have done the work all the same, so that it may cost.
    """

    def __init__(self, reason: str, after: float | None = None, *, billed: bool = False) -> None:
        super().__init__(reason)
        self.after = after
        self.billed = billed


class RefusedError(Exception):
    """The server answered with a client error or a redirect; `said` is the beginning of its answer."""

    def __init__(self, url: str, status: int, said: str) -> None:
        super().__init__(f"{url} answered HTTP {status} {said[:_SHOWN]}".rstrip())
        self.status = status
        self.said = said


class GaveUpError(Exception):
    """No attempt succeeded in time; `after` is how long the server asked to wait, in seconds."""

    def __init__(self, reason: str, after: float | None) -> None:
        super().__init__(reason)
        self.after = after


class KeyMissingError(Exception):
    """The environment has no usable key; the message names the variable and never its value."""


@dataclass(frozen=True)
class Key:
    """An API key that does not show in any `repr`, such as those of tracebacks with local variables."""

    value: str = field(repr=False)

    def hide(self, text: str) -> str:
        """`text` without the key, should a server repeat it."""
        return text.replace(self.value, "[key]")


def key_from(variable: str | None) -> Key | None:
    """Return the key in an environment variable; None where no variable is named.

    Raises:
        KeyMissingError: the variable is unset, blank, or holds what no HTTP header can carry.
    """
    if variable is None:
        return None
    value = os.environ.get(variable, "").strip()
    if not value:
        raise KeyMissingError(f"no API key: set the environment variable {variable}")
    # The HTTP library would quote it in its complaint.
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise KeyMissingError(
            f"the API key in {variable} is not valid; set it again without spaces or line breaks"
        )
    return Key(value)


def check_host(url: str, what: str) -> None:
    """Check that texts and keys may go to a URL that a folder's configuration names.

    Whoever cloned a folder has not chosen its configuration. So it may name services of this machine only,
    and hosts that the user allowed outside of any folder, in `MNEMARK_HOSTS` (names with commas between).

    Raises:
        ConfigError: it may not; the message names the fix.
    """
    host = (urlsplit(url).hostname or "").casefold()
    allowed = {name.strip().casefold() for name in os.environ.get(HOSTS, "").split(",")} - {""}
    if _is_here(host) or host in allowed:
        return
    raise ConfigError(
        f"{what} is at {host}, and sending texts there was not allowed yet; to allow it, set the "
        f"environment variable {HOSTS}={','.join(sorted({*allowed, host}))}"
    )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def fix_for(status: int, model: str, key_env: str | None, *, other: str) -> str:
    """Say what to do about a client error of a model's API; `other` for codes that have no own fix."""
    key = f"the key in {key_env}" if key_env else "whether it needs a key (key_env names its variable)"
    return {
        401: f"check {key}",
        403: f"check {key}",
        404: f"check the URL and that the server has the model {model}",
        429: "check the account's credit",
    }.get(status, other)


def json_bytes(body: object) -> bytes:
    """Encode a request; lone surrogates, which come from file names that are no text, become "?"."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def base_url(url: str, what: str) -> str:
    """Return the base URL of an API without a slash at its end.

    Raises:
        ValueError: it is no URL, or carries a password or query (as it appears in messages, no key belongs
            there); says so about `what` without showing what it carries.
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
    """Posts JSON to one URL over connections that are kept; redirects are refused. Safe for threads.

    Args:
        url: where to post.
        silence: longest wait for the next byte within one attempt, in seconds.
        most_bytes: of an answer, unpacked; a longer one is a fault.
    """

    def __init__(self, url: str, *, silence: float, most_bytes: int) -> None:
        self.url = url
        self._silence = silence
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def post(self, body: bytes, key: Key | None, deadline: float) -> bytes:
        """One attempt: the bytes of a successful answer, by `deadline` (`time.monotonic()`).

        Raises:
            TransientError: worth another attempt.
            RefusedError: not worth one.
        """
        left = deadline - time.monotonic()
        if left <= 0:
            raise TransientError("the deadline passed")
        try:
            return within(left, lambda: self._exchange(body, key, deadline))
        except TimeoutError:
            raise TransientError(f"no answer within {left:.1f} s", billed=True) from None

    def close(self) -> None:
        """Close the kept connections; the next post opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _exchange(self, body: bytes, key: Key | None, deadline: float) -> bytes:
        import httpx

        left = max(0.001, min(deadline - time.monotonic(), self._silence))
        request = self._kept().build_request(
            "POST",
            self.url,
            content=body,
            headers={"content-type": "application/json", "accept": "application/json"},
            timeout=httpx.Timeout(left),
        )
        if key is not None:
            request.headers["authorization"] = f"Bearer {key.value}"
        try:
            response = self._kept().send(request, stream=True)
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
        return self._judged(response, content, key)

    def _judged(self, response: "httpx.Response", content: bytes, key: Key | None) -> bytes:
        status = response.status_code
        if status == 200:
            return content
        said = _said(content, key)
        # Out of credit comes as "too many requests", but waiting does not help.
        if status in _TRANSIENT and "insufficient_quota" not in said:
            after = _seconds(response.headers.get("retry-after"))
            raise TransientError(f"HTTP {status} {said[:_SHOWN]}".rstrip(), after)
        raise RefusedError(self.url, status, said)

    def _read(self, response: "httpx.Response", deadline: float) -> bytes:
        """Read the body, unless it trickles past the deadline or never ends."""
        parts, size = [], 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if time.monotonic() > deadline:
                raise TransientError("the answer was too slow", billed=True)
            if size > self._most_bytes:
                raise TransientError("the answer was too long", billed=True)
        return b"".join(parts)

    def _kept(self) -> "httpx.Client":
        import httpx

        with self._lock:
            if self._client is None:
                self._client = httpx.Client(follow_redirects=False)
                weakref.finalize(self, self._client.close)
            return self._client


def within(seconds: float, work: Callable[[], _T]) -> _T:
    """Return or raise what `work` does, within so many seconds.

    It runs in a thread of its own, which is left behind when it is late: name lookups, several addresses and
    headers that trickle escape the time-outs of sockets.

    Raises:
        TimeoutError: it did not.
    """
    return background(work, "mnemark-net").result(seconds)


def background(work: Callable[[], _T], name: str) -> "Future[_T]":
    """Run `work` in a thread called `name`, which does not keep the process alive."""
    future: Future[_T] = Future()
    threading.Thread(target=settle, args=(future, work), name=name, daemon=True).start()
    return future


def settle(future: "Future[_T]", work: Callable[[], _T]) -> None:
    """Run `work` and give the future its result or error."""
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 - nothing is swallowed: who waits for the future raises it
        future.set_exception(error)


def persist(attempt: Callable[[], _T], attempts: int, deadline: float) -> _T:
    """Call `attempt` until it succeeds, with growing pauses, or those the server asks for.

    Raises:
        GaveUpError: it raised `TransientError` `attempts` times, or the next try would be too late.
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
    """Put a text on one line, without secrets and control characters."""
    return _UNPRINTABLE.sub(" ", redact(text).text).strip()


def _said(content: bytes, key: Key | None) -> str:
    """Return the beginning of an answer; secrets are hidden before it is cut, as half a key is one."""
    text = content.decode("utf-8", "replace")
    return printable((key.hide(text) if key else text)[:20_000])[:2000]


def _pause(number: int) -> float:
    """Back off with jitter, half fixed, half random, so that many clients do not come back at once."""
    longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * (1 << number))
    return longest * (0.5 + 0.5 * random.random())  # noqa: S311 - jitter, not a secret


def _seconds(after: str | None) -> float | None:
    """Parse a Retry-After header, a number or an HTTP date (RFC 9110, 10.2.3), to seconds from now."""
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
