"""Turns of a conversation of another program, with ids that are the same at each import."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from mnemark.files import jsonl
from mnemark.files.ids import derived_id
from mnemark.files.turns import UNDATED, created, decode_turn
from mnemark.types import Turn

Record = dict[str, Any]


class Conversation(NamedTuple):
    """A conversation, with messages as `decode_turn` reads them."""

    id: str
    title: str
    began: datetime | None
    messages: Iterable[Record]


def turns_of(
    service: str, conversation: Conversation, clean: Callable[[str], str] | None = None
) -> Iterator[Turn]:
    """Yield the turns of a conversation; those without a word, a call or an attachment are left out.

    Args:
        service: the program; part of each id.
        conversation: its messages in order.
        clean: makes the text of a message what a person read. Ids are of the text before, so that they stay
            when more of it is cleaned.
    """
    before = conversation.began
    for number, message in enumerate(conversation.messages):
        line = jsonl.Line(0, number + 1, jsonl.encode(message), 0)
        turn = decode_turn(message, line, before)
        if turn is None:
            continue
        text = clean(turn.content) if clean else turn.content
        if not (text.strip() or turn.tool_calls or turn.tool_results or turn.attachments):
            continue
        meta = dict(turn.meta)
        if before is not None and turn.time == before:
            meta.pop("undated", None)  # it has the time of the conversation
        if conversation.title:
            meta["conversation"] = conversation.title
        before = turn.time if turn.time != UNDATED else before
        source = f"{service}\n{conversation.id}\n{message.get('id') or number}\n{turn.role}\n{turn.content}"
        identifier = derived_id(source.encode("utf-8", "replace"), turn.time)
        yield msgspec.structs.replace(turn, id=identifier, content=text, meta=meta)


def moment(value: object) -> datetime | None:
    """Return a time as programs write it: ISO 8601, or seconds or milliseconds since 1970."""
    return created({"time": value}) if value is not None else None


def dicts(value: object) -> list[Record]:
    """Return the JSON objects in a list; of anything else none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def words(value: object) -> str:
    """Return a text; of anything else an empty one."""
    return value if isinstance(value, str) else ""
