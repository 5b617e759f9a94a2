"""Choose the text patterns of erased items to search for in other files, titles of episodes included.

Erased text may be quoted by another turn, a summary, a queue. Only distinctive text is searched for, so that
erasing "yes, please" from one turn does not change other turns.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.errors import UsageError
from mnemark.facts.parse import split_words
from mnemark.files import layout, listing, platform
from mnemark.files.episodes import FOLDER
from mnemark.files.needles import BytePatterns, forms
from mnemark.files.sessions import SessionLog, is_journal
from mnemark.files.tombstones import line_mark
from mnemark.memory.forgetting.select import PART, ForgetItem
from mnemark.summary.sentences import entities, request
from mnemark.text.dates.written import dated
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import clean
from mnemark.text.markdown import drop_comments
from mnemark.types import Json

_IN_NOTES: Final = 16
_IN_TURNS: Final = 24
"""Weight from which whole texts are searched for; see `weight`."""
_PAIR: Final = 8
"""Weight from which a fact as "predicate: value" is searched for in notes."""
_LONG: Final = 48
"""Weight from which single sentences are searched for in other turns, too."""
_LEAD: Final = lazy_pattern(r"^\s*(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)\s+(?:\[[ xX]\]\s+)?(?:\d{1,2}:\d{2}\s+)?")
_SENTENCE: Final = lazy_pattern(r"(?<=[.!?])\s+|(?<=[。！？；])|[\r\n]+")
_EDGES: Final = " \t.!?,;:。！？，；：、…\"'“”"
"""Characters that are stripped from titles."""
_PIECES: Final = 2_000
"""Maximum number of sentences and lines to search for, beside the whole texts."""
NAME_LIST: Final = lazy_pattern(r"(?:entities:|About:|提到：|# )")
"""The beginning of a list of names in an episode, or of its title, which is made of them."""
_TITLE = lazy_pattern(r"^# +(\S.*)$", re.MULTILINE)
_TERMS = lazy_pattern(r"^(?:About: |提到：)(.+)$", re.MULTILINE)
_BETWEEN = lazy_pattern(r", |、")


class Left(NamedTuple):
    """What erased turns leave behind."""

    titles: tuple[str, ...] = ()
    """Titles that hold a phrase of them; notes and the scratchpad have them, too."""
    phrases: tuple[str, ...] = ()
    whole_logs: frozenset[str] = frozenset()
    """Logs of sessions all of whose turns are erased."""


class SearchPatterns(NamedTuple):
    """Patterns for turns of others, and for notes, journal and bookkeeping."""

    turns: BytePatterns
    notes: BytePatterns
    names: tuple[str, ...] = ()
    """Names in the erased turns, as the lists of an episode have them."""


def search_patterns(items: Sequence[ForgetItem], query: str, left: Left) -> SearchPatterns:
    """Return the patterns for all items, the query they were found by, and what is left of them in titles."""
    whole: list[str] = []
    pieces: list[str] = []
    for item in items:
        for text in _plain(item):
            whole += [text, " ".join(text.split())]
            pieces += _SENTENCE.split(text)
    loud = [text for text in whole if weight(text) >= _IN_TURNS]
    loud += [text.strip() for text in pieces if weight(text) >= _LONG]
    pieces = [form for piece in dict.fromkeys([*pieces, *whole]) for form in _variants(piece)]
    pieces += [form for item in items for form in _dated(item)]
    soft = [text.strip() for text in dict.fromkeys(pieces) if weight(text) >= _IN_NOTES]
    soft = sorted(soft, key=weight, reverse=True)[:_PIECES]
    asked = [query] if query else []
    said = [item.text for item in items if item.kind == "turn"]
    pairs = [text for item in items if item.kind == "fact" for text in _plain(item)
             if ": " in text and weight(text) >= _PAIR]  # fmt: skip
    return SearchPatterns(
        BytePatterns([*asked, *loud, *(text.strip(_EDGES) for text in loud)]),
        BytePatterns(
            [*asked, *left.titles, *(text for text in whole if weight(text) >= _IN_NOTES), *soft, *pairs],
            cut=said,
        ),
        tuple(dict.fromkeys([*entities(said, most=_PIECES), *left.phrases])),
    )


def _variants(piece: str) -> Iterator[str]:
    """Yield a sentence as it is, as a title, and as a summary has a request: without "could you"."""
    yield piece
    yield piece.strip(_EDGES)
    asked = request(piece.strip())
    if asked != piece.strip():
        yield asked.strip(_EDGES)
        yield asked[1:].strip(_EDGES)  # its first letter was made a capital


def _dated(item: ForgetItem) -> Iterator[str]:
    """Yield the sentences of a turn that say when, with the dates that notes have beside such words."""
    if item.time is None:
        return
    for piece in (part.strip() for text in _plain(item) for part in _SENTENCE.split(text)):
        for ahead in (True, False):
            if (words := dated(piece, item.time, ahead=ahead)) != piece:
                yield from _variants(words)


def _plain(item: ForgetItem) -> Iterator[str]:
    """Yield the text of an item without its bullet, time of day and comment."""
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
    """Return how distinctive a text is: letters and digits count 1, Chinese characters 3."""
    return sum(3 if character >= "\u2e80" else 1 for character in text if character.isalnum())


def anchor(items: Sequence[ForgetItem], query: str) -> dict[str, Json]:
    """Return where an item holds the query, by which `query_at` reads it again; nothing if none does."""
    for item in reversed(items):
        for form in (form.decode("utf-8", "replace") for form in forms(query)):
            start = item.text.find(form)
            if start < 0:
                continue
            at: dict[str, Json] = {"start": start, "length": len(form), "path": item.path}
            if item.kind in {"turn", "fact"}:
                return at | {"id": item.id}
            lines = item.text.splitlines()
            return at | {"mark": next(line_mark(line) for line in lines if line.strip())}
    return {}


def query_at(items: Iterable[ForgetItem], at: Mapping[str, Any]) -> str:
    """Return the query at an anchor; empty where its item is gone."""
    for item in items:
        marks = (line_mark(line) for line in item.text.splitlines() if line.strip())
        same = item.id == at["id"] if "id" in at else next(marks, "") == at.get("mark")
        if same and item.path == at.get("path"):
            return item.text[at["start"] : at["start"] + at["length"]]
    return ""


def left_of(root: Path, items: Sequence[ForgetItem]) -> Left:
    """Return what is left of turns in their sessions, and in the episodes of these."""
    turns: defaultdict[str, list[ForgetItem]] = defaultdict(list)
    for item in items:
        if item.kind == "turn":
            turns[item.path].append(item)
    titles: dict[str, None] = {}
    phrases: dict[str, None] = {}
    whole: set[str] = set()
    for log, erased in turns.items():
        others = None if is_journal(log) else _others(root, log, {item.id for item in erased})
        if others == []:
            whole.add(log)
        gone = "\n".join(item.text for item in erased).casefold()
        rest = "\n".join(others or ()).casefold()
        for title, terms in _pages(root, log):
            parts = _BETWEEN.split(title)
            lost = [
                part for part in [*parts, *terms] if part.casefold() in gone and part.casefold() not in rest
            ]
            phrases.update(dict.fromkeys(lost))
            if not set(parts).isdisjoint(lost):
                titles.setdefault(title)
    return Left(tuple(titles), tuple(phrases), frozenset(whole))


def _others(root: Path, log: str, gone: set[str]) -> list[str]:
    """Return the contents of the turns that stay in a log."""
    if not (root / log).is_file():
        return []
    return [one.turn.content for one in SessionLog.at(root, log).turns() if one.turn.id not in gone]


def _pages(root: Path, log: str) -> Iterator[tuple[str, list[str]]]:
    scope = layout.scope_of(log)
    folder = layout.in_scope(scope, FOLDER)
    for name in listing.names(root, folder, ".md"):
        text = content_of(root, f"{folder}/{name}").decode("utf-8", "replace")
        title, terms = _TITLE.search(text), _TERMS.search(text)
        if log in text and title:
            yield title[1].strip(), _BETWEEN.split(terms[1]) if terms else []


def content_of(root: Path, path: str) -> bytes:
    """Return a file's bytes; empty if it cannot be read, as no search reads it then either."""
    try:
        return platform.content(layout.safe_path(root, path))
    except (OSError, UsageError):
        return b""
