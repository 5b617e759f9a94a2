"""Read goals and plans of English speakers, with their dates."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from mnemark.extraction.candidate import Found
from mnemark.extraction.english_objects import is_general, joined, place, verb_phrase
from mnemark.extraction.english_parse import Said
from mnemark.extraction.english_phrases import noun_phrase
from mnemark.extraction.english_words import (
    ANIMALS,
    CHILDREN,
    GOODS,
    class_of,
    is_job,
    singular,
    word_set,
)
from mnemark.extraction.validity import shortest_date, time_to_come

_FUTURE_VERBS: Final = word_set(
    "move visit travel fly marry graduate retire start open buy adopt study go have get take launch run attend host celebrate leave return"
)


_BIG_PLANS: Final = word_set("move marry graduate retire adopt emigrate relocate")


_SHOPS: Final = word_set("restaurant shop bakery store studio cafe business school company")


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


def read_want(said: Said, who: str) -> list[Found]:
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
        or said.tense != "present"
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
    head, _ = noun_phrase(rest)
    return [Found(who, "goals", joined([verb, *rest]))] if head and fits(rest, head[-1]) else []


def read_plans(said: Said, time: datetime) -> list[Found]:
    """Read plans: "am moving to Oslo in June", "plan to visit Japan next year", with their date."""
    planned = None if said.negative or said.ended else _planned(said)
    if planned is None or not 1 <= len(planned[1]) <= _MOST_WORDS:
        return []
    verb, rest = planned
    if verb == "go" and rest[0].casefold() not in {"to", "on"}:
        return []
    low = {word.casefold() for word in rest}
    when = time_to_come(joined([verb, *rest]), time)
    days = (when[0] - time.replace(tzinfo=None)).days if when is not None else -1
    places = any(word[:1].isupper() and len(word) > 2 for word in rest)
    big = verb in _BIG_PLANS or (verb == "get" and "married" in low) or (verb == "have" and "baby" in low)
    trip = places and verb in {"go", "take"} and bool(low & _TRIPS)
    far = days >= _SOON and (places or verb in _FAR_PLANS)
    abroad = days > 1 and places and verb in {"fly", "travel", "visit"}
    to = {"to", "in", "out", "back", "from"}
    if not (big or trip or far or abroad) or (verb == "move" and not far and rest[0].casefold() not in to):
        return []
    if not is_general([word for word in rest if word.casefold() not in {"the", "my"}], longest=_MOST_WORDS):
        return []
    date = f" ({shortest_date(*when)})" if when is not None else ""
    return [Found("user", "plans", verb_phrase(verb, rest) + date)]


_MOST_WORDS: Final = 12
_SOON: Final = 6
"""Days; what happens before passes too soon to be kept, except for journeys."""
_TRIPS: Final = word_set("trip vacation cruise honeymoon holiday tour")
_FAR_PLANS: Final = word_set("visit travel fly start open buy")


def _planned(said: Said) -> tuple[str, tuple[str, ...]] | None:
    """Return verb and object of what is planned; None if nothing is."""
    low, going = said.low, said.tense == "progressive"
    if (
        len(low) > 2
        and low[0] == "to"
        and ((said.verb == "go" and going and low[1] in _FUTURE_VERBS) or said.verb == "plan")
    ):
        return low[1], said.rest[2:]
    if said.verb == "have" and low[:2] == ("plans", "to") and len(low) > 3:
        return low[2], said.rest[3:]
    moves = said.verb in {"move", "fly", "travel", "visit", "start", "marry"} or (
        said.verb == "get" and low[:1] == ("married",)
    )
    goes = said.verb == "go" and low[:1] in {("to",), ("on",)}
    return (said.verb, said.rest) if going and (moves or goes) else None
