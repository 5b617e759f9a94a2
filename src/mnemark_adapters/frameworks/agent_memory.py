"""Define `AgentMemory`, what all frameworks' adapters share. No framework is imported here."""

import asyncio
import logging
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from mnemark.errors import MnemarkError, UsageError
from mnemark.text.quoting.fence import strip_fences
from mnemark_adapters.bridge import IDLE, Bridge, RecallRequest, Where
from mnemark_adapters.remote_bridge import NOT_OF_USERS, RemoteBridge, check_one_named
from mnemark_agents.hook.event import text_part
from mnemark_interfaces.tools import BOUND, BY_NAME, INSTRUCTIONS, Tool, failed

_log = logging.getLogger("mnemark.agent")
_WIDTH: Final = 8
"""Recalls of one process that may run at once."""
_OPEN_TURNS: Final = 1_000
"""Turns without an answer that are remembered; a run that fails never has one."""


class MessageForm(NamedTuple):
    """How a framework writes the messages of a conversation."""

    said: Callable[[Any], str]
    """Returns what the person says in a message; empty for those of others, and results of tools."""
    told: Callable[[str, Any], Any]
    """Returns the message with a block before what the person says."""


class MemoryTool(NamedTuple):
    """A memory tool as a plain function: `run(query="…")` returns text for the model, also for an error."""

    name: str
    description: str
    schema: dict[str, Any]
    """JSON schema of its arguments."""
    run: Callable[..., str]

    async def arun(self, **given: Any) -> str:
        """Run it on a thread."""
        return await asyncio.to_thread(self.run, **given)


class AgentMemory:
    """The memory of a framework's agents. Thread-safe; what fails is logged, counted, and never raised.

    Several share one open workspace, so one can be made for each user or request. Making the first waits
    until the workspace is loaded, 10 s at most, so that a first turn is in time.

    Args:
        folder: the workspace; created if missing. Leave it out for a server.
        session: id of the session that turns are recorded in, unless the framework names one; by default a
            new one.
        user: whose memory it is, beside the shared one; or an `agent`'s. Tools then reach nothing else.
        agent: as for `Memory.session`.
        deadline: seconds that a turn waits for a recall; `recall_deadline_ms` (150) by default.
        budget: tokens of a recall; as configured by default.
        server: the address of a server, whose memory is used instead of a folder. A turn waits a second then.
        key: of that memory; by default that of `MNEMARK_KEY`, or the one that `mnemark connect` keeps.

    Raises:
        UsageError: `user` or `agent` cannot be the name of a folder, or is given with a server; or there is
            no folder, or no server, or no key.
    """

    def __init__(
        self,
        folder: str | Path = "",
        session: str = "",
        *,
        user: str | None = None,
        agent: str | None = None,
        deadline: float | None = None,
        budget: int | None = None,
        server: str = "",
        key: str = "",
    ) -> None:
        self._own = Where(session or f"agent:{secrets.token_hex(4)}", user, agent)
        self._named = bool(session)
        self._scope = self._own.scope
        self._guard = threading.Lock()
        self._asked: dict[Where, tuple[str, str]] = {}  # what waits for an answer, and its block
        place = place_of(folder, server, key)
        if isinstance(place, ServerPlace) and self._scope:
            raise UsageError(NOT_OF_USERS)
        self._bridge = _borrow(place, deadline, budget)
        self._closed = False
        self.closing = ExitStack()
        """What an adapter wants done before the memory is closed."""
        self._bridge.ready()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def counts(self) -> dict[str, int]:
        """Counts of recalls and turns of this process; see `Bridge.counts`."""
        return self._bridge.counts

    @property
    def instructions(self) -> str:
        """How to use the tools, for the system's role. What memory knows belongs in the user's."""
        return INSTRUCTIONS

    def instructed(self, system: Any, part: Callable[[str], Any] = text_part) -> Any:
        """Return a system prompt, a text or a list of parts or nothing, with the instructions behind it."""
        if system and not isinstance(system, str):
            return [*system, part(INSTRUCTIONS)]
        return "\n\n".join(filter(None, (system, INSTRUCTIONS)))

    @property
    def tools(self) -> tuple[MemoryTool, ...]:
        """The tools, all of them, or those that are safe for one of several users."""
        return tuple(map(self._tool, (BOUND if self._scope else BY_NAME).values()))

    def before(self, said: str, *, session: str = "", earlier: int = 0) -> str:
        """Return what memory has for a message, quoted, possibly empty; record the message.

        Until the answer is recorded, the same message gets the same again, and is not recorded twice: a turn
        has several requests to the model, and may be tried again.

        Args:
            said: by the person.
            session: the framework's id of the conversation, if it has one.
            earlier: messages of the person before it that the model has, too: these and their answers are not
                recalled.
        """
        asked = RecallRequest(self._where(session), strip_fences(said).strip(), 2 * earlier)
        block = self._pending(asked)
        return self._begun(asked, self._bridge.recall_blocking(asked)) if block is None else block

    async def abefore(self, said: str, *, session: str = "", earlier: int = 0) -> str:
        """Return the same on an event loop."""
        asked = RecallRequest(self._where(session), strip_fences(said).strip(), 2 * earlier)
        block = self._pending(asked)
        return self._begun(asked, await self._bridge.recall(asked)) if block is None else block

    def told(self, messages: Sequence[Any], form: MessageForm, *, session: str = "") -> list[Any]:
        """Return a request's messages with what memory has in the person's last one, which is recorded.

        The messages themselves stay as they are, for the framework's history.
        """
        at, said, earlier = _last(messages, form)
        return _told(messages, form, at, self.before(said, session=session, earlier=earlier))

    async def atold(self, messages: Sequence[Any], form: MessageForm, *, session: str = "") -> list[Any]:
        """Return the same on an event loop."""
        at, said, earlier = _last(messages, form)
        return _told(messages, form, at, await self.abefore(said, session=session, earlier=earlier))

    def after(self, reply: str, *, session: str = "") -> None:
        """Record the agent's answer in the background."""
        where = self._where(session)
        with self._guard:
            self._asked.pop(where, None)
        self._bridge.keep(where, "assistant", reply)

    def flush(self) -> bool:
        """Wait until all turns are on the disk; False after 10 s."""
        return self._bridge.flush()

    def close(self) -> None:
        """Finish recording; the last of a workspace closes it, and its sessions are summarized."""
        with self._guard:
            first, self._closed = not self._closed, True
        if first:
            self.closing.close()
            _give_back(self._bridge)

    def _where(self, session: str) -> Where:
        return self._own if self._named or not session else self._own._replace(session=session)

    def _pending(self, asked: RecallRequest) -> str | None:
        """Return the block of a turn that waits for its answer; None for a new turn."""
        with self._guard:
            words, block = self._asked.get(asked.where, ("", ""))
        return block if not asked.text or words == asked.text else None

    def _begun(self, asked: RecallRequest, block: str) -> str:
        """Begin a turn: record what was said, and keep its block."""
        with self._guard:
            self._asked.pop(asked.where, None)
            self._asked[asked.where] = asked.text, block
            if len(self._asked) > _OPEN_TURNS:
                del self._asked[next(iter(self._asked))]
        self._bridge.keep(asked.where, "user", asked.text)
        return block

    def _tool(self, tool: Tool) -> MemoryTool:
        def run(**given: Any) -> str:
            try:
                result = self._bridge.call(tool.name, given, bound=self._scope)
            except Exception as error:  # noqa: BLE001 - the model is told, and the agent goes on; logged
                _log.warning("mnemark: %s: %s", tool.name, error,
                             exc_info=None if isinstance(error, MnemarkError) else error)  # fmt: skip
                result = failed(str(error) or type(error).__name__)
            return str(result["content"][0]["text"])

        run.__name__ = tool.name
        run.__doc__ = tool.description
        return MemoryTool(tool.name, tool.description, tool.listed()["inputSchema"], run)


