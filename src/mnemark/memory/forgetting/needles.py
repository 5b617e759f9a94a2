"""Choose which words of erased items to look for elsewhere, also after a kill.

What was erased may be quoted: by another turn, a summary, a queue. Only words that tell it from other text
are looked for, so that erasing "yes, please" from one turn leaves all the others alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mnemark.facts.parse import clean, split_words
from mnemark.files.needles import BytePatterns, forms
from mnemark.files.tombstones import line_mark
from mnemark.memory.forgetting.select import PART, Item
from mnemark.text.markdown.comments import drop_comments
from mnemark.text.summary.sentences import entities, request
from mnemark.types import Json

_IN_NOTES: Final = 16
_IN_TURNS: Final = 24
"""Weight from which whole texts are looked for: a letter or digit counts 1, a Chinese character 3."""
_PAIR: Final = 8
"""Weight from which a fact as "predicate: value" is looked for in notes."""
_LONG: Final = 48
"""Weight from which single sentences are looked for in other turns, too."""
_LEAD: Final = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)\s+(?:\[[ xX]\]\s+)?(?:\d{1,2}:\d{2}\s+)?")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|[\r\n]+")
_EDGES: Final = " \t.!?,;:。！？，；：、…\"'“”"
"""What a title has not got at its ends."""
_PIECES: Final = 2_000
"""Sentences and lines that are looked for at most; the whole texts always are."""


class Words(NamedTuple):
    """What is looked for in turns of others, and in notes, journal and bookkeeping."""

    turns: BytePatterns
    notes: BytePatterns
    names: tuple[str, ...] = ()
    """Names in the erased turns, as the lists of an episode have them."""


def search_patterns(items: Iterable[Item], query: str) -> Words:
    """The words to look for, of all items and of the query they were found by."""
    whole: list[str] = []
    pieces: list[str] = []
    items = list(items)
    for item in items:
        for text in _plain(item):
            whole += [text, " ".join(text.split())]
            pieces += _SENTENCE.split(text)
    loud = [text for text in whole if weight(text) >= _IN_TURNS]
    loud += [text.strip() for text in pieces if weight(text) >= _LONG]
    pieces = [form for piece in dict.fromkeys([*pieces, *whole]) for form in _told(piece)]
    soft = [text.strip() for text in dict.fromkeys(pieces) if weight(text) >= _IN_NOTES]
    soft = sorted(soft, key=weight, reverse=True)[:_PIECES]
    asked = [query] if query else []
    said = [item.text for item in items if item.kind == "turn"]
    pairs = [text for item in items if item.kind == "fact" for text in _plain(item)
             if ": " in text and weight(text) >= _PAIR]  # fmt: skip
    return Words(
        BytePatterns([*asked, *loud, *(text.strip(_EDGES) for text in loud)]),
        BytePatterns(
            [*asked, *(text for text in whole if weight(text) >= _IN_NOTES), *soft, *pairs], cut=said
        ),
        tuple(entities(said, most=_PIECES)),
    )


def _told(piece: str) -> Iterator[str]:
    """A sentence as it is, as a title has it, and as a summary tells a request: without "could you"."""
    yield piece
    yield piece.strip(_EDGES)
    asked = request(piece.strip())
    if asked != piece.strip():
        yield asked.strip(_EDGES)
        yield asked[1:].strip(_EDGES)  # its first letter was made a capital


def _plain(item: Item) -> Iterator[str]:
    """The words of an item without what only its place gives it: bullet, time of day, comment."""
    if item.kind == "turn":
        yield from (part.strip() for part in item.text.split(PART))
        return
    text = drop_comments(item.text)
    for line in text.splitlines():
        words = _LEAD.sub("", line).strip().strip("~").strip()
        yield words
        key, value = split_words(words)
        yield from [value] if key else []  # as facts and the journal have it
    if item.kind == "fact":
        words = clean(_LEAD.sub("", text)).strip("~").strip()
        key, value = split_words(words)
        yield value or words
        yield f"{key}: {value}" if key else words  # as the core memory has it


def weight(text: str) -> int:
    """How much a text tells: letters and digits, Chinese characters threefold."""
    return sum(3 if character >= "\u2e80" else 1 for character in text if character.isalnum())


def anchor(items: Sequence[Item], query: str) -> tuple[Item, dict[str, Json]] | None:
    """An item that holds the query, and where in it: how to find the query again without writing it down."""
    for item in reversed(items):
        for form in (form.decode("utf-8", "replace") for form in forms(query)):
            start = item.text.find(form)
            if start < 0:
                continue
            at: dict[str, Json] = {"start": start, "length": len(form), "path": item.path}
            if item.kind in {"turn", "fact"}:
                return item, at | {"id": item.id}
            lines = item.text.splitlines()
            return item, at | {"mark": next(line_mark(line) for line in lines if line.strip())}
    return None


def query_at(items: Iterable[Item], at: Mapping[str, Any]) -> str:
    """The query that an anchor names, as long as its item stands; empty where it is gone."""
    for item in items:
        marks = (line_mark(line) for line in item.text.splitlines() if line.strip())
        same = item.id == at["id"] if "id" in at else next(marks, "") == at.get("mark")
        if same and item.path == at.get("path"):
            return item.text[at["start"] : at["start"] + at["length"]]
    return ""
