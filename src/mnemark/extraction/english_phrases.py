"""Split noun phrases, shared by the readers of facts."""

from collections.abc import Sequence
from typing import Final

from mnemark.extraction.english_objects import joined
from mnemark.extraction.english_words import word_set

NUMBERS: Final = word_set(
    "a an one two three four five six seven eight nine ten eleven twelve several many some no couple few another"
)


_END_OF_NOUN: Final = word_set(
    "last yesterday today ago recently who that which and but with at in for of from by on because so since to when where while as , ; named called - – — ( : ."
)


_ADVERBS: Final = frozenset({"now", "currently", "nowadays"})
"""Not in capitals: "Apocalypse Now"."""


def noun_phrase(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split words into the noun phrase at the start and what follows it."""
    for at, word in enumerate(words):
        if word.casefold() in _END_OF_NOUN or word in _ADVERBS:
            return words[:at], words[at:]
    return words, ()


def plain(words: Sequence[str]) -> bool:
    """Return whether words are those of a plain noun phrase."""
    return all(
        word[0].isalnum()
        and word.casefold() not in {"not", "bit", "very", "so", "such", "my", "your", "and", "or"}
        for word in words
    )


def without_article(words: Sequence[str]) -> str:
    """Return the words without the article, as a value."""
    return joined(words[1:] if words and words[0].casefold() in {"a", "an", "the"} else words)
