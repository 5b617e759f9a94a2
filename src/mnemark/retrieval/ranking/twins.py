"""Order statements on the same matter by time: what was said last comes first, and the older is marked. Pure.

Two of the best passages that hold the same words of a question, and share half of the content words of the
sentences that hold them, are about the same thing: "The port of the printer is 80", "We changed the printer's
port to 81". How well each matches tells nothing of which one holds now; when it was said does. But of two
notes with the same lines, one is about something else if its title says a word of the question that is
nowhere in the other.
"""

from functools import cache
from itertools import combinations
from typing import Final

import numpy as np

from mnemark.index.rows import ASKS, CORE, KIND_CODE, NO_TIME, ORIGIN_CODE
from mnemark.index.snapshot import Floats, Mask
from mnemark.retrieval.ranking.ties import IS_OTHERS, MIN_SHARE, Candidates, give_best, sentence
from mnemark.text.words.stopwords import estimated_terms

_BEST: Final = 10
"""Number of the best candidates that are compared."""
_SAME_QUESTION: Final = 0.6
"""Minimum share of the question's idf that either holds and both hold."""
_SAME_WORDS: Final = 0.4
"""Minimum share of the content words of the shorter sentence that are in the other one."""


def ordered(found: Candidates, scores: Floats) -> tuple[Floats, Mask]:
    """Give the best scores of candidates on the same matter to the newest; return which are older, too.

    A question that names a time is answered by that time; one that asks for the first is answered by the
    oldest.

    Args:
        found: the candidates.
        scores: theirs by now, shape (candidates,).
    """
    scores, older = scores.copy(), np.zeros(len(scores), np.bool_)
    if found.dated or not found.idf:
        return scores, older
    times = found.rows["time"]
    for group in _groups(found, scores):
        give_best(scores, sorted(group, key=lambda i: times[i], reverse=not found.oldest))
        older[[i for i in group if times[i] < times[group].max()]] = True
    return scores, older


def _groups(found: Candidates, scores: Floats) -> list[list[int]]:
    """Return groups of candidates on the same matter, of several times."""
    holding = found.holding
    compared = _compared(found, found.shares())
    best = [i for i in np.argsort(-scores, kind="stable")[:_BEST].tolist() if compared[i]]
    if len(best) < 2:
        return []
    weighed = holding[best] * np.array(list(found.idf.values()))
    own, common = weighed.sum(axis=1), weighed @ holding[best].T
    same = common >= _SAME_QUESTION * np.maximum(own[:, None], own)
    if int(same.sum()) <= len(best):  # each is like itself
        return []
    titles = np.stack([found.hits[term].in_head(found.positions[best]) > 0 for term in found.idf], axis=1)
    apart = titles @ ~holding[best].T

    @cache
    def words(i: int) -> frozenset[str]:
        return frozenset(estimated_terms(sentence(found.records[i].text, found.idf)))

    group_of = {i: {i} for i in best}
    for (at, one), (beside, other) in combinations(enumerate(best), 2):
        other_thing = apart[at, beside] or apart[beside, at]
        if same[at, beside] and not other_thing and _alike(words(one), words(other)):
            joined = group_of[one] | group_of[other]
            group_of.update(dict.fromkeys(joined, joined))
    groups = {min(group): sorted(group) for group in group_of.values() if len(group) > 1}
    return [group for group in groups.values() if len({int(found.rows["time"][i]) for i in group}) > 1]


def _compared(found: Candidates, shares: Floats) -> Mask:
    """Return which candidates are statements of people with a time; facts have a history of their own."""
    rows = found.rows
    others = IS_OTHERS[rows["origin"]] | (rows["origin"] == ORIGIN_CODE["agent"])
    without = others | (rows["kind"] == KIND_CODE["fact"]) | ((rows["flags"] & (CORE | ASKS)) > 0)
    compared: Mask = (shares >= MIN_SHARE) & (rows["time"] != NO_TIME) & ~without & ~found.named
    return compared


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _SAME_WORDS * max(min(len(one), len(other)), 1)
