"""Settle near ties among the best candidates by what they are, not by how well they match. Pure.

Each rule compares candidates that say the same of a question, so none has a weight of its own:

- one sentence in several places: core memory comes first, then the newest (the oldest, where the query asks
  for the first);
- output of tools and pages comes after what the owner said, where that holds all that they hold of a
  question;
- a section on switching a thing off answers no question on switching it on;
- who a person is, is answered by what tells of them, not by what mentions or addresses them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from mnemark.index.rows import CORE, NO_TIME, ORIGIN_CODE, UNTRUSTED, Rows
from mnemark.index.snapshot import Floats, Mask, Positions, TermHits
from mnemark.index.store import Record
from mnemark.retrieval.ranking import people
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import normalize
from mnemark.text.words.segment import Cut, query_terms

MIN_SHARE: Final = 0.5
"""Minimum share of the question's idf that candidates on the same matter hold."""
STEP: Final = 1e-5
"""Least difference of two scores that are not equal."""
_OPPOSITE: Final = 0.5
"""Factor on the score of a section on the opposite of what the question asks for."""
_MAX_READ: Final = 4_000
_IS_OWN: Final = np.zeros(256, np.bool_)
"""Whether a passage is the owner's own words, by its origin's code; `isin` takes ten times as long."""
_IS_OWN[[ORIGIN_CODE["owner"], ORIGIN_CODE["file"]]] = True
IS_OTHERS: Final = np.zeros(256, np.bool_)
"""Whether a passage is output of tools or pages, by its origin's code."""
IS_OTHERS[[ORIGIN_CODE[origin] for origin in UNTRUSTED]] = True
_SENTENCE: Final = lazy_pattern(r"[^\n.!?;。！？；]+")
_ON: Final = lazy_pattern(
    r"\b(?:enabl(?:e[sd]?|ing)|activat\w+|(?:turn|switch)\w*\b.{0,40}?\bon)\b|启用|开启|打开|激活"
)
_OFF: Final = lazy_pattern(
    r"\b(?:disabl(?:e[sd]?|ing)|deactivat\w+|(?:turn|switch)\w*\b.{0,40}?\boff)\b|禁用|停用|关闭|关掉"
)
_MAX_TITLE: Final = 300
_MAX_NAMING: Final = 400
"""Maximum number of passages that name a person and are all looked at for who that is."""


class Candidates(msgspec.Struct, frozen=True):
    """The best candidates of a search, and what it knows of the question."""

    positions: Positions
    scores: Floats
    records: Sequence[Record]
    rows: Rows
    """Of the candidates."""
    question: str
    idf: Mapping[str, float]
    """Inverse document frequency of the question's own terms."""
    hits: Mapping[str, TermHits]
    named: Mask
    """Which of them are of notes that the question names: these keep their places."""
    dated: bool
    """Whether the question names a time."""
    oldest: bool
    """Whether it asks for the first."""

    def shares(self, holding: Mask) -> Floats:
        """Return the share of the question's idf that each candidate holds; see `held`."""
        idf = np.array(list(self.idf.values()))
        shares: Floats = holding @ idf / idf.sum()
        return shares


def with_named(
    question: str, positions: Positions, fused: Floats, hits: Mapping[str, TermHits], cut: Cut | None
) -> Positions:
    """Return the positions with all that names the person whom the question asks about; else none.

    Who a person is may be told in passing, by a passage that is far from the best. `cut` is as for
    `query_terms`.
    """
    name = people.asked_about(question)
    found = [hits[term].pos for term in query_terms(name, cut) if term in hits] if name else []
    named = min(found, key=len, default=positions[:0])
    if not len(named) or len(named) > _MAX_NAMING:
        return positions[:0]
    new = np.setdiff1d(named[fused[named] > 0], positions)
    return np.concatenate((positions, new[np.argsort(-fused[new], kind="stable")]))


