"""Read facts from parsed English clauses: the class of the verb and of its object give the predicate.

What the owner says of a relative is a fact about the relative, who is named, or called by the relation.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from mnemark.text.dates.ranges import spans
from mnemark.text.extraction.candidate import Found, is_program
from mnemark.text.extraction.english_objects import is_general, is_taste, joined, place, values, verb_phrase
from mnemark.text.extraction.english_parse import Said
from mnemark.text.extraction.english_words import (
    ANIMALS,
    CHILDREN,
    DIETS,
    GOODS,
    INSTRUMENTS,
    KIN,
    LANGUAGES,
    MARITAL,
    SPORTS,
    class_of,
    is_job,
    singular,
)
from mnemark.text.extraction.validity import future_day

_NUMBERS: Final = frozenset(
    "a an one two three four five six seven eight nine ten eleven twelve several many some no couple few another".split()  # noqa: SIM905
)
_LIKE: Final = frozenset({"like", "love", "enjoy", "adore", "prefer"})
_HATE: Final = frozenset({"hate", "dislike", "detest", "despise", "loathe"})
_FUTURE_VERBS: Final = frozenset(
    "move visit travel fly marry graduate retire start open buy adopt study go have get take launch run attend host celebrate leave return".split()  # noqa: SIM905
)
_BIG_PLANS: Final = frozenset("move marry graduate retire adopt emigrate relocate".split())
_STOPS: Final = frozenset({"stop", "quit"})
_END_OF_NOUN: Final = frozenset(
    "who that which and but with at in for of from by on because so since to when where while as , ; named called - – — ( : .".split()  # noqa: SIM905
)
_NOT_MY_AGE: Final = frozenset(
    "minutes hours days weeks months percent % km miles pounds kg lbs feet inches points pages lines am pm th st nd rd".split()
)


def facts_of(said: Said, time: datetime) -> list[Found]:
    """Return the facts of a clause; an ended one gives facts that are over."""
    who = _who(said)
    if who is None or said.tense in {"would", "will", "was"} and said.verb not in {"love", "like"}:
        return []
    found = _facts(said, who, time)
    if said.name and who != "user" and found:
        found = [Found(who, "relation", said.subject), *found]
    if said.ended:
        return [
            one._replace(over=True) for one in found if one.predicate not in {"goals", "plans", "relation"}
        ]
    return found


def _who(said: Said) -> str | None:
    if said.own:
        return "user"
    if singular(said.subject.split(" ")[-1]) in KIN or said.subject == "best friend":
        return said.name or said.subject
    return None


def _facts(said: Said, who: str, time: datetime) -> list[Found]:
    if said.own and said.tense in {"progressive", "present", "perfect"} and (found := _plans(said, time)):
        return found
    if said.verb in _LIKE | _HATE or (said.verb == "stand" and said.negative and said.tense == "can"):
        return _tastes(said, who)
    reader = _READERS.get(said.verb)
    if reader is not None:
        return reader(said, who)
    return []


def _tastes(said: Said, who: str) -> list[Found]:
    if (
        (said.tense != "present" and said.verb != "stand" and not said.ended)
        or not said.rest
        or not is_taste(said.rest)
    ):
        return []
    bad = said.verb in _HATE or said.verb == "stand" or said.negative
    if said.negative and said.verb in _HATE:
        return []
    return [Found(who, "dislikes" if bad else "likes", value) for value in values(said.rest)]


def _be(said: Said, who: str) -> list[Found]:  # noqa: C901 - one question an ending of "I am"
    low = said.low
    if low[:1] == ("born",) and said.tense in {"past", "present"} and not said.negative:
        return _born(said, who)
    if (said.tense == "past" and not said.ended) or said.negative or not low:
        return []
    age = low[0]
    if (
        age.isdecimal()
        and 3 <= int(age) <= 110
        and (low[1:] in {(), ("years", "old"), ("year", "old"), ("years", "of", "age"), ("yrs", "old")})
    ):
        return [Found(who, "age", age)]
    if low[0] == "from" and (named := place(said.rest[1:])):
        return [Found(who, "hometown", named[1])]
    if low[0] in MARITAL and (len(low) == 1 or low[1] in {"and", "with", "to", ","}):
        return [Found(who, "marital status", low[0])]
    if low[-1] in {"male", "female"} and (len(low) == 1 or (len(low) == 2 and low[0] == "a")):
        return [Found(who, "gender", low[-1])]
    diet = low[0] if low[0] not in {"a", "an"} else low[1] if len(low) > 1 else ""
    if diet in DIETS and len(low) <= 2:
        return [Found(who, "diet", diet)]
    if low[:2] == ("allergic", "to") and is_general(said.rest[2:], longest=12):
        return [Found(who, "allergies", value) for value in values(said.rest[2:])]
    if low[0] in {"a", "an", "the"} or (len(low) <= 2 and is_job(low[-1])):
        return _job(said, who)
    return []


def _born(said: Said, who: str) -> list[Found]:
    """Read where and when one was born: "born in Oslo in 1990"."""
    words, found = list(said.rest[1:]), []
    while words and words[0].casefold() in {"in", "on"} and len(words) > 1:
        end = next(
            (at for at, word in enumerate(words) if at and word.casefold() in {"in", "on"}), len(words)
        )
        part = words[1:end]
        dated = any(word.isdecimal() for word in part) and all(
            word.isdecimal() or word == "," or word.casefold().startswith(_MONTHS) or word[0].isdigit()
            for word in part
        )
        if dated:
            found.append(Found(who, "birthday", joined(part)))
        elif named := place(part):
            found.append(Found(who, "hometown", named[1]))
        words = words[end:]
    return found


_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _job(said: Said, who: str) -> list[Found]:
    words = said.rest[1:] if said.low[0] in {"a", "an", "the"} else said.rest
    words = words[1:] if words and words[0].casefold() in {"both", "all"} else words
    head, more = _noun_phrase(words)
    if not head or not is_job(head[-1]) or len(head) > 5 or not _plain(head[:-1]):
        return []
    if (
        len(head) == 1
        and singular(head[0]) in {"member", "owner", "model", "general", "agent", "server", "operator"}
        and more
    ):
        return []
    pointing = not is_general(more, longest=12, lenient=True) if more else False
    loose = said.low[0] == "the" and not (more and more[0].casefold() in {"at", "of"})
    if pointing or loose or joined(head).casefold() == "team player" or head[0].casefold().endswith("ly"):
        return []
    if len(head) > 1 and head[0].casefold() in {
        "great",
        "good",
        "bad",
        "terrible",
        "amazing",
        "real",
        "big",
        "huge",
        "better",
        "lifelong",
        "wonderful",
        "total",
        "natural",
        "born",
        "little",
        "talented",
        "complete",
        "perfect",
        "fast",
        "slow",
        "best",
        "decent",
    }:
        return []
    found = [Found(who, "job", joined(head))]
    if (
        len(more) > 1
        and more[0].casefold() in {"at", "for"}
        and more[1][:1].isupper()
        and is_general(more[1:], longest=4)
    ):
        found.append(Found(who, "employer", joined(more[1:])))
    return found


def _plain(words: Sequence[str]) -> bool:
    return all(
        word[0].isalnum()
        and word.casefold() not in {"not", "bit", "very", "so", "such", "my", "your", "and", "or"}
        for word in words
    )


def _noun_phrase(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split words into the noun phrase at the start and what follows it."""
    for at, word in enumerate(words):
        if word.casefold() in _END_OF_NOUN:
            return words[:at], words[at:]
    return words, ()


