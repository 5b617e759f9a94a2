"""Turns of a conversation of another program, with ids that are the same at each import."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

from mnemark.files import jsonl
from mnemark.files.ids import derived_id
from mnemark.files.turns import UNDATED, created, decode_turn
from mnemark.hashes import blake2b
from mnemark.memory.transfer.importer import Incoming
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.types import Turn

Record = dict[str, Any]
SPEAKER: Final = "speaker"
"""Key in a turn's `meta` for who said it, where several people speak."""
_GATHERED: Final = 16 << 20
"""Characters of mixed messages that are sorted at a time."""
_KNOWN_ROLES: Final = frozenset(
    ("user", "human", "owner", "assistant", "agent", "ai", "model", "system", "developer", "tool", "function",
     "toolresult", "note")
)  # fmt: skip
"""Roles that mean something; a person who is called so is told apart."""


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
        said_by = turn.meta.get(SPEAKER) or turn.role  # who the owner is may be found out later
        source = f"{service}\n{conversation.id}\n{message.get('id') or number}\n{said_by}\n{turn.content}"
        identifier = derived_id(source.encode("utf-8", "replace"), turn.time)
        yield msgspec.structs.replace(turn, id=identifier, content=text, meta=meta)


def message_of(identifier: object, role: str, content: object, when: object) -> Record:
    """Return a message as `decode_turn` reads it; `when` is a time, or as programs write one."""
    time = when if isinstance(when, datetime) else moment(when)
    message: Record = {"id": identifier, "role": role, "content": content}
    return message if time is None else message | {"time": time.isoformat()}


def moment(value: object) -> datetime | None:
    """Return a time as programs write it: ISO 8601, or seconds or milliseconds since 1970."""
    return created({"time": value}) if value is not None else None


def dicts(value: object) -> list[Record]:
    """Return the JSON objects in a list; of anything else none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def words(value: object) -> str:
    """Return a text; of anything else an empty one."""
    return value if isinstance(value, str) else ""


def said_by(incoming: Incoming, name: str, text: str, *, owner: bool | None = None) -> Record:
    """Return role, origin and speaker of what a person said in a chat of people.

    The owner's words are the owner's. Everybody else's have their name as role, and are an import: nothing
    about the owner is learned from them. What looks like instructions is trusted as little as a page.

    Args:
        incoming: the import, which knows what the owner is called.
        name: of who spoke.
        text: what was said.
        owner: whether the export says that this is the owner; None: it does not say.
    """
    name = " ".join(name.split()) or "somebody"
    if incoming.is_owner(name, known=owner):
        return {"role": "user", "origin": "owner", "meta": {SPEAKER: name}}
    role = f"{name} (person)" if name.lower() in _KNOWN_ROLES else name
    origin = "tool" if looks_like_instructions(text) else "import"
    return {"role": role, "origin": origin, "meta": {SPEAKER: name}}


def shown_branch(
    messages: Sequence[Record], key: str, parent: str, last: object = None
) -> tuple[list[Record], int]:
    """Return the branch of a tree of messages that ends with the last one, and how many are on others.

    Args:
        messages: in order.
        key: the name of a message's id.
        parent: the name of the id of the message that it answers.
        last: the id of the last message that is shown; else it is the last given.
    """
    by_id = {str(one[key]): one for one in messages if one.get(key)}
    if not any(str(one.get(parent)) in by_id for one in messages):
        return list(messages), 0  # a list, no tree
    node = str(last) if str(last) in by_id else str(messages[-1].get(key))
    found: dict[str, Record] = {}
    while node in by_id and node not in found:
        found[node] = by_id[node]
        node = str(by_id[node].get(parent))
    return list(found.values())[::-1], len(messages) - len(found)


class Gathered:
    """Messages that come mixed, or the newest first: they are imported by session, in order of time."""

    def __init__(self, incoming: Incoming, service: str) -> None:
        self._incoming = incoming
        self._service = service
        self._sessions: dict[str, list[tuple[float, int, Record]]] = defaultdict(list)
        self._seen: Counter[bytes] = Counter()
        self._size = self._number = 0

    def add(self, session: str, role: str, text: str, when: datetime | None, mark: str = "") -> None:
        """Add a message; `mark` is the time as written, where that is all that tells equal ones apart."""
        mark = mark or (when.isoformat() if when else "")
        key = blake2b(f"{session}\0{role}\0{mark}\0{text}".encode("utf-8", "replace"), digest_size=8).digest()
        self._seen[key] += 1
        # Not by its number: a later export begins or ends elsewhere.
        message: Record = {"id": f"{mark}\n{self._seen[key]}", "role": role, "content": text}
        if when is not None:
            message["time"] = when.isoformat()
        self._number += 1
        self._sessions[session].append((_seconds(when), self._number, message))
        self._size += len(text)
        if self._size > _GATHERED:
            self.flush()

    def flush(self) -> None:
        """Import what was added since."""
        for session, messages in self._sessions.items():
            ordered = [message for _, _, message in sorted(messages, key=lambda one: one[:2])]
            found = Conversation(session, "", None, ordered)
            self._incoming.turns("", f"{self._service}:{session}", turns_of(self._service, found))
        self._sessions.clear()
        self._seen.clear()  # equal ones of one time stand together
        self._size = 0


def _seconds(when: datetime | None) -> float:
    if when is None:
        return 0.0
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def text_of(content: object, left: Callable[[str, str], None], reasons: Mapping[str, str]) -> str:
    """Return the text of a message in parts; other parts are counted.

    Args:
        content: a text, or a list of texts and of objects with `type` and `text`.
        left: counts what is left out, by its name and the reason.
        reasons: why parts of a type are left out; those of others are counted by their type.
    """
    if not isinstance(content, list):
        return words(content)
    texts = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) else part
        text = text.get("value") if isinstance(text, dict) else text
        kind = words(part.get("type")) if isinstance(part, dict) else ""
        if isinstance(text, str) and kind not in reasons:
            texts.append(text)
        elif isinstance(part, dict):
            left("part of a message", reasons.get(kind, f"of the kind {kind[:40] or 'none'}"))
    return "\n".join(text for text in texts if text)
