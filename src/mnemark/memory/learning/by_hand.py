"""Find the lines that a person wrote and that a new fact contradicts.

MEMORY.md and USER.md are read whole. Of the other notes only the passages are read that share words with the
statement, as the index holds them, so that the cost does not grow with the notes. Notes of a day tell what
was then, which nothing contradicts.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from mnemark.extraction.extract import by_rules
from mnemark.extraction.notes import statements
from mnemark.facts.keys import (
    content_key,
    holds_many,
    predicate_key,
    predicate_names,
    statement_key,
    subject_key,
)
from mnemark.facts.model import Fact
from mnemark.facts.parse import split_words
from mnemark.files import layout, listing
from mnemark.files.names import split_ref
from mnemark.files.projects import is_project
from mnemark.index import schema
from mnemark.index.rows import NO_TIME
from mnemark.memory.curation.files import curated_files
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.generated import emptied
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.words.segment import query_terms
from mnemark.text.words.stopwords import is_stop
from mnemark.types import KINDS, Problem

_NUMBER: Final = lazy_pattern(r"\d+(?:[.,:]\d+)*")
_TOLD: Final = lazy_pattern(
    r"(?i)^(?:my|our|the) (?P<key>\w+(?: \w+){0,2}) (?:is|are) (?P<value>[^.,;]{1,60})|"
    r"^我们?的?(?P<zh>[\u3400-\u9fff]{2,8})[是在](?P<value_zh>[^，。；]{1,40})"
)
_VERSION: Final = " version"


_NOTE: Final = KINDS.index("note")
_TERMS: Final = 6
"""Maximum number of words of a statement that are looked up, the rarest."""
_COMMON: Final = 5_000
"""A word in more passages than this tells little, unless it is the only one."""
_PASSAGES: Final = 5
"""Maximum number of passages of notes that are read for a statement."""
_CUES: Final = {"city": "live 住在", "employer": "work 工作", "job": "work 工作"}
"""Words of sentences that give a predicate a value without naming it."""


class LineByHand(NamedTuple):
    """A statement of a person in a file."""

    ref: str
    text: str
    said: tuple[Fact, ...]
    """What the extraction rules read from it."""


class Contradiction(NamedTuple):
    """What a line says, and what a fact says instead."""

    old: str
    new: str


class LinesByHand:
    """The statements of people in a workspace."""

    def __init__(self, ws: OpenWorkspace) -> None:
        self.ws = ws
        self._core: dict[str, list[LineByHand]] = {}
        self._read: dict[str, list[tuple[int, str]]] = {}

    def against(self, fact: Fact, quote: str, now: datetime) -> LineByHand | None:
        """Return the first line that a fact, read from the sentence `quote`, contradicts; None without one.

        What the note itself says that the fact was read from contradicts nothing.
        """
        if fact.scope not in self._core:
            self._core[fact.scope] = list(_in_core(self.ws, fact.scope, now))
        source = split_ref(fact.source)[0]
        for lines in (self._core[fact.scope], self._in_notes(fact, quote, now)):
            for line in lines:
                if split_ref(line.ref)[0] != source and contradiction(fact, quote, line) is not None:
                    return line
        return None

    def _in_notes(self, fact: Fact, quote: str, now: datetime) -> Iterator[LineByHand]:
        """Yield the statements of notes that share words with a fact, the closest first."""
        if holds_many(fact.predicate) and not _NUMBER.search(quote or fact.value):
            return
        key = predicate_key(fact.predicate)
        program = key.removesuffix(_VERSION) if key.endswith(_VERSION) else ""
        words = query_terms(program or f"{quote or fact.value} {fact.predicate} {_CUES.get(key, '')}")
        terms = [term for term in dict.fromkeys(words) if not is_stop(term)]
        for path, first, last in self._passages(terms, fact.scope):
            if path not in self._read:
                self._read[path] = statements_of(self.ws, path)
            for number, text in self._read[path]:
                if first <= number <= last:
                    yield line_of(f"{path}#L{number}", text, now)

    def _passages(self, terms: Sequence[str], scope: str) -> list[tuple[str, int, int]]:
        """Return path, first and last line of the passages of notes with the rarest of the words."""
        index = self.ws.searcher.index
        try:
            with index.reading() as snapshot:
                scores: Counter[int] = Counter()
                hits = {term: found for term, found in snapshot.prefetch(terms).items() if len(found.pos)}
                for term in sorted(hits, key=lambda term: (len(hits[term].pos), term))[:_TERMS]:
                    count = len(hits[term].pos)
                    if count <= _COMMON or len(hits) == 1:
                        rows = snapshot.rows[hits[term].pos]
                        notes = rows[(rows["kind"] == _NOTE) & (rows["time"] == NO_TIME)]
                        scores.update(dict.fromkeys(notes["passage"].tolist(), 1_000_000 // (count + 10)))
                best = [passage for passage, _ in scores.most_common(2 * _PASSAGES)]
                records = index.fetch(best)
        except schema.UNREADABLE:  # there is no index yet, or it cannot be read: the search reports that
            return []
        places = ((record, layout.place(record.path)) for record in map(records.get, best) if record)
        scopes = _beside(scope)
        return [
            (record.path, record.start_line, record.end_line)
            for record, at in places
            if at is not None and at.role == "note" and at.scope in scopes
        ][:_PASSAGES]


def _beside(scope: str) -> Sequence[str]:
    """Return the scopes whose lines a fact may contradict: not the root's, where it is about one project."""
    return (scope,) if is_project(scope) else tuple(dict.fromkeys((scope, "")))