def _have(said: Said, who: str) -> list[Found]:
    """Read possessions, relatives, pets and illnesses: lists of numbered nouns."""
    if said.tense != "present" or said.negative or not said.rest or said.low[0] == "no":
        return []
    text = joined(said.rest)
    found: list[Found] = []
    parts = re.split(r",? and (?:also )?|, ?", text)
    for part in parts:
        words = part.split(" ")
        head, more = _noun_phrase(words)
        if (
            not head
            or len(head) > 6
            or (
                part is parts[0]
                and head[0].casefold() not in _NUMBERS
                and not head[0].isdecimal()
                and len(head) > 3
            )
        ):
            return found
        one = _had(head, more, who, said.verb)
        if one is None:
            return found
        found.append(one)
    return found


def _had(head: Sequence[str], more: Sequence[str], who: str, verb: str) -> Found | None:
    low = [word.casefold() for word in head]
    kind = class_of(low[-1])
    number = low[0] in _NUMBERS or low[0].isdecimal()
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
    if len(low) == 1 and not plural and kind not in {"illness"}:
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


def _live(said: Said, who: str) -> list[Found]:
    if said.tense == "past" and not said.ended:
        return []
    low = said.low
    if (
        said.negative
        or len(low) < 2
        or low[0] not in {"in", "near"}
        or said.tense not in {"present", "progressive", "past", "perfect"}
    ):
        return []
    named = place(_before_with(said.rest[1:]))
    return [Found(who, *named)] if named and low[0] == "in" else []


