"""Read chats that WhatsApp exported, from Android and iOS, in the forms of many languages.

Which number of a date is the day and which the month is decided from the whole chat, not from a line.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from mnemark.errors import IntegrityError, NotFoundError
from mnemark.memory.transfer.importer import Incoming
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Problem
from mnemark_adapters.importers.chats import HALF, Said, hour_of, read_chat
from mnemark_adapters.importers.source import Member, Source

FILES: Final = "_chat.txt", "*whatsapp*.txt"
_SERVICE: Final = "whatsapp"
_MARK: Final = "\u200e"
"""Begins what WhatsApp itself writes, on iOS."""
_SPACES: Final = str.maketrans({"\u202f": " ", "\xa0": " ", "\u200f": None, "\ufeff": None, "\u202a": None,
                                "\u202c": None})  # fmt: skip
_HEADER: Final = lazy_pattern(
    r"\[?(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})\.?,? ?(?:[^\W\d]{1,5} )?"
    rf"(?:({HALF}) ?)?(\d{{1,2}})[:.](\d\d)(?:[:.](\d\d))? ?({HALF})?(?:\] ?| [-–—] )(.*)"
)
_BRACKETED: Final = lazy_pattern(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\]")
"""How programs write their logs; WhatsApp has a comma there."""
_LEVEL: Final = lazy_pattern(
    r"(?i)(?:^|[\s.\[])(?:info|error|warn(?:ing)?|debug|trace|fatal|notice|critical)\]?$"
)
_TITLE: Final = lazy_pattern(
    r"(?i)(?:与|與)(?P<zh>.{1,120}?)的\s?WhatsApp|"
    r"WhatsApp.{0,20}?(?:\s(?:with|mit|con|com|avec|met|med|z|с)\s|\s?-\s)(?P<name>.{1,120})"
)
_ATTACHED: Final = lazy_pattern(_MARK + r"?<[^<>:：/!\n]{1,40}[:：] ?[^<>/\n]{1,200}\.\w{2,5}>")
_EDITED: Final = lazy_pattern(
    r"\s{0,4}"
    + _MARK
    + r"?<(?:This message was edited|此訊息已編輯|此消息已编辑|消息已编辑|Diese Nachricht wurde bearbeitet|"
    r"Se editó este mensaje\.?|Ce message a été modifié|Mensagem editada)>\s{0,4}\Z"
)
_PLACEHOLDER: Final = lazy_pattern(_MARK + r"?<[^<>\n]{1,60}>")
_FILE: Final = lazy_pattern(_MARK + r"?[^\n/\\]{1,200}\.\w{2,5} [(（][^()（）\n]{2,40}[)）]")
_OMITTED: Final = lazy_pattern(
    r"(?i).{0,40}(?:omitted|weggelassen|omitid[ao]s?|omise?s?|omess[aoie]|weggelaten|已略去|已省略|を省略|생략됨?)\.?"
)
_DELETED: Final = frozenset(
    ("this message was deleted", "you deleted this message", "this message was deleted.",
     "you deleted this message.", "此消息已删除", "你已删除此消息", "您已删除此消息", "此訊息已刪除",
     "diese nachricht wurde gelöscht", "du hast diese nachricht gelöscht", "se eliminó este mensaje",
     "eliminaste este mensaje", "ce message a été supprimé", "mensagem apagada",
     "você apagou esta mensagem", "null")
)  # fmt: skip
_POLL: Final = lazy_pattern(r"(?i)" + _MARK + r"?(?:poll|投票|umfrage|encuesta|sondage|enquete)\s?[:：]\s*$")
_MOST_NAME: Final = 100
_HEAD_LINES: Final = 60
_CENTURY: Final = 100
_MONTHS: Final = 12
_DAYS: Final = 31
_NOBODY: Final = "nobody said it: who joined, left or changed something"
_FILES: Final = "pictures, sound and other files are not imported"


class _Header(NamedTuple):
    """What a message begins with."""

    numbers: tuple[int, int, int]
    hour: int
    minute: int
    second: int
    rest: str
    has_half: bool


class _Survey:
    """What a chat as a whole shows: the order of its dates, and who speaks."""

    def __init__(self) -> None:
        self.speakers: Counter[str] = Counter()
        self.first_system = ""
        self.messages = 0
        self._above: list[int] = [0, 0, 0]
        self._steps_back = {"day": 0, "month": 0}
        self._last = {"day": (0, 0, 0), "month": (0, 0, 0)}
        self._halves = 0

    def add(self, header: _Header) -> None:
        """Take a message's beginning into account."""
        self.messages += 1
        first, second, third = header.numbers
        self._above = [max(old, new) for old, new in zip(self._above, header.numbers, strict=True)]
        self._halves += header.has_half
        for order, date in (("day", (third, second, first)), ("month", (third, first, second))):
            self._steps_back[order] += date < self._last[order]
            self._last[order] = date
        name, text = _parted(header.rest)
        if name:
            if not self.first_system and self.messages == 1 and text.startswith(_MARK):
                self.first_system = name
            self.speakers[name] += 1

    @property
    def order(self) -> tuple[str, bool]:
        """What comes first in a date, and whether that is sure."""
        first, second, _ = self._above
        if first > _DAYS:
            return "year", True
        if first > _MONTHS or second > _MONTHS:
            return "day" if first > _MONTHS else "month", not (first > _MONTHS and second > _MONTHS)
        back = self._steps_back
        if back["day"] != back["month"]:
            return min(back, key=lambda order: back[order]), True
        return "month" if self._halves else "day", False


