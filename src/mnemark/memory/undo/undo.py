"""Undo a stored fact, a decision, a forget, a pin or an automatic edit: the last change, or one by id."""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Final, Literal

import msgspec

from mnemark.errors import MnemarkError, NotFoundError, UsageError, text_given
from mnemark.facts.corrections import paths_of, write_correction
from mnemark.facts.fold.tables import Decided
from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact
from mnemark.facts.pending import bring_in, drop_proposals
from mnemark.facts.store import FactStore
from mnemark.facts.write import without_end, without_fact
from mnemark.files.journal import FOLDER, Change, changes_of
from mnemark.files.layout import scope_of
from mnemark.files.tombstones import strings
from mnemark.files.truth import LOCK_SECONDS
from mnemark.memory import file_edits
from mnemark.memory.curation.generated import withdraw_all
from mnemark.memory.forgetting.forget import follow
from mnemark.memory.forgetting.select import Criteria, ForgetItem, Selector
from mnemark.memory.journal.edits import AutomaticEdit
from mnemark.memory.merging import steps
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.undo.runs import commit_undo, facts_of_runs, members, run_of
from mnemark.types import Json

What = Literal[
    "remember", "correct", "retract", "otherwise", "accept", "reject", "forget", "edit", "pin", "merge"
]


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """A change that was undone."""

    id: str
    """Id of the change in the journal."""
    what: What
    paths: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    """Files that could not be changed, as another program is saving them or the disk is full; the next sync
    changes them."""
    facts: tuple[Fact, ...] = ()
    """What the change was about."""
    text: str = ""
    """Of an edit, the diff; of a pin, what it kept if that is no fact."""


def undo(
    ws: OpenWorkspace,
    id: str | None = None,  # noqa: A002 - the word of the file format
    *,
    scopes: Collection[str] | None = None,
    announce: Callable[[str], object] = lambda id: None,  # noqa: A006, ARG005
) -> list[Undone]:
    """Undo a change; the journal keeps the change and the undo.

    A fact is deleted from its file, and the one that it superseded is valid again; hidden items are shown
    again; the lines of an automatic edit are reverted, and nothing else in the file; what was accepted or
    rejected waits for review again.

    Args:
        ws: the workspace.
        id: id of the change in the journal, of a group of edits (all are undone, the last first), of what was
            accepted or rejected, or of a merge. By default the last thing done on this machine that can be
            undone, a run of edits as a whole.
        scopes: where the person is; "" alone is everywhere. Without an id, the last thing that they did there
            themselves, or a consolidation, goes before what followed by itself, and nothing that changed by
            itself in another scope is undone.
        announce: called with the id of what is about to be undone, before it is, where none was given: of a
            change, of its group, or of a merge.

    Raises:
        NotFoundError: there is no such change, or it was undone before.
        UsageError: it was an erasure or a revert, or the lines that it wrote were changed since.
    """
    ws.check_writable("take changes back")
    if (merged := id or _last_merge(ws)) and steps.is_merge(ws.root, merged):
        if id is None:
            announce(merged)
        return [_take_merge_back(ws, merged)]
    started = datetime.now(UTC)
    known, chosen = _chosen(ws, id, scopes)
    if id is None:
        announce(run_of(ws, chosen[0]) or chosen[0])
    done = [_undo(ws, one, known) for one in chosen]
    withdraw_all(ws)
    follow(ws)
    commit_undo(ws, id or done[-1].id, [one.id for one in done], started)
    return done


def _last_merge(ws: OpenWorkspace) -> str:
    """Return the id of a merge if it was the last thing done on this machine; else nothing."""
    done = [plan.id for plan in steps.plans(ws.root) if plan.state == "done"]
    return done[-1] if done and done[-1] > max(undoable(ws, own=True), default="") else ""


def _take_merge_back(ws: OpenWorkspace, identifier: str) -> Undone:
    """Undo a merge: the files are as they were, with what was written since, and without what was erased."""
    paths, left = steps.take_back(ws.truth, identifier)
    withdraw_all(ws)
    follow(ws)
    return Undone(id=identifier, what="merge", paths=tuple(paths), waiting=tuple(left))


