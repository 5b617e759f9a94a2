"""Bring the standing instructions and preferences that apply to a message, by their triggers.

An instruction without a condition always applies: it is in every prompt, and takes no place here. Preferences
apply where something is asked to be done or advised.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemark.embed.bundled import BundledEmbedder
from mnemark.facts.keys import plain_words, predicate_key
from mnemark.facts.known import FACT
from mnemark.facts.model import Fact
from mnemark.facts.timeline import FactVersion
from mnemark.retrieval.fact_index import FactIndex, describe, hit_of, meta_of, without_stop_words
from mnemark.text.triggers import asks_for, is_request, trigger_of
from mnemark.types import Hit

MOST: Final = 3
"""Maximum number of rules in an answer."""
MIN_FIT: Final = 0.4
"""Minimum fit: of 24 rules one or more fit 4 % of the questions of other people, most on its matter."""
_MAX_CHARACTERS: Final = 2_000
"""Characters of a message that are read."""
_SAYS_MORE: Final = 1.5
"""Length of a turn, as a multiple of the rule that it states, from which it says more."""


class Applying(NamedTuple):
    """A rule that applies to a message, and how well its trigger fits, 0 to 1."""

    version: FactVersion
    fit: float


class _Ruled(NamedTuple):
    version: FactVersion
    trigger: str
    is_taste: bool


def applying(
    fact_index: FactIndex, message: str, moment: datetime, *, by_meaning: bool = True
) -> list[Applying]:
    """Return the instructions and preferences that apply to a message, the best fit first, at most `MOST`.

    Args:
        fact_index: the visible facts.
        message: what the owner says, in any language.
        moment: with zone; only what holds then applies.
        by_meaning: compare meanings with the bundled word table, too; else words only.
    """
    message = message[:_MAX_CHARACTERS]
    request = is_request(message)
    rules = [one for one in _rules(fact_index, moment) if request or not one.is_taste]
    if not rules or not message.strip():
        return []
    said = set(without_stop_words(message))
    fits = np.array([float(_named(one.trigger, said)) for one in rules])
    if by_meaning:
        said_so = BundledEmbedder().passages([message, *asks_for(message)])
        fits = np.maximum(fits, (_vectors(tuple(one.trigger for one in rules)) @ said_so.T).max(axis=1))
    best = sorted(range(len(rules)), key=lambda at: (-fits[at], rules[at].version.fact.id))[:MOST]
    return [Applying(rules[at].version, round(float(fits[at]), 4)) for at in best if fits[at] >= MIN_FIT]


def _named(trigger: str, said: set[str]) -> bool:
    """Return whether a message has all words of a trigger; one word alone may be there by chance."""
    words = without_stop_words(trigger)
    return len(words) > 1 and said.issuperset(words)


def _rules(fact_index: FactIndex, moment: datetime) -> Iterator[_Ruled]:
    for one in fact_index.rules:
        if one.at(moment):
            fact = one.fact
            if _is_taste(fact):
                yield _Ruled(one, _topic(fact.predicate, fact.value), is_taste=True)
            elif trigger := _condition(fact.value):
                yield _Ruled(one, trigger, is_taste=False)


def _is_taste(fact: Fact) -> bool:
    return fact.type != "rule"


@lru_cache(maxsize=4_096)
def _topic(predicate: str, value: str) -> str:
    of = predicate_key(predicate).removeprefix("favorite ")
    return value if of == predicate_key(predicate) else f"{of} {value}"


@lru_cache(maxsize=4_096)
def _condition(value: str) -> str:
    trigger = trigger_of(value)
    return trigger.text if trigger.conditional else ""


@lru_cache(maxsize=8)
def _vectors(triggers: tuple[str, ...]) -> NDArray[np.float32]:
    return BundledEmbedder().passages(triggers)


def with_rules(fact_index: FactIndex, hits: Sequence[Hit], found: Sequence[Applying], *, k: int) -> list[Hit]:
    """Put rules before the hits, in place of the turns that state them."""
    ids = {one.version.fact.id for one in found}
    rules = [_hit(fact_index, one) for one in found][:k]
    stated = {
        str(ref): plain_words(hit.meta["value"]) for hit in rules for ref in hit.meta.get("sources", ())
    }
    others = [hit for hit in hits if hit.meta.get(FACT) not in ids and not _states(hit, stated.get(hit.ref))]
    return [*rules, *others][:k]


def _states(hit: Hit, rule: str | None) -> bool:
    """Return whether a turn says no more than a rule that was learned from it."""
    return rule is not None and len(plain_words(hit.text)) < _SAYS_MORE * len(rule)


def _hit(fact_index: FactIndex, one: Applying) -> Hit:
    text = describe(fact_index, one.version, "current")
    meta = meta_of(fact_index, one.version, "current") | {"applies": True}
    return hit_of(one.version.fact, text, score=one.fit, meta=meta, why={})
