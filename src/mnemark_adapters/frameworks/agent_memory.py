"""Define `AgentMemory`, what all frameworks' adapters share. No framework is imported here."""

import asyncio
import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from mnemark.errors import MnemarkError
from mnemark.text.quoting.fence import strip_fences
from mnemark_adapters.bridge import IDLE, Bridge, RecallRequest, Where
from mnemark_interfaces.tools import BOUND, BY_NAME, INSTRUCTIONS, Tool, failed
from mnemark_interfaces.tools_run import call

_log = logging.getLogger("mnemark.agent")
_WIDTH: Final = 8
"""Recalls of one process that may run at once."""
_OPEN_TURNS: Final = 1_000
"""Turns without an answer that are remembered; a run that fails never has one."""


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


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
        folder: the workspace; created if missing.
        session: id of the session that turns are recorded in, unless the framework names one; by default a
            new one.
        user: whose memory it is, beside the shared one; or an `agent`'s. Tools then reach nothing else.
        agent: as for `Memory.session`.
        deadline: seconds that a turn waits for a recall; `recall_deadline_ms` (150) by default.
        budget: tokens of a recall; as configured by default.

    Raises:
        UsageError: `user` or `agent` cannot be the name of a folder.
    """

    def __init__(
        self,
        folder: str | Path,
        session: str = "",
        *,
        user: str | None = None,
        agent: str | None = None,
        deadline: float | None = None,
        budget: int | None = None,
    ) -> None:
        self._own = Where(session or f"agent:{secrets.token_hex(4)}", user, agent)
        self._named = bool(session)
        self._scope = self._own.scope
        self._guard = threading.Lock()
        self._asked: dict[Where, tuple[str, str]] = {}  # what waits for an answer, and its block
        self._bridge = _borrow(Path(folder).expanduser().absolute(), deadline, budget)
        self._closed = False
        self.closing = ExitStack()
        """What an adapter wants done before the memory is closed."""
        self._bridge.ready()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def counts(self) -> dict[str, int]:
        """Counts of recalls and turns of this process; see `Bridge.counts`."""
        return self._bridge.counts

    @property
    def instructions(self) -> str:
        """How to use the tools, for the system's role. What memory knows belongs in the user's."""
        return INSTRUCTIONS

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
        where, words = self._where(session), strip_fences(said).strip()
        block = self._pending(where, words)
        if block is None:
            block = self._bridge.recall_blocking(RecallRequest(where, words, 2 * earlier))
            self._asked_for(where, words, block)
        return block

    async def abefore(self, said: str, *, session: str = "", earlier: int = 0) -> str:
        """Return the same on an event loop."""
        where, words = self._where(session), strip_fences(said).strip()
        block = self._pending(where, words)
        if block is None:
            block = await self._bridge.recall(RecallRequest(where, words, 2 * earlier))
            self._asked_for(where, words, block)
        return block

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

    def _pending(self, where: Where, words: str) -> str | None:
        with self._guard:
            asked, block = self._asked.get(where, ("", ""))
        return block if not words or asked == words else None

    def _asked_for(self, where: Where, words: str, block: str) -> None:
        with self._guard:
            self._asked.pop(where, None)
            self._asked[where] = words, block
            if len(self._asked) > _OPEN_TURNS:
                del self._asked[next(iter(self._asked))]
        self._bridge.keep(where, "user", words)

    def _tool(self, tool: Tool) -> MemoryTool:
        def run(**given: Any) -> str:
            try:
                result = call(self._bridge.tools(), tool.name, given, bound=self._scope)
            except Exception as error:  # noqa: BLE001 - the model is told, and the agent goes on; logged
                _log.warning("mnemark: %s: %s", tool.name, error,
                             exc_info=None if isinstance(error, MnemarkError) else error)  # fmt: skip
                result = failed(str(error) or type(error).__name__)
            return str(result["content"][0]["text"])

        run.__name__ = tool.name
        run.__doc__ = tool.description
        return MemoryTool(tool.name, tool.description, tool.listed()["inputSchema"], run)


def with_block(block: str, content: Any, part: Callable[[str], Any] = _text_part) -> Any:
    """Return the content of a message, a text or a list of parts, with a recalled block before it."""
    if not block:
        return content
    return f"{block}\n\n{content}" if isinstance(content, str) else [part(block), *content]


@contextmanager
def needs(title: str, package: str) -> Iterator[None]:
    """Import a framework; raise MnemarkError where it is not installed, or too old."""
    try:
        yield
    except ImportError as error:
        raise MnemarkError(f"the adapter needs {title} ({error}); run: pip install -U {package}") from error


_borrowed: dict[tuple[Path, float | None, int | None], tuple[Bridge, int]] = {}
_lending = threading.Lock()


def _borrow(root: Path, deadline: float | None, budget: int | None) -> Bridge:
    """Return the open workspace of this process."""
    with _lending:
        found, number = _borrowed.get((root, deadline, budget), (None, 0))
        if found is None or found.closed:
            found, number = Bridge(root, limit=deadline, idle=IDLE, budget=budget, width=_WIDTH), 0
        _borrowed[root, deadline, budget] = found, number + 1
        return found


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