def _chosen(
    ws: OpenWorkspace, identifier: str | None, scopes: Collection[str] | None
) -> tuple[dict[str, What], list[str]]:
    """Return what can be undone, and the ids of what is to be, in that order."""
    unread = _unread(ws, own=identifier is None)
    known = undoable(ws, own=identifier is None)
    if unread and identifier not in known:
        raise MnemarkError(f"{unread}, so nothing was undone; check its disk, then try again")
    if identifier is None:
        last = max(known, default="")
        final = _final_after(ws, last, known.get(last, ""))
        if final == "an import":
            raise UsageError(
                "the last change was an import, which cannot be undone as a whole: hide a conversation with "
                "`mnemark forget --session ID`, or delete its notes; to undo an earlier change, give its id "
                "from `mnemark log`"
            )
        if not known:
            raise NotFoundError("there is no change to undo; `mnemark log` lists the changes")
        if final == "an erasure":
            raise UsageError(
                "the last change was an erasure, which cannot be undone; to undo an earlier change, give its "
                "id from `mnemark log`"
            )
        if final:
            raise UsageError(
                "the last change was a revert, which cannot be undone as a whole: remember its facts again; "
                "to undo an earlier change, give its id from `mnemark log`"
            )
        last = last if scopes is None else _last_of_person(ws, known, scopes)
        group = run_of(ws, last)
        decision = _decision_of(ws, group, known)
        return known, [decision] if decision else members(ws, group, known) or [last]
    if one := identifier if identifier in known else _decision_of(ws, identifier, known):
        return known, [one]
    if together := members(ws, identifier, known):
        return known, together
    if _is_erasure(ws, identifier):
        raise UsageError("erased text cannot be restored")
    raise NotFoundError(f"there is no change {identifier!r} that can be undone; `mnemark log` shows the ids")


def _last_of_person(ws: OpenWorkspace, known: Mapping[str, What], scopes: Collection[str]) -> str:
    """Return the last thing that a person, or a consolidation, did in these scopes; else the last there."""
    log = ws.fact_store.log
    edits = {edit.id: edit for edit in ws.edits.entries() if edit.id in known}
    reviewed = {named for line, one in log.tables.decisions.items() if line in known for named in one.ids}
    runs = {run.group for run in ws.edits.runs() if run.machine == ws.journal.file}
    learned = facts_of_runs(ws)
    own: list[str] = []
    others: list[str] = []
    for one, what in known.items():
        match what:
            case "remember":
                fact = log.stored(one)
                scope = fact.scope
                typed = (fact.origin == "owner" and not fact.source) or learned.get(one) in runs
            case "otherwise" | "correct":
                scope, typed = log.scope_of(one), what == "correct"
            case "retract":
                end = log.tables.ends.get(one)
                scope, typed = log.scope_of(one), end is not None and not end.source
            case "accept" | "reject":
                scope, typed = log.tables.decisions[one].scope, True
            case "edit":
                scope, typed = scope_of(edits[one].path), edits[one].group in reviewed | runs
            case _:  # what is forgotten or pinned
                scope, typed = "", True
        if not scope or scope in scopes or (typed and not any(scopes)):
            (own if typed else others).append(one)
    if not (own or others):
        raise NotFoundError(
            f"nothing was changed here; the last change elsewhere: `mnemark undo {max(known)}` "
            "(`mnemark log` lists all)"
        )
    if own and (name := _final_after(ws, max(own), known[max(own)])):
        raise UsageError(
            f"your last change was {name}, which cannot be undone; to undo an earlier change, give its "
            "id from `mnemark log`"
        )
    return max(own or others)


def _final_after(
    ws: OpenWorkspace, last: str, what: What | Literal[""]
) -> Literal["", "an erasure", "an import", "a revert"]:
    """Return what came after the last change that can be undone, and cannot be; empty if nothing did."""
    own, _ = ws.journal.own_since("", "forget", "import") or ([], "")
    later = [one.change for one in own if one.change.id > last]
    if any(one.fields.get("erase") for one in later):
        return "an erasure"
    if any(one.kind == "import" for one in later):
        return "an import"
    if what == "forget":  # what a revert hid can be shown
        return ""
    undos = changes_of(ws.root, ("undo",))
    return "a revert" if any(one.id > last and one.fields.get("revert") for one in undos) else ""


def _is_erasure(ws: OpenWorkspace, identifier: str) -> bool:
    named = (entry.change for entry in ws.journal.naming(identifier))
    return any(one.id == identifier and one.kind == "forget" and one.fields.get("erase") for one in named)


def _decision_of(ws: OpenWorkspace, identifier: str, known: Mapping[str, What]) -> str:
    """Return the line of the last decision on what waited under that id; empty if there is none."""
    decisions = ws.fact_store.log.tables.decisions.items()
    return next((line for line, one in reversed([*decisions]) if line in known and identifier in one.ids), "")


