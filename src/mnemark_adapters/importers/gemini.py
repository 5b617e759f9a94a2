"""Read Gemini's activity as Google Takeout has it, in JSON or HTML: a question and its answer an entry.

Takeout has no talks. Entries that name the page of a talk belong to it, others to their day.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from mnemark.errors import NotFoundError
from mnemark.memory.transfer.importer import Incoming
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_adapters.importers.chats import hour_of
from mnemark_adapters.importers.conversations import Gathered, Record, dicts, moment, words
from mnemark_adapters.importers.html_text import html_text
from mnemark_adapters.importers.notes import file_name, note_of
from mnemark_adapters.importers.source import Member, Source

FILES: Final = (
    "*gemini*/*.json",
    "*gemini*/*.html",
    "bard/*.json",
    "bard/*.html",
    "myactivity.*",
    "my activity.*",
)
_SERVICE: Final = "gemini"
_OF_GEMINI: Final = lazy_pattern(r"(?i)gemini|\bbard\b")
_JSON_HEAD: Final = lazy_pattern(r'(?i)"header"\s{0,4}:\s{0,4}"[^"]{0,40}(?:gemini|bard)')
_HTML_HEAD: Final = lazy_pattern(r"(?i)mdl-typography--title\">[^<]{0,40}(?:gemini|bard)")
_TALK: Final = lazy_pattern(
    r"gemini\.google\.com/(?:u/\d{1,3}/)?(?:app|gem/[\w-]{1,80})/(?:c_)?([\w-]{6,80})"
)
_PROMPTED: Final = lazy_pattern(
    r"(?:Prompted|Submitted query|Asked Gemini|Asked Bard|Talked to Bard|Asked|Said|送信したメッセージ|"
    r"提问|已提问|提示)[\s:：\xa0]+"
)
_CANVAS: Final = lazy_pattern(r"Created Gemini Canvas titled\s+")
_CELL: Final = '<div class="outer-cell'
_BODY: Final = lazy_pattern(r'<div class="content-cell[^">]{0,120}body-1">')
_BREAK: Final = lazy_pattern(r"<br\s{0,4}/?>")
_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_ENGLISH: Final = lazy_pattern(
    r"(?P<month>[A-Z][a-z]{2,8})\.? (?P<day>\d{1,2}),? (?P<year>\d{4}),? (?P<hour>\d{1,2}):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d))?\s?(?P<half>[AP]M)?"
)
_DAY_FIRST: Final = lazy_pattern(
    r"(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]{2,8})\.? (?P<year>\d{4}),? (?P<hour>\d{1,2}):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d))?\s?(?P<half>[AP]M)?"
)
_CHINESE: Final = lazy_pattern(
    r"(?P<year>\d{4})年(?P<month>\d{1,2})月(?P<day>\d{1,2})日\s?(?P<half>[上下]午)?(?P<hour>\d{1,2}):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d))?"
)
_MOST_OPEN: Final = 64 << 20
"""Characters of an entry of the page: a longer one is no page of Takeout."""


class _Entry(NamedTuple):
    """A question with its answer."""

    prompt: str
    answer: str
    when: datetime | None
    written: str
    talk: str


def is_json(head: str) -> bool:
    """Whether JSON is the activity of Gemini."""
    return _JSON_HEAD.search(head) is not None


def is_html(head: str) -> bool:
    """Whether a page is the activity of Gemini."""
    return _CELL in head and _HTML_HEAD.search(head) is not None


def read(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import the activity; raises NotFoundError if there is none, IntegrityError if it is damaged."""
    files = [one for one in source.matching(*FILES) if _shows(source, one)]
    if not files:
        raise NotFoundError(f"there is no activity of Gemini in {source.path.name}")
    gathered = Gathered(incoming, _SERVICE)
    for member in files:
        entries = _in_page(member) if _CELL in source.look(member).head else _in_json(incoming, member)
        for entry in entries:
            _add(gathered, entry)
    gathered.flush()


def _shows(source: Source, member: Member) -> bool:
    look = source.look(member)
    return is_html(look.head) or (bool(look.paths) and is_json(look.head))


def _add(gathered: Gathered, entry: _Entry) -> None:
    day = entry.when.date().isoformat() if entry.when else "undated"
    for role, text in (("user", entry.prompt), ("assistant", entry.answer)):
        if text.strip():
            gathered.add(entry.talk or day, role, text, entry.when, entry.written)


