"""Parse the events of agents, and decide which prompts get a recall. Imports stay light: hooks need it."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from mnemark.errors import UsageError
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import check_fenced, strip_fences
from mnemark.text.redaction.redact import without_keys
from mnemark_agents.hook import agents
from mnemark_agents.hook.agents import Agent, Event

FLOOR: Final = 0.38
"""`Recall.on_topic` below which a prompt gets no recall; docs/agents/README.md says why."""
MIN_TERMS: Final = 3
"""Minimum number of terms of a prompt for a recall, unless it is a question: "run the tests" needs none."""
_QUESTION: Final = lazy_pattern(
    r"\?|？|\b(?:what|which|who|whom|whose|when|where|why|how|remember|recall)\b|"
    r"什么|谁|哪|何时|何处|为何|怎么|怎样|如何|几个|几点|几号|多少|吗|记得|上次|之前",
    re.IGNORECASE,
)
_SMALL_TALK: Final = lazy_pattern(
    r"(?:(?:hi|hello|hey|howdy|yo|there|good (?:morning|afternoon|evening|night|day)|thanks?(?: you)?"
    r"(?: (?:so|very) much| a lot)?|cheers|please|bye|goodbye|see you(?: (?:later|soon|tomorrow))?|"
    r"how(?:'s| is| are|'re) (?:you|it going|things|everything|life)(?: (?:doing|today|going))*|"
    r"how (?:was|is) your (?:day|night|week|weekend|morning)|what'?s up|(?:it's |it is )?what an? "
    r"(?:nice|lovely|great|beautiful|wonderful|terrible|awful) (?:day|morning|evening|weather|idea)|"
    r"(?:i'm |i am )?(?:fine|great|good|ok|okay|nice|cool|perfect|awesome|well)|and you|"
    r"你好|您好|嗨|哈喽|大家好|早上好|早安|上午好|中午好|下午好|晚上好|晚安|早|谢谢|多谢|感谢|谢啦|再见|拜拜|"
    r"(?:你|您)?(?:今天|最近|近来|现在)?(?:过得)?(?:怎么样|好吗|还好吗|如何)|今天天气(?:真好|真不错|不错|很好)|哈+(?!哈)|"
    r"太好了|真好|好的|你|您|了|啊|呀|吧|吗|呢|啦)[\s,.!?~，。！？～、…]*){1,12}",
    re.IGNORECASE,
)
"""Greetings, thanks and the like, with nothing else in the message."""
_SHORT_GREETINGS: Final = ("hi", "yo", "ok")
"""Those of two letters, which any text may follow."""
_MAX_SMALL_TALK: Final = 60
"""Maximum number of characters of small talk."""
_MAX_DURATION: Final = 1e12
"""Upper limit of a tool's duration in milliseconds; agents' JSON may contain "Infinity"."""
OWN_TOOLS: Final = ("mnemark", "memory_")
"""Parts of the names of our own tools, whose results are not recorded again."""


_HOOK_OUTPUT: Final = lazy_pattern(r"(?:\s*<hook_context>.*?</hook_context>)+", re.DOTALL)
"""The output of hooks, which Gemini CLI puts before a prompt and reports as part of it."""


class HookCall(NamedTuple):
    """A parsed event."""

    agent: Agent
    event: Event
    native: str
    session: str
    data: Mapping[str, Any]
    """The agent's fields, without what hooks had told it."""


def parse_call(event: str, name: str, data: Mapping[str, Any]) -> HookCall:
    """Parse the event that a hook was called with.

    Raises:
        UsageError: the agent or the event is unknown.
    """
    agent = agents.agent_named(name) if name else agents.recognised(data)
    if agent is None:
        raise UsageError(agents.unknown(name))
    found = agents.event_of(agent, event, data)
    if found is None:
        raise UsageError(f"{agent.title} has no event {event!r}; give one of {', '.join(agents.EVENTS)}")
    session = without_keys(agents.session_of(agent, data))
    return HookCall(agent, *found, session, without_ours(data))


