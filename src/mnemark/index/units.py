"""Split notes and turns into units, the passages that are indexed.

The `head` of a unit is title, file name, speaker and date, indexed with the text but weighted separately.
Neighbouring passages are not copied into a unit: their scores are added at query time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from mnemark.facts.known import FACT
from mnemark.facts.model import Fact, fact_text, refs_in
from mnemark.facts.parse import ParsedFact
from mnemark.files.journal import FOLDER as JOURNAL
from mnemark.files.layout import EPISODES, FACTS, Place, in_scope
from mnemark.files.names import OBSERVED
from mnemark.index.derived import linked, sourced_lines
from mnemark.index.passage import ALIASES, COLUMNS, Unit, date_words
from mnemark.index.rows import LINE_SHIFT, first_ordinal
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import lines
from mnemark.text.markdown.blobs import readable
from mnemark.text.markdown.frontmatter import FrontMatter, document_title, front_matter, telling_fields
from mnemark.text.markdown.generated import split
from mnemark.text.markdown.other_texts import own_title, passages_of, text_format
from mnemark.text.markdown.passages import passages, text_passages
from mnemark.types import Kind, Origin, Passage, Turn


def _blank_bullets(text: str, found: Sequence[tuple[ParsedFact, Fact]]) -> str:
    """Return a text with the lines of these bullets emptied, so that line numbers stay the same."""
    parts, at = [], 0
    for parsed, _ in found:
        parts += [text[at : parsed.bullet.start], _emptied(text[parsed.bullet.start : parsed.bullet.end])]
        at = parsed.bullet.end
    return "".join([*parts, text[at:]])


def _has_body(text: str) -> bool:
    """Whether a text has more than headings."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())


_DERIVED_ROLES: Final = frozenset(
    {"episode", "daily", "scratchpad", "longterm", "identity", "persona", "archive"}
)
"""Files whose generated text repeats turns or facts."""
_REPEATED: Final = {"scratchpad": EPISODES, "longterm": FACTS, "identity": FACTS, "persona": FACTS}
"""Folders whose files the generated lines of a page repeat, where they name none."""
_JOURNAL: Final = (f"{JOURNAL}/",)
_NOTHING: Final[Mapping[str, Any]] = {}
_GAP: Final = lazy_pattern(r"\n(?:\r?\n){2,}")
_CHUNK_MASK: Final = (1 << LINE_SHIFT) - 1
"""Mask of the chunk in an ordinal."""


class _Note(NamedTuple):
    """What all passages of a note have in common."""

    path: PurePosixPath
    place: Place
    title: str
    date: str | None
    tags: str

    def unit(
        self,
        passage: Passage,
        sources: Sequence[str] = (),
        fields: str = "",
        meta: Mapping[str, Any] = _NOTHING,
    ) -> Unit:
        """Return a passage as a unit; `fields` are searched with it in place of the tags."""
        place = self.place
        observed = sources == _JOURNAL
        folder, words = str(self.path.parent), date_words(self.date)
        head = (self.title, passage.title, self.path.stem, folder, fields or self.tags, words)
        return Unit(
            ordinal=first_ordinal(passage.start_line) | passage.ordinal & _CHUNK_MASK,
            start_line=passage.start_line,
            end_line=passage.end_line,
            kind="observation" if observed else place.kind,
            origin="tool" if observed else place.origin,
            title=passage.title or self.title,
            date=self.date,
            text=printable(passage.text),
            head=printable(" ".join(filter(None, head))),
            meta=meta,
            sources=sources,
        )


def note_units(
    path: str, text: str, place: Place, *, limit: int, facts: Sequence[tuple[ParsedFact, Fact]] = ()
) -> tuple[str, list[Unit]]:
    """Return the title of a note and its passages as units.

    `text` is the visible text; `facts` are those in it.
    """
    how = text_format(path)
    front = front_matter(text) if how is None else FrontMatter()
    title = document_title(text if how is None else "", front, path)
    title = own_title(path, text) or title
    tags = _joined_words(front.fields.get("tags"))
    date = place.dated or _front_date(front.fields)
    note = _Note(PurePosixPath(path), place, title, date, tags)
    is_plain = place.kind == "note" and place.role not in _DERIVED_ROLES
    told = telling_fields(front, title, date) if is_plain else []
    units = [_fact_unit(parsed, fact, f"{note.path.stem} {tags}") for parsed, fact in facts]
    text = _with_front(_blank_bullets(text, facts), front, told)
    by_people, generated = split(text) if place.role in _DERIVED_ROLES else (text, "")
    by_people, observed = _observed(by_people) if place.role == "daily" else (by_people, "")
    units += _by_people(note, by_people, front, told, limit)
    if generated:
        source = front.fields.get("source") if place.kind == "episode" else None
        page = (source,) if isinstance(source, str) else ()
        units += [note.unit(*one) for one in _derived(generated, path, place, page, limit)]
    listed = passages(observed, limit=limit) if observed else ()
    units += [note.unit(_trimmed(passage), _JOURNAL) for passage in listed if passage.text.strip()]
    return printable(title), sorted(units, key=lambda unit: unit.ordinal)


def _observed(text: str) -> tuple[str, str]:
    """Return a daily note without the lines that list observations, and these; line numbers stay the same."""
    if "<!-- observed: " not in text:
        return text, ""
    lines = text.split("\n")
    ours = [OBSERVED.match(line) is not None for line in lines]
    rest, listed = (
        ["" if mine is gone else line for line, mine in zip(lines, ours, strict=True)]
        for gone in (True, False)
    )
    return "\n".join(rest), "\n".join(listed)


