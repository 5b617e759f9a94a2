"""Tell which sentences of the owner are plainly lasting, and clean them to be kept as statements.

A statement is what is kept of a sentence that fits no predicate: the owner's words, under a topic.
"""

from typing import Final, NamedTuple

from mnemark.text.extraction.chinese_statements import asked as chinese_asked
from mnemark.text.extraction.chinese_statements import cleaned as chinese_cleaned
from mnemark.text.extraction.chinese_statements import topic_of as chinese_topic
from mnemark.text.extraction.english_statements import topic_of as english_topic
from mnemark.text.extraction.sentences import Sentence

MOST: Final = 160
"""Maximum characters of a statement; a longer sentence tells a story."""


class Statement(NamedTuple):
    """A lasting sentence and its topic."""

    text: str
    topic: str


def statement(sentence: Sentence, *, chinese: bool, wanted: bool = False) -> Statement | None:
    """Return what to keep of a sentence of the owner; None where it is not plainly lasting.

    Args:
        sentence: the sentence.
        chinese: whether it is Chinese.
        wanted: whether the owner asked that it be remembered: then it is kept.
    """
    if len(sentence.text) > MOST:
        return None
    topic = (chinese_topic if chinese else english_topic)(sentence.blotted)
    if wanted:
        return Statement(_cleaned(sentence.text, chinese=False), topic or "self")
    return Statement(_cleaned(sentence.text, chinese=chinese), topic) if topic else None


def asked(sentence: Sentence) -> Sentence | None:
    """Return what the owner asks to be remembered, without the request; None if nothing is asked."""
    start = chinese_asked(sentence.blotted)
    return Sentence(sentence.text[start:], sentence.blotted[start:]) if start else None


def _cleaned(text: str, *, chinese: bool) -> str:
    return (chinese_cleaned(text) if chinese else text).strip(" \t.。!！~～")
