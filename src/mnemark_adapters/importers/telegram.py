"""Read what Telegram Desktop exported as JSON: one chat, or all of them."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain, groupby
from typing import Any, Final

from mnemark.errors import NotFoundError
from mnemark.memory.transfer.importer import Incoming
from mnemark_adapters.importers.chats import Said, read_chat
from mnemark_adapters.importers.conversations import Record, dicts, moment, words
from mnemark_adapters.importers.source import Child, Member, Source

FILES: Final = ("result.json",)
_SERVICE: Final = "telegram"
_PLACES: Final = "", "chats.list.item", "left_chats.list.item"
_SELF: Final = "personal_information"
_PAIRS: Final = frozenset({"personal_chat", "bot_chat"})
_KINDS: Final = {
    "photo": "picture", "file": "file", "poll": "poll", "location_information": "location",
    "contact_information": "contact", "live_location_period_seconds": "location", "game_title": "game",
    "invoice_information": "invoice",
}  # fmt: skip
_MEDIA: Final = {
    "voice_message": "voice message", "video_message": "video", "video_file": "video",
    "animation": "animation", "sticker": "sticker", "audio_file": "sound file",
}  # fmt: skip
_WHY: Final = "only text is imported"


def read(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import the chats of an export; raises NotFoundError if there is none, IntegrityError if damaged."""
    files = source.matching(*FILES)
    if not files:
        raise NotFoundError(f"there is no result.json in {source.path.name}; export the chat as JSON")
    for member in files:
        for about, said in _chats(member):
            title = words(about.get("name")).strip() or words(about.get("type")).replace("_", " ") or "chat"
            named = f"{title} {about.get('id')}" if about.get("id") else title
            read_chat(incoming, _SERVICE, named, _said(incoming, about, said), title=title)


def _chats(member: Member) -> Iterator[tuple[Record, Iterable[Any]]]:
    def chat(child: Child) -> str:
        about = child.about[child.parent]
        return f"{child.parent}\0{about.get('id')}\0{about.get('name')}"

    for _, children in groupby(member.children("messages", _PLACES, (_SELF,)), chat):
        yield from _chat(children)


def _chat(children: Iterator[Child]) -> Iterator[tuple[Record, Iterable[Any]]]:
    """Yield what is said of a chat, and its messages, which are read as they are wanted."""
    for first in children:
        about = {**first.about[first.parent], "owner": first.about[_SELF].get("user_id")}
        yield about, chain((first.item,), (child.item for child in children))


def _said(incoming: Incoming, about: Record, messages: Iterable[Any]) -> Iterator[Said]:
    for message in messages:
        if not isinstance(message, dict):
            continue
        if message.get("type") not in {"message", None}:
            incoming.left("service message", "nobody said it: calls, and who joined or changed something")
            continue
        _count_media(incoming, message)
        if text := _text_of(message.get("text")).strip():
            yield Said(_time_of(message), *_who(about, message, text), f"{message.get('id')}")


def _who(about: Record, message: Record, text: str) -> tuple[str, str, bool | None]:
    """Return who said it, the text, and whether that was the owner, as far as the export says so.

    What was forwarded are somebody else's words.
    """
    name, sender = words(message.get("from")) or "Deleted Account", words(message.get("from_id"))
    if "forwarded_from" in message or "forwarded_from_id" in message:
        return words(message.get("forwarded_from")) or "somebody", text, False
    if about.get("owner") and sender:
        return name, text, sender == f"user{about['owner']}"
    if about.get("type") in _PAIRS and sender:  # a chat of two has the other's id and name
        return name, text, sender != f"user{about.get('id')}" and name != words(about.get("name"))
    return name, text, True if about.get("type") == "saved_messages" else None


def _text_of(value: object) -> str:
    if isinstance(value, list):
        return "".join(part if isinstance(part, str) else _entity(part) for part in value)
    return words(value)


def _entity(part: object) -> str:
    if not isinstance(part, dict):
        return ""
    text, link = words(part.get("text")), words(part.get("href"))
    if part.get("type") == "pre":
        return f"\n```{words(part.get('language'))}\n{text}\n```\n"
    return f"{text} ({link})" if link and link != text else text


def _count_media(incoming: Incoming, message: Record) -> None:
    media = words(message.get("media_type"))
    kind = _MEDIA.get(media) or next((name for key, name in _KINDS.items() if key in message), "")
    if kind:
        incoming.left(kind, _WHY)
    if reactions := dicts(message.get("reactions")):
        counts = [one.get("count") for one in reactions]
        incoming.left("reaction", _WHY, sum(one if isinstance(one, int) else 1 for one in counts))


def _time_of(message: Record) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(message["date_unixtime"]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return moment(message.get("date"))
