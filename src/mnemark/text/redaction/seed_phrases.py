"""Find the words from which a wallet's keys are made, beside what they are called.

A list has 12 to 24 words, each of three to eight small letters, or one Chinese character; without blanks it
has 12, 15, 18, 21 or 24. The words of a sentence are shorter or longer, or among `_OF_SENTENCES`.
"""

from collections.abc import Iterator
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction.spans import Span, positions

_NAMES: Final = (
    "seed phrase", "seed words", "recovery phrase", "recovery words", "backup phrase", "mnemonic",
    "wallet seed", "secret phrase", "助记词", "助憶詞", "恢复短语", "恢复词",
)  # fmt: skip
_COUNTS: Final = frozenset({12, 15, 18, 21, 24})
_OF_SENTENCES: Final = frozenset({
    "the", "and", "for", "are", "was", "has", "had", "not", "but", "our", "his", "her", "who", "its", "from",
})  # fmt: skip
_BETWEEN: Final = r"[ \t,，、|*_`\"']{0,3}+(?:\r?\n)?+[ \t>*-]{0,4}+(?:[0-9]{1,2}+[.):：]?+[ \t]{0,2}+)?+"
_LEAD: Final = lazy_pattern(
    r"(?:[^\n一-龥]{0,40}?(?:[:：=]|\b(?:is|are)\b|[是为])|[ ]?(?=\n)|)"
    r"[\s:：*_`\"'>-]{0,6}(?:1[.):：]?[ ]{0,2})?"
)
_ENGLISH: Final = lazy_pattern(
    rf"[a-z]{{3,8}}+(?:(?!\w){_BETWEEN}(?<!\w)[a-z]{{3,8}}+(?![A-Za-z])){{11,24}}+"
)
_CHINESE: Final = lazy_pattern(
    r"[一-龥](?:[ ，、]{1,2}[一-龥]){11,24}(?![一-龥])|(?<=[:：=\s])[一-龥]{12,24}(?=[\s。]|\Z)"
)
_WORD: Final = lazy_pattern(r"[a-z]+|[一-龥]")


def seed_phrases(text: str) -> Iterator[Span]:
    """Yield lists of words behind "seed phrase", "助记词" and the like."""
    lowered = text.replace("İ", "i").lower()
    for name in _NAMES:
        for at in positions(lowered, name) if name in lowered else ():
            begin = _LEAD.match(text, at + len(name)).end()  # type: ignore[union-attr]  # may be empty
            found = _ENGLISH.match(text, begin) or _CHINESE.match(text, begin)
            words = _WORD.findall(found[0]) if found else []
            counted = found is not None and (len(words) in _COUNTS or not found[0].isalpha())
            if found and counted and _OF_SENTENCES.isdisjoint(words):
                yield "seed", *found.span()