def _before_with(words: Sequence[str]) -> Sequence[str]:
    """Return the words before "with", "for", "now" and the like."""
    for at, word in enumerate(words):
        if at and word.casefold() in {
            "with",
            "for",
            "now",
            "since",
            "near",
            "and",
            "but",
            "where",
            "alone",
            "at",
            "by",
            "because",
            "when",
            "as",
            "currently",
            "right",
        }:
            return words[:at]
    return words


def _move(said: Said, who: str) -> list[Found]:
    if said.tense not in {"past", "perfect"} or said.negative or said.ended or "to" not in said.low[:6]:
        return []
    at = said.low.index("to")
    if said.low[:at] and said.low[0] not in {"from", "back", "here", "away", "out", "over"}:
        return []
    named = place(_before_with(_before_time(said.rest[at + 1 :])))
    return [Found(who, *named)] if named and not is_program(named[1]) else []


def _before_time(words: Sequence[str]) -> Sequence[str]:
    for at, word in enumerate(words):
        if at and word.casefold() in {
            "in",
            "last",
            "this",
            "from",
            "when",
            "a",
            "two",
            "three",
            "ago",
            "after",
            "on",
            "years",
        }:
            return words[:at]
    return words


def _work(said: Said, who: str) -> list[Found]:
    low = said.low
    if (
        said.negative
        or said.tense not in {"present", "progressive", "past", "perfect"}
        or (said.tense == "past" and not said.ended)
    ):
        return []
    if len(low) > 1 and low[0] == "as" and low[1] in {"a", "an", "the"}:
        head, more = _noun_phrase(said.rest[2:])
        if not head or not is_general(head, longest=5):
            return []
        found = [Found(who, "job", joined(head))]
        if len(more) > 1 and more[0].casefold() in {"at", "for"} and is_general(more[1:], longest=5):
            found.append(Found(who, "employer", _without_article(more[1:])))
        return found
    if len(low) > 1 and low[0] in {"at", "for"}:
        head, more = _noun_phrase(said.rest[1:])
        words = _without_article(head).split(" ")
        if (
            not head
            or set(low[1:4])
            & {
                "night",
                "home",
                "hours",
                "free",
                "fun",
                "myself",
                "me",
                "least",
                "times",
                "once",
                "my",
                "nights",
                "weekends",
                "it",
                "him",
                "them",
                "that",
                "this",
                "heights",
                "living",
                "all",
            }
            or low[1].isdecimal()
        ):
            return []
        if not is_general(words, longest=5) or (
            low[1] not in {"a", "an", "the"} and not head[0][:1].isupper() and len(head) > 2
        ):
            return []
        found = [Found(who, "employer", " ".join(words))] if not is_program(" ".join(words)) else []
        if (
            found
            and len(more) > 2
            and more[0].casefold() == "as"
            and more[1].casefold() in {"a", "an", "the"}
        ):
            found.append(Found(who, "job", joined(more[2:])))
        return found
    return []


def _without_article(words: Sequence[str]) -> str:
    return joined(words[1:] if words and words[0].casefold() in {"a", "an", "the"} else words)


def _play(said: Said, who: str) -> list[Found]:
    if said.negative or said.tense not in {"present", "can", "perfect"} and not said.ended:
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


def _speak(said: Said, who: str) -> list[Found]:
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


