"""List proposals and hand edits that wait for a person; accept or reject them."""

from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from mnemark.errors import NotFoundError, UsageError
from mnemark.facts.files import REVIEW
from mnemark.facts.journal import Edited
from mnemark.facts.model import Fact
from mnemark.facts.parse import decode, encode
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import when
from mnemark.facts.write import without_fact
from mnemark.files.edit import edit
from mnemark.files.journal import Change
from mnemark.memory.curation.generated import remember_one
from mnemark.memory.forgetting.forget import forget
from mnemark.memory.open_workspace import OpenWorkspace

EDITS: Final = "edits"
"""In place of an id: all changes made in the files."""
_BUSY: Final = 0.5

What = Literal["proposal", "conflict", "removed", "edit"]


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to decide."""

    id: str
    what: What
    """`proposal`: said by a tool or the web; `conflict`: against the word of someone who is trusted more;
    `removed`: a person took it out before; `edit`: changed in its file outside mnemark, in effect already."""
    action: str = ""
    """Of an edit: added, changed, moved, ended or removed."""
    fact: Fact
    against: str = ""
    """The value that holds, or that held before the edit."""
    time: str = ""
    text: str
    """For people: one line."""


def review(ws: OpenWorkspace, *, scope: str = "") -> list[Waiting]:
    """All that waits, the oldest first: proposals, conflicts, and changes made in the fact files."""
    known = ws.fact_store
    with known.lock:
        known.log.refresh()
        found = [*_proposed(known, scope), *_edited(known, scope)]
    return sorted(found, key=lambda one: one.id)


def _proposed(known: FactStore, scope: str) -> Iterator[Waiting]:
    log = known.log
    for one, fact in log.proposals.items():
        if one in log.decided or one in log.hidden or fact.scope != scope:
            continue
        what: What = "conflict" if fact.review == "conflict" else "proposal"
        what = "removed" if fact.review == "removed" else what
        there = log.records.get(fact.supersedes) or _last(known, fact.supersedes)
        against = there.value if there is not None else ""
        held = f"; current value: {against!r}" if against else ""
        text = f"{fact} (source: {fact.origin}){held}"
        yield Waiting(
            id=one, what=what, fact=fact, against=against, time=fact.recorded or fact.since, text=text
        )


def _last(known: FactStore, identifier: str) -> Fact | None:
    found = known.log.known.get(identifier)
    return found.fact if found is not None else None


def _edited(known: FactStore, scope: str) -> Iterator[Waiting]:
    log = known.log
    for one in log.edits.values():
        if one.line in log.decided or one.fact.scope != scope or one.fact.id in log.hidden:
            continue
        before = one.before.value if one.before is not None else ""
        was = f" (was {before!r})" if before else ""
        text = f"{one.fact}{was}, {one.action} in {one.fact.path}"
        yield Waiting(
            id=one.line,
            what="edit",
            action=one.action,
            fact=one.fact,
            against=before,
            time=one.time,
            text=text,
        )


def proposals(ws: OpenWorkspace, scope: str = "") -> list[Fact]:
    """Proposals that wait: said by tools or the web, against the owner's word, or removed before."""
    known = ws.fact_store
    with known.lock:
        known.log.refresh()
        return [one.fact for one in sorted(_proposed(known, scope), key=lambda one: one.id)]


def accept(ws: OpenWorkspace, identifier: str) -> Fact | None:
    """Make a proposal a fact of the owner's, or agree to a change made in a file ("edits": to all of them).

    Returns the fact that was made, None for changes in files.

    Raises:
        NotFoundError: nothing of that id waits.
        BusyError, ReadOnlyError: it could not be written.
    """
    return decide(ws, identifier, accept=True)


def reject(ws: OpenWorkspace, identifier: str) -> Fact | None:
    """Drop a proposal, or take a change made in a file back: what was there holds again.

    Returns the fact that holds again, where there is one.

    Raises:
        NotFoundError: nothing of that id waits.
        UsageError: a bullet that was moved has to be moved back by hand.
        BusyError, ReadOnlyError: it could not be written.
    """
    return decide(ws, identifier, accept=False)


def decide(ws: OpenWorkspace, identifier: str, *, accept: bool) -> Fact | None:
    """Accept or reject what waits under an id; see `accept` and `reject`."""
    ws.check_writable("decide")
    known = ws.fact_store
    with known.lock:
        known.log.refresh()
    if identifier == EDITS and accept:
        lines = [one.id for one in review(ws) if one.what == "edit"]
        _note(known, lines, "", accept=True)
        return None
    if identifier in known.log.decided:
        raise NotFoundError(
            f"{identifier!r} was already accepted or rejected; `mnemark review` lists what is open"
        )
    if (edited := known.log.edits.get(identifier)) is not None:
        kept = None if accept else _take_back(ws, edited)
        _note(known, [identifier], edited.fact.scope, accept=accept)
        return kept
    found = known.log.proposals.get(identifier)
    if found is None or identifier in known.log.hidden:
        raise NotFoundError(f"nothing to review has the id {identifier!r}; `mnemark review` lists the ids")
    kept = _made(ws, known, found) if accept else None
    _note(known, [identifier], found.scope, accept=accept)
    path = f"{found.scope}/{REVIEW}" if found.scope else REVIEW
    if (known.root / path).is_file():
        edit(known.root, path, lambda data: encode(without_fact(decode(data), identifier)), timeout=_BUSY)
    return kept


def _note(known: FactStore, ids: list[str], scope: str, *, accept: bool) -> None:
    if ids:
        kind = "accept" if accept else "reject"
        with known.lock:
            known.log.append(Change(kind=kind, origin="owner", scope=scope, payload={"ids": ids}))


def _made(ws: OpenWorkspace, known: FactStore, found: Fact) -> Fact:
    """The owner's fact; where nobody said since when it holds, from now on."""
    return remember_one(
        ws,
        predicate=found.predicate,
        value=found.value,
        subject=found.subject,
        type=found.type,
        since=when(found.since, known.zone) if found.recorded else None,
        importance=found.importance,
        tags=found.tags,
        source="" if found.review == "removed" else found.source,
        scope=found.scope,
    )


def _take_back(ws: OpenWorkspace, edited: Edited) -> Fact | None:
    if edited.action == "moved":
        raise UsageError(f"move the line in {edited.fact.path} back by hand")
    if edited.action == "added":
        forget(ws, id=edited.fact.id)
        return None
    old = edited.before or edited.fact
    return remember_one(
        ws,
        predicate=old.predicate,
        value=old.value,
        subject=old.subject,
        type=old.type,
        importance=old.importance,
        tags=old.tags,
        scope=old.scope,
    )
