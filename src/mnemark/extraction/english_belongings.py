"""Read what people have, do and use: relatives, pets, things, illnesses, sports."""

import re
from collections.abc import Sequence

from mnemark.extraction.candidate import Found, is_program, kind_of
from mnemark.extraction.english_objects import is_general, joined, values, verb_phrase
from mnemark.extraction.english_parse import Said
from mnemark.extraction.english_phrases import NUMBERS, noun_phrase
from mnemark.extraction.english_words import GOODS, INSTRUMENTS, LANGUAGES, SPORTS, class_of, singular


def read_have(said: Said, who: str) -> list[Found]:
    """Read possessions, relatives, pets and illnesses: lists of numbered nouns."""
    if said.tense != "present" or said.negative or not said.rest or said.low[0] == "no":
        return []
    text = joined(said.rest)
    found: list[Found] = []
    parts = re.split(r",? and (?:also )?|, ?", text)
    for part in parts:
        words = part.split(" ")
        head, more = noun_phrase(words)
        if (
            not head
            or len(head) > 6
            or (
                part is parts[0]
                and head[0].casefold() not in NUMBERS
                and not head[0].isdecimal()
                and len(head) > 3
            )
        ):
            return found
        one = _had(head, more, who)
        if one is None:
            return found
        found.append(one)
    return found


def _had(head: Sequence[str], more: Sequence[str], who: str) -> Found | None:  # noqa: PLR0911 - one question a wording
    low = [word.casefold() for word in head]
    kind = class_of(low[-1])
    number = low[0] in NUMBERS or low[0].isdecimal()
    plural = low[-1] != singular(low[-1])
    if set(low) & {
        "my",
        "your",
        "his",
        "her",
        "their",
        "our",
        "this",
        "that",
        "these",
        "those",
        "the",
        "no",
        "any",
        "same",
    }:
        return None
    name = joined(more[1:]) if more and more[0].casefold() in {"named", "called"} else ""
    if name and not name[:1].isupper():
        return None
    value = joined(head[1:] if low[0] in {"a", "an", "one"} and len(head) > 1 else head)
    kind = "animal" if len(low) > 1 and low[-2] == "pet" and number else kind
    if len(low) == 1 and not plural and kind != "illness":
        return None if kind != "animal" else Found(who, "pets", value)
    if (
        kind == "child"
        and (number or plural)
        and (low[0] not in {"a", "an"} or low[-1] not in {"baby", "boy", "girl"})
    ):
        return Found(who, "children", f"{name} ({singular(low[-1])})" if name else value)
    if kind == "sibling":
        return Found(who, "siblings", f"{name} ({singular(low[-1])})" if name else value)
    if (
        kind == "animal"
        and low[-1] not in {"animals", "animal"}
        and not (set(low[:-1]) & {"stuffed", "toy", "plastic", "hot"})
    ):
        return Found(who, "pets", f"{name} ({singular(low[-1])})" if name else value)
    if kind == "illness" and not more:
        if "allergy" in singular(low[-1]):
            return Found(who, "allergies", joined(head[:-1][number:])) if len(head) - number > 1 else None
        return Found(who, "health", value)
    if singular(low[-1]) in GOODS and not name and (number or plural) and who == "user":
        return Found(who, "possessions", value)
    return None


def read_own(said: Said, who: str) -> list[Found]:
    """Read what one owns."""
    found = read_have(said, who)
    if (
        found
        or said.negative
        or said.tense != "present"
        or not said.rest
        or who != "user"
        or said.verb != "own"
    ):
        return found
    head, more = noun_phrase(said.rest)
    if (
        more
        or said.low[0] not in NUMBERS
        or not is_general(head[1:], longest=4)
        or class_of(head[-1]) in {"child", "sibling"}
    ):
        return []
    return [Found(who, "possessions", joined(head[1:] if said.low[0] in {"a", "an"} else head))]


def read_drive(said: Said, who: str) -> list[Found]:
    """Read what one drives or rides: "drive a truck"."""
    if said.negative or said.tense != "present" or who != "user" or len(said.rest) > 5 or not said.rest:
        return []
    head, _ = noun_phrase(said.rest)
    if head and said.low[0] in {"a", "an"} and singular(head[-1]) in GOODS and said.verb in {"drive", "own"}:
        return [Found(who, "possessions", joined(head[1:]))]
    return []


def read_play(said: Said, who: str) -> list[Found]:
    """Read instruments and sports that are played."""
    if said.negative or (said.tense not in {"present", "can", "perfect"} and not said.ended):
        return []
    words = [word for word in said.rest if word.casefold() not in {"the", "a"}]
    low = [word.casefold() for word in words]
    if not low or len(low) > 6:
        return []
    parts = joined(words).split(" and ")
    heads = [singular(part.split(" ")[-1]) for part in parts]
    if all(head in INSTRUMENTS for head in heads):
        return [Found(who, "instruments", part) for part in parts]
    if all(part.casefold() in SPORTS or singular(part) in SPORTS for part in parts):
        return [Found(who, "sports", part) for part in parts]
    return []


def read_do(said: Said, who: str) -> list[Found]:
    """Read a sport that one does."""
    if (
        said.negative
        or said.tense != "present"
        or not said.rest
        or joined(said.rest).casefold() not in SPORTS
    ):
        return []
    return [Found(who, "sports", joined(said.rest))]


def read_speak(said: Said, who: str) -> list[Found]:
    """Read spoken languages."""
    if said.negative or said.tense not in {"present", "can"}:
        return []
    names = [word for word in said.rest if word.casefold() in LANGUAGES]
    fillers = {
        "and",
        ",",
        "fluent",
        "fluently",
        "some",
        "a",
        "little",
        "bit",
        "of",
        "both",
        "well",
        "native",
        "languages",
        ":",
    }
    plain = all(word.casefold() in LANGUAGES | fillers for word in said.rest)
    return [Found(who, "languages", name.capitalize()) for name in names] if plain else []


def read_habit(said: Said, who: str) -> list[Found]:
    """Read what one eats, drinks and smokes, so that it can end; other habits are statements."""
    if said.negative or who != "user" or (said.tense != "present" and not said.ended):
        return []
    if said.verb == "smoke" and not said.rest:
        return [Found(who, "habits", "smoking")]
    if said.rest and said.verb in {"eat", "drink", "smoke"} and is_general(said.rest, longest=4):
        return [Found(who, "habits", verb_phrase(said.verb, said.rest))]
    return []


def read_use(said: Said, who: str) -> list[Found]:
    """Read a program that is used no longer."""
    if said.subject == "I" and said.ended and is_program(joined(said.rest)):
        name = joined(said.rest)
        return [Found(who, kind_of(name) or "tools", name)]
    return []


def read_study(said: Said, who: str) -> list[Found]:
    """Read the subject one studies."""
    if said.negative or said.tense not in {"present", "progressive"} or not said.rest:
        return []
    words = said.rest[1:] if said.verb == "major" and said.low[0] == "in" else said.rest
    if said.verb == "major" and said.low[0] != "in":
        return []
    if (
        {word.casefold() for word in words}
        & {"for", "my", "the", "a", "hard", "this", "how", "more", "at", "abroad", "to"}
        or not is_general(words, longest=4)
        or not words
    ):
        return []
    return [Found(who, "major", value) for value in values(words)]
