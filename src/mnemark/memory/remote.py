"""Use a memory on a server by its address and a key, with the types of Python's own."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self, TypeVar

import msgspec

from mnemark.errors import BusyError, MnemarkError, NotFoundError, OffRecordError, UsageError
from mnemark.facts.model import Fact
from mnemark.files import platform
from mnemark.files.ids import new_id
from mnemark.files.server_keys import Known, address, checked, key_of, why_unreachable
from mnemark.memory.forgetting.receipt import Receipt
from mnemark.net import GaveUpError, TransientError, persist, retry_after
from mnemark.types import Origin, Recall

if TYPE_CHECKING:
    import httpx

    from mnemark.memory.merging.merge import Merged
    from mnemark.memory.moving import Moves
    from mnemark.memory.open_workspace import OpenWorkspace
    from mnemark.memory.transfer.importer import Summary
    from mnemark.memory.transfer.restore import Restored

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


class NotOnServerError(UsageError, AttributeError):
    """A memory on a server has no such method; an `AttributeError`, too, for who asks whether it has one."""


def _missing(owner: str, name: str) -> NotOnServerError:
    """Return what to say of a method that is of a memory in a folder alone."""
    return NotOnServerError(
        f"{owner} on a server has no {name!r}; `export` the memory to a folder, and `merge` brings back what"
        " you changed there"
    )


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

    def export(self, folder: Path | str) -> "Restored":
        """Write the whole memory into a folder that is empty or missing: all its files, by the byte.

        Raises:
            UsageError: the folder is not empty.
            BusyError: the server does not answer, or is moving this memory already.
        """
        return self._moves().export(Path(folder))

    def export_file(self, target: Path | str) -> Path:
        """Write the whole memory into one file, as `mnemark backup` does, which replaces an older one."""
        return self._moves().export_file(Path(target))

    def merge(self, other: Path | str, *, dry_run: bool = False) -> "Merged":
        """Bring everything of a memory in a folder of this machine into this one; as `Memory.merge`.

        An empty memory becomes what the folder is, by the byte. The folder stays as it is, but for a note in
        `.mnemark` of what was sent.

        Raises:
            NotFoundError: there is no folder, or no memory in it.
            UsageError: it is larger than the server takes.
            BusyError: the server does not answer, or is moving this memory already.
        """
        return self._moves().merge(other, dry_run=dry_run)

    def import_(
        self,
        format: str,  # noqa: A002 - the word of the command
        path: Path | str,
        *,
        dry_run: bool = False,
        columns: Mapping[str, str] | None = None,
        me: Sequence[str] = (),
    ) -> "Summary":
        """Import notes and conversations of other programs; as `Memory.import_`.

        They are read on this machine, beside a copy of the memory that knows what is there already.
        """
        return self._moves().import_(format, Path(path), dry_run=dry_run, columns=columns, me=me)

    def copy(self) -> "AbstractContextManager[OpenWorkspace]":
        """Have a copy of the whole memory in a temporary folder of this machine."""
        return self._moves().copy()

    def _moves(self) -> "Moves":
        from mnemark.memory.moving import Moves

        return Moves(self.client)

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
