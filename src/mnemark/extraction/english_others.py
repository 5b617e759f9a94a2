"""Tell lasting sentences about relatives, pets and things of the speaker from passing ones."""

from typing import Final

from mnemark.extraction.english_clauses import BEINGS, NOUN_ENDS, PASSING, THEIRS
from mnemark.extraction.english_objects import is_general, is_taste
from mnemark.extraction.english_parse import Said
from mnemark.extraction.english_words import KIN, ROLES, TRAITS, class_of, is_job, singular, word_set


def topic_of_others(said: Said) -> str:
    """Return the topic of what is said of a relative, a pet, or something of the speaker's."""
    subject = said.subject.split(" ")
    kind = class_of(subject[-1])
    if said.tense in {"would", "will", "was", "progressive"}:
        return ""
    if kind in BEINGS and (
        subject == ["best", "friend"]
        or subject[-1]
        not in {
            "friend",
            "colleague",
            "coworker",
            "roommate",
            "neighbor",
            "neighbour",
            "family",
            "boss",
            "coach",
            "teacher",
            "therapist",
            "doctor",
        }
    ):
        return ("pets" if kind == "animal" else "people") if _of_being(said, kind) else ""
    return _of_thing(said, subject)


_LIFE_EVENTS: Final = word_set("die divorce emigrate immigrate retire separate graduate")
"""Verbs of what changes a life."""
_DOINGS: Final = word_set(
    "work live teach own play speak study serve run attend coach collect drive believe smoke"
)
"""Verbs of what someone does for long."""


def _of_being(said: Said, kind: str) -> bool:  # noqa: C901, PLR0911 - one question a wording
    """Return whether a relative's or a pet's trait, job, home, name or lot is told."""
    low, verb = said.low, said.verb
    if said.rest and not is_general(
        [w for w in said.rest if w.casefold() not in THEIRS | {"my", "the"}], longest=10
    ):
        return False
    if verb == "be" and low:
        past = said.tense in {"past", "perfect"}
        if low[0] in {"a", "an"} and len(low) > 1:
            noun = singular(next((low[at - 1] for at in range(1, len(low)) if low[at] in NOUN_ENDS), low[-1]))
            return (
                is_job(noun)
                or noun in ROLES
                or (kind == "animal" and class_of(noun) == "animal")
                or (singular(noun) in KIN)
            )
        if (
            low[0] in {"named", "called"}
            or (low[0] == "my" and len(low) > 1 and low[-1] in {"friend", "hero", "world", "everything"})
            or low[0] == "from"
            or low in {("alive",), ("in", "jail"), ("in", "prison"), ("in", "heaven")}
        ):
            return True
        if low[0] in {"dead", "deceased", "gone", "born", "murdered", "killed"} or (
            low[0].isdecimal() and (len(low) == 1 or low[1] in {"years", "year", "months"})
        ):
            return True
        return (
            low[0] in TRAITS
            and len(low) <= 3
            and not past
            and low[0]
            not in {"broke", "patient", "strong", "quiet", "kind", "straight", "beautiful", "smart"}
        ) or (len(low) == 1 and is_job(low[0]))
    if verb in _LIFE_EVENTS and said.tense in {"past", "perfect", "present"}:
        return not PASSING.search(" ".join(low))
    if verb == "pass" and (low[:1] == ("away",) or (not low and said.tense == "perfect")):
        return True
    if verb in _DOINGS:
        return (
            bool(low)
            and said.tense in {"present", "past"}
            and not said.negative
            and low[0] not in {"hard", "on", "out", "with", "for"}
            and (said.tense == "present" or verb in {"serve", "work", "teach", "live", "own", "play"})
        )
    if verb in {"like", "love", "hate", "enjoy"}:
        return said.tense == "present" and bool(said.rest) and is_taste(said.rest)
    if verb in {"have", "suffer"}:
        return (
            said.tense == "present"
            and class_of(low[-1]) in {"illness", "body", "animal", "child", "study", "sibling"}
            if low
            else False
        )
    return (verb in {"come", "grow"} and low[:1] in {("from",), ("up",)}) or (
        verb == "move" and said.tense == "past" and low[:1] in {("to",), ("out",)}
    )


_THINGS: Final = {
    "hair": "self", "eyes": "self", "height": "self", "hobby": "leisure", "hobbies": "leisure", "dream": "plans", "job": "work", "career": "work", "major": "study",
    "degree": "study", "family": "people", "house": "home", "apartment": "home", "hometown": "home", "car": "possessions", "truck": "possessions", "religion": "beliefs",
    "ethnicity": "self", "heritage": "self", "blood type": "health", "birthday": "self", "anniversary": "people", "weight": "self", "parents": "people", "passion": "leisure",
    "first language": "self", "native language": "self", "zodiac sign": "self", "sign": "self", "nationality": "self", "bedtime": "habits", "dream job": "plans", "spirit animal": "tastes",
    "biggest fear": "self", "greatest fear": "self", "family tradition": "people", "specialty": "skills", "ancestors": "people", "business": "work", "company": "work",
}  # fmt: skip


def _of_thing(said: Said, subject: list[str]) -> str:
    name, low = " ".join(subject), said.low
    if (
        said.verb not in {"be", "have", "include", "come", "own", "do", "drive", "live"}
        or said.tense != "present"
        or not low
        or said.negative
    ):
        return ""
    if subject[0] in {"favorite", "favorites"}:
        return (
            "tastes"
            if is_general(said.rest, longest=12) and not {"part", "thing", "moment", "memory"} & set(subject)
            else ""
        )
    topic = _THINGS.get(name, "")
    if not topic or not is_general(said.rest, longest=8):
        return ""
    if name in {
        "job",
        "career",
        "family",
        "car",
        "house",
        "truck",
        "apartment",
        "degree",
        "business",
        "company",
    }:
        if said.verb == "live":
            return "people" if low[0] in {"in", "near"} and len(low) > 1 else ""
        firm = (low[0] in {"a", "an", "from", "in", "called", "named", "at"} and len(low) > 1) or (
            low[0] in {"red", "blue", "black", "white", "green", "silver", "large", "huge", "small", "big"}
            and len(low) == 1
        )
        return (
            topic if (firm and class_of(low[-1]) != "") or (firm and low[0] in {"from", "in", "at"}) else ""
        )
    return topic
