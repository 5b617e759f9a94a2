"""Parse what a hook was called with; light to load, as it is needed with and without a daemon."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from mnemark.agent.hook import agents
from mnemark.agent.hook.agents import Agent, Event
from mnemark.errors import UsageError
from mnemark.text.quoting.fence import check_fenced

FLOOR: Final = 0.35
"""`Recall.believable` below which a prompt gets no recall; docs/agents/README.md says why."""
SHORTEST: Final = 3
"""Terms that a prompt needs for a recall unless it is a question: "run the tests" asks memory nothing."""
_ASKING: Final = re.compile(
    r"[?？]|\b(?:what|which|who|whom|whose|when|where|why|how|remember|recall)\b|"
    r"什么|谁|哪|何时|何处|为何|怎么|怎样|如何|几个|几点|几号|多少|吗|记得|上次|之前",
    re.IGNORECASE,
)
_LONGEST: Final = 1e12
"""Milliseconds a tool may have run; JSON of others may hold "Infinity"."""
OWN_TOOLS: Final = ("mnemark", "memory_")
"""In the names of our own tools: what memory gave is not learned again."""


class Asked(NamedTuple):
    """An event, understood."""

    agent: Agent
    event: Event
    native: str
    session: str
    data: Mapping[str, Any]


def asked(event: str, name: str, data: Mapping[str, Any]) -> Asked:
    """Read what a hook was called with.

    Raises:
        UsageError: the agent or the event is none that we know.
    """
    agent = agents.agent_named(name) if name else agents.recognised(data)
    if agent is None:
        known = ", ".join(one.name for one in agents.AGENTS)
        raise UsageError(f"there are no hooks for {name!r}; choose one of {known}")
    found = agents.event_of(agent, event, data)
    if found is None:
        raise UsageError(f"{agent.title} has no event {event!r}; give one of {', '.join(agents.EVENTS)}")
    return Asked(agent, *found, agents.session_of(agent, data), data)


def checked(block: str) -> str:
    """The block if its quotation is sound; else nothing, as it could leave its quotation."""
    return block if block and check_fenced(block) else ""


def is_own_tool(name: str) -> bool:
    """Whether a tool is one of memory's."""
    folded = name.casefold()
    return any(word in folded for word in OWN_TOOLS)


def is_question(said: str) -> bool:
    """Whether a prompt holds enough to ask memory for; the agent's own commands (`/clear`) do not."""
    from mnemark.text.words.segment import query_terms
    from mnemark.text.words.stopwords import is_stop

    text = said.strip()[:2_000]
    if text.startswith("/") and " " not in text:
        return False
    terms = {term for term in query_terms(text) if not is_stop(term)}
    return len(terms) >= (1 if _ASKING.search(text) else SHORTEST)


class Execution(NamedTuple):
    """A tool's execution as an event tells it."""

    tool: str
    arguments: Any
    result: Any
    call: str
    error: str | None
    duration_ms: int | None


def execution(data: Mapping[str, Any]) -> Execution | None:
    """What a tool did; None where the event names none, or one of our own."""
    tool = data.get("tool_name")
    if not isinstance(tool, str) or not tool or is_own_tool(tool):
        return None
    duration = data.get("duration_ms", data.get("duration"))
    error = data.get("error") or data.get("error_message")
    return Execution(
        tool,
        data.get("tool_input"),
        data.get("tool_response", data.get("tool_output")),
        str(data.get("tool_use_id") or ""),
        str(error) if error else None,
        int(duration) if isinstance(duration, int | float) and 0 <= duration < _LONGEST else None,
    )