def settled(found: Candidates) -> Floats:
    """Return the candidates' scores with near ties settled."""
    scores = found.scores.copy()
    if not len(scores) or not found.idf:
        return found.scores
    holding = held(found)
    shares = found.shares(holding)
    _lower_opposites(found, scores)
    _raise_telling(found, scores)
    _order_same_sentence(found, holding, shares, scores)
    _lower_others(found, holding, shares, scores)
    return scores


def held(found: Candidates) -> Mask:
    """Return which candidate holds which term of the question, shape (candidates, terms)."""
    holding = np.zeros((len(found.positions), len(found.idf)), np.bool_)
    for column, term in enumerate(found.idf):
        holding[:, column] = found.hits[term].among(found.positions)
    return holding


def _order_same_sentence(found: Candidates, held: Mask, shares: Floats, scores: Floats) -> None:
    """Give the best scores of candidates with the same matching sentence to core memory and the newest."""
    if found.dated:
        return
    said = np.where(IS_OTHERS[found.rows["origin"]] | found.named, 0, shares)  # printed twice means nothing
    alike = _alike(held, said)
    if not alike:
        return
    times = np.where(found.rows["time"] == NO_TIME, np.iinfo(np.int64).min, found.rows["time"]).tolist()
    core = ((found.rows["flags"] & CORE) > 0).tolist()
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for group in alike:
        if len({(core[i], times[i]) for i in group}) > 1:
            for i in group:
                groups[held[i].tobytes(), sentence(found.records[i].text, found.idf)].append(i)
    for group in groups.values():
        values = sorted((scores[i] for i in group), reverse=True)
        order = sorted(group, key=lambda i: (core[i], -times[i] if found.oldest else times[i]), reverse=True)
        for rank, i in enumerate(order):
            scores[i] = values[rank] - STEP * rank


def _alike(held: Mask, shares: Floats) -> list[list[int]]:
    """Return groups of candidates that hold the same terms, enough of the question."""
    groups: dict[bytes, list[int]] = defaultdict(list)
    for i in np.flatnonzero(shares >= MIN_SHARE).tolist():
        groups[held[i].tobytes()].append(i)
    return [group for group in groups.values() if len(group) > 1]


def sentence(text: str, idf: Mapping[str, float]) -> str:
    """Return the sentence with most of the question's idf, normalised, without punctuation around it."""
    pieces = [
        match.group().strip(" \t-*#>_`:：\"'") for match in _SENTENCE.finditer(normalize(text[:_MAX_READ]))
    ]
    return max(
        pieces, key=lambda piece: sum(weight for term, weight in idf.items() if term in piece), default=""
    )


def _lower_others(found: Candidates, held: Mask, shares: Floats, scores: Floats) -> None:
    """Put output of tools and pages below the owner's words that hold the same terms and more."""
    others = np.flatnonzero(IS_OTHERS[found.rows["origin"]])
    if not len(others):
        return
    own = np.flatnonzero(_IS_OWN[found.rows["origin"]] & (shares >= MIN_SHARE))
    own = own[[not found.records[i].text.rstrip().endswith(("?", "？")) for i in own.tolist()]]
    for i in others.tolist():
        above = own[(held[own] >= held[i]).all(axis=1)]
        if len(above):
            scores[i] = min(scores[i], scores[above].max() - STEP)


def _lower_opposites(found: Candidates, scores: Floats) -> None:
    asked = _direction(found.question)
    for i, record in enumerate(found.records) if asked else ():
        names = (_direction(name) for name in reversed(record.title.split("›")))
        if next(filter(None, names), 0) == -asked:
            scores[i] *= _OPPOSITE


def _direction(text: str) -> int:
    """Return 1 where a text is on switching something on, -1 for off, 0 for neither or both."""
    text = text[:_MAX_TITLE].casefold()
    return bool(_ON.search(text)) - bool(_OFF.search(text))


def _raise_telling(found: Candidates, scores: Floats) -> None:
    """Raise what tells who the person is whom the question asks about."""
    name = people.asked_about(found.question)
    if not name:
        return
    telling = [i for i, record in enumerate(found.records) if people.tells_of(name, record.text[:_MAX_READ])]
    scores[telling] += scores.max()