def _drive(said: Said, who: str) -> list[Found]:
    """Read what one drives or rides: "drive a truck"."""
    if said.negative or said.tense != "present" or who != "user" or len(said.rest) > 5 or not said.rest:
        return []
    head, _ = _noun_phrase(said.rest)
    if head and said.low[0] in {"a", "an"} and singular(head[-1]) in GOODS and said.verb in {"drive", "own"}:
        return [Found(who, "possessions", joined(head[1:]))]
    return []


def _own(said: Said, who: str) -> list[Found]:
    found = _have(said, who)
    if (
        found
        or said.negative
        or said.tense != "present"
        or not said.rest
        or who != "user"
        or said.verb != "own"
    ):
        return found
    head, more = _noun_phrase(said.rest)
    if (
        more
        or said.low[0] not in _NUMBERS
        or not is_general(head[1:], longest=4)
        or class_of(head[-1]) in {"child", "sibling"}
    ):
        return []
    return [Found(who, "possessions", joined(head[1:] if said.low[0] in {"a", "an"} else head))]


def _do(said: Said, who: str) -> list[Found]:
    if (
        said.negative
        or said.tense != "present"
        or not said.rest
        or joined(said.rest).casefold() not in SPORTS
    ):
        return []
    return [Found(who, "sports", joined(said.rest))]


def _habit(said: Said, who: str) -> list[Found]:
    """Read what one eats, drinks and smokes, so that it can end; other habits are statements."""
    if said.negative or who != "user" or (said.tense != "present" and not said.ended):
        return []
    if said.verb == "smoke" and not said.rest:
        return [Found(who, "habits", "smoking")]
    if said.rest and said.verb in {"eat", "drink", "smoke"} and is_general(said.rest, longest=4):
        return [Found(who, "habits", verb_phrase(said.verb, said.rest))]
    return []


def _use(said: Said, who: str) -> list[Found]:
    if said.subject == "I" and said.ended and is_program(joined(said.rest)):
        from mnemark.text.extraction.candidate import kind_of  # noqa: PLC0415

        name = joined(said.rest)
        return [Found(who, kind_of(name) or "tools", name)]
    return []


def _stop(said: Said, who: str) -> list[Found]:
    """Read what ended: a habit, a job, an employer."""
    if said.tense not in {"past", "perfect"} or said.negative or said.ended or not said.rest or who != "user":
        return []
    low = said.low
    if low[0].endswith("ing") and said.verb != "leave":
        words = list(said.rest)
        return [Found(who, "habits", joined([low[0], *words[1:]]), over=True)] if is_general(words) else []
    return _leave(said, who) if said.verb != "stop" else []


def _leave(said: Said, who: str) -> list[Found]:
    low = said.low
    if said.tense not in {"past", "perfect"} or not said.rest or who != "user":
        return []
    if low[0] in {"my", "the", "from"} and set(low) & {"job", "position", "company"}:
        named = joined(said.rest[low.index("at") + 1 :]) if "at" in low else ""
        return [Found(who, "employer", named, over=True)]
    words = said.rest[1:] if low[0] == "from" else said.rest
    head, _ = _noun_phrase(words)
    if (
        said.verb in {"quit", "resign"}
        and head
        and all(word[:1].isupper() for word in head)
        and not is_program(joined(head))
    ):
        return [Found(who, "employer", joined(head), over=True)]
    return []


def _turn(said: Said, who: str) -> list[Found]:
    number = said.low[0] if len(said.low) == 1 else ""
    good = (
        number.isdecimal()
        and said.tense in {"past", "perfect"}
        and 3 <= int(number) <= 110
        and not said.negative
    )
    return [Found(who, "age", number)] if good else []


def _lose(said: Said, who: str) -> list[Found]:
    if (
        who == "user"
        and said.tense in {"past", "perfect"}
        and not said.negative
        and said.low[:2] == ("my", "job")
    ):
        return [Found(who, "employer", "", over=True)]
    return []


def _break(said: Said, who: str) -> list[Found]:
    if said.tense in {"past", "perfect"} and not said.negative and said.low[:1] == ("up",) and said.own:
        return [Found(who, "spouse", "", over=True)]
    return []