def _in_json(incoming: Incoming, member: Member) -> Iterator[_Entry]:
    for record in member.items("item", "", "activities.item"):
        if not isinstance(record, dict):
            continue
        products = [one for one in record.get("products") or [] if isinstance(one, str)]
        if not any(map(_OF_GEMINI.search, (words(record.get("header")), *products))):
            incoming.left("activity", "it is of another product than Gemini")
        elif (entry := _entry_of(incoming, record)) is not None:
            yield entry


def _entry_of(incoming: Incoming, record: Record) -> _Entry | None:
    title, written = words(record.get("title")), words(record.get("time"))
    answer = "\n\n".join(html_text(words(one.get("html"))) for one in dicts(record.get("safeHtmlItem")))
    attached = record.get("attachedFiles")
    if isinstance(attached, list) and attached:
        incoming.left("attachment", "files beside the activity are not imported", len(attached))
    if canvas := _CANVAS.match(title):
        _keep_canvas(incoming, title[canvas.end() :], record)
        return None
    asked = _PROMPTED.match(title)
    if not asked and not answer:
        incoming.left("activity", "nothing was asked or answered in it")
        return None
    links = [words(record.get("titleUrl")), *(words(one.get("url")) for one in dicts(record.get("details")))]
    talk = next((found[1] for link in links if (found := _TALK.search(link))), "")
    prompt = title[asked.end() :] if asked else title
    return _Entry(prompt, answer, moment(written), written, talk)


def _keep_canvas(incoming: Incoming, title: str, record: Record) -> None:
    text = "\n\n".join(filter(None, (words(one.get("name")) for one in dicts(record.get("subtitles")))))
    if not text.strip():
        incoming.left("canvas", "the export has no text of it")
        return
    date = words(record.get("time"))[:10]
    path = f"imported/gemini/canvas/{file_name(title or 'canvas', date + text)}.md"
    incoming.note(path, note_of(title or "Canvas", text, {"date": date}))


def _in_page(member: Member) -> Iterator[_Entry]:
    """Yield the entries of the page, which is one line; it is read in parts."""
    for cell in _cells(member):
        begin = _BODY.search(cell)
        if begin is None:
            continue
        body = cell[begin.end() :].partition('<div class="content-cell')[0]
        talk = _TALK.search(cell)
        lines = _BREAK.split(body)
        times = ((number, when) for number, line in enumerate(lines) if (when := _written_time(line)))
        number, when = next(times, (0, None))
        if when is None:
            continue
        prompt = html_text("<br>".join(lines[:number])).replace("\xa0", " ")
        asked = _PROMPTED.match(prompt)
        answer = html_text(_after_time(lines[number]) + "<br>".join(lines[number + 1 :]))
        if asked or answer:
            written = when.isoformat()
            yield _Entry(
                prompt[asked.end() :] if asked else prompt, answer, when, written, talk[1] if talk else ""
            )


def _cells(member: Member) -> Iterator[str]:
    rest = ""
    for part in member.parts():
        rest += part
        if len(rest) > _MOST_OPEN:
            return
        *whole, rest = rest.split(_CELL)
        yield from whole
    yield rest


def _after_time(line: str) -> str:
    """Return what follows on the line of the time: the answer begins without a break."""
    at = line.find("<")
    return line[at:] if at >= 0 else ""


def _written_time(line: str) -> datetime | None:
    """Return the time that a line begins with, as the account's language writes it; without its zone."""
    text = html_text(line.partition("<p")[0]).replace("\u202f", " ").strip()
    if len(text) > _LONGEST_TIME:
        return None
    if (whole := moment(text)) is not None:
        return whole
    found = next(filter(None, (one.match(text) for one in (_ENGLISH, _DAY_FIRST, _CHINESE))), None)
    return _time_of(found) if found else None


_LONGEST_TIME: Final = 60


def _time_of(found: re.Match[str]) -> datetime | None:
    month = found["month"]
    number = int(month) if month.isdigit() else _MONTHS.get(month[:3].lower(), 0)
    try:
        return datetime(  # noqa: DTZ001 - its zone has an ambiguous name: local time
            int(found["year"]),
            number,
            int(found["day"]),
            hour_of(found["hour"], found["half"]),
            int(found["minute"]),
            int(found["second"] or 0),
        )
    except ValueError:
        return None
