"""Remember what a person says in a sentence, outside of any conversation: "I live in Porto"."""

from typing import NamedTuple

from mnemark.errors import text_given
from mnemark.extraction.extract import Candidate, extract
from mnemark.facts.ends import Retraction
from mnemark.facts.model import Fact, NewFact
from mnemark.facts.remember import retract
from mnemark.memory.curation.generated import remember_many
from mnemark.memory.open_workspace import OpenWorkspace


class Told(NamedTuple):
    """What a sentence said."""

    facts: tuple[Fact, ...]
    """What holds now; what was known before among it."""
    ended: tuple[Fact, ...]
    changes: tuple[str, ...]
    """Ids for `undo`: each takes back a part of it."""


def remember_told(ws: OpenWorkspace, sentence: str, *, scope: str = "") -> Told:
    """Remember what a sentence of the owner's says, or end what it says is over.

    It is read as a turn is. What has no predicate that the rules know is kept as it was said.

    Args:
        ws: the workspace.
        sentence: in the first person, such as "I live in Porto".
        scope: where it is kept.

    Raises:
        UsageError: the sentence is empty.
        BusyError, ReadOnlyError: it could not be written.
    """
    text_given(sentence, "the sentence")
    ws.check_writable("remember")
    tables = ws.fact_store.log.tables
    known, ends = set(tables.facts), set(tables.ends)
    read = [one for one in extract(sentence, time=ws.now()) if not one.against]
    ended = [fact for one in read if one.over for fact in retract(ws.fact_store, _end(one, scope))]
    said = [_fact(one, scope) for one in read if not one.over]
    if not (said or ended):
        said = [NewFact(predicate="", value=sentence.strip(), scope=scope)]
    kept = remember_many(ws, said) if said else []
    made = [fact.id for fact in kept if fact.id not in known]
    after = [line for line in tables.ends if line not in ends]
    return Told(tuple(kept), tuple(ended), (*made, *after))


def _fact(one: Candidate, scope: str) -> NewFact:
    priority = "" if one.priority == "long" else one.priority  # long is assumed
    return NewFact(
        predicate=one.predicate, value=one.value, subject=one.subject, type=one.type, since=one.since,
        importance=one.importance, priority=priority, tags=(one.topic,) if one.topic else (), scope=scope,
    )  # fmt: skip


def _end(one: Candidate, scope: str) -> Retraction:
    return Retraction(one.subject, one.predicate, one.value, one.since, "", "owner", scope)
