"""Find what goes along with forgotten items, and what is close to them and stays.

Lines of the daily note, the episode and the scratchpad that quote a turn, whole or in part, are forgotten
with it, as are the entries of a fact in core memory. The files keep these lines, and `undo` shows them again.
Forgetting takes exactly the words that were given: text with other forms of them, such as "Peanut" for
"peanuts" or "pnpm" for "npm", is only named, so that a person can decide about it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from mnemark.errors import MnemarkError
from mnemark.facts.keys import predicate_key
from mnemark.facts.labels import labels
from mnemark.facts.parse import split_words
from mnemark.facts.visible import forgotten_lines
from mnemark.facts.write import HEADINGS
from mnemark.files import layout, listing
from mnemark.files.layout import in_scope
from mnemark.memory.forgetting.needles import NAME_LIST, SearchPatterns, content_of, left_of, search_patterns
from mnemark.memory.forgetting.select import Criteria, ForgetItem, Selector
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.outline import without_comments
from mnemark.text.words.normalize import normalize
from mnemark.text.words.terms import stem

_RUN: Final = lazy_pattern(r"[^\s`]+")
_LINE: Final = ".jsonl#L"
_LEAD: Final = lazy_pattern(r"^\s*[-*+]\s+")
_CURATED: Final = ("MEMORY.md", "memory/MEMORY.md", "USER.md")
_DAY: Final = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.md")
_LATIN: Final = lazy_pattern(r"[a-z]+")
_OTHERS: Final = lazy_pattern(r"[^\W_a-z]+")
_SHORTEST: Final = 3
"""Letters of a word that has other forms."""
_MAX_WORDS: Final = 12
"""Words of a query; a longer one is a passage, which is not repeated in other forms."""


def derived_copies(root: Path, items: Sequence[ForgetItem]) -> list[ForgetItem]:
    """Return the lines that quote one of the turns, or are the entry of one of the facts."""
    known = {(item.path, number) for item in items for number in item.lines}
    found = [*_of_turns(root, items), *_of_facts(root, items)]
    return [item for item in found if (item.path, item.start_line) not in known]


def _of_turns(root: Path, items: Sequence[ForgetItem]) -> list[ForgetItem]:
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


def _of_facts(root: Path, items: Sequence[ForgetItem]) -> Iterator[ForgetItem]:
    entries: defaultdict[str, list[str]] = defaultdict(list)
    for item in items:
        key, value = split_words(_LEAD.sub("", without_comments(item.text)).strip())
        if item.kind == "fact" and value:
            entries[layout.scope_of(item.path)].append(_entry_pattern(key, value))
    for scope, known in entries.items():
        wanted = re.compile(
            rf"- (?:{'|'.join(known)})(?: \(since [^)]*\)|（[^）]*起）)?"
            r"(?: \(but on [^\n]*\)|（但 [^\n]*）)?\s*"
        )
        personas = listing.names(root, in_scope(scope, "personas"), ".md")
        for name in (*_CURATED, *(f"personas/{one}" for one in personas)):
            path = in_scope(scope, name)
            for number, line in enumerate(content_of(root, path).splitlines(keepends=True), 1):
                text = line.decode("utf-8", "replace")
                if wanted.fullmatch(text):
                    yield ForgetItem(kind="note", path=path, start_line=number, end_line=number, text=text)


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


def _quoting(
    root: Path, path: str, words: SearchPatterns, logs: set[str], lines: set[str]
) -> Iterator[ForgetItem]:
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
            yield ForgetItem(kind="note", path=path, start_line=number, end_line=number, text=text)


def _refs(text: str) -> Iterator[str]:
    """Yield the refs of single lines of sessions in a text."""
    for run in _RUN.findall(text):
        path, mark, number = run.rpartition(_LINE)
        digits = number[: len(number) - len(number.lstrip("0123456789"))]
        if mark and digits and not number.startswith(f"{digits}-L"):
            yield f"{path}{mark}{digits}"


def related(ws: OpenWorkspace, wanted: Criteria, gone: Iterable[ForgetItem]) -> list[ForgetItem]:
    """Return the items with a form of every word of the query that are neither in `gone` nor forgotten."""
    forms = _Forms(wanted.query)
    if not forms:
        return []
    finder = _Finder(ws, wanted, forms)
    known: set[object] = set()
    for item in gone:
        known |= {(item.path, number) for number in item.lines}
        known.add(item.id or item.ref)
    return [
        item
        for item in finder.left()
        if (item.id or item.ref) not in known
        and not any((item.path, number) in known for number in item.lines)
    ]


class _Forms:
    """Match texts that hold each word of a query in some form, in any order."""

    def __init__(self, query: str) -> None:
        folded = normalize(query)
        self._query = query.strip()
        words = list(dict.fromkeys(_LATIN.findall(folded)))
        self._others = list(dict.fromkeys(_OTHERS.findall(folded)))
        few = 0 < len(words) + len(self._others) <= _MAX_WORDS
        self._words = [(stem(word), _beginning(word)) for word in words] if few else []
        self._others = self._others if few else []

    def __bool__(self) -> bool:
        return bool(self._words or self._others)

    def found_in(self, text: str) -> bool:
        if self._query in text:  # inside a longer word
            return True
        folded = normalize(text)
        return all(other in folded for other in self._others) and all(
            any(stem(match) == stemmed for match in pattern.findall(folded))
            for stemmed, pattern in self._words
        )


def _beginning(word: str) -> re.Pattern[str]:
    """Return a pattern of the words that may share the stem of `word`."""
    rest = "[a-z]*" if len(word) >= _SHORTEST else "(?![a-z])"
    return re.compile(rf"(?<![a-z]){word[:_SHORTEST]}{rest}")


class _Finder(Selector):
    """A selector by forms of words, of what is not forgotten yet."""

    def __init__(self, ws: OpenWorkspace, wanted: Criteria, forms: _Forms) -> None:
        super().__init__(ws, wanted)
        self._has_query = forms.found_in
        self._hidden = ws.visible.hidden.current()

    def left(self) -> list[ForgetItem]:
        """Return the items, by path and line."""
        found: dict[tuple[str, str], ForgetItem] = {}
        with suppress(MnemarkError, OSError):  # changed meanwhile: it is a hint, and no promise
            found |= {(one.kind, one.id or one.ref): one for one in self._candidates()}
        return sorted(found.values(), key=lambda one: (not one.start_line, one.path, one.start_line, one.id))

    def _candidates(self) -> Iterator[ForgetItem]:
        for one in self._turns():
            if one.id not in self._hidden.turns:
                yield one
        yield from (one for one in self._facts() if one.id not in self._hidden.facts)
        hidden_lines: dict[str, set[int]] = {}
        for one in self._notes():
            if one.path not in hidden_lines:
                hidden_lines[one.path] = forgotten_lines(self._hidden, one.path, self._text(one.path))
            if one.start_line not in hidden_lines[one.path]:
                yield one