def is_chat(head: str) -> bool:
    """Whether a text begins as a chat of WhatsApp."""
    lines = [line for line in head.split("\n")[:_HEAD_LINES] if line.strip()]
    found = [header for line in lines if (header := _header_of(line)) is not None]
    if not found or _header_of(lines[0]) is None or _BRACKETED.match(lines[0]):
        return False
    names = [name for header in found if (name := _parted(header.rest)[0])]
    return bool(names) and not any(map(_LEVEL.search, names))


def read(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import chats of WhatsApp; raises NotFoundError if there is none, IntegrityError if it is no text."""
    found = False
    for member in source.matching(*FILES):
        survey = _Survey()
        for line in member.lines():
            if (header := _header_of(line)) is not None:
                survey.add(header)
        if not survey.messages:
            if source.is_single:
                raise IntegrityError(f"{member.base} is no chat that WhatsApp exported: no line has a time")
            continue
        found = True
        title = _title(source, member, survey)
        order, is_sure = survey.order
        if not is_sure:
            incoming.problems.append(Problem(
                member.base, f"nothing tells day and month apart in its dates: read with the {order} first",
                skipped=False,
            ))  # fmt: skip
        read_chat(incoming, _SERVICE, title, _said(incoming, member, order, _owner(title, survey)))
    if not found:
        raise NotFoundError(f"there is no chat of WhatsApp in {source.path.name}")
    if not source.is_single and (files := len(source.members) - len(source.matching(*FILES))):
        incoming.left("file of no chat", _FILES, files)


def _header_of(line: str) -> _Header | None:
    clean = line.lstrip(_MARK + "\u200f\ufeff\u202a")
    if not clean or clean[0] not in "[0123456789":
        return None
    found = _HEADER.match(clean.translate(_SPACES))
    if found is None:
        return None
    first, second, third, before, hour, minute, seconds, after, rest = found.groups()
    half = before or after
    return _Header(
        (int(first), int(second), int(third)), hour_of(hour, half), int(minute), int(seconds or 0), rest,
        bool(half),
    )  # fmt: skip


def _parted(rest: str) -> tuple[str, str]:
    """Return who spoke and what was said; no name where WhatsApp itself tells something."""
    name, colon, text = rest.partition(": ")
    if not colon and rest.endswith(":"):
        name, colon, text = rest[:-1], ":", ""
    name = name.strip(f"{_MARK} ").removeprefix("~").strip()
    return (name, text) if colon and name and len(name) <= _MOST_NAME else ("", rest)


def _time_of(header: _Header, order: str) -> datetime | None:
    first, second, third = header.numbers
    year, month, day = {
        "year": (first, second, third), "day": (third, second, first), "month": (third, first, second)
    }[order]  # fmt: skip
    if month > _MONTHS >= day:  # the other order, in a chat that was joined of two
        month, day = day, month
    try:
        return datetime(  # noqa: DTZ001 - WhatsApp writes local times
            year + 2000 if year < _CENTURY else year, month, day, header.hour, header.minute, header.second
        )
    except ValueError:
        return None


def _title(source: Source, member: Member, survey: _Survey) -> str:
    """Return the chat's name: of its file, archive or folder, or as iOS has it on the first line."""
    folder = member.name.rpartition("/")[0].rpartition("/")[2]
    names = [member.base.rpartition(".")[0]] if member.base.lower() != "_chat.txt" else []
    names += [folder, source.path.name if source.path.is_dir() else source.path.stem]
    names += [source.path.parent.name] if source.is_single else []
    for name in names:
        if found := _TITLE.search(name):
            return (found["zh"] or found["name"]).strip()
    if survey.first_system:
        return survey.first_system
    return next((name for name in names if name and name != "_chat"), "chat")


def _owner(title: str, survey: _Survey) -> str:
    """Return who else speaks in a chat that is named after one of two: its owner; empty if that is not so."""
    if len(survey.speakers) == 2 and title in survey.speakers:
        return next(name for name in survey.speakers if name != title)
    return ""


def _said(incoming: Incoming, member: Member, order: str, owner: str) -> Iterator[Said]:
    """Yield the messages; lines without a time go on with the one before."""
    header: _Header | None = None
    lines: list[str] = []
    for line in member.lines():
        new = _header_of(line)
        if new is None or _time_of(new, order) is None:
            lines.append(line)
            continue
        yield from _message(incoming, header, lines, order, owner)
        header, lines = new, []
    yield from _message(incoming, header, lines, order, owner)


def _message(
    incoming: Incoming, header: _Header | None, lines: list[str], order: str, owner: str
) -> Iterator[Said]:
    if header is None:
        return
    name, first = _parted(header.rest)
    if not name:
        incoming.left("line of WhatsApp's own", _NOBODY)
        return
    text = _text_of(incoming, "\n".join((first, *lines)))
    if text:
        known = name == owner if owner else None
        yield Said(_time_of(header, order), name, text, known)


def _text_of(incoming: Incoming, text: str) -> str:
    """Return what was said in a message; what is no text is counted."""
    text = _EDITED.sub("", text)
    bare = text.strip(f"{_MARK} \n")
    line, _, rest = text.partition("\n")
    if attached := _ATTACHED.findall(text):
        incoming.left("file", _FILES, len(attached))
        return _ATTACHED.sub("", text).strip(f"{_MARK} \n")
    if _FILE.fullmatch(line.strip()):
        incoming.left("file", _FILES)
        return rest.strip()
    if left := _left_in(text, bare):
        incoming.left(*left)
        return ""
    return text.replace(_MARK, "").strip()


def _left_in(text: str, bare: str) -> tuple[str, str] | None:
    """Return what a message is that holds no text of a person's, and why it is left out."""
    if bare.lower() in _DELETED:
        return "message", "it was deleted"
    if _PLACEHOLDER.fullmatch(text.strip()) or (text.startswith(_MARK) and _OMITTED.fullmatch(bare)):
        return "file", _FILES
    if _POLL.match(text.partition("\n")[0]):
        return "poll", "polls are not imported"
    return ("line of WhatsApp's own", _NOBODY) if text.startswith(_MARK) else None
