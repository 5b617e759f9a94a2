"""Undo what was remembered, forgotten, pinned or edited automatically: the last, or by id."""

from collections.abc import Mapping
from functools import partial
from typing import Final, Literal

import msgspec

from mnemark.errors import NotFoundError, UsageError
from mnemark.facts.store import FactStore
from mnemark.facts.write import without_fact
from mnemark.files.journal import Change, changes_of
from mnemark.files.locks import workspace_lock
from mnemark.memory import file_edits
from mnemark.memory.curation.generated import withdraw_all
from mnemark.memory.forgetting.hide import follow
from mnemark.memory.journal.edits import Entry
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.undo.pin import pin_lines, restore

What = Literal["remember", "forget", "edit", "pin"]
_PATIENCE: Final = 10.0
_BUSY: Final = 0.5


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken back."""

    id: str
    """Of the change that was taken back, in the journal."""
    what: What
    paths: tuple[str, ...] = ()
    """Files that were changed by it."""
    waiting: tuple[str, ...] = ()
    """Files that someone is saving; the next sync changes them."""
    text: str = ""
    """For people: what it was, or the edit as a diff."""


def undo(ws: OpenWorkspace, id: str | None = None) -> list[Undone]:  # noqa: A002 - the word of the file format
    """Take back a change; the journal keeps both.

    A fact goes out of its file and the one before it holds again; what was hidden is shown; an automatic edit
    is taken out of its file and nothing else with it.

    Args:
        ws: whose.
        id: of the change in the journal, or of a group of edits (all of them, the last first). By default
            the last change of this machine that can be taken back.

    Raises:
        NotFoundError: there is no such change, or it was taken back before.
        UsageError: it cannot be taken back: it erased something, it was a revert, or what it wrote was
            changed since.
    """
    ws.check_writable("take changes back")
    done = _take_back(ws, id)
    withdraw_all(ws)
    follow(ws)
    return done


def _take_back(ws: OpenWorkspace, identifier: str | None) -> list[Undone]:
    known = _changes(ws, own=identifier is None)
    if identifier is None:
        if not known:
            raise NotFoundError("there is no change to take back; `mnemark log` shows those there are")
        if _last_revert(ws) > max(known) and known[max(known)] != "forget":  # its turns can be shown
            raise UsageError(
                "the last change was a revert, whose facts have to be told again; "
                "to take back what was before it, name it: `mnemark log` shows the ids"
            )
        return [_undo(ws, max(known), known)]
    if identifier in known:
        return [_undo(ws, identifier, known)]
    group = [one.id for one in file_edits.entries(ws) if one.group == identifier and one.id in known]
    group = [one for one in _learned_in(ws, identifier) if one in known] + group
    if group:
        return [_undo(ws, one, known) for one in reversed(group)]
    hides = ws.fact_store.log.forgets.get(identifier)
    if hides is not None and hides.erase:
        raise UsageError("what was erased is gone and cannot be brought back")
    raise NotFoundError(
        f"there is no change {identifier!r} that can be taken back; `mnemark log` shows those there are"
    )


def _learned_in(ws: OpenWorkspace, group: str) -> list[str]:
    """Facts that a consolidation learned."""
    for change in changes_of(ws.root, ("consolidate",)):
        payload = change.payload if isinstance(change.payload, Mapping) else {}
        if payload.get("group") == group:
            facts = payload.get("facts")
            return [one for one in facts if isinstance(one, str)] if isinstance(facts, list) else []
    return []


def _last_revert(ws: OpenWorkspace) -> str:
    """The id of the last revert that took back facts; empty where there was none."""
    found = [
        change.id
        for change in changes_of(ws.root, ("undo",))
        if isinstance(change.payload, Mapping) and change.payload.get("revert")
    ]
    return max(found, default="")


def _changes(ws: OpenWorkspace, *, own: bool) -> dict[str, What]:
    """What can be taken back, by id; `own`: only what this machine remembered."""
    facts = ws.fact_store
    with facts.lock:
        facts.log.refresh()
        log = facts.log
        known: dict[str, What] = {
            one: "remember"
            for one in log.records
            if one not in log.hidden and not (own and log.machines.get(one) != log.journal.file)
        }
        known |= dict.fromkeys((one for one, hides in log.forgets.items() if not hides.erase), "forget")
    known |= dict.fromkeys((one.id for one in file_edits.entries(ws) if _is_own_edit(one)), "edit")
    return known | dict.fromkeys(pin_lines(ws), "pin")


def _is_own_edit(entry: Entry) -> bool:
    """Whether an edit is one by itself, and not the taking back of another change."""
    return entry.state in {"done", "open"} and entry.step != "undo"


def _undo(ws: OpenWorkspace, identifier: str, known: Mapping[str, What]) -> Undone:
    match known[identifier]:
        case "remember":
            return _forget_fact(ws, identifier)
        case "forget":
            return _show(ws, identifier)
        case "pin":
            return _unpin(ws, identifier)
        case _:
            done = file_edits.reverse(ws, identifier)
            busy = (done.path,) if done.status == "deferred" else ()
            paths = () if busy else (done.path,)
            return Undone(id=identifier, what="edit", paths=paths, waiting=busy, text=done.diff)


def _note(ws: OpenWorkspace, identifier: str, scope: str = "") -> FactStore:
    facts = ws.fact_store
    with facts.lock, workspace_lock(ws.root, _PATIENCE):
        facts.log.append(Change(kind="undo", payload={"ids": [identifier]}, origin="owner", scope=scope))
    return facts


def _forget_fact(ws: OpenWorkspace, identifier: str) -> Undone:
    facts = ws.fact_store
    fact = facts.log.records[identifier]
    _note(ws, identifier, fact.scope)
    paths, waiting = take_out(ws)
    return Undone(id=identifier, what="remember", paths=paths, waiting=waiting, text=str(fact))


def take_out(ws: OpenWorkspace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Take facts that were taken back out of their files: the files changed, and those that are busy."""
    facts = ws.fact_store
    with facts.lock:
        facts.log.refresh()
        gone = {one: facts.log.records[one] for one in facts.log.withdrawn if one in facts.log.records}
    paths: list[str] = []
    waiting: list[str] = []
    for identifier, fact in gone.items():
        for path in facts.files.paths(fact.scope):
            if all(one.id != identifier for one in facts.files.facts(path)):
                continue
            done = file_edits.write(ws, path, partial(_without, identifier), step="undo", timeout=_PATIENCE)
            (waiting if done.status == "deferred" else paths).append(path)
    return tuple(dict.fromkeys(paths)), tuple(dict.fromkeys(waiting))


def _without(identifier: str, text: str) -> str:
    return without_fact(text, identifier)


def _show(ws: OpenWorkspace, identifier: str) -> Undone:
    hides = ws.fact_store.log.forgets[identifier]
    _note(ws, identifier)
    facts = f"{len(hides.ids)} {'fact' if len(hides.ids) == 1 else 'facts'}"
    count = facts if hides.ids else "turns and notes"
    return Undone(id=identifier, what="forget", text=count)


def _unpin(ws: OpenWorkspace, identifier: str) -> Undone:
    payload = pin_lines(ws)[identifier]
    _note(ws, identifier)
    restore(ws, payload)
    return Undone(id=identifier, what="pin", text=str(payload.get("fact") or payload.get("ref") or ""))