def _get(said: Said, who: str) -> list[Found]:
    low = said.low
    if said.tense not in {"past", "perfect"} or said.negative or said.ended or not low:
        return []
    if low[0] in {"married", "divorced", "engaged"}:
        gone = [Found(who, "spouse", "", over=True)] if low[0] == "divorced" and who == "user" else []
        return (
            [Found(who, "marital status", low[0]), *gone] if "twice" not in low and "but" not in low else []
        )
    if low[0] in {"fired", "laid"} and who == "user":
        return [Found(who, "employer", "", over=True)]
    return _buy(said, who)


def _buy(said: Said, who: str) -> list[Found]:
    """Read purchases of what one has for years, and new pets."""
    if said.tense not in {"past", "perfect"} or said.negative or who != "user":
        return []
    low = said.low
    if not low or low[0] not in _NUMBERS - {"no", "many", "some"}:
        return []
    head, more = _noun_phrase(said.rest)
    if not is_general(head[1:], longest=5):
        return []
    name = joined(more[1:3]) if more and more[0].casefold() in {"named", "called"} else ""
    noun = singular(head[-1])
    if (
        noun in ANIMALS
        and noun not in {"fish", "chicken", "pig", "animal", "lab", "pet"}
        and said.verb in {"buy", "adopt", "get", "rescue"}
    ):
        value = f"{name} ({noun})" if name else joined(head[1:] if low[0] in {"a", "an", "another"} else head)
        return [Found(who, "pets", value)]
    if noun in GOODS and said.verb in {"buy", "purchase", "get"} and noun not in {"pool"}:
        return [Found(who, "purchases", joined(head[1:] if low[0] in {"a", "an", "another"} else head))]
    return []


def _sell(said: Said, who: str) -> list[Found]:
    if (
        said.tense not in {"past", "perfect"}
        or said.negative
        or who != "user"
        or len(said.rest) < 2
        or said.low[0] not in {"my", "our"}
    ):
        return []
    head, _ = _noun_phrase(said.rest[1:])
    return (
        [Found(who, "possessions", joined(head), over=True)] if head and singular(head[-1]) in GOODS else []
    )


def _study(said: Said, who: str) -> list[Found]:
    """Read the subject one studies."""
    if said.negative or said.tense not in {"present", "progressive"} or not said.rest:
        return []
    words = said.rest[1:] if said.verb == "major" and said.low[0] == "in" else said.rest
    if said.verb == "major" and said.low[0] != "in":
        return []
    if (
        set(word.casefold() for word in words)
        & {"for", "my", "the", "a", "hard", "this", "how", "more", "at", "abroad", "to"}
        or not is_general(words, longest=4)
        or not words
    ):
        return []
    return [Found(who, "major", value) for value in values(words)]


def _want(said: Said, who: str) -> list[Found]:
    """Read a goal in life: "want to be a nurse", "to learn Italian", "to open a bakery"."""
    low = said.low
    wanted = {class_of(low[-1])} & {"animal", "vehicle", "dwelling", "instrument"} if low else set()
    if (
        low[:1] in {("a",), ("an",)}
        and 2 <= len(low) <= 4
        and wanted
        and said.tense == "present"
        and not said.negative
        and said.own
        and not said.ended
    ):
        return [Found(who, "goals", f"have {joined(said.rest)}")]
    if (
        said.negative
        or said.tense not in {"present"}
        or len(low) < 3
        or low[0] != "to"
        or who != "user"
        or said.ended
    ):
        return []
    verb, rest = low[1], said.rest[2:]
    fits = _GOALS.get(verb)
    if fits is None or not rest or not is_general(rest):
        return []
    head, _ = _noun_phrase(rest)
    return [Found(who, "goals", joined([verb, *rest]))] if head and fits(rest, head[-1]) else []


