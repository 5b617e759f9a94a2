"""Read the export of ChatGPT: talks, and what it was told or noted about its user.

Of a talk the branch is imported that is shown. What ChatGPT noted for itself ("bio", later the whole list as
`model_editable_context`), and the custom instructions, are proposed as facts: nobody said them to this
memory, and a person decides.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemark.errors import NotFoundError
from mnemark.memory.transfer.importer import Incoming
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Problem
from mnemark_adapters.importers.conversations import Conversation, Record, message_of, moment, turns_of, words
from mnemark_adapters.importers.source import Member, Source

_SERVICE: Final = "chatgpt"
_MAX_DEPTH: Final = 100_000
_TALKS: Final = ("conversations.json", "conversations-*.json")
_CITATION: Final = lazy_pattern(
    r" ?\ue200[^\ue200\ue201]{0,2000}\ue201|[\ue200-\ue206]|【\d{1,3}†[^】\n]{0,200}】"
)
"""Marks of sources, which only ChatGPT's page can show."""
_NUMBERED: Final = lazy_pattern(r"(?m)^[ \t]{0,8}\d{1,4}\.[ \t]{0,8}\[(\d{4}-\d\d-\d\d)\]\.?")
"""Begins an entry of the list of memories."""
_FENCE: Final = lazy_pattern(r"```(.*?)```", re.DOTALL)
_NOTED: Final = "Model set context updated."
_SAID: Final = frozenset({"user", "assistant"})
_SHOWN: Final = frozenset({"text", "multimodal_text", "code"})
_LEFT: Final = {
    "thoughts": "what the model thought", "reasoning_recap": "what the model thought",
    "execution_output": "output of tools", "tether_browsing_display": "output of tools",
    "tether_quote": "output of tools", "sonic_webpage": "output of tools", "system_error": "output of tools",
    "code": "calls of tools",
}  # fmt: skip