def _last(messages: Sequence[Any], form: MessageForm) -> tuple[int, str, int]:
    """Return the number of the person's last message, what it says, and how many of theirs are before it."""
    said = [(at, words) for at, one in enumerate(messages) if (words := form.said(one))]
    return (*said[-1], len(said) - 1) if said else (-1, "", 0)


def _told(messages: Sequence[Any], form: MessageForm, at: int, block: str) -> list[Any]:
    told = list(messages)
    if block and at >= 0:
        told[at] = form.told(block, told[at])
    return told


class ServerPlace(NamedTuple):
    """A memory on a server."""

    url: str
    key: str = ""

    def __repr__(self) -> str:
        """Return no key, which a traceback would show."""
        return f"ServerPlace({self.url!r})"


def place_of(folder: str | Path, server: str, key: str) -> Path | ServerPlace:
    """Return what a host's settings name: a folder or a server. Raises UsageError for both, or none."""
    check_one_named(folder, server)
    return ServerPlace(server, key) if server else Path(folder).expanduser().absolute()


def memory_at(place: Path | ServerPlace) -> AgentMemory:
    """Return the memory at a place."""
    return AgentMemory(place) if isinstance(place, Path) else AgentMemory(server=place.url, key=place.key)


_borrowed: dict[tuple[Path | ServerPlace, float | None, int | None], tuple[Bridge, int]] = {}
_lending = threading.Lock()


def _borrow(place: Path | ServerPlace, deadline: float | None, budget: int | None) -> Bridge:
    """Return the open memory of this process."""
    with _lending:
        found, number = _borrowed.get((place, deadline, budget), (None, 0))
        if found is None or found.closed:
            found, number = _bridge(place, limit=deadline, idle=IDLE, budget=budget, width=_WIDTH), 0
        _borrowed[place, deadline, budget] = found, number + 1
        return found


def _bridge(place: Path | ServerPlace, **settings: Any) -> Bridge:
    return Bridge(place, **settings) if isinstance(place, Path) else RemoteBridge(*place, **settings)


def _give_back(bridge: Bridge) -> None:
    """Close a workspace that nobody else has borrowed."""
    with _lending:
        for key, (one, number) in list(_borrowed.items()):
            if one is bridge:
                _borrowed[key] = one, number - 1
                if number > 1:
                    bridge.flush()
                    return
                del _borrowed[key]
    bridge.close()