def _in_core(ws: OpenWorkspace, scope: str, now: datetime) -> Iterator[LineByHand]:
    """Yield the statements of people in MEMORY.md and USER.md of a scope and of those beside it."""
    for folder in (f"{one}/".lstrip("/") for one in _beside(scope)):
        here = listing.names(ws.root, folder.rstrip("/"), ".md")
        users = [folder + name for name in here if name.casefold() == "user.md"]
        for path in (*curated_files(ws.root, folder), *users):
            yield from _lines(ws, path, now)


def _lines(ws: OpenWorkspace, path: str, now: datetime) -> Iterator[LineByHand]:
    for number, text in statements_of(ws, path):
        yield line_of(f"{path}#L{number}", text, now)


def statements_of(ws: OpenWorkspace, path: str) -> list[tuple[int, str]]:
    """Return the statements of a note with their lines, without generated, forgotten and recalled ones."""
    found = ws.visible.read(path)
    if isinstance(found, Problem):
        return []
    text = emptied(found.text)
    own = set(strip_fences(text).splitlines())
    return list(statements([line if line in own else "" for line in text.splitlines()]))


def _facts(text: str, now: datetime) -> Iterator[Fact]:
    predicate, value = split_words(text)
    if predicate:
        yield Fact(id="", predicate=predicate, value=value)
    if told := _TOLD.match(text):
        key, value = told["key"] or told["zh"], told["value"] or told["value_zh"]
        if predicate_key(key) in predicate_names().values():
            yield Fact(id="", predicate=key, value=value)
    for one in by_rules(text, time=now, origin="import"):
        yield Fact(id="", subject=one.subject, predicate=one.predicate, value=one.value)


def line_of(ref: str, text: str, now: datetime) -> LineByHand:
    """Return a statement of a person with what the extraction rules read from it."""
    return LineByHand(ref, text, tuple(_facts(text, now)))


def contradiction(fact: Fact, quote: str, line: LineByHand) -> Contradiction | None:
    """Return how a fact, read from the sentence `quote`, contradicts a line; None if it does not.

    The line gives the same single-valued predicate another value, names another version of the same program,
    or is the same sentence with another number.
    """
    key = predicate_key(fact.predicate)
    if key and not holds_many(fact.predicate):
        for stated in line.said:
            same = predicate_key(stated.predicate) == key and _same_subject(stated, fact)
            if same and content_key(key, stated.value) != content_key(key, fact.value):
                known = content_key(key, fact.value) in content_key(key, line.text)
                return None if known else Contradiction(stated.value, fact.value)
    if key.endswith(_VERSION):
        versions = _versions(key.removesuffix(_VERSION), line.text)
        if versions and not any(_covers(version, fact.value) for version in versions):
            return Contradiction(versions[0], fact.value)
        return None
    numbers, known_numbers = _NUMBER.findall(quote or fact.value), _NUMBER.findall(line.text)
    if _other_number(quote or fact.value, line.text):
        return Contradiction(known_numbers[0], numbers[0])
    return None


def _same_subject(stated: Fact, fact: Fact) -> bool:
    """Whether two facts have one subject; a plain `key: value` line of a page may be about the project."""
    own = {subject_key(stated.subject), subject_key(fact.subject)}
    return len(own) == 1 or own == {"user", "project"}


def _versions(program: str, text: str) -> list[str]:
    pattern = re.compile(rf"(?i)\b{re.escape(program)}\b(?: version)?[ :=]*v?(\d+(?:\.\d+)*)")
    return pattern.findall(text)


def _covers(version: str, value: str) -> bool:
    """Whether a version is a value or a part of it: 16 and 16.2 do not contradict."""
    one, other = version.split("."), value.lstrip("v").split(".")
    return one[: len(other)] == other[: len(one)]


def _other_number(quote: str, line: str) -> bool:
    numbers, known = _NUMBER.findall(quote), _NUMBER.findall(line)
    if len(numbers) != 1 or len(known) != 1 or numbers == known:
        return False
    same = statement_key(_NUMBER.sub(" ", quote)) == statement_key(_NUMBER.sub(" ", line))
    return same and len(statement_key(line).split()) > 2