def read(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import the talks of an export; raises NotFoundError if it holds none, IntegrityError if damaged."""
    files = source.matching(*_TALKS)
    if not files:
        raise NotFoundError(f"there is no conversations.json in {source.path}")
    for member in files:
        for number, record in enumerate(_records(member)):
            found = _Talk(incoming, record).conversation() if isinstance(record, dict) else None
            if found is None:
                reason = f"conversation {number + 1} cannot be read: skipped"
                incoming.problems.append(Problem(member.base, reason))
            elif record.get("is_do_not_remember") is True:
                incoming.left("conversation", "ChatGPT was told not to remember it")
            else:
                incoming.turns("", f"{_SERVICE}:{found.id}", turns_of(_SERVICE, found, _clean))


def _records(member: Member) -> Iterator[Any]:
    if "mapping" in member.look().paths:
        yield member.json()
    else:
        yield from member.items("conversations.item", "item")


def _clean(text: str) -> str:
    return _CITATION.sub("", text) if "\ue200" in text or "†" in text else text


class _Talk:
    """A talk, which is a tree of messages."""

    def __init__(self, incoming: Incoming, record: Record) -> None:
        self.incoming = incoming
        self.record = record
        self.is_remembered = record.get("is_do_not_remember") is not True

    def conversation(self) -> Conversation | None:
        """Return the branch that is shown; None if it is no talk."""
        mapping = self.record.get("mapping")
        identifier = self.record.get("conversation_id") or self.record.get("id")
        if not isinstance(mapping, dict) or not identifier:
            return None
        branch = _branch(self.record, mapping)
        if self.is_remembered and (others := sum(map(_is_said, map(_message_of, mapping.values())))) > (
            shown := sum(map(_is_said, branch))
        ):
            self.incoming.left(
                "message", "an earlier version, or an answer that was not chosen", others - shown
            )
        messages = [shaped for message in branch if (shaped := self._shaped(message)) is not None]
        title = words(self.record.get("title"))
        return Conversation(str(identifier), title, moment(self.record.get("create_time")), messages)

    def _shaped(self, message: Record) -> Record | None:
        """Return a message as `decode_turn` reads it; None where it is nothing that somebody said."""
        content, role = message.get("content"), _role(message)
        if not isinstance(content, dict) or not role:
            return None
        kind = words(content.get("content_type"))
        self._noted(message, content, kind, role)
        if (
            role == "system"
            or kind in {"user_editable_context", "model_editable_context"}
            or _is_hidden(message)
        ):
            return None
        recipient = words(message.get("recipient")) or "all"
        if role not in _SAID or recipient != "all" or kind not in {*_SHOWN, ""}:
            what = _LEFT.get(kind, "calls of tools" if recipient != "all" else "output of tools")
            if recipient != "bio" and not (role == "tool" and words(_author(message).get("name")) == "bio"):
                self._left("message", what)
            return None
        return message_of(message.get("id"), role, self._parts(content), message.get("create_time"))

    def _parts(self, content: Record) -> list[Any]:
        """Return the texts of a message; what was heard is text, and what was shown is counted."""
        parts = content.get("parts")
        if not isinstance(parts, list):
            return [value for key in ("text", "result") if isinstance(value := content.get(key), str)]
        kept: list[Any] = []
        for part in parts:
            kind = words(part.get("content_type")) if isinstance(part, dict) else ""
            if isinstance(part, str):
                kept.append(part)
            elif kind == "audio_transcription":
                kept.append(words(part.get("text")))
            elif "image" in kind:
                self._left("picture", "pictures of a talk are not imported")
            elif kind:
                self._left("recording", "sound and video of a talk are not imported")
        return kept

    def _left(self, what: str, reason: str) -> None:
        if self.is_remembered:
            self.incoming.left(what, reason)

    def _noted(self, message: Record, content: Record, kind: str, role: str) -> None:
        """Propose what ChatGPT was told about its user once for all, or noted by itself."""
        if not self.is_remembered:
            return
        since = moment(message.get("create_time")) or moment(self.record.get("create_time"))
        if kind == "user_editable_context":
            for key, type_ in (("user_profile", "fact"), ("user_instructions", "rule")):
                for line in _lines(words(content.get(key))):
                    self.incoming.propose(line, since, type=type_)
        elif kind == "model_editable_context":
            for date, text in _entries(words(content.get("model_set_context"))):
                self.incoming.propose(text, moment(date) or since)
        elif role == "assistant" and message.get("recipient") == "bio":
            for part in self._texts(content):
                self.incoming.propose(part, since)

    @staticmethod
    def _texts(content: Record) -> list[str]:
        parts = content.get("parts")
        found = parts if isinstance(parts, list) else [content.get("text")]
        return [part for part in found if isinstance(part, str) and part.strip() and part != _NOTED]


def _lines(text: str) -> list[str]:
    """Return what a person wrote into a field of custom instructions, by lines; ChatGPT frames it."""
    framed = _FENCE.search(text)
    inner = framed[1] if framed else text
    return [line for raw in inner.splitlines() if (line := raw.strip().lstrip("-*•").strip())]


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield date and text of each entry of the list of memories."""
    parts = _NUMBERED.split(text)
    for date, entry in zip(parts[1::2], parts[2::2], strict=True):
        if entry.strip():
            yield date, " ".join(entry.split())


def _branch(record: Record, mapping: Mapping[str, Any]) -> list[Record]:
    """Return the messages from the root to `current_node`; all messages by time if there is no such node."""
    node = record.get("current_node")
    found: list[Record] = []
    if node not in mapping:
        every = filter(None, map(_message_of, mapping.values()))
        return sorted(every, key=lambda message: _number(message.get("create_time")))
    seen: set[str] = set()
    while isinstance(node, str) and node in mapping and node not in seen and len(seen) < _MAX_DEPTH:
        seen.add(node)
        if message := _message_of(mapping[node]):
            found.append(message)
        node = mapping[node].get("parent") if isinstance(mapping[node], dict) else None
    return found[::-1]


def _message_of(entry: object) -> Record:
    message = entry.get("message") if isinstance(entry, dict) else None
    return message if isinstance(message, dict) else {}


def _author(message: Record) -> Record:
    author = message.get("author")
    return author if isinstance(author, dict) else {}


def _role(message: Record) -> str:
    return words(_author(message).get("role"))


def _is_said(message: Record) -> bool:
    return _role(message) in _SAID and words(message.get("recipient")) in {"", "all"}


def _is_hidden(message: Record) -> bool:
    about = message.get("metadata")
    return isinstance(about, dict) and about.get("is_visually_hidden_from_conversation") is True


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