_SHOPS: Final = frozenset("restaurant shop bakery store studio cafe business school company".split())
_GOALS: Final[dict[str, Callable[[Sequence[str], str], bool]]] = {
    "be": lambda _, noun: is_job(noun), "become": lambda _, noun: is_job(noun),
    "learn": lambda rest, _: len(rest) <= 4 and not {"about", "how", "from", "for"} & {word.casefold() for word in rest},
    "own": lambda *_: True, "buy": lambda _, noun: singular(noun) in GOODS,
    "write": lambda _, noun: singular(noun) in {"book", "novel"}, "publish": lambda _, noun: singular(noun) in {"book", "novel"},
    "start": lambda _, noun: singular(noun) in {"family", *_SHOPS}, "open": lambda _, noun: singular(noun) in _SHOPS,
    "get": lambda rest, noun: rest[0].casefold() in {"married", "divorced"} or singular(noun) in {"degree", "phd"},
    "have": lambda _, noun: singular(noun) in CHILDREN, "adopt": lambda _, noun: singular(noun) in ANIMALS | CHILDREN,
    "visit": lambda _, noun: noun[:1].isupper(), "climb": lambda _, noun: noun[:1].isupper(),
    "travel": lambda rest, _: joined(rest).casefold() == "the world", "quit": lambda rest, _: rest[0].casefold() == "smoking",
    "move": lambda rest, _: rest[0] == "to" and place(rest[1:]) is not None, "live": lambda rest, _: rest[0] == "in" and place(rest[1:]) is not None,
    "lose": lambda _, noun: noun == "weight", "run": lambda _, noun: noun == "marathon",
}  # fmt: skip


def _plans(said: Said, time: datetime) -> list[Found]:
    """Read plans: "am moving to Oslo in June", "plan to visit Japan next year", with their date."""
    low = said.low
    verb, rest = said.verb, said.rest
    if said.negative or said.ended:
        return []
    if (
        verb == "go"
        and said.tense == "progressive"
        and low[:1] == ("to",)
        and len(low) > 2
        and low[1] in _FUTURE_VERBS
    ):
        verb, rest = low[1], rest[2:]
    elif verb == "plan" and low[:1] == ("to",) and len(low) > 2:
        verb, rest = low[1], rest[2:]
    elif verb == "have" and low[:2] == ("plans", "to") and len(low) > 3:
        verb, rest = low[2], rest[3:]
    elif (
        said.tense == "progressive"
        and verb in {"move", "fly", "travel", "visit", "start", "marry"}
        or (verb == "get" and low[:1] == ("married",) and said.tense == "progressive")
    ):
        pass
    elif not (said.tense == "progressive" and verb == "go" and low[:1] in {("to",), ("on",)}):
        return []
    words = joined([verb, *rest])
    when = _when(words, time)
    trip = bool({"trip", "vacation", "cruise", "honeymoon", "holiday"} & set(low)) and verb in {"go", "take"}
    far = when is not None and (when[0] - time.replace(tzinfo=None)).days >= 2
    places = any(word[:1].isupper() and len(word) > 2 for word in rest)
    big = verb in _BIG_PLANS or (verb == "get" and "married" in low) or (verb == "have" and "baby" in low)
    if (
        not rest
        or not (
            big
            or (trip and places)
            or (far and (places or verb in {"visit", "travel", "fly", "start", "open", "buy"}))
        )
        or len(rest) > 12
    ):
        return []
    if verb == "move" and not (
        rest[0].casefold() in {"to", "in", "out", "back", "from"} and len(rest) > 1 or far
    ):
        return []
    if not is_general([word for word in rest if word.casefold() not in {"the", "my"}], longest=12):
        return []
    date = f" ({_date(*when)})" if when is not None and far else ""
    return [Found("user", "plans", verb_phrase(verb, rest) + date)]


def date_of(words: str, time: datetime) -> str:
    """Return the date of the first time named that is to come, as exact as it is; else ""."""
    when = _when(words, time)
    return _date(*when) if when else ""


def _when(words: str, time: datetime) -> tuple[datetime, datetime] | None:
    """Return the first time named that is to come; a month without a year is the next one."""
    today = time.replace(tzinfo=None)
    for _, _, span in spans(words, time):
        if span.end > today:
            return span.start, span.end
        if (day := future_day(span.start, span.text, time)) is not None:
            return day, day + (span.end - span.start)
    return None


def _date(start: datetime, end: datetime) -> str:
    days = (end - start).days
    return f"{start:%Y-%m-%d}" if days <= 10 else f"{start:%Y-%m}" if days <= 62 else f"{start:%Y}"


