"""Implement OpenAkita's memory backend protocol and its three memory tools on a workspace.

Written from the names and signatures of OpenAkita's plug-in protocol alone, without importing it. Its memory
manager does not await most calls: so failures are logged and counted, and results are then empty. A plug-in
registers it:

    memory = OpenAkitaMemory("~/mnemark")
    api.register_memory_backend(memory)
    api.register_hook("before_agent_run", memory.before_agent_run)
    api.register_hook("after_agent_run", memory.after_agent_run)

The backend is asked by the agent of OpenAkita's command line alone, and not in every turn. The agents that
answer in its desktop, over HTTP and in channels share that agent's plug-ins, but each has a memory manager of
its own without backends. The hooks reach all of them.
"""

import asyncio
import contextlib
import json
import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mnemark.errors import BusyError, MnemarkError, NotFoundError, UsageError
from mnemark.files.sessions import WINDOW
from mnemark.memory.prompt.briefing import BUDGET
from mnemark.text.quoting.fence import fence, strip_fences
from mnemark_adapters.delivery import Delivery, said_now
from mnemark_adapters.host_model import use_host_model
from mnemark_adapters.remote_bridge import LIMIT, check_one_named
from mnemark_agents.hook.event import FLOOR
from mnemark_agents.hook.told import get_ready, told
from mnemark_agents.upkeep import start_if_due

if TYPE_CHECKING:
    from mnemark.facts.model import Fact
    from mnemark.memory.memory import Memory
    from mnemark.memory.remote import RemoteMemory
    from mnemark.types import Hit

SOURCE: Final = "openakita:"
"""Prefix of OpenAkita's id in the source of a fact."""
_TYPES: Final = frozenset({"fact", "preference", "rule", "skill", "error"})
_DEFAULT_HITS: Final = 8
_THEIR_SESSION: Final = "openakita_memory_session_id_"
"""Prefix of the name of the context variable with the session's id in OpenAkita's manager."""
_RECALL: Final = 400
"""Tokens that a recall gets before there is a briefing."""
_TOKENS: Final = 700
"""Tokens of what a hook adds to a message: as many as OpenAkita gives a backend."""
_PATIENCE: Final = 5.0
"""Seconds that each step of a hook takes at most."""
_T = TypeVar("_T")

_log = logging.getLogger("mnemark.agent")

TOOLS: Final[tuple[dict[str, Any], ...]] = tuple(
    {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}
    for name, about, schema in (
        (
            "add_memory",
            "Keep one fact, preference or rule for later sessions.",
            {
                "type": "object",
                "properties": {
                    "content": {"type": "string", "description": "What to keep."},
                    "type": {"type": "string", "enum": sorted(_TYPES)},
                    "importance": {"type": "number", "minimum": 0, "maximum": 1},
                },
                "required": ["content"],
            },
        ),
        (
            "search_memory",
            "Find what is known from earlier sessions.",
            {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "Words or a question, in any language."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                },
                "required": ["query"],
            },
        ),
        ("get_memory_stats", "How much is in memory.", {"type": "object", "properties": {}}),
    )
)
"""Definitions for `PluginAPI.register_tools`, with `OpenAkitaMemory.handle_tool` as the handler."""


