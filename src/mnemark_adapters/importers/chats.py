"""Chats of people as text: what a messenger's reader found becomes turns, with who said it and when."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final, NamedTuple

from mnemark.memory.transfer.importer import Incoming
from mnemark_adapters.importers.conversations import Conversation, Record, said_by, turns_of

_NOON: Final = 12
HALVES: Final = {
    **dict.fromkeys(("am", "上午", "凌晨", "清晨", "早上", "午前", "오전"), False),
    **dict.fromkeys(("pm", "下午", "晚上", "傍晚", "夜晚", "午後", "오후"), True),
}
"""Whether a word for the part of the day means that twelve hours are to be added."""
HALF: Final = r"[AaPp]\.?\s?[Mm]\.?|上午|凌晨|清晨|早上|中午|下午|晚上|傍晚|夜晚|午前|午後|오전|오후"


class Said(NamedTuple):
    """A message of a chat."""

    when: datetime | None
    name: str
    text: str
    is_owner: bool | None = None
    """Whether the export says that the owner said it; None: it does not say."""
    written: str = ""
    """Its time as written, where that is not one."""


def read_chat(incoming: Incoming, service: str, name: str, said: Iterable[Said], *, title: str = "") -> None:
    """Import a chat as a session called after its title, or by a name that tells equal titles apart."""
    found = Conversation(name, title or name, None, _messages(incoming, said))
    incoming.turns("", f"{service}:{name}", turns_of(service, found))


def _messages(incoming: Incoming, said: Iterable[Said]) -> Iterator[Record]:
    """Yield messages as `decode_turn` reads them; ids are of time, sender, text, and which of equal ones."""
    before, seen = "", Counter[tuple[str, str]]()
    for one in said:
        mark = one.when.isoformat() if one.when else one.written
        if mark != before:
            before, seen = mark, Counter()
        seen[one.name, one.text] += 1
        message: Record = {"id": f"{mark}\n{seen[one.name, one.text]}", "content": one.text}
        message |= said_by(incoming, one.name, one.text, owner=one.is_owner)
        if one.when is not None:
            message["time"] = one.when.isoformat()
        yield message


def hour_of(hour: str, half: str | None) -> int:
    """Return the hour of a day, 0 to 23, of one that may be written in halves of the day."""
    number = int(hour)
    word = re.sub(r"[.\s]", "", half or "").lower()
    if word == "中午":
        return number + _NOON if number < _NOON - 2 else number
    after = HALVES.get(word)
    if after is None or number > _NOON:
        return number
    return number % _NOON + (_NOON if after else 0)