def _unread(ws: OpenWorkspace, *, own: bool) -> str:
    """Return why changes may be unknown: a journal that cannot be read; with `own`, only this machine's."""
    with ws.fact_store.lock:
        ws.fact_store.log.refresh()
        problems, mine = ws.journal.problems, (f"{FOLDER}/{ws.journal.file} ", f"{FOLDER}/ ")
    return next((one for one in problems if not own or one.startswith(mine)), "")


def undoable(ws: OpenWorkspace, *, own: bool, among: Collection[str] | None = None) -> dict[str, What]:
    """Return the changes that can be undone, by id.

    Args:
        ws: the workspace.
        own: of facts, only those that this machine stored.
        among: only these, so that a page of changes does not look at all there ever were.
    """
    facts = ws.fact_store
    wanted = None if among is None else frozenset(among)
    with facts.lock:
        facts.log.refresh()
        log = facts.log
        ids: Iterable[str] = (fact.id for fact in log.records()) if wanted is None else wanted
        known: dict[str, What] = {
            one: "remember"
            for one in ids
            if (state := log.of(one)).record is not None
            and not state.hidden
            and not (own and not log.is_own(one))
        }
        known |= {
            one: "correct"
            for one, correction in log.corrections().items()
            if not log.of(one).hidden
            and log.of(correction.wrong).corrected_by == (one,)
            and not log.is_gone(correction.wrong)
            and not (own and not log.is_own(one))
        }
        known |= {
            one: "retract"
            for one, end in log.ends().items()
            if not log.of(end.fact).hidden
            and not end.by  # undone with the fact that says the opposite
            and not (own and not log.is_own(one))
        }
        known |= {
            one.id: "otherwise"
            for one in log.open_proposals()
            if one.review == "otherwise" and not (own and not log.is_own(one.id))
        }
        known |= {
            line: one.kind
            for line, one in log.tables.decisions.items()
            if line not in log.tables.undone
            and not (own and one.file != log.journal.file)
            and not one.settled
            and _can_wait(log, one)
        }
        known |= {line: "forget" for line, hides in log.tables.hides.items() if not hides.erase}
    known |= dict.fromkeys((one.id for one in ws.edits.entries(wanted) if is_own_edit(one)), "edit")
    known |= dict.fromkeys(ws.pins.lines(), "pin")
    return known if wanted is None else {one: what for one, what in known.items() if one in wanted}


def _can_wait(log: FactJournal, one: Decided) -> bool:
    """Tell whether what was decided would wait again: a proposal that is not forgotten, or a hand edit."""
    if one.kind == "reject" and one.made:
        return True
    made = log.of(one.made)
    if one.kind == "accept" and made.hidden and not made.withdrawn:
        return False  # it was forgotten since, and would be shown again
    if one.kind == "accept" and not log.tables.edits.keys().isdisjoint(one.ids):
        return True
    return any(state.proposed and not state.hidden for state in map(log.of, one.ids))


def is_own_edit(entry: AutomaticEdit) -> bool:
    """Return whether an edit is in effect, and is not itself part of an undo."""
    return entry.state in {"done", "open"} and entry.step != "undo"


def _undo(ws: OpenWorkspace, identifier: str, known: Mapping[str, What]) -> Undone:
    one_step = {"correct": _uncorrect, "otherwise": _drop_doubt, "forget": _unhide, "pin": _unpin}
    if (step := one_step.get(known[identifier])) is not None:
        return step(ws, identifier)
    match known[identifier]:
        case "remember" | "retract" as what:
            return _take_back(ws, identifier, what)
        case "accept" | "reject":
            return _reopen(ws, identifier, known)
        case _:
            done = file_edits.reverse(ws, identifier)
            busy = (done.path,) if done.status == "deferred" else ()
            paths = () if busy else (done.path,)
            return Undone(id=identifier, what="edit", paths=paths, waiting=busy, text=done.diff)


def append_undo(ws: OpenWorkspace, *ids: str, scope: str = "", **more: Json) -> None:
    """Append to the journal that these changes are undone."""
    facts = ws.fact_store
    with facts.lock, ws.truth.change():
        facts.log.append(Change(kind="undo", payload={"ids": list(ids), **more}, origin="owner", scope=scope))


def _take_back(ws: OpenWorkspace, identifier: str, what: What) -> Undone:
    """Undo that a fact was stored, or that it was ended."""
    log = ws.fact_store.log
    facts = _known(log, [identifier if what == "remember" else log.tables.ends[identifier].fact])
    append_undo(ws, identifier, scope=log.scope_of(identifier))
    paths, waiting = take_out(ws)
    return Undone(id=identifier, what=what, paths=paths, waiting=waiting, facts=facts)