class OpenAkitaMemory:
    """OpenAkita's memory backend protocol on a workspace.

    Its turns name no session and arrive in tasks. So the session is taken from the call's context
    (`contextvars`): the manager's own variable, or that of `start_session`; else the newest. Writes run in
    the order of the calls.

    Args:
        workspace: the folder; created if missing, opened by the first call. Leave it out for a server.
        server: the address of a server, whose memory is used instead of a folder.
        key: of that memory; by default that of `MNEMARK_KEY`, or the one that `mnemark connect` keeps.
        brain: OpenAkita's client of its language model, or a function that returns it (`api.get_brain`);
            asked where `model = "host"` stands under `[llm]`.

    Raises:
        UsageError: there is no folder, or no server, or no key.
    """

    def __init__(
        self, workspace: str | Path = "", *, server: str = "", key: str = "", brain: Any = None
    ) -> None:
        check_one_named(workspace, server)
        self._brain = brain
        self._root = Path(workspace).expanduser()
        self._server: RemoteMemory | None = None
        if server:
            from mnemark.memory import remote

            self._server = remote.RemoteMemory.at(server, key)
            self._delivery = Delivery(self._server.client)
        self._guard = threading.Lock()
        self._opening = threading.Lock()
        self._order = threading.Lock()
        self._memory: Memory | None = None
        self._counts: Counter[str] = Counter()
        self._newest_session = ""
        self._managed: set[str] = set()  # sessions with turns that the manager hands over
        self._runs: dict[str, tuple[str, bool]] = {}  # session of each run of a hook; whether it is ours
        self._writer = ThreadPoolExecutor(1, "mnemark-openakita")
        self._session_variable: ContextVar[str] = ContextVar(f"mnemark_openakita_{id(self)}", default="")

    @property
    def counts(self) -> dict[str, int]:
        """Counts of calls `done` and `failed`."""
        with self._guard:
            return dict(self._counts)

    async def store(self, memory: dict[str, Any]) -> str:
        """Store a memory (`content`, and `id`, `type`, `subject`, `predicate`, `importance_score`, `tags`).

        Returns the id of the fact; empty on failure.
        """
        return await self._run("store", lambda: self._store(memory), "")

    async def search(self, query: str, limit: int = 10) -> list[dict[str, Any]]:
        """Return rows of `id`, `content`, `relevance`, `source` and `created_at`, the best first."""
        return await self._run("search", lambda: self._search(query, limit), [], reads=True)

    async def delete(self, memory_id: str) -> bool:
        """Forget a fact by its id or OpenAkita's, or a row of `search`; return whether it existed."""
        return await self._run("delete", lambda: self._delete(memory_id), default=False)

    async def get_injection_context(self, query: str, max_tokens: int) -> str:
        """Return a quoted block of at most `max_tokens` estimated tokens for the prompt, possibly empty.

        It is empty in a run that a hook has given one.
        """
        key = self._session_id()
        if any(key == told for told, _ in self._runs.values()):
            return ""
        return await self._run(
            "get_injection_context", lambda: self._context(key, query, max_tokens), "", reads=True
        )

    async def start_session(self, session_id: str) -> None:
        """Start a session, which later turns belong to."""
        self._session_variable.set(session_id)
        self._newest_session = session_id

    async def end_session(self) -> None:
        """Summarize the session."""
        key = self._session_id()
        if key:
            self._managed.discard(key)
            await self._end(key)

    async def record_turn(self, role: str, content: str) -> None:
        """Record a turn without recalled blocks."""
        key = self._session_id() or "openakita:unnamed"
        self._managed.add(key)
        await self._run("record_turn", lambda: self._record(key, role, content), None)

    async def before_agent_run(self, **given: Any) -> str:
        """Record a user's `message`, and return a quoted block for it, possibly empty.

        What OpenAkita's manager hands over itself is not recorded again, and what one agent writes to another
        not at all.
        """
        run, message = _run_of(given), str(given.get("message") or "")
        key = _their_session() or run
        if not key or not message.strip():
            return ""
        ours = key not in self._managed and not getattr(given.get("agent"), "_is_sub_agent_call", False)
        self._runs[run] = key, ours  # the manager forgets its session before the run ends

        def record() -> None:  # waits for the manager's own turn at least
            if ours:
                self._record(key, "user", message)

        await self._in_time("record_turn", record, None)
        return await self._in_time(
            "get_injection_context", lambda: self._context(key, message, _TOKENS), "", reads=True
        )

    async def after_agent_run(self, **given: Any) -> None:
        """Record the `response` to what `before_agent_run` recorded, and summarize the session."""
        key, ours = self._runs.pop(_run_of(given), ("", False))
        if not ours:
            return
        if response := str(given.get("response") or "").strip():
            await self._in_time("record_turn", lambda: self._record(key, "assistant", response), None)
        await self._end(key)

    async def handle_tool(self, tool_name: str, params: Mapping[str, Any]) -> str:
        """Run one of `TOOLS`; return errors to the model instead of raising them."""
        try:
            return await asyncio.to_thread(self._tool, tool_name, params)
        except (MnemarkError, OSError) as error:
            return f"Error: {error}"

    def close(self) -> None:
        """Close the workspace."""
        self._writer.shutdown()
        with self._opening:
            if self._memory is not None:
                self._memory.close()
                self._memory = None
            if self._server is not None:
                self._server.close()

    async def _end(self, key: str) -> None:
        loop = asyncio.get_running_loop()

        def end() -> None:
            if self._server is not None:
                self._server.session(key).end()
                return
            memory = self._opened()
            use_host_model(memory, self._think if self._brain is not None else None, loop)
            memory.session(key).end(wait=False)
            start_if_due(memory.workspace)

        await self._run("end_session", end, None)

    async def _in_time(self, what: str, job: Callable[[], _T], default: _T, *, reads: bool = False) -> _T:
        """Run a job, waiting as long as a hook may take; a write goes on afterwards."""
        try:
            return await asyncio.wait_for(self._run(what, job, default, reads=reads), _PATIENCE)
        except TimeoutError:
            _log.warning("mnemark: %s took more than %g seconds", what, _PATIENCE)
            return default

    async def _think(self, system: str, prompt: str) -> Any:
        brain = self._brain() if callable(self._brain) else self._brain
        if brain is None:
            raise MnemarkError("OpenAkita gives this plug-in no brain; grant it brain.access")
        return await brain.think_lightweight(prompt, system=system, max_tokens=4_096)

    async def _run(self, what: str, job: Callable[[], _T], default: _T, *, reads: bool = False) -> _T:
        executor = None if reads else self._writer
        try:
            found = await asyncio.get_running_loop().run_in_executor(executor, job)
        except Exception as error:  # noqa: BLE001 - a memory must not end the agent's turn; logged and counted
            plain = isinstance(error, MnemarkError)
            _log.warning("mnemark: %s: %s", what, error, exc_info=None if plain else error)
            found, outcome = default, "failed"
        else:
            outcome = "done"
        with self._guard:
            self._counts[outcome] += 1
        return found

    def _opened(self) -> "Memory":
        from mnemark.memory.memory import Memory

        with self._opening:
            if self._memory is None:
                memory = Memory.open(self._root, trusted=True)  # the settings of OpenAkita name it
                with contextlib.suppress(BusyError):  # another process is syncing
                    memory.sync()
                get_ready(memory)
                self._memory = memory
            return self._memory

    def _used(self) -> "Memory | RemoteMemory":
        """Return the memory, for what a folder and a server answer alike."""
        return self._opened() if self._server is None else self._server

    def _session_id(self) -> str:
        return _their_session() or self._session_variable.get() or self._newest_session

    def _record(self, key: str, role: str, content: str) -> None:
        said = strip_fences(content).strip()
        if said:
            if self._server is None:
                self._opened().session(key).add(role, said)
                return
            self._delivery.send("turns", {"session": key, **said_now(role, said)})

    def _context(self, key: str, query: str, max_tokens: int) -> str:
        words = strip_fences(query).strip()
        if not words:
            return ""
        if self._server is not None:
            said = self._server.session(key) if key else self._server
            recalled = said.recall(words, budget=max_tokens, deadline=LIMIT)
            return recalled.text if recalled.on_topic >= FLOOR else ""
        memory = self._opened()
        session = memory.session(key) if key else None
        placed = list(session.log.turns())[-WINDOW:] if session and session.log.path.exists() else []
        exclude = ((session.path, placed[0].line),) if session and placed else ()
        brief = min(max(max_tokens - _RECALL, 0), BUDGET)
        found = memory.recall(words, budget=max_tokens - brief, exclude=exclude)
        return told(memory.workspace, found, budget=max_tokens - brief, brief=brief)

    def _store(self, given: Mapping[str, Any]) -> str:
        content = str(given.get("content") or "").strip()
        if not content:
            raise UsageError("a memory needs a content")
        kind = str(given.get("type") or "fact")
        own = str(given.get("id") or "")
        with self._order:
            if own and (known := self._by_source(own)):
                return known.id
            fact = self._used().remember(
                str(given.get("predicate") or ""),
                content,
                subject=str(given.get("subject") or "user"),
                type=kind if kind in _TYPES else "fact",
                origin="agent",
                importance=_share(given.get("importance_score", given.get("importance"))),
                tags=[str(tag) for tag in given.get("tags") or ()],
                source=f"{SOURCE}{own}" if own else None,
            )
        return fact.id

    def _by_source(self, own: str) -> "Fact | None":
        wanted = f"{SOURCE}{own}"
        return next((fact for fact in self._used().facts() if fact.source == wanted), None)

    def _search(self, query: str, limit: int) -> list[dict[str, Any]]:
        found = self._used().search(query, k=max(1, min(int(limit), 50)))
        return [_row(hit) for hit in found.hits]

    def _delete(self, memory_id: str) -> bool:
        memory = self._used()
        try:
            if "#" in memory_id:
                receipt = memory.forget(memory_id)
            else:
                known = self._by_source(memory_id)
                receipt = memory.forget(id=known.id if known else memory_id)
        except NotFoundError:
            return False
        return receipt.action != "nothing"

    def _tool(self, name: str, params: Mapping[str, Any]) -> str:
        if name == "add_memory":
            return json.dumps({"id": self._store(params), "status": "remembered"})
        if name == "search_memory":
            rows = self._search(str(params.get("query") or ""), int(params.get("limit") or _DEFAULT_HITS))
            lines = [f"- {row['id']} · {row['created_at'] or 'undated'}\n  {row['content']}" for row in rows]
            return fence("\n".join(lines), label="search") if lines else "Nothing is known about that."
        if name == "get_memory_stats":
            import msgspec

            if self._server is not None:
                found = self._server.client.call("status", {})
                return json.dumps(found | {"workspace": "on a server"}, ensure_ascii=False)
            return json.dumps(msgspec.to_builtins(self._opened().stats()), ensure_ascii=False)
        raise UsageError(f"there is no tool {name!r}; there are add_memory, search_memory, get_memory_stats")


def _their_session() -> str:
    """Return the session of OpenAkita's manager that this call belongs to; empty if there is none."""
    for variable, value in copy_context().items():
        if variable.name.startswith(_THEIR_SESSION) and isinstance(value, str) and value:
            return value
    return ""


def _run_of(given: Mapping[str, Any]) -> str:
    return str(given.get("conversation_id") or given.get("session_id") or "")


def _row(hit: "Hit") -> dict[str, Any]:
    return {
        "id": hit.ref,
        "content": hit.snippet,
        "relevance": round(hit.score, 4),
        "source": hit.path,
        "created_at": hit.date or "",
    }


def _share(value: Any) -> float | None:
    try:
        return None if value is None else min(max(float(value), 0.0), 1.0)
    except (TypeError, ValueError):
        return None
