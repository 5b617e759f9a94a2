"""Tell lasting habits from what is done just now."""

from collections.abc import Callable, Sequence
from typing import Final

from mnemark.extraction.english_clauses import BEINGS, NOUN_ENDS
from mnemark.extraction.english_objects import is_general
from mnemark.extraction.english_parse import Said
from mnemark.extraction.english_words import HABITS, SPORTS, class_of, is_job, singular, word_set
from mnemark.extraction.no_places import is_no_place
from mnemark.extraction.work_words import names_code


def verb_topic(said: Said) -> str:  # noqa: PLR0911 - one question a wording
    """Return the topic of skills, wishes and opinions told by a single verb."""
    low = said.low
    if (
        said.tense == "present"
        and low[-3:] == ("for", "a", "living")
        and not said.negative
        and is_general(said.rest)
    ):
        return "work"
    if (
        said.verb == "know"
        and low[:2] == ("how", "to")
        and low[2:3] != ()
        and low[2] in HABITS
        and is_general(said.rest)
        and len(low) > 2
        and said.tense == "present"
    ):
        return "skills"
    if said.verb == "enroll" and said.tense in {"past", "present"}:
        return "study"
    if (
        said.verb == "want"
        and low[:1] == ("to",)
        and len(low) > 2
        and low[1] in {"be", "become"}
        and is_job(said.rest[-1])
    ):
        return "plans"
    if said.verb == "get" and low[:2] == ("along", "with") and len(low) > 3 and class_of(low[3]):
        return "people"
    if (
        said.verb == "find"
        and "myself" not in low
        and said.tense == "present"
        and 2 <= len(low) <= 4
        and is_general(said.rest)
    ):
        return "tastes"
    if (
        said.verb in {"cook", "bake", "swim", "dance", "sing", "draw", "ski", "sew", "knit", "drive", "cycle"}
        and said.tense == "can"
    ):
        return "skills"
    return ""


def habit_topic(said: Said, *, habit: bool) -> str:
    """Return the topic of a habit: verbs of it with general objects, or a frequency."""
    low = said.low
    if not low:
        verbs = {"smoke", "drink", "cook", "bake", "sing", "dance", "draw", "paint", "write", "knit", "crochet", "hike", "hunt", "fish", "swim", "garden",
                 "surf", "ski", "meditate", "volunteer", "travel", "exercise", "jog", "run", "read", "blog", "camp", "vape", "sew", "bowl", "golf", "snore", "snowboard", "drive"}  # fmt: skip
        return HABITS[said.verb] if said.verb in verbs else ""
    if said.negative and (said.tense == "can" or _OFTEN & set(low[:1])):
        return ""
    often = habit or bool(_OFTEN & set(low)) or low[-1].endswith("days")
    if said.verb in {"go", "take", "use", "call", "get", "keep", "stay", "visit", "attend", "work", "hate", "lack", "support", "value", "miss", "raise", "struggle", "believe", "do", "come", "invest", "grow",
                     "watch", "write", "run", "train", "drive", "wear", "swear", "dream", "walk", "listen", "perform", "race", "act", "box", "bike", "date",
                     "consider", "identify", "oppose", "fear", "design", "manage", "sell", "ride", "craft", "row", "practice", "play", "wait", "party"}:  # fmt: skip
        return HABITS[said.verb] if _specific(said, often=often) else ""
    return (
        HABITS[said.verb]
        if is_general(
            said.rest,
            longest=10,
            lenient=said.verb in {"volunteer", "sing", "shop", "smoke", "eat", "paint", "dye", "speak"},
        )
        else ""
    )


_OFTEN: Final = word_set(
    "daily weekly monthly yearly every often always usually sometimes regularly frequently twice weekends sundays saturdays mondays "
    "tuesdays wednesdays thursdays fridays nights mornings evenings summers year-round"
)


