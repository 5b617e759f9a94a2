"""Find the lines that a person wrote in MEMORY.md and USER.md and that a new fact contradicts."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

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
from mnemark.files import listing
from mnemark.memory.curation.files import curated_files
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.extraction.extract import extract
from mnemark.text.extraction.notes import statements
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.generated import emptied
from mnemark.text.quoting.fence import strip_fences
from mnemark.types import Problem

_NUMBER: Final = lazy_pattern(r"\d+(?:[.,:]\d+)*")
_TOLD: Final = lazy_pattern(
    r"(?i)^(?:my|our|the) (?P<key>\w+(?: \w+){0,2}) (?:is|are) (?P<value>[^.,;]{1,60})|"
    r"^我们?的?(?P<zh>[\u3400-\u9fff]{2,8})[是在](?P<value_zh>[^，。；]{1,40})"
)
_VERSION: Final = " version"


class Line(NamedTuple):
    """A statement of a person in a file."""

    ref: str
    text: str
    said: tuple[Fact, ...]
    """What the extraction rules read from it."""


def lines_by_hand(ws: OpenWorkspace, scope: str, now: datetime) -> list[Line]:
    """Return the statements of people in MEMORY.md and USER.md of a scope and of the root."""
    found = []
    for folder in dict.fromkeys((f"{scope}/".lstrip("/"), "")):
        here = listing.names(ws.root, folder.rstrip("/"), ".md")
        users = [folder + name for name in here if name.casefold() == "user.md"]
        for path in (*curated_files(ws.root, folder), *users):
            for number, text in statements_of(ws, path):
                found.append(Line(f"{path}#L{number}", text, tuple(_facts(text, now))))
    return found


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
    for one in extract(text, time=now, origin="import"):
        yield Fact(id="", subject=one.subject, predicate=one.predicate, value=one.value)


def contradicted(fact: Fact, quote: str, lines: Sequence[Line]) -> Line | None:
    """Return the line that a fact contradicts, read from the sentence `quote`; None if there is none.

    The line gives the same single-valued predicate another value, names another version of the same program,
    or is the same sentence with another number.
    """
    return next((line for line in lines if _contradicts(fact, quote, line)), None)


def _contradicts(fact: Fact, quote: str, line: Line) -> bool:
    key = predicate_key(fact.predicate)
    if key and not holds_many(fact.predicate):
        for stated in line.said:
            same = predicate_key(stated.predicate) == key and _same_subject(stated, fact)
            if same and content_key(key, stated.value) != content_key(key, fact.value):
                return content_key(key, fact.value) not in content_key(key, line.text)
    if key.endswith(_VERSION):
        versions = _versions(key.removesuffix(_VERSION), line.text)
        return bool(versions) and not any(_covers(version, fact.value) for version in versions)
    return _other_number(quote or fact.value, line.text)


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
