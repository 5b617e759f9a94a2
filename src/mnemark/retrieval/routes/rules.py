"""Bring the standing instructions and preferences that apply to a message, those by their triggers.

An instruction without a condition always applies: it is in every prompt, and takes no place here. Preferences
apply where something is asked to be done or advised (see `taste_fit`), and come behind instructions.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from mnemark.embed.bundled import BundledEmbedder
from mnemark.facts.keys import plain_words, predicate_key
from mnemark.facts.known import FACT
from mnemark.facts.model import Fact
from mnemark.facts.timeline import FactVersion
from mnemark.retrieval.fact_index import FactIndex, describe, hit_of, meta_of, without_stop_words
from mnemark.retrieval.routes.taste_fit import MIN_FIT, TasteFit, vectors_of
from mnemark.text.triggers import asks_for, trigger_of
from mnemark.types import Hit

MOST: Final = 3
"""Maximum number of rules in an answer."""
_MAX_CHARACTERS: Final = 2_000
"""Characters of a message that are read."""
_SAYS_MORE: Final = 1.5
"""Length of a turn, as a multiple of the rule that it states, from which it says more."""


class Applying(NamedTuple):
    """A rule that applies to a message, and how well its trigger fits, 0 to 1."""

    version: FactVersion
    fit: float
    is_taste: bool


class _Ruled(NamedTuple):
    version: FactVersion
    trigger: str
    is_taste: bool


def applying(
    fact_index: FactIndex, message: str, moment: datetime, taste_fit: TasteFit, *, by_meaning: bool = True
) -> list[Applying]:
    """Return the instructions and preferences that apply to a message, the best fit first, at most `MOST`.

    Args:
        fact_index: the visible facts.
        message: what the owner says, in any language.
        moment: with zone; only what holds then applies.
        taste_fit: of the message.
        by_meaning: compare meanings with the bundled word table, too; else words only.
    """
    message = message[:_MAX_CHARACTERS]
    rules = [one for one in _rules(fact_index, moment) if taste_fit.request or not one.is_taste]
    if not rules or not message.strip():
        return []
    said = set(without_stop_words(message))
    fits = np.array([float(_named(one.trigger, said)) for one in rules])
    if by_meaning:
        said_so = BundledEmbedder().passages([message, *asks_for(message)])
        vectors = vectors_of(tuple(one.trigger for one in rules))
        fits = np.maximum(fits, (vectors @ said_so.T).max(axis=1))
        tastes = [at for at, one in enumerate(rules) if one.is_taste]
        fits[tastes] = np.maximum(fits[tastes], taste_fit.of([rules[at].trigger for at in tastes]))
    found = [
        Applying(one.version, round(fit, 4), one.is_taste)
        for one, fit in zip(rules, fits.tolist(), strict=True)
        if fit >= MIN_FIT
    ]
    return sorted(found, key=lambda one: (one.is_taste, -one.fit, one.version.fact.id))[:MOST]


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


def with_rules(
    fact_index: FactIndex | None,
    hits: Sequence[Hit],
    found: Sequence[Applying],
    turns: Sequence[Hit],
    *,
    k: int,
) -> list[Hit]:
    """Put rules and turns with tastes before the hits, in place of the turns that state them; `MOST` in all.

    Args:
        fact_index: what the rules are from.
        hits: what was found.
        found: rules, instructions first.
        turns: with tastes; their scores say how well these fit.
        k: hits at most.
    """
    rules = [] if fact_index is None else [_hit(fact_index, one) for one in found]
    stated = {
        str(ref): plain_words(hit.meta["value"]) for hit in rules for ref in hit.meta.get("sources", ())
    }
    orders = sum(not one.is_taste for one in found)
    whole = {hit.ref: replace(hit, meta={**hit.meta, "applies": True}) for hit in hits}
    told = [replace(whole.get(hit.ref, hit), score=hit.score) for hit in turns if hit.ref not in stated]
    first = (rules[:orders] + sorted(rules[orders:] + told, key=lambda hit: -hit.score))[:MOST][:k]
    ids = {hit.meta.get(FACT, hit.ref) for hit in first}
    others = [
        hit for hit in hits
        if hit.meta.get(FACT, hit.ref) not in ids and not _states(hit, stated.get(hit.ref))
    ]  # fmt: skip
    return [*first, *others][:k]


def _states(hit: Hit, rule: str | None) -> bool:
    """Return whether a turn says no more than a rule that was learned from it."""
    return rule is not None and len(plain_words(hit.text)) < _SAYS_MORE * len(rule)


def _hit(fact_index: FactIndex, one: Applying) -> Hit:
    text = describe(fact_index, one.version, "current")
    meta = meta_of(fact_index, one.version, "current") | {"applies": True}
    return hit_of(one.version.fact, text, score=one.fit, meta=meta, why={})
