"""Tell lasting English sentences about the speaker from passing ones."""

from typing import Final

from mnemark.extraction.english_clauses import (
    AFTERTHOUGHT,
    BEINGS,
    PASSING,
    clauses,
    is_told,
    stands_alone,
)
from mnemark.extraction.english_events import EVENTS, event_topic, lasting_topic, progress_topic
from mnemark.extraction.english_habits import habit_topic, home_topic, is_work, verb_topic
from mnemark.extraction.english_objects import is_general, is_taste
from mnemark.extraction.english_others import topic_of_others
from mnemark.extraction.english_parse import HABITUAL, Said, parse, without_lead, words
from mnemark.extraction.english_states import HAD, being_topic, having_topic
from mnemark.extraction.english_words import HABITS, class_of, singular, word_set
from mnemark.text.lazy_pattern import lazy_pattern


def kept(sentence: str, *, alone: bool = False) -> tuple[str, str] | None:
    """Return what to keep of a sentence and its topic: the whole, else its first lasting clause; else None.

    Where the sentence is the whole turn (`alone`), it is said to be known: any plain present will do.
    """
    text = without_lead(sentence).strip(" ,;")
    parts = clauses(text)
    parts = [AFTERTHOUGHT.sub("", part, count=1) for part in parts]
    topics = [_topic(part) for part in parts]
    if PASSING.search(text):
        topics = topics[:1]
        if not text.startswith(parts[0]):
            return None
    if not any(topics) and alone and len(parts) <= 2 and (topic := _plain(text)):
        return text, topic
    if not any(topics):
        return None
    topic = next(filter(None, topics))
    if (
        len(words(text)) <= _MOST_WORDS
        and all(topics)
        and is_told(text)
        and not PASSING.search(text)
        and not AFTERTHOUGHT.search(text)
    ):
        return text, topic
    return parts[topics.index(topic)], topic


_MOST_WORDS: Final = 26


def topic_of(sentence: str) -> str:
    """Return the topic of a sentence that is plainly lasting and about the speaker's life; else ""."""
    found = kept(sentence)
    return found[1] if found else ""


def _topic(clause: str) -> str:
    if not is_told(clause):
        return ""
    if _favored(clause) and stands_alone(clause) and not PASSING.search(clause):
        return _favored(clause)
    said = parse(clause)
    if said is None or not stands_alone(clause):
        return ""
    news = said.verb in EVENTS and said.tense in {"past", "perfect"}
    if PASSING.search(_JUST.sub("", clause) if news else clause):
        return ""
    habit = HABITUAL.match(without_lead(clause)) is not None
    return _of_self(said, habit=habit) if said.own else topic_of_others(said)


_JUST: Final = lazy_pattern(r"(?i)\b(?:just|recently|finally|(?:last|this) (?:month|year|week|weekend))\b ?")
"""Words beside news that stay true: "I just graduated"."""


_FAVORED: Final = lazy_pattern(
    r"(?i)^(?:[\w'&.-]+ ){1,6}(?:is|are) (?:(?:my|one of my|some of my|our) favou?rites?(?: [\w-]+){0,3}|my (?:only |main )?(?:hobby|passion|idol|hero|dream job))$|^(?:my )?(?:\w+ ){1,3}(?:is|are) (?:very |really |extremely )?important to me$|^(?:my|our) (?:other )?favou?rites? (?!is\b|are\b).{3,80}$"
)


def _favored(clause: str) -> str:
    return (
        "tastes"
        if _FAVORED.match(clause)
        and not {"part", "thing", "moment", "memory"} & set(clause.casefold().split())
        else ""
    )


_MOOD: Final = word_set(
    "accept agree understand see know need think guess mean want give feel wait hope try get look notice find thank appreciate assume suggest "
    "say tell ask let wonder doubt bet suppose recommend expect promise trust forget remember add choose decide confirm update send push "
    "merge commit deploy test run check fix change copy paste open close click follow start stop finish continue please call miss wish "
    "admire apologize regret believe request propose order refer include attach share worry care hear do love like"
)
"""Verbs of requests, of work in hand and of what one thinks just now."""


_PASSING_NOUNS: Final = word_set(
    "question problem idea meeting issue error bug doubt feeling plan request task headache cold fever time trouble function file list table "
    "script class method variable test query column field page code branch commit request pr deadline suggestion concern point thought clue "
    "interview appointment call exam minute moment day week hour access permission choice option draft document report data dataset server "
    "config log string array input output button form image photo picture screenshot link email message hour result copy version"
)


