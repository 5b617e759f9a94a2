"""Read facts from parsed English clauses: the class of the verb and of its object give the predicate.

What the owner says of a relative is a fact about the relative, who is named, or called by the relation.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from mnemark.extraction.candidate import Found, is_program, moved
from mnemark.extraction.english_belongings import (
    read_do,
    read_drive,
    read_habit,
    read_have,
    read_own,
    read_play,
    read_speak,
    read_study,
    read_use,
)
from mnemark.extraction.english_changes import (
    read_break,
    read_buy,
    read_death,
    read_get,
    read_leave,
    read_lose,
    read_sell,
    read_separate,
    read_stop,
    read_turn,
)
from mnemark.extraction.english_objects import is_general, is_taste, joined, place, values
from mnemark.extraction.english_parse import Said
from mnemark.extraction.english_phrases import noun_phrase, plain, without_article
from mnemark.extraction.english_plans import read_plans, read_want
from mnemark.extraction.english_words import (
    DIETS,
    KIN,
    LANGUAGES,
    MARITAL,
    ROLES,
    TRAITS,
    class_of,
    is_job,
    singular,
    word_set,
)
from mnemark.extraction.no_places import is_no_place
from mnemark.extraction.work_words import names_code
from mnemark.text.lazy_pattern import lazy_pattern

_LIKE: Final = frozenset({"like", "love", "enjoy", "adore", "prefer"})


_HATE: Final = frozenset({"hate", "dislike", "detest", "despise", "loathe"})


def facts_of(said: Said, time: datetime) -> list[Found]:
    """Return the facts of a clause; an ended one gives facts that are over."""
    if found := read_death(said):
        return found
    who = _who(said)
    if who is None or (said.tense in {"would", "will", "was"} and said.verb not in {"love", "like"}):
        return []
    found = _facts(said, who, time)
    if said.name and who != "user" and (found or _is_told_of(said)):
        found = [Found(who, "relation", said.subject), *found]
    if said.ended:
        return [
            one._replace(over=True) for one in found if one.predicate not in {"goals", "plans", "relation"}
        ]
    return found


def _is_told_of(said: Said) -> bool:
    """Tell whether a clause plainly names a relative, whatever else it says: "my daughter Mia has a recital"."""
    known = said.tense in {"progressive", "perfect"} or said.verb in {"be", "have"} or said.verb in _READERS
    return known and all(map(_may_be_name, said.name.split(" ")))


_SHORTEST_NAME: Final = 2


def _may_be_name(word: str) -> bool:
    if len(word) < _SHORTEST_NAME or not (word.isalpha() and word.istitle()):
        return False
    low = word.casefold()
    return not (low in _NO_NAMES or is_program(word) or is_no_place(word) or class_of(low))


_NO_NAMES: Final = (
    LANGUAGES
    | TRAITS
    | ROLES
    | word_set(
        "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october "
        "november december christmas easter thanksgiving halloween today tomorrow never always also just still really"
    )
)
"""Capitalized words beside a relative that name nobody."""


def _who(said: Said) -> str | None:
    if said.own:
        return "user"
    if singular(said.subject.split(" ")[-1]) in KIN or said.subject == "best friend":
        return said.name or said.subject
    return None


def _facts(said: Said, who: str, time: datetime) -> list[Found]:
    if said.own and said.tense in {"progressive", "present", "perfect"} and (found := read_plans(said, time)):
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
    return [
        found
        for value in values(said.rest)
        if not _OF_EVERYONE.match((found := _taste(who, value, bad)).value)
    ]


def _taste(who: str, value: str, bad: bool) -> Found:  # noqa: FBT001 - how the clause before was meant
    """Return a taste of a list, in which the verb may change: "I like teal, hate gradients"."""
    verb, _, rest = value.partition(" ")
    if rest and verb.casefold() in _HATE | _LIKE:
        return Found(who, "dislikes" if verb.casefold() in _HATE else "likes", rest)
    return Found(who, "dislikes" if bad else "likes", value)


_OF_EVERYONE: Final = lazy_pattern(
    r"(?i)(?:trying|learning|doing|exploring|discovering|experiencing) (?:out )?(?:\w+ )?new (?:\w+ )?(?:things?|experiences?|stuff|places?|ideas?)$|"
    r"(?:new (?:things|experiences)|having fun|a good \w+|hanging out(?: with (?:my )?(?:friends|people))?|good (?:food|music|people|company|times?))$"
)
"""What everyone likes, which tells nothing of one."""


def _be(said: Said, who: str) -> list[Found]:  # noqa: PLR0911 - one question a wording
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
    return _called(said)


def _called(said: Said) -> list[Found]:
    """Read what a child or sibling is called: "my daughter is Mia", unlike "my daughter is Dutch"."""
    noun = singular(said.subject.split(" ")[-1])
    predicate = {"child": "children", "sibling": "siblings"}.get(class_of(noun), "")
    if not predicate or said.name or len(said.rest) != 1 or said.tense != "present":
        return []
    name = said.rest[0]
    if not _may_be_name(name) or _ADJECTIVE.search(name) or name.casefold() in _NO_FIRST_NAMES | DIETS:
        return []
    return [Found("user", predicate, f"{name} ({noun})")]


_ADJECTIVE: Final = lazy_pattern(r"(?:ish|ese|i?an|ic|ist|ful|less|ous|ive|able|ble|ing|ed|ly)$")
_NO_FIRST_NAMES: Final = word_set(
    "swiss hindu sikh muslim gay straight trans bi deaf blind mute dead alive home fine great good bad sick ill tall short big small "
    "happy sad smart cute shy funny sweet kind clever busy tired hungry asleep awake here there back away gone ready okay ok next first "
    "aries taurus gemini cancer leo virgo libra scorpio sagittarius capricorn aquarius pisces one two three everything mine yours"
)
"""Capitalized words that say how a child is, or too seldom its name."""


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
    head, more = noun_phrase(words)
    if not head or not is_job(head[-1]) or len(head) > 5 or not plain(head[:-1]):
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


def _move(said: Said, who: str) -> list[Found]:  # noqa: PLR0911 - one question a wording
    if said.tense not in {"past", "perfect"} or said.negative or said.ended:
        return []
    if said.subject == "we" and names_code(joined(said.rest)):
        return []
    if said.low[:2] in {("out", "of"), ("away", "from")} and (left := place(_before_time(said.rest[2:]))):
        return [Found(who, *left, over=True)]
    if "to" not in said.low[:6]:
        return []
    at = said.low.index("to")
    if said.low[:at] and said.low[0] not in {"from", "back", "here", "away", "out", "over"}:
        return []
    if "from" in said.low[:at] and is_no_place(joined(said.rest[said.low.index("from") + 1 : at])):
        return []
    named = place(_before_with(_before_time(said.rest[at + 1 :])))
    return moved([Found(who, *named)]) if named else []


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


_NO_FIRM: Final = word_set(
    "night home hours free fun myself me least times once my nights weekends it him them that this heights living all years year months weeks days"
)
"""Words after "work for" and "work at" that name no employer."""


def _work(said: Said, who: str) -> list[Found]:  # noqa: PLR0911 - one question a wording
    low = said.low
    if (
        said.negative
        or said.tense not in {"present", "progressive", "past", "perfect"}
        or (said.tense == "past" and not said.ended)
    ):
        return []
    if len(low) > 1 and low[0] == "as" and low[1] in {"a", "an", "the"}:
        head, more = noun_phrase(said.rest[2:])
        if not head or not is_general(head, longest=5):
            return []
        found = [Found(who, "job", joined(head))]
        if len(more) > 1 and more[0].casefold() in {"at", "for"} and is_general(more[1:], longest=5):
            found.append(Found(who, "employer", without_article(more[1:])))
        return found
    if len(low) > 1 and low[0] in {"at", "for"}:
        head, more = noun_phrase(said.rest[1:])
        words = without_article(head).split(" ")
        if not head or set(low[1:4]) & _NO_FIRM or low[1].isdecimal():
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


_READERS: Final[dict[str, Callable[[Said, str], list[Found]]]] = {
    "be": _be, "have": read_have, "own": read_own, "live": _live, "reside": _live, "move": _move, "relocate": _move, "work": _work,
    "play": read_play, "do": read_do, "speak": read_speak, "drive": read_drive, "eat": read_habit, "drink": read_habit, "smoke": read_habit, "use": read_use,
    "stop": read_stop, "quit": read_stop, "leave": read_leave, "resign": read_leave, "lose": read_lose, "turn": read_turn, "break": read_break, "separate": read_separate, "divorce": read_separate, "get": read_get, "buy": read_buy,
    "purchase": read_buy, "adopt": read_buy, "rescue": read_buy, "sell": read_sell, "study": read_study, "major": read_study, "want": read_want,
}  # fmt: skip
