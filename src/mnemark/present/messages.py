"""Say errors, findings and other sentences of the program in Chinese, by their shape.

The catalogue has the sentences as the code writes them, with names in the places of their values. A sentence
that it does not have stays as it is.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern

_CATALOGUE: Final = Path(__file__).parent / "zh"
_PLACE: Final = lazy_pattern(r"\{(\w+)\}")
_SENTENCES: Final = frozenset(
    {"reason", "error", "what", "wanted", "wrong", "pace", "files", "name", "chars"}
    | {"counted", "more", "asked", "requests", "days", "fix"}
)
"""Places whose value can be a sentence of the catalogue itself."""
_NUMBER: Final = lazy_pattern(r"[0-9][0-9,.\u202f–-]*\Z")
_DEEPEST: Final = 3


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
    found: dict[str, str] = json.loads((_CATALOGUE / "messages.json").read_text("utf-8"))
    return found


@cache
def _known() -> Mapping[str, str]:
    """Return these, and the sentences that commands print."""
    found: dict[str, str] = json.loads((_CATALOGUE / "commands.json").read_text("utf-8"))
    return {**found, **catalogue()}


@cache
def _shapes() -> Sequence[_Shape]:
    """Return the sentences with places, those that say most first."""
    made = []
    for english, chinese in _known().items():
        parts = _PLACE.split(english)
        if len(parts) > 1:
            made.append(_Shape(parts[::2], parts[1::2], chinese))
    return sorted(made, key=lambda shape: -sum(map(len, shape.parts)))


def in_chinese(text: str, _depth: int = 0) -> str | None:
    """Return a sentence in Chinese; None if the catalogue does not have it."""
    known = _known().get(text)
    if known is not None:
        return known
    for shape in _shapes() if _depth < _DEEPEST else ():
        values = _values(text, shape.parts)
        if values is None:
            continue
        named = dict(zip(shape.places, values, strict=True))
        if not all(_NUMBER.match(value) for place, value in named.items() if place == "n"):
            continue
        inner = {place: in_chinese(named[place], _depth + 1) for place in named.keys() & _SENTENCES}
        if shape.says_nothing and not any(inner.values()):
            continue
        shown = named | {place: value for place, value in inner.items() if value}
        return _PLACE.sub(lambda match, shown=shown: shown[match[1]], shape.chinese)  # type: ignore[misc]
    return None


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