def _plain(text: str) -> str:  # noqa: PLR0911 - one question a wording
    """Return the topic of a short sentence that stands alone and says in the present what is so."""
    said = parse(text)
    if (
        said is None
        or not is_told(text)
        or PASSING.search(text)
        or not stands_alone(text)
        or text.endswith("!")
    ):
        return ""
    low = said.low
    if said.tense not in {"present", "can", "perfect"} or said.verb in _MOOD or not low or len(low) > 12:
        return ""
    if (
        {singular(word) for word in low} & _PASSING_NOUNS
        or not text.isascii()
        or any(mark in text for mark in "`/_{}<>=\\")
    ):
        return ""
    if said.own and said.subject == "we":
        return ""
    if said.verb == "be":
        noun = singular(said.low[-1])
        return (
            "self"
            if low[0] in {"a", "an", "the"}
            and len(low) > 1
            and not {"bit", "little", "fan"} & set(low)
            and noun.isalpha()
            and said.own
            else ""
        )
    if said.tense == "perfect" and said.verb not in {
        "be",
        "have",
        "see",
        "read",
        "take",
        "visit",
        "own",
        "win",
        "train",
        "live",
        "work",
        "lose",
        "meet",
        "write",
    }:
        return ""
    if said.verb == "have":
        kind = next((kind for word in reversed(low) if (kind := HAD.get(class_of(word), ""))), "possessions")
        return (
            kind
            if low[0] in {"a", "an", "no", "some", "many", "more", "my"} | _COUNTS or low[0].isdecimal()
            else ""
        )
    if not said.own and class_of(said.subject.split(" ")[-1]) not in BEINGS:
        return ""
    return HABITS.get(said.verb, "self") if said.own else "people"


_COUNTS: Final = word_set("one two three four five six seven eight nine ten several few")


def _of_self(said: Said, *, habit: bool) -> str:  # noqa: C901, PLR0911, PLR0912 - one question a wording
    verb, low = said.verb, said.low
    if said.tense in {"would", "will", "was"}:
        return ""
    if verb == "be" and said.tense == "perfect" and low[:1] == ("to",) and len(low) > 1:
        return "travel" if is_general(said.rest, longest=10, lenient=True) else ""
    if verb == "be":
        return being_topic(said)
    if verb in {"have", "own"} and said.tense in {"present", "past"}:
        return having_topic(said)
    if verb in {"like", "love", "enjoy", "adore", "prefer", "hate", "dislike", "detest", "despise"}:
        fine = said.rest and (is_taste(said.rest) or _compared(said)) and len(low) <= 8
        return "tastes" if fine and (said.tense in {"present", "can"} or said.ended) else ""
    if (
        (verb in {"live", "reside", "bear", "move"} or (verb == "grow" and low[:1] == ("up",)))
        and low
        and said.tense != "can"
    ):
        return home_topic(said)
    if verb == "work":
        return "work" if is_work(said) else ""
    if said.ended and verb in HABITS and is_general(said.rest or ("x1",), longest=10):
        return HABITS[verb]
    if (
        said.tense == "perfect"
        and not said.negative
        and (verb == "visit" or (verb == "be" and low[:1] == ("to",)))
        and len(low) > 1
    ):
        return "travel" if is_general(said.rest, longest=10) else ""
    if verb in EVENTS and said.tense in {"past", "perfect"}:
        return event_topic(said)
    if (
        verb == "go"
        and said.tense == "past"
        and not said.negative
        and low[:1] == ("to",)
        and low[1:]
        and (low[1] in {"college", "university"} or low[-1] in {"college", "university"})
    ):
        return "study"
    if said.tense == "perfect":
        return lasting_topic(said)
    if said.tense == "progressive":
        return progress_topic(said)
    if verb in HABITS and said.tense in {"present", "can"}:
        return habit_topic(said, habit=habit)
    if verb in {"weigh", "stand"} and low and low[0][0].isdigit():
        return "self"
    return verb_topic(said)


def _compared(said: Said) -> bool:
    """Return whether two general things are compared: "like blue more than red"."""
    at = next((at for at, word in enumerate(said.low) if word in {"more", "better", "best", "most"}), 0)
    rest = [word for word in said.rest[at + 1 :] if word.casefold() != "than"]
    return at > 0 and is_taste(said.rest[:at]) and (not rest or is_taste(rest))