_GOES: Final = word_set(
    "church gym school college yoga fishing hunting hiking swimming running dancing camping shopping bowling skiing surfing mass temple "
    "mosque synagogue concerts university bars clubs therapy kayaking climbing jogging biking cycling sailing walks parties bingo"
)


_RIDES: Final = word_set(
    "bus train subway metro bike bicycle horse horses motorcycle bikes bicycles skateboard scooter"
)


def _specific(said: Said, *, often: bool) -> bool:
    """Return whether the object of a common verb makes a habit: "go to church", "watch football"."""
    if not is_general(said.rest, longest=9, lenient=True):
        return False
    fits = _SPECIFIC.get(said.verb)
    end = next((at for at, word in enumerate(said.low) if at and word in NOUN_ENDS), len(said.low))
    return (fits is not None and fits(said.low, singular(said.low[end - 1]))) or (
        often
        and said.verb in _WITH_OFTEN
        and (said.verb != "go" or said.low[0] == "to" or said.low[0].endswith("ing"))
    )


_WITH_OFTEN: Final = word_set("go run drive walk train box visit work call ride")


_TREATMENT: Final = word_set("medication medicine insulin lessons classes pills vitamins bus train subway")


_RUN: Final = word_set(
    "business company shop store restaurant blog bakery cafe studio channel farm gym team club marathon casino hotel ranch"
)


_WRITE: Final = word_set("book novel poem poetry song story blog music fiction lyric screenplay script play")


_SPECIFIC: Final[dict[str, Callable[[Sequence[str], str], bool]]] = {
    "go": lambda low, _: bool(_GOES & set(low)),
    "take": lambda low, _: (
        bool(_TREATMENT & set(low)) or (tuple(low[:2]) == ("care", "of") and class_of(low[-1]) in BEINGS)
    ),
    "run": lambda _, head: head in _RUN,
    "ride": lambda low, _: bool(_RIDES & set(low)) or class_of(low[-1]) == "vehicle",
    "drive": lambda low, _: class_of(low[-1]) == "vehicle",
    "play": lambda low, _: low[0] != "with",
    "listen": lambda low, _: low[0] == "to" and len(low) > 1,
    "walk": lambda low, _: low[0] == "to" or class_of(low[-1]) == "animal",
    "write": lambda _, head: head in _WRITE,
    "believe": lambda low, _: low[0] == "in" and len(low) > 1,
    "do": lambda _, head: (
        head in SPORTS or head in {"theater", "theatre", "art", "crossfit", "stand-up", "improv", "pottery"}
    ),
    "come": lambda low, _: low[0] == "from" and len(low) > 1,
    "invest": lambda low, _: low[0] == "in" and len(low) > 1,
    "grow": lambda low, _: (
        len(low) <= 4 and low[0] not in {"up", "more", "a", "as", "in", "and"} and low[-1].endswith("s")
    ),
    "support": lambda low, _: class_of(low[-1]) in BEINGS,
    "manage": lambda _, head: head in {"team", "store", "restaurant", "shop", "department", "hotel"},
    "train": lambda low, _: low[0] == "for" and len(low) > 1,
    "raise": lambda low, _: class_of(low[-1]) in {"animal", "child"},
    "identify": lambda low, _: low[0] == "as" and len(low) > 1,
    "act": lambda low, _: low[0] == "in" and len(low) > 1,
    "design": lambda low, _: len(low) <= 3,
    "keep": lambda low, head: head in {"diary", "journal", "bee"} or class_of(low[-1]) == "animal",
    "stay": lambda low, _: tuple(low[:2]) in {("up", "late"), ("at", "home")},
    "struggle": lambda low, _: low[0] == "with" and class_of(low[-1]) == "illness",
    "date": lambda low, _: class_of(low[-1]) != "",
    "practice": lambda low, _: len(low) < 4,
    "get": lambda low, _: (
        tuple(low) == ("good", "grades")
        or (tuple(low[:2]) == ("along", "with") and class_of(low[-1]) in BEINGS)
    ),
    **dict.fromkeys(
        (
            "watch",
            "wear",
            "attend",
            "volunteer",
            "sell",
            "bike",
            "race",
            "perform",
            "fear",
            "hate",
            "craft",
            "party",
        ),
        lambda *_: True,
    ),
}


