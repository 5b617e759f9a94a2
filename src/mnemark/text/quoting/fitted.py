"""Add up signs that a text gives orders to a model, by weights that were fitted to attacks and ordinary text.

Beside the signs that are weighed by hand (`signs`), many words that say little alone tell tricks in other
wordings. They and their weights are in a table, whose first lines say where they come from.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Final

import msgspec

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.finders import any_of, places_of
from mnemark.text.words.normalize import HAN

TABLE: Final = Path(__file__).resolve().parents[2] / "data" / "fitted_signs.txt"
"""The signs by weight; its first lines say how they are written and where the weights come from."""

ENOUGH: Final = 28
"""Sum of weights at which a text is marked."""

_NEAR: Final = 300  # characters in which different signs are added up: about three sentences
_NEAR_CHINESE: Final = 150
_WORDS: Final = lazy_pattern("[a-z0-9]+")
_LINE: Final = lazy_pattern(r"^(!|\d+) (.*(?:\n  .*)*)", re.MULTILINE)


class Table(msgspec.Struct, frozen=True):
    """All signs."""

    weights: dict[str, int]
    telling: frozenset[str]  # words of which a text must have one
    words: dict[str, list[str]]  # signs in Latin letters with one word, by that word
    pairs: dict[str, list[str]]  # those with several, by the first two
    chinese: re.Pattern[str]  # finds the longest sign at each place
    starts: dict[str, list[str]]  # of these, all signs they begin with


@cache
def table() -> Table:
    """Read the signs."""
    weights: dict[str, int] = {}
    telling: frozenset[str] = frozenset()
    for kind, line in _LINE.findall(TABLE.read_text("utf-8")):
        if kind == "!":
            telling = frozenset(line.split())
        else:
            weights |= dict.fromkeys((word.replace("_", " ") for word in line.split()), int(kind))
    words: dict[str, list[str]] = {}
    pairs: dict[str, list[str]] = {}
    for sign in filter(str.isascii, weights):
        first, *others = _WORDS.findall(sign)
        if others:
            pairs.setdefault(f"{first} {others[0]}", []).append(sign)
        else:
            words.setdefault(first, []).append(sign)
    chinese = sorted((word for word in weights if not word.isascii()), key=len, reverse=True)
    return Table(
        weights=weights,
        telling=telling,
        words=words,
        pairs=pairs,
        chinese=lazy_pattern(f"(?=({any_of(chinese)}))"),
        starts={
            word: [word[:end] for end in range(1, len(word) + 1) if word[:end] in weights] for word in chinese
        },
    )


def telling_words() -> frozenset[str]:
    """Return the words of which a text must have one, in Latin letters and Chinese."""
    return table().telling


def add_up(plain: str, words: frozenset[str]) -> bool:
    """Return whether different signs in a normalised text add up to `ENOUGH` within about three sentences.

    `words` has those of the text in `telling_words`, which seldom is any; only text near them is looked at.
    """
    known = table()
    if not (telling := known.telling & words):
        return False
    near = _NEAR_CHINESE if HAN.search(plain) else _NEAR
    begin = min(map(plain.find, telling)) - near  # -1 of a word that was written otherwise does no harm
    plain = plain[max(0, begin) : max(map(plain.rfind, telling)) + near]
    latin = _latin(plain)
    chinese = [] if plain.isascii() else list(_chinese(plain))
    if sum(map(known.weights.__getitem__, {*latin, *(sign for _, sign in chinese)})) < ENOUGH:
        return False
    places = sorted([*((at, sign) for sign in latin for at in places_of(sign, plain)), *chinese])
    return _most(places, near) >= ENOUGH


def _latin(plain: str) -> list[str]:
    """Return the signs in Latin letters of a text."""
    known = table()
    words = _WORDS.findall(plain)
    pairs = known.pairs.keys() & set(map("{} {}".format, words, islice(words, 1, None)))
    possible = chain(
        *map(known.words.__getitem__, known.words.keys() & set(words)),
        *map(known.pairs.__getitem__, pairs),
    )
    return [sign for sign in possible if sign in plain]


def _chinese(plain: str) -> Iterator[tuple[int, str]]:
    """Yield the places of signs in other letters, also within others."""
    known = table()
    for found in known.chinese.finditer(plain):
        for sign in known.starts[found[1]]:
            yield found.start(), sign


def _most(places: list[tuple[int, str]], near: int) -> int:
    """Return the greatest sum of the weights of different signs of which the places are `near` each other."""
    weights = table().weights
    counts: Counter[str] = Counter()
    counted: deque[tuple[int, str]] = deque()
    total = most = 0
    for at, sign in places:
        if not counts[sign]:
            total += weights[sign]
        counts[sign] += 1
        counted.append((at, sign))
        while at - counted[0][0] > near:
            _, old = counted.popleft()
            counts[old] -= 1
            if not counts[old]:
                total -= weights[old]
        most = max(most, total)
    return most
