"""Settle near ties among the best candidates by what they are, not by how well they match. Pure.

Each rule compares candidates that say the same of a question, so none has a weight of its own:

- one sentence in several places: core memory comes first, then the newest (the oldest, where the query asks
  for the first);
- output of tools and pages comes after what the owner said, where that holds all that they hold of a
  question;
- a section on switching a thing off answers no question on switching it on;
- who a person is, is answered by what tells of them, not by what mentions or addresses them; a state of the
  owner ("where do I live") by what tells it in their own name.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from mnemark.index.rows import CORE, KIND_CODE, NO_TIME, ORIGIN_CODE, UNTRUSTED, USER, Rows
from mnemark.index.snapshot import Floats, Mask, Positions, Snapshot, TermHits
from mnemark.index.store import Record
from mnemark.retrieval.ranking import people, rank, states
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import normalize
from mnemark.text.words.segment import Cut, query_terms

MIN_SHARE: Final = 0.5
"""Minimum share of the question's idf that candidates on the same matter hold."""
_OPPOSITE: Final = 0.5
"""Factor on the score of a section on the opposite of what the question asks for."""
_MAX_READ: Final = 4_000
IS_OWN: Final = np.zeros(256, np.bool_)
"""Whether a passage is the owner's own words, by its origin's code; `isin` takes ten times as long."""
IS_OWN[[ORIGIN_CODE["owner"], ORIGIN_CODE["file"]]] = True
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
_TURN: Final = KIND_CODE["turn"]
_MAX_TITLE: Final = 300
_MAX_NAMING: Final = 400
"""Maximum number of passages that name a person and are all looked at for who that is."""
_FEW: Final = 8
"""Number of passages that may tell a state of the owner and are raised as far as one would be."""
_MAX_STATED: Final = 300
"""Passages with the words of a state of the owner that are looked at for it, the best."""


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
    holding: Mask
    """Which candidate holds which of these terms, shape (candidates, terms)."""
    named: Mask
    """Which of them are of notes that the question names: these keep their places."""
    dated: bool
    """Whether the question names a time."""
    oldest: bool
    """Whether it asks for the first."""

    def shares(self) -> Floats:
        """Return the share of the question's idf that each candidate holds."""
        idf = np.array(list(self.idf.values()))
        shares: Floats = self.holding @ idf / idf.sum()
        return shares


def may_tell(question: str, fused: Floats, snapshot: Snapshot, cut: Cut | None) -> Positions:
    """Return the passages that may tell who a person is, or a state of the owner, that the question asks for.

    It may be told in passing, by a passage that is far from the best. `cut` is as for `query_terms`.
    """
    state, nothing = states.asked_state(question), np.zeros(0, np.int64)
    terms = query_terms(people.asked_about(question), cut) if state is None else state.terms
    hits = sorted((snapshot.term(term) for term in terms), key=lambda hit: len(hit.pos))
    if state is None:
        telling = next((hit.pos for hit in hits if len(hit.pos)), nothing)
        most, others = _MAX_NAMING, hits[:0]
        telling = telling if len(telling) <= most else nothing
    else:
        telling, most, others = hits[0].pos, _MAX_STATED, hits[1:]
    telling = telling[fused[telling] > 0]
    for hit in others:
        telling = telling[hit.among(telling)]
    return telling[np.argsort(-fused[telling], kind="stable")[:most]]


def telling(question: str, records: Sequence[Record], rows: Rows) -> list[int]:
    """Return which passages tell who a person is, or a state of the owner, that the question asks for."""
    name, state = people.asked_about(question), states.asked_state(question)
    if state is None:
        return [i for i, one in enumerate(records) if name and people.tells_of(name, one.text[:_MAX_READ])]
    own = IS_OWN[rows["origin"]] & ((rows["kind"] != _TURN) | ((rows["flags"] & USER) > 0))
    return [i for i in np.flatnonzero(own).tolist() if state.is_told(records[i].text[:_MAX_READ])]


def settled(found: Candidates) -> Floats:
    """Return the candidates' scores with near ties settled."""
    scores = found.scores.copy()
    if not len(scores) or not found.idf:
        return found.scores
    shares = found.shares()
    _lower_opposites(found, scores)
    _raise_telling(found, scores)
    _order_same_sentence(found, found.holding, shares, scores)
    _lower_others(found, found.holding, shares, scores)
    return scores


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
        give_best(
            scores,
            sorted(group, key=lambda i: (core[i], -times[i] if found.oldest else times[i]), reverse=True),
        )


def give_best(scores: Floats, order: Sequence[int]) -> None:
    """Give the scores of some candidates, the best first, to them in this order."""
    values = sorted((scores[i] for i in order), reverse=True)
    for place, i in enumerate(order):
        scores[i] = values[place] - rank.STEP * place


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
    others = IS_OTHERS[found.rows["origin"]]
    if not others.any():
        return
    own = IS_OWN[found.rows["origin"]] & (shares >= MIN_SHARE)
    for i in np.flatnonzero(own).tolist():
        own[i] = not found.records[i].text.rstrip().endswith(("?", "？"))
    rank.put_behind(scores, others, own, held)


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
    """Raise what tells what the question asks of a person, less where many passages say the like."""
    told = telling(found.question, found.records, found.rows)
    if told:
        of_owner = states.asked_state(found.question) is not None
        scores[told] += scores.max() * np.float32(min(1, _FEW / len(told)) if of_owner else 1)
