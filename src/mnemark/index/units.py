"""Split documents and turns into units: what one row of the index says.

A unit's `head` is what a person would call it by: title, file name, speaker, date. It is indexed with the
text and weighed apart. Neighbours are not copied into it: their share is added when a query is scored.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec

from mnemark.facts.files import visible_facts
from mnemark.facts.known import FACT
from mnemark.facts.model import Fact
from mnemark.facts.parse import ParsedFact, clean
from mnemark.files.layout import Place
from mnemark.text.markdown.frontmatter import document_title, front_matter
from mnemark.text.markdown.passages import passages, text_passages
from mnemark.types import Kind, Origin, Turn


def fact_text(fact: Fact) -> str:
    """Return a fact's text, as it is searched and embedded."""
    return clean(f"{fact.predicate}: {fact.value}" if fact.predicate else fact.value)


def _without(text: str, found: Sequence[tuple[ParsedFact, Fact]]) -> str:
    """Empty the lines of these bullets, so that the numbers of all lines hold."""
    parts, at = [], 0
    for parsed, _ in found:
        lines = text[parsed.bullet.start : parsed.bullet.end].splitlines(keepends=True)
        parts.append(text[at : parsed.bullet.start])
        parts += [line[len(line.rstrip("\r\n")) :] for line in lines]
        at = parsed.bullet.end
    return "".join([*parts, text[at:]])


