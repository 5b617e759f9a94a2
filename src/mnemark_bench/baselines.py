"""What to compare with: full-text search as SQLite ships it, and BM25 as the textbooks have it."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

import apsw
import numpy as np
from numpy.typing import NDArray

from mnemark.text.words.segment import index_terms
from mnemark.text.words.stopwords import content_terms, is_stop

_WORD: Final = re.compile(r"\w+")

FTS5_PLAIN: Final = "fts5 unicode61"
FTS5_CUT: Final = "fts5 pre-segmented"
BM25: Final = "bm25 plain"


class Baseline(Protocol):
    """Ranks the units of one scope."""

    def rank(self, query: str, k: int) -> list[str]:
        """Unit ids, best first, at most `k`."""
        ...


def document_terms(text: str) -> list[str]:
    """The words of a text without stop words, cut as the product cuts them."""
    return [word for word in index_terms(text).words if not is_stop(word)]


class Fts5:
    """An FTS5 table with its own bm25(), in memory.

    Args:
        ids: of the units.
        texts: their texts.
        cut: cut texts and questions as the product does; else the tokenizer unicode61 sees them as they are.
    """

    def __init__(self, ids: Sequence[str], texts: Iterable[str], *, cut: bool) -> None:
        self._ids = ids
        self._cut = cut
        self._connection = apsw.Connection(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE units USING fts5(text, tokenize='unicode61')")
        ready = (spaced(text) if cut else _storable(text) for text in texts)
        with self._connection:
            self._connection.executemany("INSERT INTO units (rowid, text) VALUES (?, ?)", enumerate(ready))

    def rank(self, query: str, k: int) -> list[str]:
        """Unit ids by bm25(), best first; any of the question's words may match."""
        match = match_expression(content_terms(query) if self._cut else _WORD.findall(_storable(query)))
        if not match:
            return []
        found = self._connection.execute(MATCH, (match, k))
        return [self._ids[int(row[0])] for row in found if isinstance(row[0], int)]


MATCH: Final = "SELECT rowid FROM units WHERE units MATCH ? ORDER BY bm25(units) LIMIT ?"


def spaced(text: str) -> str:
    """A text as its words with spaces between, for a tokenizer that knows nothing of Chinese."""
    return _storable(" ".join(index_terms(text).words))


def match_expression(words: Iterable[str]) -> str:
    """The words as an FTS5 query: any of them."""
    quoted = ('"' + word.replace('"', '""') + '"' for word in dict.fromkeys(words))
    return " OR ".join(quoted)


def _storable(text: str) -> str:
    """Without what SQLite cannot take as text."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


class Scored(NamedTuple):
    """BM25 of each unit, shape (n,), and the most a unit could have scored."""

    scores: NDArray[np.float64]
    attainable: float


class Bm25:
    """BM25 (Robertson and Zaragoza 2009) with Lucene's idf over whole units, nothing beside the text.

    Args:
        ids: of the units.
        texts: their texts, cut as the product cuts them, stop words left out.
        k1: saturation.
        b: length normalisation.
    """

    def __init__(self, ids: Sequence[str], texts: Iterable[str], *, k1: float = 1.2, b: float = 0.75) -> None:
        self.ids = ids
        self._k1 = k1
        postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for number, text in enumerate(texts):
            words = document_terms(text)
            lengths.append(len(words))
            for word, count in Counter(words).items():
                postings[word].append((number, count))
        self._postings = {word: np.array(found, np.int64) for word, found in postings.items()}
        length = np.array(lengths, np.float64)
        self._norm = k1 * (1 - b + b * length / max(float(length.mean()) if len(length) else 1.0, 1e-9))

    def score(self, query: str) -> Scored:
        """The scores of all units."""
        n = len(self.ids)
        scores = np.zeros(n)
        attainable = 0.0
        for term in content_terms(query):
            found = self._postings.get(term)
            holding = 0 if found is None else len(found)
            gain = math.log1p((n - holding + 0.5) / (holding + 0.5)) * (self._k1 + 1)
            attainable += gain
            if found is not None:
                numbers, counts = found[:, 0], found[:, 1]
                scores[numbers] += gain * counts / (counts + self._norm[numbers])
        return Scored(scores, attainable)

    def rank(self, query: str, k: int) -> list[str]:
        """Unit ids, best first, without those that share no word with the question."""
        scores = self.score(query).scores
        best = np.argsort(-scores, kind="stable")[:k]
        return [self.ids[int(number)] for number in best if scores[number] > 0]
