"""Read a host's messages in OpenAI's or Anthropic's shape: units, texts, token counts.

OpenAI: an assistant's `tool_calls`, each answered by a message of role "tool" with its `tool_call_id`.
Anthropic: content blocks; `tool_use` in an assistant's message, answered by `tool_result` blocks in the next
message of the user. A call and its results are one unit: an API refuses either without the other.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mnemark.files import jsonl
from mnemark.files.turns import decode_turn
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.quoting.memory_poisoning import without_recalled
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens
from mnemark.types import Turn

Message = Mapping[str, Any]
_MESSAGE_TOKENS: Final = 4
"""Tokens that each message costs beside its content."""
_SYSTEM: Final = frozenset({"system", "developer"})
_RESULT_ROLES: Final = frozenset({"tool", "function", "toolResult"})
_IMAGE_TOKENS: Final = 1_600
"""Tokens of a full-size image, rounded up over the providers."""
_DATA: Final = lazy_pattern(r"(?:data:[\w.+/-]+;base64,|\"data\": \")[A-Za-z0-9+/_-]{100,}={0,2}")
"""Base64 data: a data URL, or the `data` of a content block."""
_MIN_TOKENS: Final = 20
"""Minimum tokens that are left of a shortened text."""


class MessageUnit(NamedTuple):
    """Messages `first <= n < end` that must stay together."""

    first: int
    end: int
    tokens: int


def is_system(message: Message) -> bool:
    """Return whether a message is an instruction of the host, not part of the conversation."""
    return message.get("role") in _SYSTEM


def tokens_of(message: Message) -> int:
    """Estimate the tokens of a message; each image or other data counts as a fixed number."""
    content, calls = message.get("content"), message.get("tool_calls")
    text = content if isinstance(content, str) else "" if content is None else _as_json(content)
    text, pieces = _DATA.subn("", text)
    calls_cost = estimate_tokens(_as_json(calls)) if calls else 0
    return _MESSAGE_TOKENS + estimate_tokens(text) + pieces * _IMAGE_TOKENS + calls_cost


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def units(messages: Sequence[Message], start: int) -> list[MessageUnit]:
    """Return the units of `messages[start:]`; results join their calls, wherever those are."""
    found: list[list[int]] = []
    waiting: set[str] = set()
    for at in range(start, len(messages)):
        message = messages[at]
        answers = set(_answered_calls(message))
        role = message.get("role")
        between = waiting and role not in {"user", *_SYSTEM}  # between a call and its late results
        if found and (answers or between or role in _RESULT_ROLES):
            found[-1].append(at)
        else:
            found.append([at])
            waiting = set()
        waiting = (waiting - answers) | set(calls_of(message))
    return [MessageUnit(part[0], part[-1] + 1, sum(tokens_of(messages[at]) for at in part)) for part in found]


def calls_of(message: Message) -> Iterator[str]:
    """Yield the ids of the calls in a message."""
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        if isinstance(call, Mapping):
            yield str(call.get("id") or "call")
    for block in _blocks(message):
        if block.get("type") in {"tool_use", "toolCall", "tool_call", "function_call"}:
            yield str(block.get("id") or block.get("call_id") or "call")


def _answered_calls(message: Message) -> Iterator[str]:
    if message.get("role") in _RESULT_ROLES:
        yield str(message.get("tool_call_id") or message.get("toolCallId") or "call")
    for block in _blocks(message):
        if block.get("type") in {"tool_result", "toolResult", "function_call_output"}:
            yield str(block.get("tool_use_id") or block.get("call_id") or "call")


def _blocks(message: Message) -> Iterator[Mapping[str, Any]]:
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping):
            yield block


def turn_of(message: Message) -> Turn | None:
    """Return a message as a turn to record; None for instructions and for messages of recalled text alone."""
    if is_system(message):
        return None
    turn = decode_turn(dict(message), jsonl.Line(0, 0, b"", 0))
    if turn is None:
        return None
    tool = turn.origin in {"tool", "web"}
    content = (without_recalled if tool else strip_fences)(turn.content).strip("\n")
    given = message.get("id") or message.get("uuid")
    meta = {key: value for key, value in turn.meta.items() if key not in {"undated", "content"}}
    role, origin = turn.role, turn.origin
    if role in {"user", "human"} and turn.tool_results and not content.strip():
        role, origin = "tool", "tool"  # in Anthropic's shape the user's message brings the results
    if not (content.strip() or turn.tool_calls or turn.tool_results or turn.attachments):
        return None
    return Turn(
        id=str(given) if isinstance(given, str) else "", time=turn.time, role=role, content=content,
        origin=origin, tool_calls=tuple(turn.tool_calls), tool_results=tuple(turn.tool_results),
        attachments=tuple(turn.attachments), meta=meta,
    )  # fmt: skip


def is_undated(message: Message) -> bool:
    """Return whether a message has no time of its own."""
    turn = decode_turn(dict(message), jsonl.Line(0, 0, b"", 0))
    return turn is None or bool(turn.meta.get("undated"))


def key_of(turn: Turn) -> str:
    """Return a key that identifies a turn without id: role and text, else its calls and results."""
    role = {"human": "user", "model": "assistant", "function": "tool", "toolResult": "tool"}.get(
        turn.role, turn.role
    )
    words = " ".join(strip_fences(turn.content).split())
    if words:
        return f"{role}\0{words}"
    return f"{role}\1{_as_json([list(turn.tool_calls), list(turn.tool_results), list(turn.attachments)])}"


def shortened(messages: Sequence[Message], budget: int, where: str) -> list[dict[str, Any]]:
    """Return copies of a unit's messages, shortened to the budget: long results first, then other text.

    Args:
        messages: the messages of the unit; they are not changed.
        budget: tokens of all of them.
        where: where the whole text is, for the note at a cut.
    """
    copies = [dict(message) for message in messages]
    for places in (_texts_of_results, _texts_of_messages):
        over = sum(map(tokens_of, copies)) - budget
        if over > 0:
            _cut(sorted(places(copies), key=lambda place: -estimate_tokens(place[2])), over, where)
    return copies


def _cut(places: Sequence["_Place"], over: int, where: str) -> None:
    for holder, name, text in places:
        if over <= 0:
            break
        size = estimate_tokens(text)
        note = f"\n[… cut; {where}]"
        kept = cut_to_tokens(text, max(_MIN_TOKENS, size - over - estimate_tokens(note) - 2))
        if len(kept) + len(note) < len(text):
            holder[name] = kept + note
            over -= size - estimate_tokens(holder[name])


_Place = tuple[dict[str, Any], str, str]
"""The object that holds a text, its key there, and the text."""


def _texts_of_messages(copies: list[dict[str, Any]]) -> Iterator[_Place]:
    """Yield the texts of messages; thinking blocks are signed and must not be changed."""
    for message in copies:
        if message.get("role") in _RESULT_ROLES or is_system(message):
            continue
        if isinstance(message.get("content"), str):
            yield message, "content", message["content"]
        for block in _copied_objects(message, "content"):
            if isinstance(block.get("text"), str):
                yield block, "text", block["text"]


def _texts_of_results(copies: list[dict[str, Any]]) -> Iterator[_Place]:
    for message in copies:
        is_result = message.get("role") in _RESULT_ROLES
        if is_result and isinstance(message.get("content"), str):
            yield message, "content", message["content"]
        for block in _copied_objects(message, "content"):
            if is_result or block.get("type") == "tool_result":
                yield from _texts(block)


def _texts(block: dict[str, Any]) -> Iterator[_Place]:
    for name in ("text", "content", "output"):
        if isinstance(block.get(name), str):
            yield block, name, block[name]
            return
        if isinstance(block.get(name), list):
            for part in _copied_objects(block, name):
                yield from _texts(part)
            return


def _copied_objects(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Replace a list in `holder` by a copy; return the copied objects in it, which may be changed."""
    if not isinstance(holder.get(name), list):
        return []
    holder[name] = [dict(one) if isinstance(one, Mapping) else one for one in holder[name]]
    return [one for one in holder[name] if isinstance(one, dict)]