def without_ours(value: Any) -> Any:
    """Remove the blocks of memory, and what hooks put before a prompt, from all texts of an event."""
    if isinstance(value, str):
        text = strip_fences(value) if "mnemark-recall" in value.lower() else value
        hooked = _HOOK_OUTPUT.match(text) if "<hook_context>" in text else None
        return text[hooked.end() :].lstrip() if hooked else text
    if isinstance(value, Mapping):
        return {key: without_ours(one) for key, one in value.items()}
    return [without_ours(one) for one in value] if isinstance(value, list) else value


def checked(block: str) -> str:
    """Return the block if its quotation is well-formed, else an empty string: it could end its quotation."""
    return block if block and check_fenced(block) else ""


def message_text(content: Any) -> str:
    """Return the text of a chat message's content: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [one.get("text") for one in parts if isinstance(one, Mapping) and one.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def said_in(data: Mapping[str, Any]) -> str:
    """Return the prompt of an event; empty where it has none."""
    said = data.get("prompt")
    return said if isinstance(said, str) else ""


def text_part(text: str) -> dict[str, Any]:
    """Return a part of a message's content, as most models take it."""
    return {"type": "text", "text": text}


def with_block(block: str, content: Any, part: Callable[[str], Any] = text_part) -> Any:
    """Return the content of a message, a text or a list of parts, with a block before it.

    Args:
        block: quoted; empty for none.
        content: of the message.
        part: makes a part of the list.
    """
    if not block:
        return content
    return f"{block}\n\n{content}" if isinstance(content, str) else [part(block), *content]


def is_own_tool(name: str) -> bool:
    """Tell whether a tool is one of memory's."""
    return any(word in name.casefold() for word in OWN_TOOLS)


def is_small_talk(said: str) -> bool:
    """Tell whether a message is nothing but greetings, thanks and the like: it asks memory for nothing."""
    text = said.strip()
    if len(text) > _MAX_SMALL_TALK or not _may_greet(text.casefold()):
        return False
    return _SMALL_TALK.fullmatch(text) is not None


def _may_greet(text: str) -> bool:
    """Tell whether a text begins as a part of the pattern does, which takes a millisecond to compile."""
    first = text[:3] if text[:1].isascii() else text[:1]
    return text.startswith(_SHORT_GREETINGS) or first in _SMALL_TALK.pattern


def is_question(said: str) -> bool:
    """Tell whether a prompt has enough terms for a recall; the agent's own commands (`/clear`) get none."""
    text = said.strip()[:2_000]
    if (text.startswith("/") and " " not in text) or is_small_talk(text):
        return False
    least = 1 if _QUESTION.search(text) else MIN_TERMS
    if _is_short(text, least):
        return False
    from mnemark.text.words.stopwords import estimated_terms

    return len(estimated_terms(text)) >= least


def _is_short(text: str, least: int) -> bool:
    """Tell whether a text has fewer terms than that, stop words or not: "go on". Others have to be read."""
    words = text.split()
    return len(words) < least and all(word.isascii() and word.isalpha() and word.islower() for word in words)


class ToolUse(NamedTuple):
    """A tool call in an event."""

    tool: str
    arguments: Any
    result: Any
    call: str
    error: str | None
    duration_ms: int | None


def execution(data: Mapping[str, Any]) -> ToolUse | None:
    """Return the tool call of an event; None where it names no tool, or one of our own."""
    tool = data.get("tool_name")
    if not isinstance(tool, str) or not tool or is_own_tool(tool):
        return None
    duration = data.get("duration_ms", data.get("duration"))
    error = data.get("error") or data.get("error_message")
    return ToolUse(
        tool,
        data.get("tool_input"),
        data.get("tool_response", data.get("tool_output")),
        str(data.get("tool_use_id") or data.get(agents.CALL) or ""),
        str(error) if error else None,
        int(duration) if isinstance(duration, int | float) and 0 <= duration < _MAX_DURATION else None,
    )
