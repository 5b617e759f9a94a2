"""Forget: hide from every answer, to be shown again, or erase for good.

Hiding is one line in the journal. It names turns by id, lines of notes by a hash, facts by id; the index
leaves out what it names, at once, after a rebuild, and in every process. `memory.erase` takes the bytes away.
"""

from collections import defaultdict
from datetime import datetime

import msgspec

from mnemark.errors import ReadOnlyError, UsageError
from mnemark.facts.visible import Visible
from mnemark.files.scopes import scopes_of
from mnemark.memory.forgetting.derived import derived_copies
from mnemark.memory.forgetting.erase import erase as erased
from mnemark.memory.forgetting.hide import asked, hide
from mnemark.memory.forgetting.receipt import Place, Receipt, forgotten
from mnemark.memory.forgetting.select import Item, Selector, Wanted
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.dates.moment import moment
from mnemark.types import ORIGINS


def forget(
    ws: OpenWorkspace,
    ref: str | None = None,
    *,
    query: str | None = None,
    session: str | None = None,
    origin: str | None = None,
    since: datetime | str | None = None,
    id: str | None = None,  # noqa: A002 - the word of the file format
    erase: bool = False,
    dry_run: bool = False,
    scope: str | None = None,
    git: bool = False,
) -> Receipt:
    """Forget turns, pieces of notes and facts; when this returns, no search, recall or list shows them.

    Without `erase` they stay in the files and `undo` shows them again; what a forgotten fact had replaced
    does not come back. Facts whose only sources are forgotten turns go with them, and so do lines of daily
    notes, episodes and scratchpads that quote them.

    Args:
        ws: whose.
        ref: `path#L12`, `path#L12-L14` or a whole file, as hits name them; or the id of a turn or fact.
        query: what holds these very words, letter for letter.
        session: the turns of the session of that id. With `origin` and `since`, those that fit all.
        origin: turns and facts of that origin.
        since: turns and facts recorded from then on (a datetime, ISO text, or words such as "last week").
        id: of a turn or a fact.
        erase: take the bytes out of every file, the index, vectors and bookkeeping; this cannot be undone.
        dry_run: only say what would go, and from where.
        scope: only there, for example "users/ann"; anywhere in the workspace by default.
        git: with `erase`, say in the receipt what to run for the git history, which is left as it is.

    Raises:
        NotFoundError: there is no such ref or id.
        UsageError: nothing, or too much, says what is meant.
        BusyError, ReadOnlyError: it could not be written; nothing was forgotten.
    """
    wanted = _wanted(ws, ref, query, session, origin, since, id, scope)
    if git and not erase:
        raise UsageError("git can only be used together with erase")
    if not dry_run and ws.readonly:
        raise ReadOnlyError("this memory is open for reading only; open it for writing to forget")
    finder = Selector(ws, wanted)
    items = finder.find()
    unread = tuple(f"{path}: {reason}; not searched" for path, reason in finder.unread.items())
    if not items:
        return Receipt(action="nothing", dry_run=dry_run, still=unread)
    if erase:
        return erased(ws, items, query=wanted.query, dry_run=dry_run, git=git)
    items = [*items, *derived_copies(ws.root, items)]
    hidden = "" if dry_run else hide(ws, items, {"asked": asked(wanted)})
    receipt = _receipt(ws.visible, items, identifier=hidden, dry_run=dry_run)
    return msgspec.structs.replace(receipt, still=unread)


def _wanted(  # noqa: PLR0917 - see `forget`
    ws: OpenWorkspace,
    ref: str | None,
    query: str | None,
    session: str | None,
    origin: str | None,
    since: datetime | str | None,
    identifier: str | None,
    scope: str | None,
) -> Wanted:
    exact = [name for name, value in (("ref", ref), ("id", identifier)) if value]
    loose = {"query": query, "session": session, "origin": origin, "since": since}
    given = [name for name, value in loose.items() if value]
    if not exact and not given:
        raise UsageError("say what to forget: give a ref, an id, query, session, origin or since")
    if len(exact) > 1 or (exact and given):
        raise UsageError(f"{exact[0]} cannot be combined with {', '.join([*exact[1:], *given])}")
    if query and len(query.strip()) < 2:
        raise UsageError("the query must have at least two characters")
    if origin and origin not in ORIGINS:
        raise UsageError(f"origin must be one of {', '.join(ORIGINS)}, not {origin!r}")
    if scope is not None and scope != "*":
        scopes_of(scope)
    start = moment(since, "since", ws.now())
    return Wanted(
        ref or "", identifier or "", query or "", session or "", origin or "", start,
        None if scope == "*" else scope,
    )  # fmt: skip


def _receipt(visible: Visible, items: list[Item], *, identifier: str = "", dry_run: bool = False) -> Receipt:
    by_path: defaultdict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        if item.start_line:
            by_path[item.path, item.kind].append(item)
    places = tuple(
        Place(
            path=path,
            what=kind,
            lines=lines_of(found),
            bytes=sum(len(one.text.encode("utf-8", "replace")) for one in found),
        )
        for (path, kind), found in by_path.items()
    )
    return Receipt(
        id=identifier, action="hidden", dry_run=dry_run, items=forgotten(items, visible), places=places
    )


def lines_of(items: list[Item]) -> tuple[int, ...]:
    """All lines that the items take up."""
    return tuple(sorted({n for one in items for n in range(one.start_line, one.end_line + 1)}))
