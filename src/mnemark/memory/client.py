"""Send requests to a server of memories, again where it did not answer; a key appears in no message."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import msgspec

from mnemark.errors import BusyError, MnemarkError, NotFoundError, OffRecordError, UsageError
from mnemark.files import platform
from mnemark.files.server_keys import Known, address, checked, key_of, why_unreachable
from mnemark.net import GaveUpError, TransientError, persist, retry_after

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
_ATTEMPTS: Final = 4
_MOVE_SECONDS: Final = 900.0
"""Seconds that a server may take for a whole memory before it answers."""
_BLOCK: Final = 1 << 20
_AGAIN: Final = frozenset({"busy", "unavailable", "limit"})
"""Codes of answers after which a request is sent again."""
_ERRORS: Final[Mapping[str, type[MnemarkError]]] = {
    "usage": UsageError, "key": UsageError, "scope": UsageError, "one_machine": UsageError,
    "not_found": NotFoundError, "off_record": OffRecordError, "size": UsageError, "config": UsageError,
    "suspended": UsageError,
}  # fmt: skip


class Client:
    """Sends requests to a server. Thread-safe.

    Args:
        url: its address, such as "https://memory.example.org".
        key: the key of a memory; it appears in no message.
        timeout: seconds for each attempt.
    """

    def __init__(self, url: str, key: str = "", *, timeout: float = 30.0) -> None:
        import httpx

        base = address(url)
        known = Known(checked(key)) if key else key_of(base)
        self.url = base
        self.known = known
        headers = {"authorization": f"Bearer {known.key}"}
        self._timeout = timeout
        self._http = httpx.Client(base_url=base, headers=headers, timeout=timeout)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def call(self, name: str, body: Mapping[str, Any], *, repeats: bool = True) -> Any:
        """Return the answer to `POST /v1/<name>`; with `repeats`, it is sent again where it was not answered.

        Raises:
            MnemarkError: of the kind that the server names.
            BusyError: the server does not answer.
        """
        sent = {key: value for key, value in body.items() if value is not None}
        data = msgspec.json.encode(sent)
        attempts = _ATTEMPTS if repeats else 1

        def once() -> Any:
            headers = {"content-type": "application/json"}
            return self._answer(lambda: self._http.post(f"/v1/{name}", content=data, headers=headers))

        return _persist(once, attempts, attempts * self._timeout)

    def upload(self, name: str, archive: Path, query: Mapping[str, str]) -> Any:
        """Return the answer to `POST /v1/<name>` with a file, which is read piece by piece; as `call`."""
        headers = {"content-type": "application/zip", "content-length": str(archive.stat().st_size)}

        def once() -> Any:
            with archive.open("rb") as file:
                pieces = iter(lambda: file.read(_BLOCK), b"")
                return self._answer(
                    lambda: self._http.post(
                        f"/v1/{name}", content=pieces, params=query, headers=headers, timeout=self._patient()
                    )
                )

        return _persist(once, _ATTEMPTS, _ATTEMPTS * _MOVE_SECONDS)

    def download(self, name: str, target: Path) -> None:
        """Write what `GET /v1/<name>` gives into a new file, piece by piece; as `call`."""

        def once() -> None:
            import httpx

            try:
                with self._http.stream("GET", f"/v1/{name}", timeout=self._patient()) as answer:
                    if answer.status_code < 400:
                        with platform.open_new(target) as out:
                            out.writelines(answer.iter_bytes(_BLOCK))
                        return
                    answer.read()
            except httpx.HTTPError as error:
                raise _no_answer(error) from None
            _raise_said(answer, _decoded(answer.content))

        _persist(once, _ATTEMPTS, _ATTEMPTS * _MOVE_SECONDS)

    def _patient(self) -> "httpx.Timeout":
        import httpx

        return httpx.Timeout(self._timeout, read=_MOVE_SECONDS)

    def _answer(self, send: "Callable[[], httpx.Response]") -> Any:
        """Return the answer. Raises TransientError where it may be sent again, else MnemarkError."""
        import httpx

        try:
            answer = send()
        except httpx.HTTPError as error:
            raise _no_answer(error) from None
        found = _decoded(answer.content)
        if answer.status_code >= 400:
            _raise_said(answer, found)
        return found


def _persist(once: Callable[[], T], attempts: int, seconds: float) -> T:
    try:
        return persist(once, attempts, time.monotonic() + seconds)
    except GaveUpError as error:
        raise BusyError(str(error)) from error


def _no_answer(error: Exception) -> TransientError:
    return TransientError(f"the server does not answer: {why_unreachable(error)}; try again")


def _decoded(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise MnemarkError("what answers at this address is no server of mnemark") from error


def _raise_said(answer: "httpx.Response", found: Any) -> NoReturn:
    """Raise what the server says is wrong."""
    said = found.get("error", {}) if isinstance(found, dict) else {}
    code, message = str(said.get("code")), str(said.get("message") or f"HTTP {answer.status_code}")
    if code in _AGAIN:
        raise TransientError(message, retry_after(answer.headers.get("retry-after")))
    raise _ERRORS.get(code, MnemarkError)(message)
