"""Find text that holds other forms of the words of a query, such as "Peanut" for "peanuts", "pnpm" for "npm".

Forgetting takes exactly the words that were given. What is close to them is only named, so that a person can
decide about it.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from mnemark.errors import MnemarkError
from mnemark.facts.visible import forgotten_lines
from mnemark.memory.forgetting.select import Criteria, Item, Selector
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import normalize
from mnemark.text.words.terms import stem

_LATIN: Final = lazy_pattern(r"[a-z]+")
_OTHERS: Final = lazy_pattern(r"[^\W_a-z]+")
_SHORTEST: Final = 3
"""Letters of a word that has other forms."""
_MAX_WORDS: Final = 12
"""Words of a query; a longer one is a passage, which is not repeated in other forms."""


def related(ws: OpenWorkspace, wanted: Criteria, gone: Iterable[Item]) -> list[Item]:
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
        self._forms = forms
        self._hidden = ws.visible.hidden.current()

    def _has_query(self, text: str) -> bool:
        return self._forms.found_in(text)

    def left(self) -> list[Item]:
        """Return the items, by path and line."""
        found: dict[tuple[str, str], Item] = {}
        with suppress(MnemarkError, OSError):  # changed meanwhile: it is a hint, and no promise
            found |= {(one.kind, one.id or one.ref): one for one in self._candidates()}
        return sorted(found.values(), key=lambda one: (not one.start_line, one.path, one.start_line, one.id))

    def _candidates(self) -> Iterator[Item]:
        for one in (*self._turns(), *self._observations()):
            if one.id not in self._hidden.turns:
                yield one
        yield from (one for one in self._facts() if one.id not in self._hidden.facts)
        hidden_lines: dict[str, set[int]] = {}
        for one in self._notes():
            if one.path not in hidden_lines:
                hidden_lines[one.path] = forgotten_lines(self._hidden, one.path, self._text(one.path))
            if one.start_line not in hidden_lines[one.path]:
                yield one
