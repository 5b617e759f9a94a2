"""Use a memory on a server by its address and a key, with the types of Python's own."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import msgspec

from mnemark.errors import BusyError, MnemarkError, NotFoundError, OffRecordError, UsageError
from mnemark.facts.model import Fact
from mnemark.files.ids import new_id
from mnemark.files.server_keys import Known, address, checked, key_of
from mnemark.memory.forgetting.receipt import Receipt
from mnemark.net import GaveUpError, TransientError, persist, retry_after
from mnemark.types import Origin, Recall

T = TypeVar("T")
_ATTEMPTS: Final = 4
_AGAIN: Final = frozenset({"busy", "unavailable", "limit"})
"""Codes of answers after which a request is sent again."""
_ERRORS: Final[Mapping[str, type[MnemarkError]]] = {
    "usage": UsageError, "key": UsageError, "scope": UsageError, "one_machine": UsageError,
    "not_found": NotFoundError, "off_record": OffRecordError,
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
        try:
            return persist(
                lambda: self._once(name, data), attempts, time.monotonic() + attempts * self._timeout
            )
        except GaveUpError as error:
            raise BusyError(str(error)) from error

    def _once(self, name: str, data: bytes) -> Any:
        """Return the answer. Raises TransientError where it may be sent again, else MnemarkError."""
        import httpx

        try:
            answer = self._http.post(
                f"/v1/{name}", content=data, headers={"content-type": "application/json"}
            )
            found = msgspec.json.decode(answer.content)
        except httpx.HTTPError as error:
            raise TransientError(f"the server does not answer: {type(error).__name__}; try again") from None
        except msgspec.DecodeError as error:
            raise MnemarkError("what answers at this address is no server of mnemark") from error
        if answer.status_code < 400:
            return found
        said = found.get("error", {}) if isinstance(found, dict) else {}
        code, message = str(said.get("code")), str(said.get("message") or f"HTTP {answer.status_code}")
        if code in _AGAIN:
            raise TransientError(message, retry_after(answer.headers.get("retry-after")))
        raise _ERRORS.get(code, MnemarkError)(message)


class NotOnServerError(UsageError, AttributeError):
    """A memory on a server has no such method; an `AttributeError`, too, for who asks whether it has one."""


def _missing(owner: str, name: str) -> NotOnServerError:
    """Return what to say of a method that is of a memory in a folder alone."""
    return NotOnServerError(f"{owner} on a server has no {name!r}; use a memory in a folder for that")


class RemoteMemory:
    """A memory on a server. Got by `Memory.connect`; a context manager. Safe to use from several threads.

    What it has not is refused by name (`NotOnServerError`).
    """

    def __init__(self, client: Client) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        """Refuse what a memory in a folder has, and this has not."""
        raise _missing("a memory", name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def session(
        self,
        id: str,  # noqa: A002 - as `Memory.session`
        *,
        user: str | None = None,
        agent: str | None = None,
        project: str | None = None,
    ) -> "RemoteSession":
        """Return the session with that id; it begins with its first turn."""
        return RemoteSession(self.client, {"session": id, "user": user, "agent": agent, "project": project})

    def search(self, query: str, **options: Any) -> Recall:
        """Return the best matching passages; options as of `Memory.search`."""
        return self._call("search", Recall, query=query, **options)

    def recall(self, query: str, **options: Any) -> Recall:
        """Return what memory holds about a query as a block for the prompt; options as of `Memory.recall`."""
        return self._call("recall", Recall, query=query, **options)

    def remember(self, predicate: str, value: str, **fields: Any) -> Fact:
        """Remember a fact; fields as of `Memory.remember`."""
        return self._call("remember", Fact, predicate=predicate, value=value, **fields)

    def facts(self, **options: Any) -> list[Fact]:
        """Return the facts that are valid now; options as of `Memory.facts`."""
        return msgspec.convert(self.client.call("facts", options)["facts"], list[Fact], strict=False)

    def read(self, ref: str) -> str:
        """Return the text that a ref names."""
        return str(self.client.call("read", {"ref": ref})["text"])

    def context(self, *, scope: str = "", budget: int | None = None) -> str:
        """Return curated memory and today's notes as one text."""
        return str(self.client.call("context", {"scope": scope, "budget": budget})["text"])

    def forget(self, ref: str | None = None, **options: Any) -> Receipt:
        """Hide turns, notes and facts, or erase their bytes; options as of `Memory.forget`."""
        return msgspec.convert(
            self.client.call("forget", {"ref": ref, **options}, repeats=False), Receipt, strict=False
        )

    def undo(self, id: str | None = None) -> Any:  # noqa: A002 - the word of the file format
        """Undo the last change, or that with an id; return what was undone, as the server says it."""
        return self.client.call("undo", {"id": id}, repeats=False)["undone"]

    def _call(self, name: str, kind: type[T], **body: Any) -> T:
        return msgspec.convert(self.client.call(name, body), kind, strict=False)


class RemoteSession:
    """A session of a memory on a server."""

    def __init__(self, client: Client, owner: Mapping[str, Any]) -> None:
        self._client = client
        self._owner = dict(owner)

    def __getattr__(self, name: str) -> Any:
        """Refuse what a session in a folder has, and this has not."""
        raise _missing("a session", name)

    def add(
        self, role: str, content: str, *, time: datetime | None = None, origin: Origin | None = None,
        **fields: Any,
    ) -> str:  # fmt: skip
        """Record a turn, durably when this returns, and once even where it is sent twice; return its id.

        Empty where the memory is off the record.
        """
        said = {"role": role, "content": content, "time": time, "origin": origin, **fields}
        return self.add_many([said])[0]

    def add_many(self, turns: Sequence[Mapping[str, Any]]) -> list[str]:
        """Record turns, all or none, as `add`; return their ids."""
        sent = [{name: value for name, value in one.items() if value is not None} for one in turns]
        found = self._client.call("turns", {**self._owner, "turns": sent, "call": new_id()})
        return [str(one["id"]) for one in found["turns"]]

    def recall(self, said: str, **options: Any) -> Recall:
        """Recall what memory holds about what was said, with the last turns as context."""
        body = {**self._owner, "query": said, **options}
        return msgspec.convert(self._client.call("recall", body), Recall, strict=False)

    def observe(self, tool: str, arguments: Any = None, result: Any = None, **fields: Any) -> Any:
        """Record an execution of a tool, once for each `call`; return what was recorded, or None."""
        said = {"tool": tool, "arguments": arguments, "result": result, **fields}
        return self._client.call("observe", {**self._owner, **said})["observation"]

    def end(self, *, summary: bool = True) -> Any:
        """Write the note, the page and the facts of the session; return what the server says of it."""
        return self._client.call("session/end", {**self._owner, "summary": summary})
