"""Find the facts that a statement ends: "I no longer like coffee", or a new dislike of what was liked."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from mnemark.facts.keys import (
    content_key,
    holds_many,
    predicate_key,
    predicate_names,
    statement_key,
    subject_key,
    value_words,
)
from mnemark.facts.model import TRUST, Fact, refs_in
from mnemark.facts.timeline import FactVersion
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN
from mnemark.text.words.stopwords import content_terms
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
    if not exact and said.value and is_order(predicate):
        exact = [fact for fact in endable if _is_taken_back(said, fact)]
        exact = exact if len(exact) == 1 else []
    elif not exact and said.value:  # what is known under another name: a possession as the car
        named = [fact for fact in endable if is_same(said.value, fact.value)]
        exact = named if len(named) == 1 else []
    yield from exact


def _ends(said: Retraction, predicate: str, fact: Fact) -> bool:
    if predicate_key(fact.predicate):
        covered = _covers(predicate, predicate_key(fact.predicate))
        return covered and (not said.value or is_same(said.value, fact.value))
    return bool(said.value) and _words(predicate, fact.value) == _words(predicate, said.value)


def orders_meant(said: Retraction, held: Iterable[FactVersion]) -> list[Fact]:
    """Return the orders with all words of what is to hold no longer, which may be about them."""
    words = set(content_terms(said.value)) if said.value and is_order(said.predicate) else set()
    about = (one.fact for one in held if one.at(said.at) and is_order(one.fact.predicate))
    meant = [fact for fact in about if words and words <= set(content_terms(fact.value))]
    return [fact for fact in meant if _may_end(said, fact)]


def _is_taken_back(said: Retraction, fact: Fact) -> bool:
    """Whether an order is taken back in fewer words: its first, which says what to do, and others of it."""
    words, own = content_terms(said.value), content_terms(fact.value)
    return is_order(fact.predicate) and len(words) > 1 and words[0] == own[0] and set(words) <= set(own)


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


_ORDERS: Final = frozenset({
    "rules", "preferences", "guidelines", "principles", "instructions", "conventions", "constraints",
    "policies",
})  # fmt: skip
_ORDERS_ZH: Final = ("规则", "偏好", "原则", "准则", "约束", "约定", "规范")
"""Kinds whose values say how something has to be: of those about the same thing one is over."""
_LABEL: Final = lazy_pattern(r"^(?P<label>[^:：]{2,40})(?:: |：)(?=\S)")
_LIMIT: Final = lazy_pattern(
    r"(?P<before>\b(?:at (?:most|least)|(?:no )?(?:more|less|fewer|longer) than|up to|under|over|below|above|"
    r"within|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?|limit (?:is|of|to)) |"
    r"(?:最多|至少|不超过|少于|多于|上限[是为]?) ?)\d+(?:\.\d+)?"
)
_NOT: Final = lazy_pattern(r"n['\u2019]t\b|\b(?:can|do|does|must|should) ?not\b|\b(?:not|never|no)\b")
_MODAL: Final = frozenset({"always", "please", "must", "should", "do", "does", "ca", "wo"})
_NOT_ZH: Final = lazy_pattern("从不|永远不要?|绝不|不[要能得可再]|不可以|禁止|切勿|勿|[别不]")
_MODAL_ZH: Final = lazy_pattern("请|始终|总是|务必|一定要?|必须|要")
_TERM: Final = lazy_pattern(r"[\w+#]+(?:\.[\w+#]+)*")


class Order(NamedTuple):
    """What a rule or preference is about, and what it says of it, to be compared."""

    about: str
    says: tuple[object, ...]


def is_order(predicate: str) -> bool:
    """Whether the values of a predicate say how something has to be."""
    key = predicate_key(predicate)
    return key.rpartition(" ")[2] in _ORDERS or key.endswith(_ORDERS_ZH)


def order_of(value: str) -> Order | None:
    """Return what a rule or preference is about and says; None if it has no words.

    About the same thing are a denial, another order of the same words, another limit, and another value of
    the same property.

    >>> [order_of(text) == order_of("use tabs") for text in ("please use tabs", "never use tabs")]
    [True, False]
    >>> {order_of(text).about for text in ("use tabs", "please use tabs", "never use tabs", "don't use tabs")}
    {'tab use'}
    """
    label = _LABEL.match(value)
    if label and (key := predicate_names().get(predicate_key(label["label"]))) and not holds_many(key):
        return Order(f"{key}:", (statement_key(value[label.end() :]),))
    text = value_words(value)
    limits, masked = tuple(match[0] for match in _LIMIT.finditer(text)), _LIMIT.sub(r"\g<before>#", text)
    if HAN.search(masked):
        bare = statement_key(_MODAL_ZH.sub("", _NOT_ZH.sub("", masked)))
        return Order("".join(sorted(bare)), (bare, len(_NOT_ZH.findall(masked)), limits)) if bare else None
    words = [word for word in _TERM.findall(_NOT.sub(" not ", masked)) if word not in _MODAL]
    about = " ".join(sorted(statement_key(" ".join(word for word in words if word != "not")).split()))
    return Order(about, (statement_key(" ".join(words)), limits)) if about else None


class Orders:
    """The rules and preferences of a scope by what they are about."""

    def __init__(self, groups: Iterable[Mapping[str, Sequence[FactVersion]]]) -> None:
        """`groups`: versions by the keys of their predicates."""
        self._by_about: dict[tuple[str, str, str], list[tuple[Order, FactVersion]]] = {}
        for by_predicate in groups:
            for predicate, versions in by_predicate.items():
                if is_order(predicate):
                    for version in versions:
                        self.add(version)

    def add(self, version: FactVersion) -> None:
        """Add a version, if it is of such a kind."""
        fact = version.fact
        if is_order(fact.predicate) and (order := order_of(fact.value)) is not None:
            key = subject_key(fact.subject), predicate_key(fact.predicate), order.about
            self._by_about.setdefault(key, []).append((order, version))

    def like(self, fact: Fact) -> Iterator[tuple[bool, FactVersion]]:
        """Yield the versions about the same thing, with whether they say the same."""
        if is_order(fact.predicate) and (order := order_of(fact.value)) is not None:
            key = subject_key(fact.subject), predicate_key(fact.predicate), order.about
            yield from ((one.says == order.says, held) for one, held in self._by_about.get(key, ()))