def _known(log: FactJournal, ids: Iterable[str]) -> tuple[Fact, ...]:
    """Return the facts of these ids, without forgotten ones."""
    states = (log.of(one) for one in ids)
    return tuple(one.last for one in states if one.last and not (one.erased or one.hidden_by))


def _uncorrect(ws: OpenWorkspace, identifier: str) -> Undone:
    """Let a fact that was corrected hold again as it was, with what it had ended."""
    facts = ws.fact_store
    log = facts.log
    done = log.tables.corrections[identifier]
    ends = [
        (log.tables.ends[line], log.tables.confirmations[line])
        for line in done.revived
        if line in log.tables.ends
    ]
    edits = [one.id for one in ws.edits.entries() if one.group == identifier and is_own_edit(one)]
    again = [
        Change(kind="retract", origin=done.origin, scope=done.scope, payload={
            "fact": end.fact, "fields": dict(said.fields), "by": end.by
        })
        for end, said in ends
    ]  # fmt: skip
    undone = Change(kind="undo", payload={"ids": [identifier]}, origin="owner", scope=done.scope)
    with facts.lock, ws.truth.change():
        log.append(undone, *again)
    paths, waiting = take_out(ws)
    with facts.lock:
        bring_in(facts, done.scope)
    paths += tuple(file_edits.reverse(ws, one).path for one in edits)
    return Undone(
        id=identifier, what="correct", paths=paths, waiting=waiting, facts=tuple(filter(None, [done.before]))
    )


def _drop_doubt(ws: OpenWorkspace, identifier: str) -> Undone:
    """Undo that words were taken to speak against a fact."""
    facts = ws.fact_store
    fact = facts.log.stored(identifier)
    append_undo(ws, identifier, scope=fact.scope)
    with suppress(MnemarkError, OSError):  # each sync tries again
        drop_proposals(facts, fact.scope, [identifier])
    return Undone(id=identifier, what="otherwise", facts=(fact,))


def _reopen(ws: OpenWorkspace, identifier: str, known: Mapping[str, What]) -> Undone:
    """Undo a decision and what it made: a fact and an edit of a note, or what took a hand edit back."""
    facts = ws.fact_store
    log = facts.log
    decided = log.tables.decisions[identifier]
    edits = [one.id for one in ws.edits.entries() if one.group in decided.ids]
    made = [_undo(ws, one, known) for one in (*edits, decided.made) if one in known]
    append_undo(ws, identifier, scope=decided.scope)
    with facts.lock:
        log.refresh()
        bring_in(facts, decided.scope)
    return Undone(
        id=identifier, what=decided.kind, paths=tuple(path for one in made for path in one.paths),
        waiting=tuple(path for one in made for path in one.waiting),
        facts=tuple(filter(None, map(log.reviewed, decided.ids))),
    )  # fmt: skip


