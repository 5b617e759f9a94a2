"""Tell which turns only ask, and which of them ask what a query does: a question is no evidence.

It may hold evidence all the same: "Is the server on port 8080?" tells a port. So a turn is an echo if it has
no content word but the query's and those of asking ("Do you remember anything about …").
"""

import re
from functools import cached_property
from itertools import chain
from typing import Final

from mnemark.summary.filler import is_courtesy
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import normalize
from mnemark.text.words.stopwords import ASKING_FORM, QUESTION_WORDS_ZH, estimated_terms

_LONGEST: Final = 2_000
"""Characters of a query that are read."""
_LONGEST_QUESTION: Final = 400
"""Maximum number of characters of a turn that only asks."""
FEW: Final = 2
"""Content words that a turn may have beside the query's to ask for hardly more than that does."""
_OF_QUESTIONS: Final = lazy_pattern(
    r"\basked\b|\b(?:did|do|have) (?:i|we|you) (?:ever )?ask\b|\b(?:my|our|your) (?:\w+ )?questions?\b|"
    r"问过|问了|我问|你问|提问",
    re.IGNORECASE,
)
_SENTENCE_END: Final = lazy_pattern(r"[.!?。！？；\n](?:(?<=[。！？；\n])|(?=\s)|$)")
_SOMEBODY: Final = r"(?:you|i|we|it|there|they|he|she|any\w{0,9})"
_SOMETHING: Final = r"(?:the|my|our|your|his|her|their|this|that|these|those)"
_WHAT: Final = r"(?:what|which|who|whose|whom|where|when|why|how)"
_ASKS: Final = lazy_pattern(
    r"(?:(?:hi|hello|hey|ok(?:ay)?|so|and|but|also|now|well|please|sorry|then|btw)\b[\s,:!.]{0,3}){0,3}(?:"
    rf"{_WHAT}(?:['’]s\b| (?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had)\b)|"
    rf"(?:is|are|was|were|do|does|did|can|could|would|will|should|have|has|had|may)(?:n['’]t)? {_SOMEBODY}\b|"
    rf"(?:is|are|was|were|does|did)(?:n['’]t)? {_SOMETHING}\b|"
    rf"(?:(?:can|could|would|will) you )?(?:tell|remind|show) (?:me|us) (?:again )?"
    rf"(?:{_WHAT}|whether|if|about|of|everything|all|anything|more)\b|"
    rf"(?:i(?:['’]m| am| was)? )?(?:just )?wonder(?:ing)?\b|i(?:['’]d| would)? (?:like|want|need) to know\b|"
    r"any (?:idea|news|word|info\w{0,9})\b)",
    re.IGNORECASE,
)
_ASKS_ZH: Final = lazy_pattern(
    r"(?:[请你您能帮我]|麻烦)*+(?:告诉我|说说|讲讲|查一?[下查]|找一?[下找]|想知道|想问)"
)
_LAST_ZH: Final = ("吗", "呢", "么", "来着", "没有")
_ENDING: Final = " \t.!~。！～"
_MARKS: Final = ("?", "？")
_CLOSING: Final = " \t\"'”’」』）)"


def wants_questions(text: str) -> bool:
    """Return whether a query is about what was asked: then questions may answer it."""
    return _OF_QUESTIONS.search(text[:_LONGEST]) is not None


def only_asks(text: str) -> bool:
    """Return whether a turn consists of questions, with courtesies between them at most."""
    if len(text) > _LONGEST_QUESTION:
        return False
    found, start = False, 0
    for end in chain((match.end() for match in _SENTENCE_END.finditer(text)), [len(text)]):
        sentence, start = text[start:end].strip(), end
        if sentence and _surely_asks(sentence):
            found = True
        elif sentence and not is_courtesy(sentence):
            return False
    return found


def asks(sentence: str) -> bool:
    """Return whether a sentence may ask, by its form: 谁 asks, but not in 谁都有."""
    has_word = not sentence.isascii() and any(word in sentence for word in QUESTION_WORDS_ZH)
    return has_word or _surely_asks(sentence)


def _surely_asks(sentence: str) -> bool:
    if sentence.rstrip(_CLOSING).endswith(_MARKS) or _ASKS.match(sentence):
        return True
    if sentence.isascii():
        return False
    return bool(sentence.rstrip(_ENDING).endswith(_LAST_ZH) or _ASKS_ZH.match(sentence))


class Echoes:
    """Tells which turns only repeat a query, so that they are no evidence."""

    def __init__(self, query: str) -> None:
        self._query = query.strip()
        self._normal = normalize(query[:_LONGEST])

    def has(self, text: str) -> bool:
        """Return whether a turn's text is one: it asks and has no other content word, or is the query itself.

        A query of one word that does not ask is a keyword.
        """
        return self.beyond(text) == 0 or self.is_query(text)

    def is_query(self, text: str) -> bool:
        """Return whether a text is the query, but for blanks around it and case, and that no keyword."""
        text = text.strip()
        same = len(text) == len(self._query) and text.casefold() == self._query.casefold()
        return same and len(self._terms) > 1

    def beyond(self, text: str) -> int | None:
        """Return how many content words a turn that only asks has beside the query's; None for others."""
        if not only_asks(text):
            return None
        return sum(not self._is_asked(term) for term in estimated_terms(text, ASKING_FORM))

    def _is_asked(self, term: str) -> bool:
        return term in self._terms or (not term.isascii() and term in self._normal)

    @cached_property
    def _terms(self) -> set[str]:
        return estimated_terms(self._normal)
