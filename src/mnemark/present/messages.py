"""Say errors, findings and other sentences of the program in Chinese, by their shape.

The catalogue has the sentences as the code writes them, with names in the places of their values. A sentence
that it does not have stays as it is.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern

_CATALOGUE: Final = Path(__file__).parent / "zh"
_PLACE: Final = lazy_pattern(r"\{(\w+)\}")
_SENTENCES: Final = frozenset(
    {"asked", "before", "chars", "counted", "days", "error", "files", "fix", "how", "kind", "least", "listed"}
    | {"log", "more", "name", "names", "others", "pace", "reason", "requests", "wanted", "what", "when"}
    | {"where", "which", "why", "wrong"}
)
"""Places whose value can be a sentence of the catalogue itself."""
_NAMES: Final = frozenset({"files", "name", "names"})
"""Places whose value is mostly a name, which is no sentence where it is one word."""
_WORD: Final = lazy_pattern(r"[a-z0-9_-]+\Z")
_LISTS: Final = frozenset(
    {"choices", "files", "formats", "kinds", "known", "languages", "listed", "names", "others", "parts"}
    | {"personas"}
)
"""Places whose value can be a list."""
_LISTED: Final = lazy_pattern(r",? or |, ")
_NUMBER: Final = lazy_pattern(r"[0-9][0-9,.\u202f–-]*")
_DEEPEST: Final = 12
"""Sentences within each other that are looked up."""
_MOST_PARTS: Final = 8


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None


def _is_path(value: str) -> bool:
    return ": " not in value and "; " not in value


def _is_file(value: str) -> bool:
    return value.split() == [value] and ("." in value or "/" in value)


def _is_suffix(value: str) -> bool:
    return value.startswith(".") and value != "." and value.split() == [value]


_HOLDS: Final[Mapping[str, Callable[[str], bool]]] = {
    **dict.fromkeys("nmkl", _is_number), "path": _is_path, "ext": _is_suffix, "file": _is_file,
}  # fmt: skip
"""What the value of some places looks like: else a sentence would be taken for another."""


class _Shape(NamedTuple):
    parts: Sequence[str]
    """What stands before, between and after the places."""
    places: Sequence[str]
    chinese: str

    @property
    def says_nothing(self) -> bool:
        """Whether all words stand in the places, as in "PATH: REASON"."""
        return not any(map(str.isalpha, "".join(self.parts)))


@cache
def catalogue() -> Mapping[str, str]:
    """Return the Chinese sentences by the English ones."""
    return _part("messages")


def _part(name: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((_CATALOGUE / f"{name}.json").read_text("utf-8"))
    return found


@cache
def _sentences() -> Mapping[str, str]:
    """Return these, and those of the system and of the parser of command lines."""
    return {**_part("others"), **catalogue()}


@cache
def _known() -> Mapping[str, str]:
    """Return these, and what commands say, which a sentence may hold as a whole."""
    return {**_part("commands"), **_sentences()}


@cache
def _shapes() -> Sequence[_Shape]:
    """Return the sentences with places: those that begin with words first, of these those that say most.

    Anything can stand in a place, so where a sentence begins with one, it would take the beginning of others.
    """
    made = []
    for english, chinese in _sentences().items():
        parts = _PLACE.split(english)
        if len(parts) > 1:
            made.append(_Shape(parts[::2], parts[1::2], chinese))
    return sorted(made, key=lambda shape: (not shape.parts[0], -sum(map(len, shape.parts))))


def in_chinese(text: str) -> str | None:
    """Return a sentence in Chinese; None if the catalogue does not have it."""
    found = _Reading().found(text)
    return None if found is None else found.chinese


class _Found(NamedTuple):
    chinese: str
    is_whole: bool
    """Whether the sentences within it are Chinese, too."""


class _Reading:
    """Reads a sentence, and the sentences within it; each is looked up once."""

    def __init__(self) -> None:
        self._known: dict[str, _Found | None] = {}
        self._depth = 0

    def found(self, text: str) -> _Found | None:
        """Return a sentence in Chinese: wholly if a shape or its parts give that, else by the first shape."""
        if (known := _known().get(text)) is not None:
            return _Found(known, is_whole=True)
        if text not in self._known and self._depth < _DEEPEST:
            self._known[text] = None  # while it is looked for
            self._depth += 1
            self._known[text] = self._by_shape(text)
            self._depth -= 1
        return self._known.get(text)

    def _by_shape(self, text: str) -> _Found | None:
        first = None
        for shape in _shapes():
            found = self._filled(text, shape)
            if found is not None and found.is_whole:
                return found
            first = first or found
        return self._of_parts(text) or first

    def _filled(self, text: str, shape: _Shape) -> _Found | None:
        """Return a sentence of this shape in Chinese."""
        values = _values(text, shape.parts)
        if values is None:
            return None
        named = dict(zip(shape.places, values, strict=True))
        if not all(_HOLDS[place](named[place]) for place in named.keys() & _HOLDS.keys()):
            return None
        inner = {
            place: found
            for place in named.keys() & _SENTENCES
            if not (place in _NAMES and _WORD.match(named[place]))
            and (found := self.found(named[place])) is not None
        }
        if shape.says_nothing and not inner:
            return None
        lists = {place: _LISTED.sub("、", named[place]) for place in named.keys() & _LISTS}
        shown = named | lists | {place: found.chinese for place, found in inner.items()}
        english = [named[place] for place in (named.keys() & _SENTENCES) - inner.keys() - _LISTS]
        is_whole = all(found.is_whole for found in inner.values()) and not any(" " in one for one in english)
        return _Found(_PLACE.sub(lambda match: shown[match[1]], shape.chinese), is_whole)

    def _of_parts(self, text: str) -> _Found | None:
        """Return sentences that were joined by semicolons; None if one of them is not known."""
        parts = text.split("; ", _MOST_PARTS)
        found: list[str] = []
        at = 0
        while at < len(parts):
            ends = range(len(parts) - (at == 0), at, -1)  # one sentence can have semicolons itself
            tries = ((self.found("; ".join(parts[at:end])), end) for end in ends)
            one, at = next(((one, end) for one, end in tries if one is not None and one.is_whole), (None, 0))
            if one is None:
                return None
            found.append(one.chinese)
        return _Found("；".join(found), is_whole=True)


def _values(text: str, parts: Sequence[str]) -> list[str] | None:
    """Return what stands in the places of a sentence, each as short as it can be; None where it differs."""
    if not (text.startswith(parts[0]) and text.endswith(parts[-1])):
        return None
    values, at, end = [], len(parts[0]), len(text) - len(parts[-1])
    for part in parts[1:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return None
        values.append(text[at:found])
        at = found + len(part)
    return [*values, text[at:end]] if at <= end else None