def take_out(ws: OpenWorkspace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Delete undone facts and ends from their files; return the changed files, and those that wait."""
    facts = ws.fact_store
    with facts.lock:
        facts.log.refresh()
        log = facts.log
        edits = [(fact.scope, fact.id, partial(without_fact, identifier=fact.id)) for fact in log.withdrawn()]
        standing = {(end.fact, end.until) for end in log.ends().values()}
        edits += [
            (log.scope_of(line), end.fact, partial(without_end, identifier=end.fact, until=end.until))
            for line, end in log.ends(undone=True).items()
            if (end.fact, end.until) not in standing
        ]
        paths, waiting = _put_back(facts)
    for scope, identifier, change in edits:
        for path in facts.files.paths(scope):
            found = next((one for one in facts.files.facts(path) if one.id == identifier), None)
            if found is None or (change.func is without_end and found.until != change.keywords["until"]):
                continue
            try:
                done = file_edits.write(ws, path, change, step="undo", timeout=LOCK_SECONDS)
            except (MnemarkError, OSError):  # the journal has the undo: each sync tries again
                waiting.append(path)
            else:
                (waiting if done.status == "deferred" else paths).append(path)
    return tuple(dict.fromkeys(paths)), tuple(dict.fromkeys(waiting))


def _put_back(facts: FactStore) -> tuple[list[str], list[str]]:
    """Put what was corrected back where that was undone; return the changed files, and those that wait."""
    log = facts.log
    corrections = [one for line, one in log.tables.corrections.items() if line in log.tables.undone]
    waiting = set(log.pending())
    undone = [one.id for one in corrections if one.id in waiting]
    for one in corrections:
        if one.id in waiting:
            bring_in(facts, one.scope, own=one.id)
        elif any(fact.id == one.id for path in paths_of(one) for fact in facts.files.facts(path)):
            with suppress(MnemarkError, OSError):  # a copy of the file brought it back; each sync tries again
                write_correction(facts.truth, one, facts.zone, undone=True)
    left = set(log.pending())
    paths = {one: paths_of(log.tables.corrections[one]) for one in undone}
    return (
        [path for one in undone if one not in left for path in paths[one]],
        [path for one in undone if one in left for path in paths[one]],
    )


def _unhide(ws: OpenWorkspace, identifier: str) -> Undone:
    log = ws.fact_store.log
    hidden = log.tables.hides[identifier].facts
    append_undo(ws, identifier)
    return Undone(id=identifier, what="forget", facts=_known(log, hidden))


def _unpin(ws: OpenWorkspace, identifier: str) -> Undone:
    payload = ws.pins.lines()[identifier]
    append_undo(ws, identifier)
    _restore(ws, payload)
    facts = _known(ws.fact_store.log, strings([payload.get("fact")]))
    return Undone(id=identifier, what="pin", facts=facts, text="" if facts else str(payload.get("ref") or ""))


_PIN_FIELDS: Final = {"importance": "1", "priority": "permanent"}


class Pinned(msgspec.Struct, frozen=True, kw_only=True):
    """A pin: its line in the journal, and the pinned item."""

    id: str
    fact: str = ""
    ref: str = ""
    turn: str = ""


def pin(ws: OpenWorkspace, ref: str) -> Pinned:
    """Exempt a fact, a turn or lines of a note from decay.

    A fact gets importance 1 and priority "permanent" in its file; pins of turns and notes are only in the
    journal, and `pins` lists them. Pinning is idempotent. `undo` with the pin's id removes it.

    Args:
        ws: the workspace.
        ref: `path#L12`, or the id of a fact or turn.

    Raises:
        NotFoundError: there is no such ref or id.
        BusyError, ReadOnlyError: the pin could not be written; nothing was pinned.
    """
    ws.check_writable("pin something")
    if not text_given(ref, "the ref"):
        raise UsageError("say what to pin: path#L12 as hits name it, or the id of a fact or message")
    item = Selector(ws, Criteria(ref=ref)).find()[0]
    for known in pins(ws):
        if (item.kind == "fact" and known.fact == item.id) or (item.kind != "fact" and known.ref == item.ref):
            return known
    payload = _payload(ws.fact_store, item)
    facts = ws.fact_store
    scope = str(payload.pop("scope", ""))
    changes = [Change(kind="pin", payload=payload, origin="owner", scope=scope)]
    if item.kind == "fact":
        said = {"fact": item.id, "path": item.path, "fields": _PIN_FIELDS}
        changes.append(Change(kind="confirm", payload=said, origin="owner", scope=scope))
    with facts.lock, ws.truth.change():
        made = facts.log.append(*changes)[0]
    with facts.lock:
        bring_in(facts, scope)
    return _pinned(made.id, payload)


def _payload(facts: FactStore, item: ForgetItem) -> dict[str, object]:
    if item.kind != "fact":
        return {"ref": item.ref, "turn": item.id if item.kind == "turn" else ""}
    with facts.lock:
        facts.log.refresh()
        for scope in dict.fromkeys(("", scope_of(item.path))):
            for held in facts.held(scope):
                fact = held.fact
                if fact.id == item.id:
                    importance = "" if fact.importance is None else f"{fact.importance:g}"
                    before = {"importance": importance, "priority": fact.priority}
                    return {"fact": item.id, "path": fact.path, "before": before, "scope": scope}
    raise NotFoundError(f"{item.ref} is not a current fact; accept it first with `mnemark review`")


def _restore(ws: OpenWorkspace, payload: Mapping[str, object]) -> None:
    """Restore the fields a fact had before it was pinned."""
    before, fact = payload.get("before"), payload.get("fact")
    if not isinstance(before, Mapping) or not isinstance(fact, str):
        return
    facts = ws.fact_store
    path = str(payload.get("path", ""))
    said = {"fact": fact, "path": path, "fields": {str(key): str(text) for key, text in before.items()}}
    with facts.lock, ws.truth.change():
        facts.log.append(Change(kind="confirm", payload=said, origin="owner", scope=scope_of(path)))
        bring_in(facts, scope_of(path))


def pins(ws: OpenWorkspace) -> list[Pinned]:
    """Return all pins in effect, oldest first."""
    return [_pinned(identifier, payload) for identifier, payload in ws.pins.lines().items()]


def _pinned(identifier: str, payload: Mapping[str, object]) -> Pinned:
    fields = {name: str(payload.get(name, "")) for name in ("fact", "ref", "turn")}
    return Pinned(id=identifier, **fields)
