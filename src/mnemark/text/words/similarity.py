"""Group short texts that say the same, or may, in little more than linear time.

Texts are the *same* if they only differ in case, punctuation, plural or words without weight; numbers,
negation and the order of words count. They have one key, so that grouping costs one pass. They are *alike* by
their share of common words (Jaccard), found by prefix filtering (Chaudhuri, Ganti, Kaushik, "A Primitive
Operator for Similarity Joins in Data Cleaning", 2006): with words in the order of their rarity, two sets that
share a part `t` of their words share one of the first `n - ceil(t * n) + 1`.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from mnemark.text.words.segment import query_terms
from mnemark.text.words.terms import stem

ALIKE: Final = 0.6
"""Share of common words from which two texts are alike."""
MOST_PEERS: Final = 64
"""Texts with one rare word that are compared with each other."""

_LIGHT: Final = frozenset(
    stem(word)
    for word in (  # noqa: SIM905 - a list of this length reads as words
        "a an the to of in at is are was were be been am it its this that these those i me my mine user "
        "users very really quite just also so too please 我 用户 的 了 是 很 非常 也 在 着 地 得 这 那 就 都"
    ).split()
)


class Pair(NamedTuple):
    """The places of two texts that are alike, and their share of common words."""

    one: int
    other: int
    share: float


class Similar(NamedTuple):
    """Groups and pairs of similar texts, by place."""

    same: list[list[int]]  # groups of two or more, in order
    alike: list[Pair]  # of a group of the same only the first is paired
    compared: int


def key_of(text: str) -> tuple[str, ...]:
    """Return the key that texts that say the same share; empty for a text of words without weight.

    >>> key_of("The user likes hiking!") == key_of("likes to hike")
    True
    >>> key_of("prefers tabs over spaces") == key_of("prefers spaces over tabs")
    False
    """
    return tuple(term for term in query_terms(text) if term not in _LIGHT)


def similar(texts: Sequence[str], groups: Sequence[object] | None = None) -> Similar:
    """Find short texts that say the same, and pairs that are alike.

    Args:
        texts: short texts.
        groups: the group of each text; only texts of one group are compared.
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
