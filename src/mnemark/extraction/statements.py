"""Tell which sentences of the owner are plainly lasting, and clean them to be kept as statements.

A statement is what is kept of a sentence that fits no predicate: the owner's words, under a topic.
"""

from typing import Final, NamedTuple

from mnemark.extraction.chinese_statements import asked as chinese_asked
from mnemark.extraction.chinese_statements import cleaned as chinese_cleaned
from mnemark.extraction.chinese_statements import topic_of as chinese_topic
from mnemark.extraction.english_asked import asked as english_asked
from mnemark.extraction.english_statements import kept as kept_english
from mnemark.extraction.sentences import Sentence
from mnemark.text.lazy_pattern import lazy_pattern

MOST: Final = 160
"""Maximum characters of a statement; a longer sentence tells a story."""
_AROUND: Final = " \t.。!！~～"
_OWN: Final = lazy_pattern(r"(?i)\b(?:i|i'm|my|me|mine|to)\b")


class Statement(NamedTuple):
    """A lasting sentence and its topic."""

    text: str
    topic: str


def statement(
    sentence: Sentence, *, chinese: bool, wanted: bool = False, alone: bool = False
) -> Statement | None:
    """Return what to keep of a sentence of the owner; None where it is not plainly lasting.

    Args:
        sentence: the sentence.
        chinese: whether it is Chinese.
        wanted: whether the owner asked that it be remembered: then it is kept.
        alone: whether it is the whole turn, which is then said to be known.
    """
    if len(sentence.text) > MOST and not wanted:
        return None
    if chinese:
        topic = chinese_topic(sentence.blotted)
        if wanted:
            return Statement(sentence.text.strip(_AROUND), topic or "self")
        return Statement(chinese_cleaned(sentence.text).strip(_AROUND), topic) if topic else None
    kept = kept_english(sentence.blotted, alone=alone)
    if wanted:
        topic = kept[1] if kept else "self" if _OWN.search(sentence.blotted) else "project"
        return Statement(sentence.text.strip(_AROUND), topic)
    return Statement(kept[0].strip(_AROUND), kept[1]) if kept else None


def asked(sentence: Sentence) -> Sentence | None:
    """Return what the owner asks to be remembered, without the request; None if nothing is asked."""
    part = english_asked(sentence.blotted)
    if part is None and (start := chinese_asked(sentence.blotted)):
        part = slice(start, None)
    return Sentence(sentence.text[part], sentence.blotted[part]) if part else None