def is_work(said: Said) -> bool:
    """Return whether a clause with "work" tells of a job."""
    low = said.low
    if said.tense == "past" and not said.ended and not (low and low[0] in {"as", "for", "at", "in"}):
        return False
    if said.tense not in {"present", "past", "perfect", "progressive"}:
        return False
    if not low:
        return said.ended or said.negative
    if low[0] == "on" and len(low) <= 5:
        return class_of(low[-1]) in {"dwelling", "vehicle"} and said.tense == "present"
    if low[0] in {
        "on",
        "hard",
        "out",
        "through",
        "together",
        "towards",
        "toward",
        "best",
        "well",
        "great",
        "fine",
        "for",
        "up",
        "around",
        "with",
    }:
        return (low[0] == "with" and class_of(low[-1]) in {"child", "animal", "person"}) or (low[:1] == ("hard",) and said.tense == "present" and len(low) == 1) or (
            low[0] == "out" and said.tense == "present" and (len(low) == 1 or bool(_OFTEN & set(low)))) or (low[0] == "for" and len(low) > 1 and low[1] not in {"me", "us", "them"} and is_general(said.rest, longest=8))  # fmt: skip
    return is_general(said.rest, longest=10, lenient=True)


def _where(said: Said) -> str:
    """Return the words behind the first preposition, up to the next: "platform team" in "to the platform team"."""
    low = said.low
    start = 2 if low[0] in {"away", "out", "back", "over"} else low[0] in _TO_PLACES
    start += start < len(low) and low[start] in {"the", "a", "an", "our", "my"}
    ends = _TO_PLACES | {"for", "with", "all"}
    end = next((at for at in range(start, len(low)) if low[at] in ends), len(low))
    return " ".join(said.rest[start:end])


_TO_PLACES: Final = frozenset({"in", "on", "to", "from", "off", "of", "at"})


def home_topic(said: Said) -> str:  # noqa: PLR0911 - one question a wording
    """Return the topic of where one lives, lived or moved to."""
    low, verb = said.low, said.verb
    if said.negative:
        return ""
    if not is_general([word for word in said.rest if word.casefold() not in {"the", "my"}], longest=10):
        return ""
    if verb in {"live", "reside", "move"} and (
        is_no_place(_where(said)) or (said.subject == "we" and names_code(" ".join(said.rest)))
    ):
        return ""
    if verb in {"live", "reside"} and said.tense in {"present", "progressive", "perfect"}:
        return (
            "home"
            if low[0]
            in {
                "in",
                "on",
                "at",
                "with",
                "near",
                "alone",
                "by",
                "next",
                "close",
                "where",
                "off",
                "across",
                "outside",
                "out",
                "around",
                "minutes",
            }
            and low[1:2] not in {("peace",), ("fear",), ("harmony",)}
            else ""
        )
    if verb in {"live", "reside"} and said.tense == "past":
        return "home" if (said.ended or low[0] in {"in", "with", "on"}) and len(low) > 1 else ""
    if verb == "grow" and low[:1] == ("up",) and said.tense in {"past", "perfect"} and len(low) > 1:
        return "self"
    if verb == "move" and said.tense in {"past", "perfect"}:
        return (
            "home"
            if (
                low[0] in {"to", "from", "away", "out", "here", "around", "in"}
                and len(low) > 1
                and low[:2] != ("in", "with")
            )
            or low[:2] == ("in", "with")
            else ""
        )
    if verb == "raise" and said.tense == "present":
        return "people" if class_of(low[-1]) in {"child", "animal"} else ""
    return ""