def _has_body(text: str) -> bool:
    """Whether there is more than headings."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())


MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_OBSERVATIONS: Final = "## Observations"
"""Heading of the part of a day's note that says what tools did."""
_SHIFT: Final = 20
_CHUNKS: Final = (1 << _SHIFT) - 1
"""Ordinals are `line << 20 | chunk`: in the order of the file, and free for long lines in many chunks."""


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One row to be: a passage of a note or a turn (or part) of a session."""

    ordinal: int
    start_line: int
    end_line: int
    kind: Kind
    origin: Origin
    role: str = ""
    title: str
    date: str | None
    text: str
    head: str
    meta: Mapping[str, Any] = {}

    def key(self) -> bytes:
        """Content hash of what is embedded, 16 bytes: equal texts share a vector."""
        text = embedded_text(self.title, self.text)
        return hashlib.blake2b(text.encode(), digest_size=16).digest()


def embedded_text(title: str, text: str) -> str:
    """Return a passage as it is embedded."""
    return f"{title}\n{text}" if title else text


def first_ordinal(line: int) -> int:
    """Return the lowest ordinal of a passage that begins in that line."""
    return line << _SHIFT


@lru_cache(maxsize=1024)
def _day_words(day: str) -> str:
    moment = datetime.fromisoformat(day)
    month, weekday = MONTHS[moment.month - 1], WEEKDAYS[moment.weekday()]
    return f"{day} {month} {moment.day} {weekday} {moment.year}年{moment.month}月{moment.day}日"


def date_words(date: str | None) -> str:
    """Write a date as people ask for it: "2025-01-18 January 18 Saturday 2025年1月18日"."""
    if not date:
        return ""
    try:
        return _day_words(date[:10])
    except ValueError:
        return date


def note_units(
    path: str, text: str, place: Place, *, limit: int, raw: str | None = None
) -> tuple[str, list[Unit]]:
    """Return the title of a note and its passages as units.

    `text` is the visible part of it; `raw` is the file's content, from which facts without a comment get
    their ids.
    """
    fields = front_matter(text)
    title = document_title(text, fields, path)
    date = place.dated or _front_date(fields.fields)
    stem = PurePosixPath(path)
    tags = _words(fields.fields.get("tags"))
    cut = passages if stem.suffix.lower() in {".md", ".markdown"} else text_passages
    found = visible_facts(text, text if raw is None else raw, path, "") if place.kind == "fact" else []
    units = [_fact_unit(parsed, fact, f"{stem.stem} {tags}") for parsed, fact in found]
    text = _without(text, found)
    for passage in cut(text, limit=limit):
        if not passage.text.strip() or (found and not _has_body(passage.text)):
            continue
        if place.kind == "episode" and passage.end_line <= fields.end_line:
            continue  # for machines; what it names stands on the page as well
        observed = place.role == "daily" and passage.text.lstrip().startswith(_OBSERVATIONS)
        head = " ".join(
            filter(None, (title, passage.title, stem.stem, str(stem.parent), tags, date_words(date)))
        )
        units.append(
            Unit(
                ordinal=first_ordinal(passage.start_line) | passage.ordinal & _CHUNKS,
                start_line=passage.start_line,
                end_line=passage.end_line,
                kind="observation" if observed else place.kind,
                origin="tool" if observed else place.origin,
                title=passage.title or title,
                date=date,
                text=printable(passage.text),
                head=printable(head),
            )
        )
    return printable(title), sorted(units, key=lambda unit: unit.ordinal)


def _fact_unit(parsed: ParsedFact, fact: Fact, around: str) -> Unit:
    date = fact.since or None
    head = " ".join((fact.subject, around, " ".join(fact.tags), date_words(date)))
    return Unit(
        ordinal=first_ordinal(fact.line),
        start_line=fact.line,
        end_line=parsed.bullet.end_line,
        kind="fact",
        origin=fact.origin,
        title=printable(fact.subject),
        date=date,
        text=printable(fact_text(fact)),
        head=printable(head),
        meta={FACT: fact.id},
    )


def turn_units(turns: Iterable[tuple[int, Turn]], *, limit: int, title: str = "") -> Iterator[Unit]:
    """Convert turns, each with its line number, to units; long ones are cut into passages."""
    for line, turn in turns:
        date = None if turn.meta.get("undated") else turn.time.isoformat(timespec="seconds")
        speaker = str(turn.meta.get("name") or turn.role)
        # An observation in a journal says of which session it is.
        session = turn.meta.get("session") if turn.role == "tool" else None
        head = printable(" ".join(filter(None, (speaker, _files(turn), date_words(date)))))
        for chunk, (kind, origin, text) in enumerate(_turn_texts(turn, limit)):
            yield Unit(
                ordinal=first_ordinal(line) | chunk & _CHUNKS,
                start_line=line,
                end_line=line,
                kind=kind,
                origin=origin,
                role=speaker,
                title=session if isinstance(session, str) and session else title,
                date=date,
                text=text,
                head=head,
                meta=turn.meta,
            )


def _files(turn: Turn) -> str:
    """Name the files that came with a turn, by which it is found as well."""
    names = (one.get("name") or one.get("path") for one in turn.attachments if isinstance(one, Mapping))
    return " ".join(PurePosixPath(name).name for name in names if isinstance(name, str))[:200]


def scope_of(unit: Unit, place: Place) -> str:
    """Return the scope of a unit: its file's, or the one that a line of a journal names."""
    scope = unit.meta.get("scope") if place.role == "journal" else None
    return scope if isinstance(scope, str) else place.scope


def _turn_texts(turn: Turn, limit: int) -> Iterator[tuple[Kind, Origin, str]]:
    kind: Kind = "observation" if turn.role == "tool" else "turn"
    origin: Origin = "tool" if turn.role == "tool" else turn.origin
    texts: list[tuple[Kind, Origin, str]] = [(kind, origin, turn.content)]
    texts += [("observation", "tool", _result_text(result)) for result in turn.tool_results]
    for kind, origin, text in texts:
        for passage in text_passages(printable(text), limit=limit):
            if passage.text.strip():
                yield kind, origin, passage.text


def _result_text(result: object) -> str:
    if isinstance(result, str):
        return result
    if isinstance(result, Mapping):
        for key in ("content", "output", "result", "text"):
            if isinstance(result.get(key), str):
                return str(result[key])
    return msgspec.json.encode(result).decode()


def printable(text: str) -> str:
    """Replace lone surrogates, which no database stores."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _front_date(fields: Mapping[str, Any]) -> str | None:
    for key in ("date", "created", "created_at"):
        value = fields.get(key)
        if isinstance(value, str):
            try:
                datetime.fromisoformat(value)
            except ValueError:
                continue
            return value
    return None


def _words(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return value if isinstance(value, str) else ""
