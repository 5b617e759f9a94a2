"""Find derived copies of forgotten turns in notes, episodes and the scratchpad.

Lines of the daily note, the episode and the scratchpad that quote a turn, whole or in part, are forgotten
with it, as are the entries of a fact in core memory. The files keep these lines, and `undo` shows them again.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from mnemark.facts.keys import predicate_key
from mnemark.facts.labels import labels
from mnemark.facts.parse import split_words
from mnemark.facts.write import HEADINGS
from mnemark.files import layout, listing
from mnemark.files.layout import in_scope
from mnemark.memory.forgetting.needles import NAME_LIST, SearchPatterns, search_patterns
from mnemark.memory.forgetting.select import Item
from mnemark.memory.forgetting.titles import content_of, left_of
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.outline import without_comments

_RUN: Final = lazy_pattern(r"[^\s`]+")
_LINE: Final = ".jsonl#L"
_LEAD: Final = lazy_pattern(r"^\s*[-*+]\s+")
_CURATED: Final = ("MEMORY.md", "memory/MEMORY.md", "USER.md")
_DAY: Final = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.md")


def derived_copies(root: Path, items: Sequence[Item]) -> list[Item]:
    """Return the lines that quote one of the turns, or are the entry of one of the facts."""
    known = {(item.path, number) for item in items for number in item.lines}
    found = [*_of_turns(root, items), *_of_facts(root, items)]
    return [item for item in found if (item.path, item.start_line) not in known]


def _of_turns(root: Path, items: Sequence[Item]) -> list[Item]:
    turns = [item for item in items if item.kind == "turn"]
    words = search_patterns(turns, "", left_of(root, turns))
    logs = {item.path for item in turns}
    lines = {f"{item.path}#L{item.start_line}" for item in turns}
    return [
        item
        for scope in sorted({layout.scope_of(path) for path in logs})
        for path in _pages(root, scope)
        for item in _quoting(root, path, words, logs, lines)
    ]


def _of_facts(root: Path, items: Sequence[Item]) -> Iterator[Item]:
    entries: defaultdict[str, list[str]] = defaultdict(list)
    for item in items:
        key, value = split_words(_LEAD.sub("", without_comments(item.text)).strip())
        if item.kind == "fact" and value:
            entries[layout.scope_of(item.path)].append(_entry_pattern(key, value))
    for scope, known in entries.items():
        wanted = re.compile(rf"- (?:{'|'.join(known)})(?: \(since [^)]*\)|（[^）]*起）)?\s*")
        personas = listing.names(root, in_scope(scope, "personas"), ".md")
        for name in (*_CURATED, *(f"personas/{one}" for one in personas)):
            path = in_scope(scope, name)
            for number, line in enumerate(content_of(root, path).splitlines(keepends=True), 1):
                text = line.decode("utf-8", "replace")
                if wanted.fullmatch(text):
                    yield Item(kind="note", path=path, start_line=number, end_line=number, text=text)


def _entry_pattern(key: str, value: str) -> str:
    """Return a pattern of the lines by which the core memory may state a fact; see `core_entries`."""
    words = re.escape(value)
    if not key:
        return words
    if predicate_key(key) in HEADINGS:
        return rf"(?:\S.*(?:: |：))?{words}"
    return rf"(?:\S.*[ 的])?(?:{'|'.join(map(re.escape, labels(key)))})(?:: |：){words}"


def _pages(root: Path, scope: str) -> Iterator[str]:
    for folder in ("", "memory", "memory/episodes"):
        inside = "/".join(filter(None, (scope, folder)))
        for name in listing.names(root, inside, ".md"):
            if folder == "memory/episodes" or (_DAY.fullmatch(name) if folder else name == "SCRATCHPAD.md"):
                yield "/".join(filter(None, (inside, name)))


def _quoting(root: Path, path: str, words: SearchPatterns, logs: set[str], lines: set[str]) -> Iterator[Item]:
    data = content_of(root, path)
    cites = "episodes/" in path and any(log.encode() in data for log in logs)
    names = [name.casefold() for name in words.names] if cites else []
    noted = cites and any(ref.encode() in data for ref in lines)  # a model's notes name their turns
    if not names and not noted and not words.notes.found_in(data):
        return
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        text = line.decode("utf-8", "replace")
        named = bool(names) and NAME_LIST.match(text) and any(name in text.casefold() for name in names)
        sources = set(_refs(text)) if noted else set()
        if named or (sources and sources <= lines) or words.notes.found_in(line):
            yield Item(kind="note", path=path, start_line=number, end_line=number, text=text)


def _refs(text: str) -> Iterator[str]:
    """Yield the refs of single lines of sessions in a text."""
    for run in _RUN.findall(text):
        path, mark, number = run.rpartition(_LINE)
        digits = number[: len(number) - len(number.lstrip("0123456789"))]
        if mark and digits and not number.startswith(f"{digits}-L"):
            yield f"{path}{mark}{digits}"
