"""Find the notes that a query names: identity comes before similarity.

Whoever types the title of a note, its file's name or an alias means that note, however often others use these
words. Only the candidates' names are read: those of the passages whose head holds every word of the query.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from mnemark.index.rows import KIND_CODE
from mnemark.index.snapshot import Positions, Snapshot, TermHits
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import normalize
from mnemark.text.words.segment import Cut
from mnemark.text.words.stopwords import OF_MEMORY, content_terms

_LONGEST: Final = 200
"""Characters of a query that may be a name."""
_LONGER: Final = 12
"""Characters of stop words that a name may have beyond the query."""
_MOST: Final = 128
"""Notes whose names are read: those that have the words in their heads most often."""
_IS_NAMED: Final = np.ones(256, np.bool_)
"""Whether a passage is of something with a name, by its kind's code."""
_IS_NAMED[[KIND_CODE["turn"], KIND_CODE["observation"], KIND_CODE["fact"]]] = False
_BETWEEN: Final = lazy_pattern(r"[\W_]+")

Names = Callable[[Positions], Sequence[Sequence[str]]]
"""Returns the names of the notes that passages at these positions are of."""


def named(  # noqa: PLR0917 - what a search knows
    query: str, terms: Sequence[str], hits: Mapping[str, TermHits], snapshot: Snapshot, names: Names,
    cut: Cut | None,
) -> list[int]:  # fmt: skip
    """Return the numbers of the notes (`Snapshot.group`) that a query names, the best fit first.

    Best is a name written like the query, then one with the same words. One with the same content words is
    named, too: "What is Flutter?" and "my notes on Flutter" mean flutter.md.

    Args:
        query: in any language.
        terms: its terms.
        hits: of the terms.
        snapshot: the passages.
        names: see `Names`.
        cut: as for `query_terms`.
    """
    candidates = _candidates(terms, hits, snapshot) if len(query) <= _LONGEST else np.zeros(0, np.int64)
    if not len(candidates):
        return []
    wanted = _spelling(query, cut)
    fits: dict[int, tuple[float, ...]] = {}
    for group, known in zip(snapshot.group[candidates].tolist(), names(candidates), strict=True):
        alike = [name for name in known if len(name) <= len(query) + _LONGER]
        fit = max((_fit(wanted, _spelling(name, cut)) for name in dict.fromkeys(alike)), default=())
        if fit:
            fits[group] = fit
    return sorted(fits, key=fits.__getitem__, reverse=True)


def _candidates(terms: Sequence[str], hits: Mapping[str, TermHits], snapshot: Snapshot) -> Positions:
    """Return a passage of each note whose head holds all the terms, at most `_MOST`."""
    found = sorted((hits[term] for term in _subject(terms)), key=lambda hit: len(hit.pos))
    pos = found[0].pos if found else np.zeros(0, np.int64)
    pos = pos[_IS_NAMED[snapshot.rows["kind"][pos]]]
    often = np.zeros(len(pos), np.float32)
    for hit in found:
        if not len(pos):
            break
        here = hit.in_head(pos)
        pos, often = pos[here > 0], (often + here)[here > 0]
    order = np.argsort(-often, kind="stable")
    _, firsts = np.unique(snapshot.group[pos[order]], return_index=True)
    chosen: Positions = pos[order[np.sort(firsts)[:_MOST]]]
    return chosen


class _Spelling(NamedTuple):
    """A query or a name in four forms."""

    written: str
    """As it is written, without punctuation, between blanks."""
    words: str
    """The same, normalised."""
    content: frozenset[str]
    """Its content words."""
    subject: frozenset[str]
    """Those without the words for what is remembered."""


def _spelling(text: str, cut: Cut | None) -> _Spelling:
    written, words = (f" {_BETWEEN.sub(' ', form).strip()} " for form in (text, normalize(text)))
    content = content_terms(text, cut)
    return _Spelling(written, words, frozenset(content), frozenset(_subject(content)))


def _subject(terms: Sequence[str]) -> Sequence[str]:
    """Return terms without those for what is remembered, or all where there are no others."""
    return [term for term in terms if term not in OF_MEMORY] or terms


def _fit(query: _Spelling, name: _Spelling) -> tuple[float, ...]:
    """Return how well a name fits a query, comparable; empty where the query does not name it."""
    same = query.words == name.words
    if not same and name.content not in {query.content, query.subject}:
        return ()
    contained = len(name.words) if name.words in query.words else 0
    return query.written == name.written, same, contained, name.written in query.written