def _by_people(note: _Note, text: str, front: FrontMatter, told: Sequence[str], limit: int) -> Iterator[Unit]:
    """Yield the passages of what people wrote; names and what is not `told` are searched with the first."""
    others = (str(value) for key, value in front.fields.items() if key == ALIASES or key not in told)
    about = "" if note.place.kind == "episode" else " ".join(others)
    names = _names(front.fields.get(ALIASES))
    bare = note.place.kind == "fact" or note.place.role in _DERIVED_ROLES  # where headings alone say nothing
    shown = readable(text)
    squeezed = bool(front.end or shown.cuts)
    for passage in passages_of(note.path.name, shown.text, limit=limit, front=front.end_line):
        if not passage.text.strip() or (bare and not _has_body(passage.text)):
            continue
        own = replace(passage, start=shown.original(passage.start), end=shown.original(passage.end))
        meta = {**_columns(text, own), **names}
        yield note.unit(_trimmed(passage, squeezed=squeezed), fields=about, meta=meta)
        about, names = "", {}


def _derived(
    text: str, path: str, place: Place, page: tuple[str, ...], limit: int
) -> Iterator[tuple[Passage, tuple[str, ...]]]:
    """Yield the passages of a generated text with the refs of their sources; lines with refs stand alone."""
    left = text.split("\n")
    for number, words, refs in sourced_lines(text):
        left[number - 1] = ""
        yield Passage(0, number, number, 0, len(words), words), refs
    if repeated := _REPEATED.get(place.role):
        page = (f"{in_scope(place.scope, repeated)}/",)
    for passage in passages("\n".join(left), limit=limit):
        if _has_body(passage.text):
            yield _trimmed(passage), page or linked(passage.text, path)


def _with_front(text: str, front: FrontMatter, told: Sequence[str]) -> str:
    """Return a text with the lines of its front matter emptied, without those of the fields `told`."""
    kept = {number for key in told for number in range(front.lines[key][0], front.lines[key][1] + 1)}
    parts = (
        line if number in kept else _emptied(line) for number, line in enumerate(lines(text[: front.end]), 1)
    )
    return "".join((*parts, text[front.end :]))


def _emptied(text: str) -> str:
    """Return a text with nothing in its lines."""
    return "".join(line[len(line.rstrip("\r\n")) :] for line in text.splitlines(keepends=True))


def _columns(text: str, passage: Passage) -> dict[str, tuple[int, int]]:
    """Return where a passage of a text begins and ends in its lines, if not with them; see `COLUMNS`."""
    first = max(text.rfind(end, 0, passage.start) for end in "\r\n") + 1
    cut = passage.end < len(text) and text[passage.end - 1] not in "\r\n"
    last = max(text.rfind(end, 0, passage.end) for end in "\r\n") + 1
    columns = (passage.start - first + 1 if passage.start > first else 0, passage.end - last if cut else 0)
    return {COLUMNS: columns} if any(columns) else {}


def _trimmed(passage: Passage, *, squeezed: bool = False) -> Passage:
    """Return a passage without empty lines at its start, which stand for what is no part of it.

    `squeezed`: such lines may be inside, too.
    """
    text = passage.text.lstrip("\r\n")
    before = passage.text[: len(passage.text) - len(text)].count("\n")
    text = _GAP.sub("\n\n", text) if squeezed else text
    return (
        passage
        if text == passage.text
        else replace(passage, text=text, start_line=passage.start_line + before)
    )


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
        sources=refs_in(fact.source),
    )


def turn_units(turns: Iterable[tuple[int, Turn]], *, limit: int, title: str = "") -> Iterator[Unit]:
    """Convert turns, each with its line number, to units; long ones are cut into passages."""
    for line, turn in turns:
        date = None if turn.meta.get("undated") else turn.time.isoformat(timespec="seconds")
        speaker = str(turn.meta.get("name") or turn.role)
        # An observation in a journal names its session.
        session = turn.meta.get("session") if turn.role == "tool" else None
        head = printable(" ".join(filter(None, (speaker, _attachment_names(turn), date_words(date)))))
        for chunk, (kind, origin, text) in enumerate(_turn_texts(turn, limit)):
            yield Unit(
                ordinal=first_ordinal(line) | chunk & _CHUNK_MASK,
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


def _attachment_names(turn: Turn) -> str:
    """Return the names of a turn's attachments, which are indexed in its head."""
    names = (file.get("name") or file.get("path") for file in turn.attachments if isinstance(file, Mapping))
    return " ".join(PurePosixPath(name).name for name in names if isinstance(name, str))[:200]


def _turn_texts(turn: Turn, limit: int) -> Iterator[tuple[Kind, Origin, str]]:
    kind: Kind = "observation" if turn.role == "tool" else "turn"
    origin: Origin = "tool" if turn.role == "tool" else turn.origin
    texts: list[tuple[Kind, Origin, str]] = [(kind, origin, turn.content)]
    texts += [("observation", "tool", _result_text(result)) for result in turn.tool_results]
    for kind, origin, text in texts:
        for passage in text_passages(printable(readable(text).text), limit=limit):
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
    """Return a text with lone surrogates replaced: SQLite cannot store them."""
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


def _names(value: object) -> dict[str, list[str]]:
    """Return the other names of a note, as front matter gives them, by their key in `meta`."""
    listed = value if isinstance(value, (list, tuple)) else (value,)
    return {ALIASES: found} if (found := [name for name in listed if isinstance(name, str) and name]) else {}


def _joined_words(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return value if isinstance(value, str) else ""
