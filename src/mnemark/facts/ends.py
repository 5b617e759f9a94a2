"""Find the facts that a statement ends: "I no longer like coffee", or a new dislike of what was liked."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from mnemark.facts.keys import content_key, predicate_key, statement_key, subject_key, value_words
from mnemark.facts.model import TRUST, Fact, refs_in
from mnemark.facts.timeline import FactVersion
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN
from mnemark.types import Origin

_OPPOSITE: Final = {"likes": "dislikes", "dislikes": "likes"}
_THINGS: Final = frozenset({"pets", "possessions", "car"})
"""Of these a kind ends the only one known of it: the cat is "two cats"."""
_MEETING: Final = lazy_pattern(r"\bappointments?\b|预约")
_OFTEN: Final = lazy_pattern(
    "每[天周月年晚]|每个?(?:周末|星期)|经常|常常|平时|通常|一般|基本|一直|主要|偶尔|会|都"
)
"""Says how often: who no longer runs does not run every day."""
_FAVORITE: Final = "favorite "
_VERBS: Final = {
    "likes": {"like", "love", "enjoy", "prefer"}, "dislikes": {"hate", "dislike"}, "pets": {"own"},
    "hobbies": {"like", "enjoy"}, "employer": {"work"}, "job": {"work"}, "city": {"live"},
    "languages": {"speak"},
}  # fmt: skip
"""Verbs that a statement has in place of a predicate."""


class Retraction(NamedTuple):
    """What no longer holds."""

    subject: str
    predicate: str
    """Empty: a statement."""
    value: str
    """Empty: every value of the predicate."""
    at: datetime
    """From when on."""
    source: str
    """The ref of the turn that says so."""
    origin: Origin
    scope: str


def ended_by(said: Retraction, held: Iterable[FactVersion]) -> Iterator[Fact]:
    """Yield the facts valid at that time that a retraction ends; never those of someone more trusted."""
    subject, predicate = subject_key(said.subject), predicate_key(said.predicate)
    if not predicate and not said.value:
        return
    endable = [
        one.fact
        for one in held
        if one.at(said.at) and subject_key(one.fact.subject) == subject and _may_end(said, one.fact)
    ]
    exact = [fact for fact in endable if _ends(said, predicate, fact)]
    if not exact and said.value and (means := _MEANS.get(predicate)) is not None:
        named = [fact for fact in endable if predicate_key(fact.predicate) == predicate and means(said, fact)]
        exact = named if len(named) == 1 else []
    yield from exact


def _ends(said: Retraction, predicate: str, fact: Fact) -> bool:
    if predicate_key(fact.predicate):
        covered = _covers(predicate, predicate_key(fact.predicate))
        return covered and (not said.value or is_same(said.value, fact.value))
    return bool(said.value) and _words(predicate, fact.value) == _words(predicate, said.value)


def _is_kind(said: Retraction, fact: Fact) -> bool:
    """Whether a value is of the kind that is over: 两只猫 and 猫, "a blue car" and "car"."""
    one, other = value_words(said.value), value_words(fact.value)
    return other.endswith(one if HAN.search(one[:1]) else f" {one}")


def _has_name(said: Retraction, fact: Fact) -> bool:
    """Whether a value holds the words that are over as a part of its name: Mercy hospital and "Mercy"."""
    one, other = value_words(said.value).removeprefix("the "), value_words(fact.value)
    return one in other if HAN.search(one) else f" {one} " in f" {other} "


def _is_to_come(said: Retraction, fact: Fact) -> bool:
    """Whether a value is an appointment of that kind, on the day of the retraction or later."""
    day, _, what = value_words(fact.value).partition(" ")
    kind = " ".join(_MEETING.sub(" ", value_words(said.value)).split())
    if not kind:  # "my appointment" is no flight
        return day >= f"{said.at:%Y-%m-%d}" and _MEETING.search(what) is not None
    same = kind in what if HAN.search(kind) else set(kind.split()) <= set(what.split())
    return same and day >= f"{said.at:%Y-%m-%d}"


_MEANS: Final[Mapping[str, Callable[[Retraction, Fact], bool]]] = {
    **dict.fromkeys(_THINGS, _is_kind),
    "employer": _has_name,
    "appointments": _is_to_come,
}
"""By the predicate, how other words than the value name the only fact that is meant.

Of a firm people say a part of its name: who quits Mercy no longer works at Mercy hospital. What is moved is
named by its kind, and only an appointment that is still to come is meant.
"""


def _may_end(said: Retraction, fact: Fact) -> bool:
    of_same_turn = bool(said.source) and said.source in refs_in(fact.source)
    return not of_same_turn and TRUST[said.origin] >= TRUST[fact.origin]


def is_same(one: str, other: str) -> bool:
    """Whether two values name one thing: "Labradors" and "the Labrador"."""
    return content_key("value", one) == content_key("value", other) or statement_key(one) == statement_key(
        other
    )


def _covers(said: str, predicate: str) -> bool:
    """Whether the end of one predicate's value ends another's: what is no longer liked is no favorite."""
    return said == predicate or (
        said == "likes" and (predicate == "hobbies" or predicate.startswith(_FAVORITE))
    )


def _words(predicate: str, statement: str) -> tuple[str, ...]:
    verbs = _VERBS.get(predicate, ())
    plain = _OFTEN.sub("", statement)
    return tuple(word for word in statement_key(plain).split() if word not in verbs)


def opposite(fact: Fact) -> Retraction | None:
    """Return what a new fact ends beside the earlier values of its key: a dislike the like; else None."""
    other = _OPPOSITE.get(predicate_key(fact.predicate))
    if other is None or not fact.since:
        return None
    return Retraction(
        subject=fact.subject, predicate=other, value=fact.value, at=datetime.fromisoformat(fact.since),
        source=fact.source, origin=fact.origin, scope=fact.scope,
    )  # fmt: skip


class Tastes:
    """The likes and dislikes of a scope by their words, to find opposites."""

    def __init__(self, held: Iterable[FactVersion]) -> None:
        self._by_words: dict[str, list[FactVersion]] = {}
        for version in held:
            key = predicate_key(version.fact.predicate)
            if key in _OPPOSITE or key == "hobbies" or key.startswith(_FAVORITE):
                self.add(version)

    def add(self, version: FactVersion) -> None:
        """Add a new one."""
        for key in _marks(version.fact.value):
            self._by_words.setdefault(key, []).append(version)

    def of(self, value: str) -> list[FactVersion]:
        """Return those with that value."""
        found = [version for key in _marks(value) for version in self._by_words.get(key, ())]
        return list({version.fact.id: version for version in found}.values())


def _marks(value: str) -> set[str]:
    return {content_key("value", value), statement_key(value)}
