"""What waits for a person to decide: proposals to make something a fact."""

from typing import TYPE_CHECKING

from mnemark.errors import NotFoundError
from mnemark.files.journal import Change
from mnemark.memory.facts import remember
from mnemark.memory.facts_project import state_of
from mnemark.text.facts_timeline import Fact, when

if TYPE_CHECKING:
    from mnemark.memory.core import Memory


def proposals(memory: "Memory", scope: str = "") -> list[Fact]:
    """What waits for a person: said by tools or the web, against the owner's word, or removed before."""
    known = state_of(memory)
    with known.lock:
        known.log.refresh()
        log = known.log
        return [
            fact
            for one, fact in sorted(log.proposals.items())
            if one not in log.decided and fact.scope == scope
        ]


def decide(memory: "Memory", proposal: str, *, accept: bool) -> Fact | None:
    """Make a proposal a fact of the owner's, or drop it; returns the fact.

    Raises:
        NotFoundError: no such proposal waits.
    """
    known = state_of(memory)
    known.log.refresh()
    found = known.log.proposals.get(proposal)
    if found is None or proposal in known.log.decided:
        raise NotFoundError(f"no proposal {proposal!r} waits for a decision")
    kept = None
    if accept:
        kept = remember(
            memory,
            found.predicate,
            found.value,
            subject=found.subject,
            type=found.type,
            since=when(found.since, known.zone),
            importance=found.importance,
            tags=found.tags,
            scope=found.scope,
        )
    kind = "accept" if accept else "reject"
    known.log.append(Change(kind=kind, origin="owner", scope=found.scope, payload={"fact": proposal}))
    return kept
