"""Forget turns, notes and facts: hide them from every search, reversibly, or erase their bytes.

Hiding appends one journal entry that names turns and facts by id and lines of notes by hash; every process
leaves these out of its results from then on, also after a rebuild of the index.
"""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec

from mnemark.errors import MnemarkError, UsageError, one_of, text_given
from mnemark.files import platform
from mnemark.files.disk_errors import CANNOT_BE_READ
from mnemark.files.documents import converting
from mnemark.files.scopes import one_scope
from mnemark.memory.forgetting.derived import derived_copies, related
from mnemark.memory.forgetting.erase import erase as erased
from mnemark.memory.forgetting.receipt import ErasedPlace, ForgottenItem, Receipt, forgotten
from mnemark.memory.forgetting.select import Criteria, ForgetItem, Selector, append_forget
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.dates.ranges import moment
from mnemark.types import ORIGINS, Json


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
        ws: the workspace.
        ref: `path#L12`, `path#L12-L14` or a whole file, as hits name them; or the id of a turn or fact.
        query: what holds these very words, letter for letter; `related` of the receipt names what has other
            forms of them, or them inside a longer word, and stays. Of the facts of one turn only those that
            have the words are hidden, if any has; `kept` names the others. `erase` takes parts of words and
            all facts of a turn.
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
    given = {"ref": ref, "id": id, "query": query, "session": session, "origin": origin, "since": since}
    wanted = _criteria(given, scope, ws.now())
    if git and not erase:
        raise UsageError("git can only be used together with erase")
    if not dry_run:
        ws.check_writable("forget")
    with converting():
        return _forgotten(ws, wanted, erase=erase, dry_run=dry_run, git=git)


def _forgotten(ws: OpenWorkspace, wanted: Criteria, *, erase: bool, dry_run: bool, git: bool) -> Receipt:
    finder = Selector(ws, wanted, by_words=not erase)
    items = finder.find()
    if erase and not dry_run:
        _check_read(ws, finder)
    if not items:
        also = _related(ws, wanted, ())
        return Receipt(action="nothing", dry_run=dry_run, still=_unread(finder), related=also)
    if erase:
        receipt = erased(ws, items, query=wanted.query, dry_run=dry_run, git=git)
        return msgspec.structs.replace(receipt, related=_related(ws, wanted, items if dry_run else ()))
    return _hidden(ws, wanted, finder, items, dry_run=dry_run)


def _criteria(given: dict[str, Any], scope: str | None, now: datetime) -> Criteria:
    """Check what is to be forgotten, by the names of the arguments, and return it."""
    for name in ("ref", "id", "query", "session", "origin"):
        if given[name] is not None:
            text_given(given[name], name)
    _check([name for name, value in given.items() if value], given["query"], given["origin"])
    texts = {name: value or "" for name, value in given.items() if name != "since"}
    since = moment(given["since"], "since", now)
    return Criteria(**texts, since=since, scope=None if scope in {None, "*"} else one_scope(scope))


def _hidden(
    ws: OpenWorkspace, wanted: Criteria, finder: Selector, found: list[ForgetItem], *, dry_run: bool
) -> Receipt:
    """Hide the items, with the lines of notes that quote them."""
    items = [*found, *derived_copies(ws.root, found)]
    start = wanted.since.isoformat() if wanted.since else ""
    asked: dict[str, Json] = {**wanted._asdict(), "query": bool(wanted.query), "since": start, "scope": ""}
    hidden = "" if dry_run else hide(ws, items, {"asked": {k: v for k, v in asked.items() if v}})
    return Receipt(
        id=hidden, action="hidden", dry_run=dry_run, items=forgotten(items, ws.visible),
        places=_places(items), still=_unread(finder), kept=forgotten(finder.kept, ws.visible),
        related=_related(ws, wanted, [*items, *finder.kept]),
    )  # fmt: skip


def _unread(finder: Selector) -> tuple[str, ...]:
    return tuple(f"{path}: {reason}; not searched" for path, reason in finder.unread.items())


def _check_read(ws: OpenWorkspace, finder: Selector) -> None:
    """Raise MnemarkError where a file could not be read that is not closed: what is in it would stay."""
    for path, reason in finder.unread.items():
        if reason.startswith(CANNOT_BE_READ) and platform.is_readable(ws.root / path):
            raise MnemarkError(f"{path} {reason}; nothing was erased: try again, or check the disk")


def _related(ws: OpenWorkspace, wanted: Criteria, gone: Sequence[ForgetItem]) -> tuple[ForgottenItem, ...]:
    return forgotten(related(ws, wanted, gone), ws.visible) if wanted.query else ()


def _check(given: Sequence[str], query: str | None, origin: str | None) -> None:
    exact = next((name for name in given if name in {"ref", "id"}), "")
    if not given:
        raise UsageError("say what to forget: give a ref, an id, query, session, origin or since")
    if exact and len(given) > 1:
        others = ", ".join(name for name in given if name != exact)
        raise UsageError(f"{exact} cannot be combined with {others}")
    if query and len(query.strip()) < 2:
        raise UsageError("the query must have at least two characters")
    if origin:
        one_of(origin, ORIGINS, "origin")


def _places(items: Sequence[ForgetItem]) -> tuple[ErasedPlace, ...]:
    by_path: defaultdict[tuple[str, str], list[ForgetItem]] = defaultdict(list)
    for item in items:
        if item.start_line:
            by_path[item.path, item.kind].append(item)
    return tuple(
        ErasedPlace(
            path=path, what=kind,
            lines=tuple(sorted({n for one in found for n in one.lines})),
            bytes=sum(len(one.text.encode("utf-8", "replace")) for one in found),
        )
        for (path, kind), found in by_path.items()
    )  # fmt: skip


def hide(ws: OpenWorkspace, items: Sequence[ForgetItem], more: dict[str, Json]) -> str:
    """Record items as forgotten in the journal, and update the index; return the id of the entry."""
    identifier = append_forget(ws, items, more).id
    follow(ws)
    return identifier


def follow(ws: OpenWorkspace) -> None:
    """Update the index where that can be done now: searches leave out hidden items anyway.

    What the journal holds is done, though another process is syncing or the disk is full.
    """
    with suppress(MnemarkError, OSError):
        ws.searcher.sync()
