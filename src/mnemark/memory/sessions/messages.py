"""Read a host's messages in OpenAI's or Anthropic's shape: groups, texts, costs.

OpenAI: an assistant's `tool_calls`, each answered by a message of role "tool" with its `tool_call_id`.
Anthropic: content blocks; `tool_use` in an assistant's message, answered by `tool_result` blocks in the next
message of the user. A call and its results are one unit: an API refuses either without the other.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mnemark.files import jsonl
from mnemark.files.turns import decode_turn
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.quoting.memory_poisoning import without_recalled
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens
from mnemark.types import Turn

Message = Mapping[str, Any]
_FRAME: Final = 4
"""Tokens around each message."""
_SYSTEM: Final = frozenset({"system", "developer"})
_RESULT_ROLES: Final = frozenset({"tool", "function", "toolResult"})
_PIECE: Final = 1_600
"""Tokens of an image: what a full-size one costs with the providers, or a little more."""
_DATA: Final = re.compile(r"(?:data:[\w.+/-]+;base64,|\"data\": \")[A-Za-z0-9+/_-]{100,}={0,2}")
"""Bytes as text: a data URL, or the `data` of a content block."""
_LEAST: Final = 20
"""Tokens of a long result that are shown at least."""


class Unit(NamedTuple):
    """Messages `first <= n < end` that stay together."""

    first: int
    end: int
    tokens: int


def is_system(message: Message) -> bool:
    """Whether it is an instruction of the host, and no part of the conversation."""
    return message.get("role") in _SYSTEM


def tokens_of(message: Message) -> int:
    """About what a message costs. What is no text, such as an image, has a price of its own."""
    content = message.get("content")
    text = content if isinstance(content, str) else "" if content is None else _dumped(content)
    text, pieces = _DATA.subn("", text)
    calls = message.get("tool_calls")
    return (
        _FRAME + estimate_tokens(text) + pieces * _PIECE + (estimate_tokens(_dumped(calls)) if calls else 0)
    )


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def units(messages: Sequence[Message], start: int) -> list[Unit]:
    """The units of `messages[start:]`. Results join the calls before them, wherever those are."""
    found: list[list[int]] = []
    waiting: set[str] = set()
    for at in range(start, len(messages)):
        message = messages[at]
        answers = set(_answers(message))
        joins = bool(found) and (bool(answers) or message.get("role") in _RESULT_ROLES)
        if not joins and waiting and found and not is_system(message) and message.get("role") != "user":
            joins = True  # something between a call and its late results
        if joins:
            found[-1].append(at)
        else:
            found.append([at])
            waiting = set()
        waiting = (waiting - answers) | set(calls_of(message))
    return [Unit(part[0], part[-1] + 1, sum(tokens_of(messages[at]) for at in part)) for part in found]


def calls_of(message: Message) -> Iterator[str]:
    """Ids of the calls a message makes."""
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        if isinstance(call, Mapping):
            yield str(call.get("id") or "call")
    for block in _blocks(message):
        if block.get("type") in {"tool_use", "toolCall", "tool_call", "function_call"}:
            yield str(block.get("id") or block.get("call_id") or "call")


def _answers(message: Message) -> Iterator[str]:
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
    """The message as a turn to record; None for the host's instructions and for what was only recalled."""
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
    """Whether a message does not say when it was."""
    turn = decode_turn(dict(message), jsonl.Line(0, 0, b"", 0))
    return turn is None or bool(turn.meta.get("undated"))


def key_of(turn: Turn) -> str:
    """What a turn is known by where it has no id: who says what, or which calls and results it has."""
    role = {"human": "user", "model": "assistant", "function": "tool", "toolResult": "tool"}.get(
        turn.role, turn.role
    )
    words = " ".join(strip_fences(turn.content).split())
    if words:
        return f"{role}\0{words}"
    return f"{role}\1{_dumped([list(turn.tool_calls), list(turn.tool_results), list(turn.attachments)])}"


def shortened(messages: Sequence[Message], budget: int, where: str) -> list[dict[str, Any]]:
    """The messages of one unit cut, so that they fit: long results first, then what was said.

    Args:
        messages: of the unit; they are not changed.
        budget: tokens of all of them.
        where: what to say of where the whole text is.
    """
    copies = [dict(message) for message in messages]
    for places in (_results, _said):
        over = sum(map(tokens_of, copies)) - budget
        if over > 0:
            _cut(sorted(places(copies), key=lambda place: -estimate_tokens(place[2])), over, where)
    return copies


def _cut(places: Sequence["_Place"], over: int, where: str) -> None:
    """Cut texts where they stand, the longest first, until as many tokens are gone."""
    for holder, name, text in places:
        if over <= 0:
            break
        size = estimate_tokens(text)
        note = f"\n[… cut; {where}]"
        kept = cut_to_tokens(text, max(_LEAST, size - over - estimate_tokens(note) - 2))
        if len(kept) + len(note) < len(text):
            holder[name] = kept + note
            over -= size - estimate_tokens(holder[name])


_Place = tuple[dict[str, Any], str, str]
"""The object that holds a text, its key there, and the text."""


def _said(copies: list[dict[str, Any]]) -> list[_Place]:
    """What was said in words; thoughts of a model are signed and stay as they are."""
    found: list[_Place] = []
    for message in copies:
        content = message.get("content")
        if message.get("role") in _RESULT_ROLES or is_system(message):
            continue
        if isinstance(content, str):
            found.append((message, "content", content))
        elif isinstance(content, list):
            message["content"] = blocks = [dict(b) if isinstance(b, Mapping) else b for b in content]
            found += [
                (block, "text", block["text"])
                for block in blocks
                if isinstance(block, dict) and isinstance(block.get("text"), str)
            ]
    return found


def _results(copies: list[dict[str, Any]]) -> list[_Place]:
    """Texts of results."""
    found: list[_Place] = []
    for message in copies:
        content = message.get("content")
        if message.get("role") in _RESULT_ROLES and isinstance(content, str):
            found.append((message, "content", content))
        elif isinstance(content, list):
            message["content"] = blocks = [dict(b) if isinstance(b, Mapping) else b for b in content]
            results = message.get("role") in _RESULT_ROLES
            for block in blocks:
                if isinstance(block, dict) and (results or block.get("type") == "tool_result"):
                    found += _texts(block)
    return found


def _texts(block: dict[str, Any]) -> list[_Place]:
    for name in ("text", "content", "output"):
        inside = block.get(name)
        if isinstance(inside, str):
            return [(block, name, inside)]
        if isinstance(inside, list):
            block[name] = parts = [dict(part) if isinstance(part, Mapping) else part for part in inside]
            return [place for part in parts if isinstance(part, dict) for place in _texts(part)]
    return []
