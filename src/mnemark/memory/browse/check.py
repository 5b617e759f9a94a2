"""Let a person look over what was learned: confirm what is right and strike what is not, in one go."""

from collections.abc import Collection
from typing import Final

import msgspec

from mnemark.errors import NotFoundError
from mnemark.facts.model import Fact, refs_in
from mnemark.facts.pending import bring_in
from mnemark.files.journal import Change
from mnemark.memory.forgetting.forget import forget
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.undo.undo import undo

_SURE: Final = 1.0
"""Confidence of a fact that its owner confirmed: rules and models never reach it."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What a person decided."""

    confirmed: int = 0
    """Number of facts that are sure from now on."""
    taken_back: int = 0
    """Number of facts that had taken the place of others, which hold again."""
    struck: tuple[str, ...] = ()
    """Ids of what hides the rest in the journal: `undo` takes each back."""


def to_check(ws: OpenWorkspace, scope: str = "") -> list[Fact]:
    """Return the facts of a scope that were learned and that nobody has confirmed, oldest first."""
    store = ws.fact_store
    with store.lock:
        store.log.refresh()
        held = [one.fact for one in store.held(scope) if one.end is None]
    found = [fact for fact in held if _is_learned(fact) and not store.log.of(fact.id).hidden]
    return sorted(found, key=lambda fact: (fact.recorded or fact.since, fact.id))


def _is_learned(fact: Fact) -> bool:
    from_turn = any(".jsonl#" in ref for ref in refs_in(fact.source))
    return from_turn and not fact.review and (fact.confidence is None or fact.confidence < _SURE)


def settle(
    ws: OpenWorkspace, confirm: Collection[str], strike: Collection[str], *, scope: str = ""
) -> Checked:
    """Confirm facts and strike others. What is struck is hidden, and not learned from its turn again.

    Args:
        ws: the workspace.
        confirm: ids of facts that are right.
        strike: ids of facts that are wrong.
        scope: of the facts.

    Raises:
        NotFoundError: one of them is not to be checked; nothing was changed.
        BusyError, ReadOnlyError: it could not be written.
    """
    ws.check_writable("decide")
    waiting = {fact.id: fact for fact in to_check(ws, scope)}
    if unknown := [one for one in (*confirm, *strike) if one not in waiting]:
        raise NotFoundError(f"{unknown[0]} is not among what was learned; look at the list again")
    for one in strike:
        if waiting[one].supersedes:  # what it took the place of holds again
            undo(ws, one)
    struck = [forget(ws, id=one).id for one in strike if not waiting[one].supersedes]
    changes = [_confirmation(waiting[one], scope) for one in confirm]
    store = ws.fact_store
    with store.lock, ws.truth.change():
        if changes:
            store.log.append(*changes)
            bring_in(store, scope, most=len(changes))
    store.changed()
    return Checked(confirmed=len(changes), taken_back=len(strike) - len(struck), struck=tuple(struck))


def _confirmation(fact: Fact, scope: str) -> Change:
    payload = {"fact": fact.id, "path": fact.path, "fields": {"confidence": f"{_SURE:g}"}}
    return Change(kind="confirm", origin="owner", scope=scope, payload=payload)
