"""Use a memory on a server in a host's process, as `Bridge` uses a workspace."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemark.errors import MnemarkError, UsageError
from mnemark.text.quoting.fence import strip_fences
from mnemark_adapters.bridge import IDLE, Bridge, RecallRequest, Where
from mnemark_adapters.delivery import Delivery, said_now
from mnemark_agents.hook.event import FLOOR
from mnemark_interfaces.tools import BY_NAME, failed

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

LIMIT: Final = 1.0
"""Seconds that a turn waits for a recall: a server is further away than a folder."""


def check_one_named(folder: str | Path, server: str) -> None:
    """Raise UsageError unless a host's settings name either a folder or a server."""
    if bool(server) == bool(folder):
        raise UsageError("give the folder of a memory, or server= and key= of one on a server")


class RemoteBridge(Bridge):
    """A memory on a server in a host's process.

    A turn gets what is recalled, without a briefing; a session is ended on the server, whose model reads it.

    Args:
        url: the address of the server.
        key: of the memory; by default that of `MNEMARK_KEY`, or the one that `mnemark connect` keeps.
        limit: seconds that a turn waits for a recall.
        idle: as for `Bridge`.
        budget: as for `Bridge`.
        width: as for `Bridge`.

    Raises:
        UsageError: it is no address, or there is no key.
    """

    def __init__(
        self, url: str, key: str = "", *, limit: float | None = None, idle: float = IDLE,
        budget: int | None = None, width: int = 1,
    ) -> None:  # fmt: skip
        from mnemark.memory.remote import RemoteMemory

        self._server = RemoteMemory.at(url, key)
        self._delivery = Delivery(self._server.client)
        super().__init__(
            Path(), limit=LIMIT if limit is None else limit, idle=idle, budget=budget, width=width
        )

    @property
    def name(self) -> str:
        """The address of the server."""
        return self._server.client.url

    def call(self, tool: str, given: Mapping[str, Any], *, bound: str = "") -> dict[str, Any]:
        """Run a memory tool on the server. Raises MnemarkError."""
        if bound:
            return failed(NOT_OF_USERS)
        found = self._server.client.call(f"tools/{tool}", {"arguments": given}, repeats=BY_NAME[tool].reads)
        return found if isinstance(found, dict) else failed("the server's answer is no result")

    def keep(self, where: Where, role: str, text: str) -> None:
        """Record what was said, without recalled blocks; it waits for a server that is away."""
        if words := strip_fences(text).strip():
            self.deliver(where, [("turns", said_now(role, words))])

    def deliver(self, where: Where, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Send calls about a session in the background, each with plain JSON."""
        owner = {"session": where.session, "user": where.user, "agent": where.agent}

        def record(_: Any) -> list[Any]:
            for name, body in calls:
                self._delivery.send(name, {**owner, **body})
            return list(calls)

        self._later(where, record, len(calls))

    def _open(self, **_: Any) -> "Memory":
        found: Any = self._server
        memory: Memory = found
        return memory

    def _load(self, memory: "Memory") -> None:  # noqa: ARG002 - the server loads what a turn needs
        self._server.client.call("key", {})  # a wrong key is told at the start

    def _end_idle_sessions(self) -> None:
        self._delivery.send_waiting()
        super()._end_idle_sessions()

    def _recall(self, request: RecallRequest, until: float) -> str:
        words = strip_fences(request.text).strip()
        if not words:
            return ""
        where = request.where
        body = {
            "query": words, "session": where.session, "user": where.user, "agent": where.agent,
            "budget": self._budget, "deadline": max(until - time.monotonic(), 0.01),
        }  # fmt: skip
        found = self._server.client.call("recall", body, repeats=False)
        return str(found["text"]) if found["on_topic"] >= FLOOR else ""

    def _end(self, memory: "Memory", where: Where) -> None:
        self._session(memory, where).end()

    def _end_behind(self, sessions: Sequence[Where]) -> None:
        self._delivery.send_waiting()
        for where in sessions:
            with suppress(MnemarkError):  # the next turn of it, or the night, does
                self._server.session(where.session, user=where.user, agent=where.agent).end()


NOT_OF_USERS: Final = (
    "a memory on a server is one person's: give each user the key of a memory of their own, not a `user`"
)
