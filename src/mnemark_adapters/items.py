"""Store a framework's items as turns of a session log: append, read, and hide instead of delete.

The log is an ordinary one (`sessions/<id>.jsonl`): people can read it, and search, `forget` and `undo` apply.
Items that a framework deletes are hidden, like by `forget`. The item is in `meta["item"]`; where the turn's
text equals the value of one key, `meta["text"]` names that key instead, so that it is not written twice.
"""

import asyncio
import functools
import threading
from collections.abc import Callable, Container, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, ParamSpec, TypeVar
from urllib.parse import quote, unquote

import msgspec

from mnemark.files import jsonl, platform
from mnemark.files.scopes import scope_name
from mnemark.files.sessions import list_sessions
from mnemark.memory.forgetting.forget import hide
from mnemark.memory.forgetting.select import ForgetItem
from mnemark.memory.sessions.session import Session
from mnemark.types import Origin, Turn

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_OPAQUE_KEYS: Final = {"thinking": "signature", "redacted_thinking": "data", "reasoning": "encrypted_content"}
"""The key with opaque data of the provider, by the type of a block. Its value looks like a secret, but is
not redacted: the provider refuses a conversation in which it was changed."""
_PATIENCE: Final = 10.0
_P = ParamSpec("_P")
_R = TypeVar("_R")


def threaded(method: Callable[_P, _R]) -> Callable[_P, Coroutine[Any, Any, _R]]:
    """Wrap a blocking method in a coroutine function that runs it on a thread."""

    @functools.wraps(method)
    async def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        return await asyncio.to_thread(method, *args, **kwargs)

    return run


class StoredItem(NamedTuple):
    """An item in a log, with its turn and line number."""

    line: int
    id: str
    item: Any
    turn: Turn


class NewItem(NamedTuple):
    """An item to store; `text` is indexed for search."""

    item: Any
    role: str
    text: str
    origin: Origin | None = None
    more: Mapping[str, Any] = {}
    """Additional keys of `meta`."""


class ItemLog:
    """The items of one session. Thread-safe; several processes may append at once.

    Args:
        memory: the workspace, opened.
        id: of the session.
        user: whose memory it is; or an `agent`'s. The workspace's own by default.
        agent: as for `Memory.session`.
    """

    def __init__(
        self,
        memory: "Memory",
        id: str,  # noqa: A002 - the word of the file format
        *,
        user: str | None = None,
        agent: str | None = None,
    ) -> None:
        self.memory = memory
        # Not `memory.session`, which loads models for a recall: here nothing is recalled.
        self.session = Session(memory.workspace, id, scope=scope_name(user=user, agent=agent))
        self._guard = threading.Lock()
        self._read: list[StoredItem] = []
        self._inode = self._end = 0

    @property
    def path(self) -> str:
        """The file, relative to the workspace."""
        return self.session.path

    def add(self, items: Sequence[NewItem]) -> list[Turn]:
        """Store items, redacted, with one `fsync`: all or none.

        Raises:
            UsageError: an item cannot be encoded as JSON.
            BusyError, ReadOnlyError: nothing was stored.
        """
        self.memory.workspace.check_writable("add items")
        if not items:
            return []
        placed = self.session.log.append(self.memory.workspace.truth, [self._turn(new) for new in items])
        self.memory.workspace.searcher.wrote(self.path, self.session.scope, placed)
        return [one.turn for one in placed]

    def _turn(self, new: NewItem) -> Turn:
        item = msgspec.json.decode(jsonl.encode(new.item))
        meta = {"item": item, **new.more}
        turn = self.session.turn(new.role, new.text, origin=new.origin, meta=meta)
        kept = self.memory.without_secrets(turn)
        clean = _with_opaque(kept.meta["item"], item)
        meta = {**kept.meta, "item": clean}
        for key in ("content", "text", "output"):
            if kept.content and isinstance(clean, dict) and clean.get(key) == kept.content:
                meta |= {"item": {k: v for k, v in clean.items() if k != key}, "text": key}
                break
        return msgspec.structs.replace(kept, meta=meta)

    def items(self, *, hidden: bool = False) -> list[StoredItem]:
        """Return the items, oldest first; with `hidden`, also hidden ones."""
        hidden_ids: Container[str] = () if hidden else self.memory.workspace.index.hidden.current().turns
        with self._guard:
            self._read_new()
            return [one for one in self._read if one.id not in hidden_ids]

    def _read_new(self) -> None:
        """Read the texts appended since the last call, or the whole file if it was rewritten."""
        state = platform.identity(self.session.log.path)
        if state is None or state.inode != self._inode or state.size < self._end:
            self._read, self._end = [], 0
        if state is None or state.size == self._end:
            return
        self._inode = state.inode
        line = self._read[-1].line + 1 if self._read else None
        for placed in self.session.log.turns(self._end, start_line=line if self._end else None):
            self._end = placed.end
            if "item" in placed.turn.meta:
                item = _whole(placed.turn)
                self._read.append(StoredItem(placed.line, placed.turn.id, item, placed.turn))

    def hide(self, items: Sequence[StoredItem]) -> None:
        """Hide items like `mnemark forget`; `undo` restores them."""
        self.memory.workspace.check_writable("delete items")
        if items:
            hidden = [
                ForgetItem(kind="turn", path=self.path, start_line=one.line, end_line=one.line, id=one.id)
                for one in items
            ]
            hide(self.memory.workspace, hidden, {"asked": {"session": self.session.id}})

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the workspace's locks, so that a write can depend on an earlier read."""
        with (
            self.memory.workspace.fact_store.lock,
            self.memory.workspace.truth.change(_PATIENCE),
        ):  # the order of `hide`
            yield


