"""Parse the events of agents and judge what a recall is worth. Light to load: hooks need it."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mnemark.agent.hook import agents
from mnemark.agent.hook.agents import Agent, Event
from mnemark.errors import UsageError
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import check_fenced

if TYPE_CHECKING:
    from mnemark.types import Recall

FLOOR: Final = 0.35
"""`Recall.believable` below which a prompt gets no recall; docs/agents/README.md says why."""
SMALL_FLOOR: Final = 0.2
"""The floor where all that is known is less than one recall: belief needs a store to compare with, and a
person's first try, one thing said and asked for in the next session, must not meet silence."""
SHORTEST: Final = 3
"""Least terms of a prompt for a recall, unless it is a question: "run the tests" asks memory nothing."""
_ASKING: Final = lazy_pattern(
    r"[?？]|\b(?:what|which|who|whom|whose|when|where|why|how|remember|recall)\b|"
    r"什么|谁|哪|何时|何处|为何|怎么|怎样|如何|几个|几点|几号|多少|吗|记得|上次|之前",
    re.IGNORECASE,
)
_LONGEST: Final = 1e12
"""Milliseconds a tool may have run; JSON of others may hold "Infinity"."""
OWN_TOOLS: Final = ("mnemark", "memory_")
"""In the names of our own tools: what memory gave is not learned again."""


class HookCall(NamedTuple):
    """A parsed event."""

    agent: Agent
    event: Event
    native: str
    session: str
    data: Mapping[str, Any]


def parse_call(event: str, name: str, data: Mapping[str, Any]) -> HookCall:
    """Parse the event that a hook was called with.

    Raises:
        UsageError: the agent or the event is unknown.
    """
    agent = agents.agent_named(name) if name else agents.recognised(data)
    if agent is None:
        known = ", ".join(one.name for one in agents.AGENTS)
        raise UsageError(f"there are no hooks for {name!r}; choose one of {known}")
    found = agents.event_of(agent, event, data)
    if found is None:
        raise UsageError(f"{agent.title} has no event {event!r}; give one of {', '.join(agents.EVENTS)}")
    return HookCall(agent, *found, agents.session_of(agent, data), data)


def checked(block: str) -> str:
    """Return the block if its quotation is well-formed; else nothing, as it could leave its quotation."""
    return block if block and check_fenced(block) else ""


def confident_block(found: "Recall", most: int) -> str:
    """Return the block of a recall asked for `most` hits, if it is believable and well quoted."""
    floor = SMALL_FLOOR if len(found.hits) < most else FLOOR
    return checked(found.text) if found.believable >= floor else ""


def message_text(content: Any) -> str:
    """Return the text of a chat message's content: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [one.get("text") for one in parts if isinstance(one, Mapping) and one.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def is_own_tool(name: str) -> bool:
    """Tell whether a tool is one of memory's."""
    return any(word in name.casefold() for word in OWN_TOOLS)


def is_question(said: str) -> bool:
    """Tell whether a prompt is enough to search for; the agent's own commands (`/clear`) are not."""
    from mnemark.text.words.segment import query_terms
    from mnemark.text.words.stopwords import is_stop

    text = said.strip()[:2_000]
    if text.startswith("/") and " " not in text:
        return False
    terms = {term for term in query_terms(text) if not is_stop(term)}
    return len(terms) >= (1 if _ASKING.search(text) else SHORTEST)


class Execution(NamedTuple):
    """A tool call as an event describes it."""

    tool: str
    arguments: Any
    result: Any
    call: str
    error: str | None
    duration_ms: int | None


def execution(data: Mapping[str, Any]) -> Execution | None:
    """Return the tool call of an event; None where it names no tool, or one of our own."""
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
