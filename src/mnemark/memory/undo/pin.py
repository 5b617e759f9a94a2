"""Pin what a person wants to keep: it does not fade, and stays in front."""

from collections.abc import Mapping
from typing import Final

import msgspec

from mnemark.errors import NotFoundError
from mnemark.facts.store import FactStore, bring_in
from mnemark.files.journal import Change, changes_of
from mnemark.files.layout import scope_of
from mnemark.files.locks import workspace_lock
from mnemark.memory.forgetting.select import Item, Selector, Wanted
from mnemark.memory.open_workspace import OpenWorkspace

_FIELDS: Final = {"importance": "1", "priority": "permanent"}
_PATIENCE: Final = 10.0


class Pinned(msgspec.Struct, frozen=True, kw_only=True):
    """A pin: its line in the journal, and what it holds."""

    id: str
    fact: str = ""
    """Id of the fact; empty for turns and notes."""
    ref: str = ""
    turn: str = ""
    """Id of the turn; empty for facts and notes."""


def pin(ws: OpenWorkspace, ref: str) -> Pinned:
    """Keep a fact, a turn or a piece of a note from fading.

    A fact gets importance 1 and priority "permanent" in its file; of turns and notes the journal keeps a mark
    that `pins` lists. Pinned again, nothing changes. `undo` with the pin's id takes it back.

    Args:
        ws: where.
        ref: `path#L12`, or the id of a fact or turn.

    Raises:
        NotFoundError: there is no such ref or id.
        BusyError, ReadOnlyError: it could not be written; nothing was pinned.
    """
    ws.check_writable("pin something")
    item = Selector(ws, Wanted(ref=ref)).find()[0]
    for known in pins(ws):
        if (item.kind == "fact" and known.fact == item.id) or (item.kind != "fact" and known.ref == item.ref):
            return known
    payload = _payload(ws.fact_store, item)
    facts = ws.fact_store
    scope = str(payload.pop("scope", ""))
    changes = [Change(kind="pin", payload=payload, origin="owner", scope=scope)]
    if item.kind == "fact":
        said = {"fact": item.id, "path": item.path, "fields": _FIELDS}
        changes.append(Change(kind="confirm", payload=said, origin="owner", scope=scope))
    with facts.lock, workspace_lock(ws.root, _PATIENCE):
        made = facts.log.append(*changes)[0]
    with facts.lock:
        bring_in(facts, scope)
    return _pinned(made.id, payload)


def _payload(facts: FactStore, item: Item) -> dict[str, object]:
    if item.kind != "fact":
        return {"ref": item.ref, "turn": item.id if item.kind == "turn" else ""}
    with facts.lock:
        facts.log.refresh()
        for scope in dict.fromkeys(("", *_scope_of(item.path))):
            for held in facts.held(scope):
                fact = held.fact
                if fact.id == item.id:
                    importance = "" if fact.importance is None else f"{fact.importance:g}"
                    before = {"importance": importance, "priority": fact.priority}
                    return {"fact": item.id, "path": fact.path, "before": before, "scope": scope}
    raise NotFoundError(f"{item.ref} is no fact that holds; accept it first")


def _scope_of(path: str) -> list[str]:
    return [scope_of(path)]


def restore(ws: OpenWorkspace, payload: Mapping[str, object]) -> None:
    """Give a fact back what it had before it was pinned."""
    before, fact = payload.get("before"), payload.get("fact")
    if not isinstance(before, Mapping) or not isinstance(fact, str):
        return
    facts = ws.fact_store
    path = str(payload.get("path", ""))
    said = {"fact": fact, "path": path, "fields": {str(key): str(text) for key, text in before.items()}}
    with facts.lock, workspace_lock(ws.root, _PATIENCE):
        facts.log.append(Change(kind="confirm", payload=said, origin="owner", scope=scope_of(path)))
        bring_in(facts, scope_of(path))


def pins(ws: OpenWorkspace) -> list[Pinned]:
    """All pins that hold, oldest first."""
    return [_pinned(identifier, payload) for identifier, payload in pin_lines(ws).items()]


def _pinned(identifier: str, payload: Mapping[str, object]) -> Pinned:
    return Pinned(
        id=identifier,
        fact=str(payload.get("fact", "")),
        ref=str(payload.get("ref", "")),
        turn=str(payload.get("turn", "")),
    )


def pin_lines(ws: OpenWorkspace) -> dict[str, Mapping[str, object]]:
    """Pins that hold, by the id of their line."""
    found: dict[str, Mapping[str, object]] = {}
    for change in changes_of(ws.root, ("pin", "undo")):
        payload = change.payload if isinstance(change.payload, Mapping) else {}
        if change.kind == "pin":
            found[change.id] = payload
        for one in payload.get("ids") or () if change.kind == "undo" else ():
            found.pop(one, None)
    return found
