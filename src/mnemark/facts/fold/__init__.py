"""Facts as a fold over the journal: one state for each, one function for each kind of line.

Here is what its lines say of a fact, as payloads.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from mnemark.facts.keys import content_key, predicate_key, subject_key
from mnemark.facts.model import TYPES, Fact
from mnemark.files.ids import derived_id
from mnemark.files.journal import Change
from mnemark.hashes import blake2b
from mnemark.text.lines import clean
from mnemark.types import ORIGINS, Json

Words = tuple[str, str, str]
"""Keys of subject, predicate and value."""
_TEXTS: Final = (
    "subject", "predicate", "value", "since", "until", "recorded", "source", "supersedes", "priority",
    "against", "quote",
)  # fmt: skip
_TEXT_FIELDS: Final = frozenset((*_TEXTS, "path", "review"))
_SHARES: Final = ("importance", "confidence")


def payload_of(fact: Fact) -> dict[str, Json]:
    """Return the journal payload of a fact, without the fields of the line itself."""
    texts = {name: getattr(fact, name) for name in (*_TEXTS, "type", "path", "review") if getattr(fact, name)}
    shares = {name: getattr(fact, name) for name in _SHARES if getattr(fact, name) is not None}
    return texts | shares | ({"tags": list(fact.tags)} if fact.tags else {})


def fact_from(payload: Json, change: Change, identifier: str) -> Fact | None:
    """Return the fact in a journal payload, or None."""
    if not isinstance(payload, Mapping) or not isinstance(payload.get("value"), str):
        return None
    texts: dict[str, Any] = {  # few of them are there, in thousands of lines
        name: clean(text) for name, text in payload.items() if name in _TEXT_FIELDS and isinstance(text, str)
    }
    shares: dict[str, Any] = {
        name: float(share)
        for name in _SHARES
        if isinstance(share := payload.get(name), (int, float)) and 0 <= share <= 1
    }
    tags = payload.get("tags")
    kind = payload.get("type")
    return Fact(
        id=identifier,
        type=kind if kind in TYPES else "fact",
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        origin=change.origin,
        scope=change.scope,
        **texts,
        **shares,
    )


def before_of(payload: Mapping[str, Json], change: Change, identifier: str) -> Fact | None:
    """Return the fact that a hand edit replaced, or None; `identifier`: of the fact now."""
    before = payload.get("before")
    if not isinstance(before, Mapping):
        return None
    fact, origin = fact_from(before, change, str(before.get("id") or identifier)), before.get("origin")
    if fact is None or origin not in ORIGINS:
        return fact
    return msgspec.structs.replace(fact, origin=origin)


def words_of(fact: Fact) -> Words:
    """Return the keys by which the content of facts is compared."""
    return subject_key(fact.subject), predicate_key(fact.predicate), content_key(fact.predicate, fact.value)


def said_mark(scope: str, words: Words) -> str:
    """Return a hash of scope and words, to recognise erased facts without storing their text."""
    text = "\0".join((scope, *words))
    return blake2b(text.encode("utf-8", "replace"), digest_size=10).hexdigest()


def past_id(fact: Fact) -> str:
    """Return the id of the version of a fact before a hand edit."""
    return derived_id("\0".join((fact.id, *words_of(fact))).encode("utf-8", "replace"))


def said_in(payload: Mapping[str, Json], identifier: str = "") -> Iterator[Fact]:
    """Yield what a journal line says, now and before: id, subject, predicate and value."""
    for part in (payload, payload.get("before")):
        if isinstance(part, Mapping) and isinstance(part.get("value"), str):
            subject, predicate, value = (clean(str(part.get(name) or "")) for name in _TEXTS[:3])
            fact = str(part.get("id") or payload.get("fact") or identifier)
            yield Fact(id=fact, subject=subject or "user", predicate=predicate, value=value)


def versions_in(identifier: str, payload: Mapping[str, Json]) -> set[str]:
    """Return the ids, as past versions, of the values that a journal line holds."""
    return set(map(past_id, said_in(payload, identifier)))
