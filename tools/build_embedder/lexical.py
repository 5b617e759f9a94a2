"""A small BM25 to compare with and to fuse with: SQLite FTS5's formula, k1 1.2, b 0.75.

Terms are those of `mnemark.text.words.segment`; parts of a text count as occurrences, not towards its length.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mnemark.text.words.segment import index_terms, query_terms

K1 = 1.2
B = 0.75


class Bm25:
    """The index of one memory's texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        postings: dict[str, list[tuple[int, int]]] = {}
        lengths = np.empty(len(texts), np.float32)
        for row, text in enumerate(texts):
            words, parts = index_terms(text)
            lengths[row] = len(words)
            for term, count in Counter([*words, *parts]).items():
                postings.setdefault(term, []).append((row, count))
        self.size = len(texts)
        norm = K1 * (1 - B + B * lengths / lengths.mean())
        self._postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}
        for term, found in postings.items():
            rows, counts = np.array(found).T
            self._postings[term] = (rows, (counts * (K1 + 1) / (counts + norm[rows])).astype(np.float32))

    def idf(self, term: str) -> float:
        """FTS5's idf; of an unknown term, that of one that occurs nowhere."""
        count = len(self._postings[term][0]) if term in self._postings else 0
        return max(math.log((self.size - count + 0.5) / (count + 0.5)), 1e-6)

    def known(self, term: str) -> bool:
        """Whether any text has the term."""
        return term in self._postings

    def scores(self, weights: Mapping[str, float]) -> NDArray[np.float32]:
        """BM25 of every text for weighted OR terms."""
        out = np.zeros(self.size, np.float32)
        for term, weight in weights.items():
            if term in self._postings:
                rows, gain = self._postings[term]
                out[rows] += np.float32(weight * self.idf(term)) * gain
        return out

    def attainable(self, weights: Mapping[str, float]) -> float:
        """The bound of `scores`: every term as often as can be."""
        return (K1 + 1) * sum(weight * self.idf(term) for term, weight in weights.items())


def question_weights(question: str, stop: frozenset[str]) -> dict[str, float]:
    """Unique terms of a question without stop words, each of weight 1."""
    terms = dict.fromkeys(query_terms(question), 1.0)
    return {term: weight for term, weight in terms.items() if term not in stop} or terms
