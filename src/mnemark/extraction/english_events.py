"""Tell what happened in a life, and what has lasted, from what is passing."""

from collections.abc import Callable, Sequence
from typing import Final

from mnemark.extraction.english_clauses import BEINGS
from mnemark.extraction.english_objects import is_general
from mnemark.extraction.english_parse import Said
from mnemark.extraction.english_words import HABITS, KIN, class_of, is_job, singular, word_set


def event_topic(said: Said) -> str:
    """Return the topic of what happened in a life: studies, marriages, careers."""
    if said.negative or not is_general(said.rest or ("x1",), longest=12):
        return ""
    topic, fits = EVENTS[said.verb]
    if fits(said.low, singular(said.low[-1]) if said.rest else ""):
        return topic
    return lasting_topic(said) if said.tense == "perfect" else ""


_SCHOOLS: Final = frozenset({"school", "college", "university", "degree", "uni"})


_FIRMS: Final = word_set("business company store shop restaurant studio bakery blog farm")


_GROUPS: Final = word_set("band club team choir army navy marines church gym")
_MINE: Final = frozenset({"a", "an", "my", "our"})


EVENTS: Final[dict[str, tuple[str, Callable[[Sequence[str], str], bool]]]] = {
    "graduate": ("study", lambda low, _: not low or low[0] in {"from", "in", "with", "college", "high"}),
    "study": ("study", lambda low, _: bool(low) and low[-1] not in {"hard", "exam", "test"} and low[0] != "for"),
    "major": ("study", lambda low, _: low[:1] == ("in",)),
    "attend": ("study", lambda low, _: bool(_SCHOOLS & set(low))),
    "drop": ("study", lambda low, _: low[:2] == ("out", "of") and bool(_SCHOOLS & set(low))),
    "marry": ("people", lambda low, _: bool(low)),
    "divorce": ("people", lambda *_: True),
    "retire": ("work", lambda *_: True),
    "serve": ("work", lambda low, _: low[:1] in {("in",), ("as",)}),
    "quit": ("habits", lambda low, head: bool(low) and (low[0].endswith("ing") or head in {"job", "school"})),
    "stop": ("habits", lambda low, _: bool(low) and low[0].endswith("ing") and len(low) <= 4),
    "lose": ("people", lambda low, _: low[:2] == ("my", "job") or (len(low) == 2 and low[0] == "my" and class_of(low[1]) in BEINGS)),
    "found": ("work", lambda _, head: head in _FIRMS | {"charity", "startup"}),
    "become": ("work", lambda low, head: low[:1] in {("a",), ("an",)} and (is_job(head) or head in KIN)),
    "emigrate": ("home", lambda low, _: bool(low)),
    "immigrate": ("home", lambda low, _: bool(low)),
    "convert": ("beliefs", lambda low, _: low[:1] == ("to",)),
    "enlist": ("work", lambda *_: True),
    "join": ("leisure", lambda low, head: len(low) > 1 and low[0] in {"a", "an", "the"} and head in _GROUPS),
    "adopt": ("people", lambda low, _: bool(low) and class_of(low[-1]) in {"child", "animal"}),
    "publish": ("work", lambda _, head: head in {"book", "novel"}),
    "author": ("work", lambda low, _: bool(low)),
    "leave": ("work", lambda low, _: low[:2] == ("my", "job")),
    "break": ("people", lambda low, _: low[:1] == ("up",) and (len(low) == 1 or class_of(low[-1]) in BEINGS)),
    "get": ("people", lambda low, head: low[:1] in {("married",), ("divorced",), ("engaged",)} or (low[:1] in {("my",), ("a",)} and head in {"degree", "phd", "diploma"})),
    "give": ("habits", lambda low, _: low[:1] == ("up",) and len(low) > 1),
    "start": ("work", lambda low, head: low[:1] in {("my",), ("a",)} and head in _FIRMS),
    "open": ("work", lambda low, head: low[:1] in {("my",), ("a",)} and head in _FIRMS),
    "win": ("leisure", lambda _, head: head in {"championship", "medal", "award", "lottery"}),
    "survive": ("health", lambda low, _: bool(low) and class_of(low[-1]) == "illness"),
    "buy": ("home", lambda low, head: bool(low) and low[0] in _MINE and head in {"house", "apartment", "condo", "farm", "car"}),
    "tour": ("travel", lambda low, _: low[:1] == ("in",)),
    "travel": ("travel", lambda low, _: low[:1] in {("to",), ("around",), ("through",)}),
}  # fmt: skip


def lasting_topic(said: Said) -> str:
    """Return the topic of what has lasted, or of what the speaker has never done."""
    low = said.low
    if (
        said.negative
        and said.tense == "perfect"
        and low
        and is_general(said.rest, longest=8)
        and said.verb
        in {
            "be",
            "have",
            "see",
            "drive",
            "eat",
            "drink",
            "smoke",
            "play",
            "travel",
            "leave",
            "meet",
            "marry",
            "fly",
        }
    ):
        return "self"
    lasting = "since i was" in " ".join(low) or (
        any(word in {"for", "since"} for word in low[-5:])
        and any(
            word.startswith(("year", "decade")) or word in {"childhood", "child", "kid"} or word.isdecimal()
            for word in low[-4:]
        )
    )
    if (
        lasting
        and said.verb in {*HABITS, "work", "live", "marry", "know"}
        and is_general(said.rest, longest=10)
    ):
        return HABITS.get(said.verb, "self")
    return ""


def progress_topic(said: Said) -> str:  # noqa: PLR0911 - one question a wording
    """Return the topic of what is in progress for long: studies, training, a job."""
    low, verb = said.low, said.verb
    if said.negative or not low or not is_general(said.rest, longest=9):
        return ""
    if (verb == "go" and low[:2] in {("to", "school"), ("to", "college")}) or (
        verb == "take" and {"courses", "classes", "lessons"} & set(low) and "in" in low
    ):
        return "study"
    if verb == "learn":
        return (
            "skills"
            if (low[0] == "to" and len(low) <= 5)
            or (low[0] == "how" and len(low) <= 6)
            or (len(low) <= 2 and low[0] not in {"a", "so", "to"})
            else ""
        )
    if verb == "study":
        return (
            "study"
            if low[0] not in {"for", "hard", "late"} and (len(low) <= 4 or low[:2] == ("to", "be"))
            else ""
        )
    if verb == "train" and low[:1] in {("for",), ("to",)} and len(low) > 1:
        return "plans"
    if verb == "attend" and {"school", "college", "university"} & set(low):
        return "study"
    if verb == "work" and low[0] in {"as", "at", "for", "towards"} and len(low) > 2:
        return "work"
    return "people" if verb in {"date", "raise"} and class_of(low[-1]) in {"child", "person"} else ""