class ItemLogs:
    """The logs of one framework, with session ids of a prefix and quoted parts joined by "/"."""

    def __init__(
        self, memory: "Memory", prefix: str, *, user: str | None = None, agent: str | None = None
    ) -> None:
        self._memory = memory
        self._prefix = prefix
        self._owner = {"user": user, "agent": agent}
        self.scope = scope_name(user=user, agent=agent)
        self._logs: dict[str, ItemLog] = {}
        self._guard = threading.Lock()

    def _id(self, parts: Sequence[str]) -> str:
        return self._prefix + "/".join(quote(part, safe=" :@+,;=") for part in parts)

    def _open(self, identifier: str) -> ItemLog:
        with self._guard:
            if identifier not in self._logs:
                self._logs[identifier] = ItemLog(self._memory, identifier, **self._owner)
            return self._logs[identifier]

    def log(self, parts: Sequence[str]) -> ItemLog:
        """Return the log with these parts in its id."""
        return self._open(self._id(parts))

    def below(self, parts: Sequence[str] = ()) -> Iterator[tuple[tuple[str, ...], ItemLog]]:
        """Yield the parts and the log of each session id that starts with these parts."""
        name = self._id(parts)
        for info in list_sessions(self._memory.root / self.scope):
            if info.id == name or info.id.startswith(f"{name}/" if parts else name):
                found = info.id.removeprefix(self._prefix).split("/")
                yield tuple(map(unquote, found)), self._open(info.id)


def text_in(value: Any) -> str:
    """Return the text of a JSON value for search, one line for each string outside of `_SKIPPED`."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        texts = (f"{key}: {text}" if key not in _TEXT_KEYS else text
                for key, one in value.items() if key not in _SKIPPED and (text := text_in(one)))  # fmt: skip
        return "\n".join(texts)
    if isinstance(value, list | tuple):
        return "\n".join(text for one in value if (text := text_in(one)))
    return "" if value is None or isinstance(value, bool) else str(value)


_TEXT_KEYS: Final = frozenset({"text", "content", "output"})
_SKIPPED: Final = frozenset({
    "type", "id", "call_id", "role", "status", "signature", "encrypted_content", "data", "uuid", "parentUuid",
    "sessionId", "timestamp", "annotations", "logprobs",
})  # fmt: skip


def _with_opaque(clean: Any, item: Any) -> Any:
    """Return the redacted item with the provider's opaque values restored."""
    if isinstance(item, dict) and isinstance(clean, dict):
        opaque = _OPAQUE_KEYS.get(item["type"]) if isinstance(item.get("type"), str) else None
        return {key: item[key] if key == opaque else _with_opaque(value, item.get(key))
                for key, value in clean.items()}  # fmt: skip
    if isinstance(item, list) and isinstance(clean, list) and len(item) == len(clean):
        return [_with_opaque(one, other) for one, other in zip(clean, item, strict=True)]
    return clean


def _whole(turn: Turn) -> Any:
    item, key = turn.meta["item"], turn.meta.get("text")
    return {**item, key: turn.content} if key else msgspec.json.decode(msgspec.json.encode(item))
