"""Find duplicate and similar short texts, in little more than linear time.

Texts are the *same* (duplicates) if they only differ in case, punctuation, plural or filler words; numbers,
negation and word order count. Duplicates share a key, so grouping takes one pass. Texts are *alike* by
Jaccard similarity of their words, found by prefix filtering (Chaudhuri, Ganti, Kaushik, "A Primitive
Operator for Similarity Joins in Data Cleaning", 2006): with words sorted by rarity, two sets that
share a part `t` of their words share one of the first `n - ceil(t * n) + 1`.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from mnemark.text import word_lists
from mnemark.text.words.segment import query_terms
from mnemark.text.words.terms import stem

ALIKE: Final = 0.6
"""Minimum Jaccard similarity of texts that are alike."""
MOST_PEERS: Final = 64
"""Maximum candidates compared per rare word."""

_FILLER: Final = frozenset(map(stem, word_lists("stop_words")["duplicate"]))


class Pair(NamedTuple):
    """The positions of two similar texts, and their Jaccard similarity."""

    one: int
    other: int
    share: float


class Similar(NamedTuple):
    """Duplicates and similar pairs, by position."""

    same: list[list[int]]  # groups of two or more duplicates, in order
    alike: list[Pair]  # of duplicates only the first is paired
    compared: int


def key_of(text: str) -> tuple[str, ...]:
    """Return the key that duplicates share; empty for a text of filler words only.

    >>> key_of("The user likes hiking!") == key_of("likes to hike")
    True
    >>> key_of("prefers tabs over spaces") == key_of("prefers spaces over tabs")
    False
    """
    return tuple(term for term in query_terms(text) if term not in _FILLER)


def similar(texts: Sequence[str], groups: Sequence[object] | None = None) -> Similar:
    """Find duplicates and similar pairs among short texts.

    Args:
        texts: short texts.
        groups: the group of each text; only texts of the same group are compared.
    """
    where = groups or [None] * len(texts)
    by_key: dict[tuple[object, tuple[str, ...]], list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        if key := key_of(text):
            by_key[where[at], key].append(at)
    firsts = sorted((found[0], key) for (_, key), found in by_key.items())
    pairs, compared = _alike({at: frozenset(key) for at, key in firsts}, where)
    return Similar([found for found in by_key.values() if len(found) > 1], pairs, compared)


def _alike(sets: Mapping[int, frozenset[str]], where: Sequence[object]) -> tuple[list[Pair], int]:
    counts = Counter(term for words in sets.values() for term in words)
    holders: dict[tuple[object, str], list[int]] = defaultdict(list)
    found: list[Pair] = []
    compared = 0
    for at, words in sets.items():
        rare = sorted(words, key=lambda term: (counts[term], term))
        first = rare[: len(rare) - math.ceil(ALIKE * len(rare)) + 1]
        peers = {peer for term in first for peer in holders.get((where[at], term), ())[-MOST_PEERS:]}
        compared += len(peers)
        for peer in sorted(peers):
            share = len(words & sets[peer]) / len(words | sets[peer])
            if share >= ALIKE:
                found.append(Pair(peer, at, round(share, 3)))
        for term in first:
            holders[where[at], term].append(at)
    return found, compared
