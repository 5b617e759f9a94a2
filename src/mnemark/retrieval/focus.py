"""Find what a message asks: hooks send whole messages, and most sentences of a message ask for nothing.

What else a message tells has many words, of this matter or of others; added up, they would outvote what it
asks. So the sentences of a message are told apart; see `Query.sentences`.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from mnemark.retrieval.echoes import asks
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.stopwords import estimated_terms

_HALF: Final = 4_096
"""Characters read at the start and at the end of a longer message: what is between them was pasted."""
_ENOUGH: Final = 3
"""Content words of a question that say by themselves what it is about."""
_SHORT: Final = 4
"""Sentences beside the question up to which a message is short."""
_MOST_LEADING: Final = 3
"""Sentences before a question that are taken along."""
_END: Final = lazy_pattern(
    r"(?:[!?]|(?<!\b[A-Z])(?<!\b(?:Dr|Mr|Ms|St))(?<!\bMrs)(?<!\bProf)(?<!\bvs)(?<!e\.g)(?<!i\.e)\.)[\"'”’)]*(?=\s)|"
    r"[。！？；][”’」』）]*|\n"
)
_QUESTION: Final = lazy_pattern(r"[?？]\W{0,8}$")
_POINTING: Final = lazy_pattern(
    r"\b(?i:he|him|his|she|her|hers|they|them|their|its?|this|that|these|those|such)\b|[他她它]|这|那(?!么)|其中|该|此"
)
"""Words for what was named before."""
_NAME: Final = lazy_pattern(r"\W[A-Z]\w|[\u4e00-\u9fff]{7}")
"""What such a word may mean that stands before it: a name, or enough of Chinese to hold one."""
_REQUEST: Final = lazy_pattern(
    r"\W{0,8}(?:please )?(?:list|find|recall|summari[sz]e|search|look up)\b|"
    r"\W{0,8}请?(?:列出|找出|总结|回忆|说说)",
    re.IGNORECASE,
)

Span = tuple[int, int]
"""Offsets of a sentence in a text."""


class Sentences(NamedTuple):
    """The sentences of a message that say anything."""

    asking: list[Span]
    """Those that ask; all where there is but one, and none where several ask for nothing."""
    leading: list[Span]
    """Those before a question that says little by itself or points back to them: "On 5 May there was a party.
    Who came?"."""
    telling: list[Span]

    @property
    def asked(self) -> list[Span]:
        """What is asked: the questions with what leads to them."""
        return self.leading + self.asking


def clipped(text: str) -> str:
    """Return a message without the middle of a long one: its question stands at the start or at the end."""
    return text if len(text) <= 2 * _HALF else f"{text[:_HALF]}\n{text[-_HALF:]}"


@lru_cache(maxsize=8)
def sentences(text: str) -> Sentences:
    """Tell the sentences of a message apart.

    Where some end with a question mark it is these that ask.
    """
    ends = [match.end() for match in _END.finditer(text)]
    every = [
        (first, last) for first, last in pairwise(dict.fromkeys((0, *ends, len(text))))
        if estimated_terms(text[first:last])
    ]  # fmt: skip
    if len(every) < 2:
        return Sentences([(0, len(text))], [], [])
    texts = [text[first:last].strip() for first, last in every]
    asking = [at for at, one in enumerate(texts) if _QUESTION.search(one)]
    asking = asking or [at for at, one in enumerate(texts) if asks(one) or _REQUEST.match(one)]
    if not asking:
        return Sentences([], [], every)
    known = estimated_terms(joined(text, [every[at] for at in asking[:_ENOUGH]]))
    begin, least = asking[0], max(asking[0] - _MOST_LEADING, 0)
    points_back = _points_back(texts[begin])
    while begin > least and (len(known) < _ENOUGH or (points_back and begin == asking[0])):
        begin -= 1
        known |= estimated_terms(texts[begin])
    others = set(range(len(every))).difference(asking, range(begin, asking[0]))
    return Sentences(
        [every[at] for at in asking], every[begin : asking[0]], [every[at] for at in sorted(others)]
    )


def _points_back(question: str) -> bool:
    """Return whether a question speaks of something that was named before it."""
    word = _POINTING.search(question)
    return word is not None and _NAME.search(question, 0, word.start()) is None


def joined(text: str, parts: list[Span]) -> str:
    """Return sentences of a text as one text."""
    return " ".join(text[first:last].strip() for first, last in parts)


def embedded(text: str) -> str:
    """Return what of a message is compared by meaning: what it asks, and all of a short one.

    A few sentences are mostly about one thing.
    """
    text = clipped(text)
    return text if len(sentences(text).telling) <= _SHORT else focus(text)


def focus(text: str) -> str:
    """Return what a message asks, in its own words; all of it where nothing asks."""
    text = clipped(text)
    found = sentences(text)
    return joined(text, found.asked) if found.asking and found.telling else text
