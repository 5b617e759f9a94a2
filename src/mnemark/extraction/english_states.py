"""Tell lasting states from passing ones: what the speaker is and has."""

from typing import Final

from mnemark.extraction.english_clauses import BEINGS, NOUN_ENDS
from mnemark.extraction.english_objects import is_general
from mnemark.extraction.english_parse import Said
from mnemark.extraction.english_words import (
    DIETS,
    KIN,
    ROLES,
    TRAITS,
    class_of,
    is_job,
    singular,
    word_set,
)

_PASSING_TRAITS: Final = word_set(
    """
    strong smart patient beautiful pretty broke sensitive kind funny friendly white black blue
    straight honest creative lazy fit quiet social independent rich poor competitive
    """
)
"""Words of `TRAITS` that mean something else before more words: "strong enough to"."""
_GROUPS: Final = word_set(
    """
    school college university grade army navy military band marines choir fraternity sorority club
    seminary 30s 20s 40s 50s 60s 70s twenties thirties forties fifties sixties highschool
    relationship
    """
)
"""What someone is in or at who is a part of it, or of an age."""


def being_topic(said: Said) -> str:  # noqa: C901, PLR0911, PLR0912 - one question a wording
    """Return the topic of what the speaker is: a role, a trait, of an age."""
    low = said.low
    if not low or (
        said.negative
        and low[0] not in {"married", "religious", "picky", "good", "allowed", "allergic", "in"} | TRAITS
    ):
        return ""
    if said.tense in {"past", "perfect"}:
        past = (
            (low[0] in {"a", "an"} and _role(said))
            or low[0] in {"born", "raised", "adopted", "homeschooled", "divorced", "orphaned", "diagnosed"}
            or (low[0] in {"married", "vegan", "vegetarian", "sober", "retired"} and said.tense == "perfect")
            or (
                low[0] == "in"
                and len(low) > 1
                and (low[-1] in {"army", "navy", "military", "marines", "banking", "foster"} or "band" in low)
            )
            or (low[0] == "to" and said.tense == "perfect" and len(low) > 1 and said.rest[1][:1].isupper())
            or (low[:1] == ("with",) and "for" in low and class_of(low[2]) == "partner")
        )
        return _kind(said) if past and is_general(said.rest, longest=12) else ""
    if low[0] in {"a", "an", "the", "one", "part"} and _role(said):
        return _kind(said)
    if low[0] in _TRAIT_LEADS and len(low) > 1:
        low = low[1:]
    if low[0] == "allergic" and len(low) < 3:
        return ""
    if (
        low[0] in TRAITS
        and len(low) <= 10
        and (
            len(low) == 1
            or low[1] in {"and", ",", "but", "with", "to", "by", "than", "in", "for", "at"}
            or (len(low) == 2 and low[1] in ROLES)
        )
    ):
        if low[0] in _PASSING_TRAITS and len(low) > 3:
            return ""
        return (
            "health"
            if class_of(low[0]) == "illness"
            or low[0] in {"pregnant", "allergic", "diabetic", "blind", "deaf", "sober"}
            else "self"
        )
    if low[0] in DIETS:
        return "food"
    if (
        low[0] in {"afraid", "scared", "terrified"}
        and low[1:2] == ("of",)
        and not any(word.endswith("ing") for word in low[2:3])
        and is_general(said.rest[2:], longest=5)
    ):
        return "self"
    if (
        low[0] in {"good", "great", "bad", "awful", "terrible", "skilled"}
        and low[1:2] in {("at",), ("with",), ("in",)}
        and is_general(said.rest[2:], longest=5)
    ):
        return "skills"
    if low[:1] == ("from",) or low[:2] == ("of", "irish"):
        return "home" if len(low) > 1 and is_general(said.rest[1:], longest=6) else ""
    if (
        low[0] in {"interested", "passionate", "into", "obsessed", "addicted", "fond"}
        and len(low) > (1 if low[0] == "into" else 2)
        and is_general(said.rest[1 if low[0] == "into" else 2 :], longest=6)
    ):
        return "tastes"
    if low[0] in {"in", "at"} and low[-1] in _GROUPS:
        return (
            "study"
            if low[-1] in {"school", "college", "university", "grade"}
            else "work"
            if low[-1] in {"army", "navy", "military", "marines"}
            else "self"
        )
    if (
        low[0].rstrip("'").isdecimal()
        or (len(low) > 2 and low[0][0].isdigit() and "tall" in low)
        or (low[0] in {"only", "almost", "over"} and "tall" in low)
    ):
        return "self" if {"tall", "old", "weeks", "months"} & set(low) else ""
    if low[0] == "close" and low[1:2] == ("to",) and len(low) > 3 and class_of(low[-1]) in BEINGS:
        return "people"
    if low[0] in {"raised", "born", "adopted"}:
        return "self"
    return ""


