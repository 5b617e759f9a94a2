"""Split English sentences into clauses, and tell what a clause may tell: no doubt, nobody else, no passing time."""

from typing import Final

from mnemark.extraction.candidate import BLOT
from mnemark.extraction.english_objects import POINTING
from mnemark.extraction.english_parse import parse, without_lead, words
from mnemark.extraction.english_words import class_of, word_set
from mnemark.text.lazy_pattern import lazy_pattern

PASSING: Final = lazy_pattern(
    r"(?i)\b(?:today|tonight|yesterday|tomorrow|this (?:morning|afternoon|evening|week|weekend|month|time|year)|right now|at the moment|"
    r"last (?:night|week|weekend|month)|next (?:week|weekend|month|time)|the other day|so far|just (?!outside|as|like|one|a )\w+|lately|recently|at this point|"
    r"again|for now|later|soon|yet|currently|(?:a (?:few|couple of)|two|three) (?:days|weeks|hours|minutes) ago|earlier|in (?:a|an|two|three|\d+) (?:minutes?|hours?|days?|weeks?))\b"
)


UNSURE: Final = lazy_pattern(
    r"(?i)\b(?:maybe|perhaps|probably|might|(?-i:may)|thinking (?:of|about)|considering|wish|hope|hopefully|supposedly|apparently|i guess|i think|not sure|"
    r"wondering|if|unless|whether|could|should|would(?! rather)|supposed to|need to|have to|has to|had to|seems?|please|let's|lets|thanks?|thank you|"
    r"(?:he|she|they|someone|people|everyone|somebody|nobody|\w+'s) (?:said|says|told|claims?|thinks?))\b|[?]"
)


_LISTENER: Final = lazy_pattern(r"(?i)\b(?:you|your|yours|yourself|you're|you've|u|ur|y'all|ya)\b")


_SPLIT: Final = lazy_pattern(
    r"(?i)(?:[,;]|(?<!\s)\s+[-–—]+|(?<=\w)\s?\()\s*+(?:(?:and|but|so|because|although|though|plus)\s+)?(?=(?:i|i'm|i've|im|ive|my|we|we're|we've|our|he|she|they|it)\s)|"
    r"(?<!\s)\s++(?:and|but|so|because|although|though|plus)\s+(?=(?:i|i'm|i've|im|ive|my|we|we're|we've|our|he|she|they|it)\s)"
)


_TOGETHER: Final = lazy_pattern(
    r"(?i)(?<!\s)\s++(?:and|but)\s+(?:also\s+)?(?=(?:live|work|am|love|like|enjoy|hate|have|play|speak|own|drive|teach|study|prefer|do not|don't|dont)\s)"
)


AFTERTHOUGHT: Final = lazy_pattern(
    r"(?is), (?:so|his|her|its|the|and the|which|it's|it|this|that|there|'?cause|as|making|working|even|especially|then|hence)\b.*$"
)


_PERSON: Final = lazy_pattern(r"(?i)(?:both )?my [\w-]+(?: [\w-]+)?,?")
_BOUND: Final = lazy_pattern(r"(?i)\b(?:to|who|that|which|how|will|can|could|where|what)\b")


def clauses(sentence: str) -> list[str]:
    """Split a sentence into main clauses that each have the speaker as subject.

    >>> clauses("Yeah, I like pizza, but I love sushi and hate olives")
    ['I like pizza', 'I love sushi', 'I hate olives']
    """
    found = []
    for part in _joined_subjects(_SPLIT.split(without_lead(sentence))):
        first, *more = _TOGETHER.split(without_lead(part)) if _TOGETHER.search(part) else [part]
        if more and not _goes_on(first):
            first, more = part, []
        said = (
            [first, *(f"I {one}" for one in more)] if first[:2].casefold() in {"i ", "i'", "im"} else [part]
        )
        found += [one.strip(" ,;.!") for one in said if one.strip(" ,;.!")]
    return found


def _joined_subjects(parts: list[str]) -> list[str]:
    """Put together what was split inside of a subject: "my wife" and "I separated"."""
    found: list[str] = []
    for part in parts:
        if found and part[:2].casefold() in {"i ", "i'"} and _PERSON.fullmatch(found[-1]):
            found[-1] += f" and {part}"
        else:
            found.append(part)
    return found


def _goes_on(first: str) -> bool:
    """Return whether a verb behind "and" can have the subject of the clause before: "I ski and love snow"."""
    said = None if _BOUND.search(first) else parse(first)
    return said is not None and said.own and said.tense == "present" and not said.ended


def is_told(clause: str) -> bool:
    """Return whether a clause can tell of the speaker: no doubt, nothing about the listener, no quotation."""
    return BLOT not in clause and not UNSURE.search(clause) and not _LISTENER.search(clause)


def stands_alone(clause: str) -> bool:
    """Return whether a clause can be understood alone: its pronouns refer to people or animals in it."""
    low = [word.casefold() for word in words(clause)]
    people = next((at for at, word in enumerate(low) if class_of(word) in BEINGS), len(low))
    return not any(
        word in POINTING - _SELVES
        and not (at > people and word in THEIRS)
        and not (word == "that" and _relative(low, at))
        and not (word == "same" and "the" in low)
        for at, word in enumerate(low)
    )


BEINGS: Final = frozenset({"child", "sibling", "partner", "parent", "relative", "animal", "person"})


_SELVES: Final = frozenset({"me", "us", "myself", "ourselves"})


THEIRS: Final = frozenset({"he", "she", "him", "her", "his", "they", "them", "their", "who"})


def _relative(low: list[str], at: int) -> bool:
    """Return whether "that" begins a clause about the noun before it."""
    return (
        0 < at < len(low) - 1
        and low[at - 1].isalpha()
        and class_of(low[at - 1]) != ""
        and low[at + 1] not in POINTING
    )


NOUN_ENDS: Final = word_set(
    "who that which and but with at in for of from by on because so since to when where while as , ; - – — ( . than"
)