_READERS: Final[dict[str, Callable[[Said, str], list[Found]]]] = {
    "be": _be, "have": _have, "own": _own, "live": _live, "reside": _live, "move": _move, "relocate": _move, "work": _work,
    "play": _play, "do": _do, "speak": _speak, "drive": _drive, "eat": _habit, "drink": _habit, "smoke": _habit, "use": _use,
    "stop": _stop, "quit": _stop, "leave": _leave, "resign": _leave, "lose": _lose, "turn": _turn, "break": _break, "get": _get, "buy": _buy,
    "purchase": _buy, "adopt": _buy, "rescue": _buy, "sell": _sell, "study": _study, "major": _study, "want": _want,
}  # fmt: skip


_KINDS: Final = frozenset(
    {
        "editor",
        "code editor",
        "text editor",
        "ide",
        "shell",
        "terminal",
        "os",
        "browser",
        "database",
        "package manager",
    }
)


def named(subject: str, rest: Sequence[str]) -> list[Found]:
    """Read what is called how: "my dog's name is Rex", "my favorite band is Queen", "my name is ann"."""
    value = joined(rest)
    words = subject.split(" ")
    first = words[0].removesuffix("'s")
    if words[-1] == "name" and len(words) > 1:
        kind = class_of(words[-2] if words[-2] != "'s" else words[-3])
        noun = singular(words[-2] if words[-2] != "'s" else words[-3])
        if not _is_name(rest):
            return []
        name = _titled(rest)
        predicate = {"animal": "pets", "child": "children", "sibling": "siblings"}.get(kind, "")
        if predicate:
            return [Found("user", predicate, f"{name} ({noun})")]
        return (
            [Found("user", "spouse", name)]
            if kind == "partner"
            else [Found(noun, "name", name)]
            if kind in {"parent", "relative"}
            else []
        )
    if subject in {"nickname", "best friend"} and _is_name(rest):
        return [Found("user", "nickname" if subject == "nickname" else "friends", _titled(rest))]
    if subject == "name" and _is_name(rest):
        return [Found("user", "name", _titled(rest))]
    if first == "favorite" and (kind := subject.removeprefix("favorite ")) in _KINDS:
        return [Found("user", kind, value)] if is_program(value) else []
    if (
        first == "favorite"
        and len(words) > 1
        and is_general(rest, longest=6, lenient=True)
        and rest[0].casefold() not in {"to", "when", "because", "in", "for", "so"}
    ):
        return [Found("user", subject, value[:1] + value[1:])]
    if first in {"hobby", "hobbies", "interests", "pastimes"} and is_general(rest, longest=10):
        rest = rest[1:] if rest[0].casefold() == "include" else rest
        return [Found("user", "hobbies", one) for one in values(rest)]
    if (
        words[-1] in {"dream", "goal", "ambition"}
        and len(rest) > 2
        and rest[0].casefold() == "to"
        and is_general(rest[1:], longest=9)
    ):
        wanted = _want(
            Said("I", "", "present", negative=False, ended=False, verb="want", rest=tuple(rest)), "user"
        )
        return wanted or ([Found("user", "goals", joined(rest[1:]))] if words[-1] == "dream" else [])
    if words[-1] in {"degree", "major"} and is_general(rest, longest=6):
        return [
            Found(
                "user",
                "degree" if words[-1] == "degree" else "major",
                joined(rest[1:] if rest[0].casefold() == "in" else rest),
            )
        ]
    return []


def _is_name(words: Sequence[str]) -> bool:
    low = [word.casefold() for word in words]
    return 1 <= len(words) <= 3 and all(word.isalpha() and len(word) > 1 for word in low) and (
        all(word[:1].isupper() for word in words) or (len(words) == 1 and low[0] not in _NO_NAMES and not low[0].endswith(("ed", "ing")))
    )  # fmt: skip


_NO_NAMES: Final = frozenset(
    "not on in the a very hard easy long short common unusual wrong private unknown secret important here there too also so still similar same".split()
)


def _titled(words: Sequence[str]) -> str:
    return " ".join(word if word[:1].isupper() else word.capitalize() for word in words)
