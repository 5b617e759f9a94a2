"""List proposals and hand edits that wait for a person; accept or reject them.

An accepted fact also brings the line up to date that a person wrote and that it contradicts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Final, Literal

import msgspec

from mnemark.errors import IncompleteError, MnemarkError, NotFoundError, UsageError
from mnemark.facts.correct import CORRECTION, NEVER, Right
from mnemark.facts.correct import correct as correct_fact
from mnemark.facts.decide import is_suspect
from mnemark.facts.ends import Retraction
from mnemark.facts.fold import Words, words_of
from mnemark.facts.fold.tables import Edited
from mnemark.facts.model import Fact, refs_in
from mnemark.facts.pending import drop_proposals
from mnemark.facts.remember import end_one
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import when
from mnemark.files import layout, platform
from mnemark.files.journal import Change
from mnemark.files.names import split_ref
from mnemark.memory import file_edits
from mnemark.memory.curation.generated import remember_many, withdraw
from mnemark.memory.forgetting.forget import forget
from mnemark.memory.learning.by_hand import contradiction, line_of, statements_of
from mnemark.memory.merging.contradictions import contradictions, is_of_merge
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import clean
from mnemark.text.words.normalize import HAN
from mnemark.types import Json

_STEP: Final = "review: accepted"
EDITS: Final = "edits"
"""The id that means all changes made in fact files."""

What = Literal["proposal", "conflict", "removed", "otherwise", "edit"]
_NEXT: Final = lazy_pattern(r"\s*(?:[-*+#>|]|\d{1,3}[.)、]|$)")
"""The line after a statement: a blank one, a bullet, a heading, a quotation."""


class ReviewItem(msgspec.Struct, frozen=True, kw_only=True):
    """A thing to decide."""

    id: str
    what: What
    """`proposal`: said by a tool or the web; `conflict`: against the word of someone who is trusted more, or
    against a line that a person wrote;
    `removed`: a person took it out before; `otherwise`: words of the owner's that may say that a fact changed
    or, with `fact.until`, ended; `edit`: changed in its file outside mnemark, in effect already."""
    action: str = ""
    """Of an edit: added, changed, moved, ended or removed."""
    fact: Fact
    against: str = ""
    """The value that holds, or that held before the edit."""
    time: str = ""
    text: str = ""
    """The same as a sentence, where a face tells it."""
    suspect: bool = False
    """Whether it looks like instructions to a model, and is accepted only where that is said."""
    diff: str = ""
    """What accepting it changes in the note that it contradicts."""


def review(ws: OpenWorkspace, *, scope: str = "") -> list[ReviewItem]:
    """Return what waits for review, oldest first, with what accepting it changes in a note."""
    return [with_diff(ws, one) for one in waiting(ws, scope=scope)]


def waiting(ws: OpenWorkspace, *, scope: str | None = "") -> list[ReviewItem]:
    """Return what waits for review, oldest first: proposals, conflicts, changes made in fact files.

    No note is read: `diff` is empty. A scope of None is all of them.
    """
    known = ws.fact_store
    with known.lock:
        known.log.refresh()
        found = [*_proposed(known, scope), *_edited(known, scope)]
    return sorted(found, key=lambda one: one.id)


def source_of(one: ReviewItem) -> tuple[str, str]:
    """Return what tells the source of a thing to decide from others: who said it, and in which file."""
    path = split_ref(next(iter(refs_in(one.fact.source)), ""))[0] or (one.what == "edit" and one.fact.path)
    return one.fact.origin, path or ""


def by_source(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    """Return things to decide, those of a source together, in the order of the first of each source."""
    grouped: dict[tuple[str, str], list[ReviewItem]] = {}
    for one in items:
        # What names no source has none in common with others.
        source = source_of(one)
        grouped.setdefault(source if source[1] else (one.id, ""), []).append(one)
    return [one for group in grouped.values() for one in group]


def with_diff(ws: OpenWorkspace, one: ReviewItem) -> ReviewItem:
    """Return a thing to decide with what accepting it changes in the note that it contradicts."""
    path, change = _amendment(ws, one.fact) or ("", str)
    try:
        text = platform.content(ws.root / path).decode() if path else ""
    except (OSError, UnicodeDecodeError):  # no text any more
        return one
    diff = file_edits.shown_diff(ws, path, text, change(text)) if path else ""
    return msgspec.structs.replace(one, diff=diff)


def _proposed(known: FactStore, scope: str | None) -> Iterator[ReviewItem]:
    log = known.log
    doubted: dict[str, frozenset[str]] = {}
    held_against: dict[str, dict[Words, Fact]] = {}
    for fact in log.open_proposals():
        if scope not in {None, fact.scope}:
            continue
        what = _WAITS.get(fact.review, "proposal")
        if fact.review in {CORRECTION, NEVER} and log.of(fact.supersedes).hidden:
            continue  # it was corrected, or forgotten
        if what == "otherwise":
            if fact.scope not in doubted:
                doubted[fact.scope] = _in_doubt(known, fact.scope)
            if fact.supersedes not in doubted[fact.scope]:
                continue
        rival = log.of(fact.supersedes)
        there = rival.record or rival.known
        if is_of_merge(known, fact):
            if fact.scope not in held_against:
                pairs = contradictions(known, fact.scope)
                held_against[fact.scope] = {words_of(one): later for one, later in pairs}
            there = held_against[fact.scope].get(words_of(fact))
            if there is None:
                continue  # it holds now, or somebody who knew it has said otherwise since
        against = fact.against or (there.value if there is not None else "")
        yield ReviewItem(
            id=fact.id, what=what, fact=fact, against=against, time=fact.recorded or fact.since,
            suspect=is_suspect(fact),
        )  # fmt: skip


_WAITS: Final[Mapping[str, What]] = {
    "conflict": "conflict", "removed": "removed", "otherwise": "otherwise",
    CORRECTION: "conflict", NEVER: "conflict",
}  # fmt: skip


def _in_doubt(known: FactStore, scope: str) -> frozenset[str]:
    """Return the ids of the facts of a scope that hold, and that something speaks against."""
    now = known.workspace.now()
    held = (one for one in known.held(scope) if one.at(now))
    return frozenset(one.fact.id for one in held if one.fact.otherwise is not None)


def _edited(known: FactStore, scope: str | None) -> Iterator[ReviewItem]:
    log = known.log
    shown: set[tuple[str, ...]] = set()
    for one in log.tables.edits.values():
        if one.line in log.tables.decided or log.of(one.fact.id).hidden:
            continue
        if scope not in {None, one.fact.scope} or _said_by(one) in shown:
            continue
        shown.add(_said_by(one))
        before = one.before.value if one.before is not None else ""
        yield ReviewItem(
            id=one.line,
            what="edit",
            action=one.action,
            fact=one.fact,
            against=before,
            time=one.time,
            suspect=is_suspect(one.fact),
        )


def _said_by(one: Edited) -> tuple[str, ...]:
    """Return what an edit says: two machines that saw it in the file note it twice."""
    before = "" if one.before is None else one.before.value
    return one.fact.id, one.action, one.fact.predicate, one.fact.value, before


def _same_edits(known: FactStore, identifier: str) -> list[str]:
    """Return the lines of an edit, the named one first, so that a decision holds for all of them."""
    edits = known.log.tables.edits
    said = _said_by(edits[identifier])
    same = [line for line, one in edits.items() if _said_by(one) == said and line != identifier]
    return [identifier, *(line for line in same if line not in known.log.tables.decided)]


def accept(ws: OpenWorkspace, identifier: str, *, suspect: bool = False) -> Fact | None:
    """Make a proposal a fact of the owner's, or approve a change made in a file ("edits": all of them).

    The line of a person's that it contradicts gets the new value. `undo` with the same id takes all of it
    back, and what was accepted waits again.
    Returns the fact that was made, None for changes in files.

    Args:
        ws: the workspace.
        identifier: the id of what waits.
        suspect: accept it also where it looks like instructions to a model.

    Raises:
        NotFoundError: nothing of that id waits.
        UsageError: it looks like instructions, and `suspect` does not say that this is known.
        BusyError, ReadOnlyError: it could not be written.
    """
    ws.check_writable("decide")
    known = ws.fact_store
    if identifier == EDITS:
        edits = [one.id for one in waiting(ws) if one.what == "edit" and (suspect or not one.suspect)]
        lines = [line for one in edits for line in _same_edits(known, one)]
        _append_decision(known, lines, "", accept=True)
        return None
    fact = _open_fact(known, identifier)
    if is_suspect(fact) and not suspect:
        raise UsageError(
            f"this looks like instructions to a model; read it with `mnemark review show {identifier}` and "
            f"drop it with `mnemark review reject {identifier}`. `mnemark review accept {identifier} "
            "--suspect` makes it your own word, which agents act on"
        )
    if identifier in known.log.tables.edits:
        _append_decision(known, _same_edits(known, identifier), fact.scope, accept=True)
        return None
    return _accept_proposal(ws, identifier, fact)


def _accept_proposal(ws: OpenWorkspace, identifier: str, fact: Fact) -> Fact:
    """Make a proposal a fact, and take it out of what waits."""
    known = ws.fact_store
    if fact.review == "otherwise" and fact.until:
        return _accept_end(ws, fact)
    if fact.review in {CORRECTION, NEVER}:
        return _accept_correction(ws, fact)
    before = {one.id for one in known.log.records()}
    accepted = _remember_proposal(ws, known, fact)
    made = "" if accepted.id in before else accepted.id
    if identifier not in known.log.tables.decided:
        _append_decision(known, [identifier], fact.scope, accept=True, made=made)
    _drop_proposal(known, fact)
    amend(ws, fact)
    return accepted


def _accept_end(ws: OpenWorkspace, fact: Fact) -> Fact:
    """End the fact that a proposal says is over; return it."""
    known = ws.fact_store
    at = when(fact.until, known.zone) or ws.now()
    # Without the turn as its source: it is the person who says so.
    said = Retraction(fact.subject, fact.predicate, "", at, "", "owner", fact.scope)
    before = set(known.log.tables.ends)
    ended = end_one(known, fact.supersedes, said)
    made = next((line for line in known.log.tables.ends if line not in before), "")
    _append_decision(known, [fact.id], fact.scope, accept=True, made=made)
    _drop_proposal(known, fact)
    return next(iter(ended), fact)


def _accept_correction(ws: OpenWorkspace, fact: Fact) -> Fact:
    """Correct the fact that a proposal says is wrong; return it as corrected, else as it was."""
    known = ws.fact_store
    right = Right(fact.value, fact.predicate, fact.subject, fact.since or None, fact.until or None)
    done = correct_fact(known, fact.supersedes, Right(never=True) if fact.review == NEVER else right)
    withdraw(ws, {fact.scope}, step="undo")
    _append_decision(known, [fact.id], fact.scope, accept=True, made=done.id)
    _drop_proposal(known, fact)
    return done.after or done.before


def reject(ws: OpenWorkspace, identifier: str) -> Fact | None:
    """Drop a proposal, or undo a change made in a file, and return the fact that holds again.

    `undo` with the same id takes the rejection back.

    Raises:
        NotFoundError: nothing of that id waits.
        UsageError: a bullet that was moved has to be moved back by hand.
        BusyError, ReadOnlyError: it could not be written.
    """
    ws.check_writable("decide")
    known = ws.fact_store
    fact = _open_fact(known, identifier)
    edited = known.log.tables.edits.get(identifier)
    again, made = (None, "") if edited is None else _revert_edit(ws, edited)
    lines = [identifier] if edited is None else _same_edits(known, identifier)
    _append_decision(known, lines, fact.scope, accept=False, made=made)
    if edited is None:
        _drop_proposal(known, fact)
    return again


def _open_fact(known: FactStore, identifier: str) -> Fact:
    """Return the fact of what waits under an id; raise NotFoundError if nothing does."""
    with known.lock:
        known.log.refresh()
    if identifier in known.log.tables.decided:
        raise NotFoundError(
            f"{identifier!r} was already accepted or rejected; `mnemark review` lists what is open"
        )
    edited, state = known.log.tables.edits.get(identifier), known.log.of(identifier)
    fact = edited.fact if edited is not None else None if state.hidden else state.proposal
    if fact is None:
        raise NotFoundError(f"nothing to review has the id {identifier!r}; `mnemark review` lists the ids")
    return fact


def _drop_proposal(known: FactStore, fact: Fact) -> None:
    with suppress(MnemarkError, OSError):  # each sync tries again
        drop_proposals(known, fact.scope, [fact.id])


def amend(ws: OpenWorkspace, fact: Fact, *, group: str = "") -> None:
    """Amend the line of a person's that an accepted fact contradicts; `undo` takes both back by its id.

    `group`: the id, if it is not that of the fact.
    """
    try:
        path, change = _amendment(ws, fact) or ("", str)
        done = path and file_edits.write(ws, path, change, step=_STEP, origin="owner", group=group or fact.id)
    except UsageError:  # no text any more
        return
    except (MnemarkError, OSError) as error:
        raise IncompleteError(f"it is accepted, but the line that it contradicts stands: {error}") from error
    if done and done.status == "deferred":
        raise IncompleteError(
            f"it is accepted, but another program is saving {path}: change the line that it contradicts "
            "by hand"
        )


def _append_decision(known: FactStore, ids: list[str], scope: str, *, accept: bool, made: str = "") -> None:
    """Note a decision, with what it made for an undo: a fact, or the change that took a hand edit back."""
    if ids:
        kind = "accept" if accept else "reject"
        payload: dict[str, Json] = {"ids": ids, "made": made}
        with known.lock:
            known.log.append(Change(kind=kind, origin="owner", scope=scope, payload=payload))


def _remember_proposal(ws: OpenWorkspace, known: FactStore, found: Fact) -> Fact:
    """Store a proposal as a fact of the owner.

    If it has no start of validity, it is valid from now on.
    """
    dated = found.recorded or found.review == "otherwise"  # the day on which it was said
    since = when(found.since, known.zone) if dated else None
    source = "" if found.review == "removed" else found.source
    there = any(one.fact.id == found.supersedes for one in known.held(found.scope))
    return _remember(ws, found, since=since, source=source, replaces=found.supersedes if there else "")


def _remember(ws: OpenWorkspace, fact: Fact, **more: object) -> Fact:
    names = ("predicate", "value", "subject", "type", "importance", "tags", "scope")
    return remember_many(ws, [{name: getattr(fact, name) for name in names} | more])[0]


def _revert_edit(ws: OpenWorkspace, edited: Edited) -> tuple[Fact | None, str]:
    """Take a hand edit back; return the fact that holds again, and the id of the change that did it."""
    if edited.action == "moved":
        raise UsageError(f"move the line in {edited.fact.path} back by hand")
    if edited.action == "added":
        return None, forget(ws, id=edited.fact.id).id
    before = {fact.id for fact in ws.fact_store.log.records()}
    kept = _remember(ws, edited.before or edited.fact)
    return kept, "" if kept.id in before else kept.id  # one that held already is not this change's


def _amendment(ws: OpenWorkspace, fact: Fact) -> tuple[str, Callable[[str], str]] | None:
    """Return the path of the line that a fact contradicts, and what brings it up to date; None if it is gone.

    The old value in the line is replaced where it stands there once; else the new one is added behind it.
    """
    path = split_ref(fact.against.rpartition(" (")[2].removesuffix(")"))[0]
    if not fact.against or not layout.safe_path(ws.root, path).is_file():
        return None
    meant = (one for one in statements_of(ws, path) if fact.against.startswith(f"{clean(one[1])} ("))
    number, said = next(meant, (0, ""))

    def change(text: str) -> str:
        rows = text.splitlines(keepends=True)
        more = (at for at in range(number, len(rows)) if _NEXT.match(rows[at]))
        end = next(more, len(rows))
        return "".join(
            (*rows[: number - 1], amended("".join(rows[number - 1 : end]), said, fact, ws.now()), *rows[end:])
        )

    return (path, change) if number else None


def amended(rows: str, said: str, fact: Fact, now: datetime) -> str:
    """Return the lines of a statement with what a fact says.

    >>> new = Fact(id="", subject="project", predicate="postgresql version", value="16")
    >>> amended("- PostgreSQL 14 on a", "PostgreSQL 14 on a", new, datetime(2026, 1, 1)).strip()
    '- PostgreSQL 16 on a'
    >>> amended("- PostgreSQL 14 at 14:00", "PostgreSQL 14 at 14:00", new, datetime(2026, 1, 1))
    '- PostgreSQL 14 at 14:00 (now: 16)'
    """
    found = contradiction(fact, "", line_of("", said, now))
    if found is not None:
        ascii_ = found.old.isascii()  # Chinese words have no boundaries to check
        spot = re.compile(
            (r"(?<![\w.])" if ascii_ else "") + re.escape(found.old) + (r"(?!\w|\.\d)" if ascii_ else "")
        )
        if len(spot.findall(rows)) == 1:
            return spot.sub(lambda _: found.new, rows)
    words = rows.rstrip()
    remark = f"（现在：{fact.value}）" if HAN.search(words) else f" (now: {fact.value})"
    return words + remark + rows[len(words) :]