_TRAIT_LEADS: Final = frozenset(
    {
        "very",
        "quite",
        "pretty",
        "really",
        "fairly",
        "rather",
        "extremely",
        "only",
        "too",
        "kind",
        "a",
        "both",
        "somewhat",
        "naturally",
        "happily",
    }
)


def _role(said: Said) -> bool:
    """Return whether "a ..." names a lasting role: a job, a relative, a believer, a fan of something general."""
    rest = said.rest[1:]
    head_end = next((at for at, word in enumerate(rest) if word.casefold() in NOUN_ENDS), len(rest))
    head, more = rest[:head_end], rest[head_end:]
    if said.low[0] == "the":
        return (bool(head) and head[-1].casefold() in {"oldest", "youngest", "eldest"}) or (
            len(head) == 2 and head[0].casefold() == "only" and head[1].casefold() in CHILDREN_WORDS
        )
    if not head or len(head) > 5 or not is_general(rest, longest=10):
        return False
    noun = singular(head[-1])
    if noun in {"fan", "believer", "lover", "member", "part", "addict", "supporter"}:
        return (
            bool(more) and more[0].casefold() in {"of", "in"} and len(more) > 1 and is_general(more[1:])
        ) or (
            len(head) > 1
            and head[-2].casefold() not in {"big", "huge", "great", "biggest", "real", "true", "total"}
        )
    if (
        noun in {"person", "lady", "man", "woman", "girl", "guy", "boy", "adult", "one", "mess"}
        and len(head) == 1
        and noun not in {"man", "woman", "girl", "boy"}
    ):
        return False
    if len(head) > 1 and head[0].casefold() in {"great", "wonderful", "fantastic", "amazing", "better"}:
        return False
    return is_job(noun) or noun in ROLES or noun in KIN


CHILDREN_WORDS: Final = frozenset({"child", "kid", "boy", "girl", "son", "daughter"})


def _kind(said: Said) -> str:
    nouns = {class_of(word) for word in said.low}
    if "job" in nouns and not nouns & {"child"}:
        return "work"
    if nouns & {"parent", "child", "sibling", "partner", "relative"}:
        return "people"
    return (
        "beliefs"
        if {"christian", "muslim", "catholic", "atheist", "buddhist", "republican", "democrat"}
        & set(said.low)
        else "self"
    )


_OPERATIONS: Final = word_set("surgery stroke operation transplant miscarriage chemo")


HAD: Final = {
    "child": "people", "sibling": "people", "partner": "people", "parent": "people", "relative": "people", "person": "people", "animal": "pets",
    "vehicle": "possessions", "dwelling": "home", "instrument": "possessions", "device": "possessions", "object": "possessions", "body": "self",
    "illness": "health", "study": "study", "job": "work",
}  # fmt: skip


_NOT_HAD: Final = word_set(
    "great good amazing wonderful nice lovely fun little awesome perfect own new big small cool bad weird tough hard"
)


_ABSTRACT_HAD: Final = word_set(
    "accent fear crush job degree diploma tattoo tattoos hobby hobbies talent garden intolerance boyfriend girlfriend fever"
)


def having_topic(said: Said) -> str:  # noqa: PLR0911 - one question a wording
    """Return the topic of what the speaker has: relatives, pets, things, illnesses."""
    low = said.low
    if said.tense == "past" and not said.ended:
        return "health" if _OPERATIONS & set(low) and len(low) <= 6 and not said.negative else ""
    if (
        not low
        or any(
            word == "to"
            and said.rest[at + 1 : at + 2]
            and said.rest[at + 1].islower()
            and low[at + 1] != "the"
            for at, word in enumerate(low)
        )
        or not is_general([word for word in said.rest if word.casefold() != "my"], longest=14)
    ):
        return ""
    head_end = next(
        (at for at, word in enumerate(low) if word in NOUN_ENDS or word in {"named", "called"}), len(low)
    )
    head = low[:head_end]
    if not head:
        return ""
    kind = class_of(head[-1])
    if low[:2] == ("an", "ear") or head[-2:] == ("black", "belt") or head[-1] in _ABSTRACT_HAD:
        return (
            "work"
            if head[-1] == "job"
            else "study"
            if head[-1] in {"degree", "diploma"}
            else "people"
            if head[-1] in {"boyfriend", "girlfriend"}
            else "self"
        )
    if kind in {"person", "object", "dwelling", "device"} and (set(head) & _NOT_HAD) and said.verb == "have":
        return "" if len(low) > 4 else HAD.get(kind, "")
    if said.verb == "own":
        return HAD.get(kind, "possessions") if len(low) <= 8 else ""
    if kind == "body":
        return "self" if len(head) > 1 or len(low) <= 2 else ""
    if (kind == "person" and len(head) == 1) or (kind == "job" and head[-1] != "student"):
        return "people" if head[-1] in {"friends", "family"} and said.negative else ""
    if kind == "child" and not (
        head[0] in {"a", "an", "no", "two", "three", "four", "five", "six", "one"}
        or head[0].isdecimal()
        or head[-1] != singular(head[-1])
    ):
        return ""
    return HAD.get(kind, "")
