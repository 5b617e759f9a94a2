"""Group short texts that say the same, or may, in little more than linear time.

*The same* is what only differs in case, punctuation, plural or words without weight; numbers, negation and
the order of words count. That is decided by a key, so that grouping costs one pass. *Alike* is a share of
common words (Jaccard); pairs are found by prefix filtering (Chaudhuri, Ganti, Kaushik, "A Primitive Operator
for Similarity Joins in Data Cleaning", 2006): with words in the order of their rarity, two sets that share a
part `t` of their words share one of the first `n - ceil(t * n) + 1`.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from mnemark.text.words.segment import query_terms
from mnemark.text.words.terms import stem

ALIKE: Final = 0.6
"""Share of common words from which two texts are worth a look."""
MOST_PEERS: Final = 64
"""Texts that share a rare word and are compared with each other; beyond, the word is not rare."""

_LIGHT: Final = frozenset(
    stem(word)
    for word in (  # noqa: SIM905 - a list of this length reads as words
        "a an the to of in at is are was were be been am it its this that these those i me my mine user "
        "users very really quite just also so too please 我 用户 的 了 是 很 非常 也 在 着 地 得 这 那 就 都"
    ).split()
)


class Pair(NamedTuple):
    """Two texts that are alike, by their places, and the share of words they have in common."""

    one: int
    other: int
    share: float


class Similar(NamedTuple):
    """What was found among texts."""

    same: list[list[int]]
    """Groups of two or more that say the same, by place, in order."""
    alike: list[Pair]
    """Pairs that may; of a group that says the same only the first counts."""
    compared: int
    """Pairs that were looked at."""


def key_of(text: str) -> tuple[str, ...]:
    """What texts that say the same have in common; empty for a text of words without weight.

    >>> key_of("The user likes hiking!") == key_of("likes to hike")
    True
    >>> key_of("prefers tabs over spaces") == key_of("prefers spaces over tabs")
    False
    """
    return tuple(term for term in query_terms(text) if term not in _LIGHT)


def similar(texts: Sequence[str], groups: Sequence[object] | None = None) -> Similar:
    """Which of the texts say the same, and which pairs are alike.

    Args:
        texts: short texts.
        groups: what each belongs to, one for each text; only texts of one group are compared.
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
        peers = _peers(holders, where[at], first)
        compared += len(peers)
        for peer in sorted(peers):
            share = len(words & sets[peer]) / len(words | sets[peer])
            if share >= ALIKE:
                found.append(Pair(peer, at, round(share, 3)))
        for term in first:
            holders[where[at], term].append(at)
    return found, compared


def _peers(holders: Mapping[tuple[object, str], list[int]], group: object, terms: Iterable[str]) -> set[int]:
    """Earlier texts that share one of the terms, the latest of each."""
    peers: set[int] = set()
    for term in terms:
        peers.update(holders.get((group, term), ())[-MOST_PEERS:])
    return peers
