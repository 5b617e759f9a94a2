"""Revert everything that came from one source: delete its facts and edits, hide its turns."""

import re
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from mnemark.errors import UsageError, one_of
from mnemark.files import listing, platform
from mnemark.files.ids import time_of
from mnemark.files.layout import in_scope
from mnemark.files.names import split_ref
from mnemark.files.sessions import SessionLog
from mnemark.files.truth import LOCK_SECONDS
from mnemark.memory import file_edits
from mnemark.memory.curation.generated import withdraw_all
from mnemark.memory.forgetting.forget import follow, hide
from mnemark.memory.forgetting.receipt import ForgottenItem, counted, forgotten, indented
from mnemark.memory.forgetting.select import NOTED, Criteria, ForgetItem, Selector
from mnemark.memory.journal.edits import AutomaticEdit
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.sessions import scratchpad
from mnemark.memory.undo.runs import commit_undo
from mnemark.memory.undo.undo import append_undo, is_own_edit, take_out
from mnemark.text.dates import local
from mnemark.text.dates.ranges import moment
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.speaker import ENGLISH, Speaker
from mnemark.types import ORIGINS

_FOR_PAD: Final = lazy_pattern(r"memory/episodes/|SCRATCHPAD\.md$")
_TEXT_LINE: Final = lazy_pattern(r"^(?!#|[ \t]*$)", re.MULTILINE)
"""A line that is no heading and not empty."""


_DONE: Final = ("Hidden: {counted}.", "Taken back: {counted}.", "Edits taken out of these files:")
_FORESEEN: Final = (
    "Would be hidden: {counted}.", "Would be taken back: {counted}.",
    "Edits would be taken out of these files:",
)  # fmt: skip
"""What is said of turns, facts and edits."""


class Reverted(msgspec.Struct, frozen=True, kw_only=True):
    """What was, or would be, reverted."""

    dry_run: bool = False
    hidden: tuple[ForgottenItem, ...] = ()
    """Turns, and facts that are in the files and were written there by other means."""
    facts: tuple[ForgottenItem, ...] = ()
    """Facts deleted from their files; those that they superseded are valid again."""
    edits: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Edits that were not undone because their lines were changed since: to be checked by hand."""
    waiting: tuple[str, ...] = ()
    """Files that could not be changed; the next sync changes them."""
    id: str = ""
    """Id of the journal entry that hides the turns, for `undo`."""

    @property
    def text(self) -> str:
        """The result for people."""
        return "\n".join(told(self, ENGLISH))


def revert(
    ws: OpenWorkspace,
    *,
    session: str | None = None,
    origin: str | None = None,
    since: datetime | str | None = None,
    dry_run: bool = False,
) -> Reverted:
    """Revert everything from a session, from an origin or since a time; all criteria must match.

    Matching facts and proposals are deleted, and facts that they superseded are valid again; matching
    automatic edits are undone; turns are hidden from search and recall, and stay in the log until they are
    erased with `forget`.

    Args:
        ws: the workspace.
        session: id of a session: the facts that only its turns state, and the edits made for it.
        origin: items of that origin.
        since: items recorded from then on.
        dry_run: only return what would be reverted.

    Raises:
        UsageError: no criterion is given, or there is no such origin.
        BusyError, ReadOnlyError: the revert could not be written.
    """
    if not (session or origin or since):
        raise UsageError("say what to undo: give session, origin or since")
    if origin:
        one_of(origin, ORIGINS, "origin")
    if not dry_run:
        ws.check_writable("take changes back")
    start = moment(since, "since", ws.now())
    finder = Selector(ws, Criteria(session=session or "", origin=origin or "", since=start))
    items, wanted, zone = finder.find(), finder.wanted, finder.zone
    source = _FromSource(items, _edits(ws, wanted, zone), _ends(ws, wanted, zone))
    if not dry_run and any(source):
        said = {"session": session or "", "origin": origin or "", "since": start.isoformat() if start else ""}
        return _revert(ws, source, said)
    return _foreseen(ws, source, dry_run=dry_run)


class _FromSource(NamedTuple):
    """What came from a source."""

    items: list[ForgetItem]
    edits: list[AutomaticEdit]
    ends: list[str]
    """Ids of the ends of facts."""


def _foreseen(ws: OpenWorkspace, source: _FromSource, *, dry_run: bool) -> Reverted:
    """Return what would be reverted; nothing is written."""
    remembered, others = _remembered(ws, source.items)
    return Reverted(
        dry_run=dry_run, hidden=forgotten(others, ws.visible), facts=forgotten(remembered, ws.visible),
        edits=tuple(dict.fromkeys(one.path for one in source.edits)),
    )  # fmt: skip


def _revert(ws: OpenWorkspace, source: _FromSource, said: dict[str, str]) -> Reverted:
    started = datetime.now(UTC)
    remembered, others = _remembered(ws, source.items)
    hidden, gone = forgotten(others, ws.visible), forgotten(remembered, ws.visible)  # as they still stand
    identifier = hide(ws, others, {"asked": {"revert": True} | said}) if others else ""
    if ids := [*(item.id for item in remembered), *source.ends]:
        append_undo(ws, *ids, revert=True)
    busy = take_out(ws)[1]
    # The scratchpad is not undone, but rewritten from the remaining episodes.
    edits = [one for one in source.edits if one.path.rpartition("/")[2] != scratchpad.FILE]
    done, problems, waiting = _undo_edits(ws, edits)
    cleared, late = _cleared(ws, source.items, source.edits)
    withdraw_all(ws)
    follow(ws)
    words = " ".join(f"{name} {text}" for name, text in said.items() if text)
    commit_undo(ws, words, [one.id for one in edits], started)
    return Reverted(
        hidden=hidden, facts=gone, edits=tuple(dict.fromkeys([*done, *cleared])), problems=tuple(problems),
        waiting=tuple(dict.fromkeys([*busy, *waiting, *late])), id=identifier,
    )  # fmt: skip


def _cleared(
    ws: OpenWorkspace, items: list[ForgetItem], edits: list[AutomaticEdit]
) -> tuple[list[str], list[str]]:
    """Delete what no undo covers: bullets in review, lines of observations, lines of scratchpads.

    Return the files that changed, and those that are busy.
    """
    gone = {item.id for item in items if item.id}
    wrote = [
        file_edits.write(ws, path, partial(_without, gone), step="undo", timeout=LOCK_SECONDS)
        for path in _pages(ws.root, gone)
    ]
    now = ws.now()
    pads = {one.path[: found.start()].rstrip("/") for one in edits if (found := _FOR_PAD.search(one.path))}
    day = scratchpad.first_day(now)
    wrote += [
        scratchpad.refresh(ws, now, ws.episodes.since(scope, day), scope=scope, step="undo")
        for scope in sorted(pads)
    ]
    busy = [one.path for one in wrote if one.status == "deferred"]
    return [one.path for one in wrote if one.status == "written"], busy


def _pages(root: Path, gone: set[str]) -> list[str]:
    return [
        path.relative_to(root).as_posix()
        for folder in ("memory", "memory/review")
        for scope in ("", *listing.scopes(root))
        for path in listing.files(root, in_scope(scope, folder), ".md")
        if _names(platform.content(path).decode("utf-8", "replace"), gone)
    ]


def _names(text: str, ids: set[str]) -> bool:
    return any(match[1] in ids for match in NOTED.finditer(text))


def _without(gone: set[str], text: str) -> str:
    """Remove the lines that name one of the ids; return nothing if only headings are left."""
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if not _names(line, gone)]
    rest = "".join(kept)
    return "" if len(kept) < len(lines) and not _TEXT_LINE.search(rest) else rest


def _remembered(ws: OpenWorkspace, items: list[ForgetItem]) -> tuple[list[ForgetItem], list[ForgetItem]]:
    """Separate the facts stored by `remember`, which can be deleted, from the other items."""
    facts = ws.fact_store
    with facts.lock:
        facts.log.refresh()
        known = {fact.id for fact in facts.log.records() if not facts.log.of(fact.id).hidden}
    remembered = [item for item in items if item.kind == "fact" and item.id in known]
    return remembered, [item for item in items if item not in remembered]


def _ends(ws: OpenWorkspace, wanted: Criteria, zone: tzinfo) -> list[str]:
    """Return the ids of the ends of facts that turns of the session said; without one, none."""
    if not wanted.session:
        return []
    log = ws.fact_store.log
    name = SessionLog(ws.root, wanted.session).name
    logs = {in_scope(scope, name) for scope in ws.scopes()}
    return [
        one
        for one, end in log.ends().items()
        if split_ref(end.source)[0] in logs
        and (wanted.since is None or local(time_of(one), zone) >= local(wanted.since, zone))
    ]


def _edits(ws: OpenWorkspace, wanted: Criteria, zone: tzinfo) -> list[AutomaticEdit]:
    start = local(wanted.since, zone) if wanted.since else None
    return [
        one
        for one in ws.edits.entries()
        if is_own_edit(one)
        and wanted.session in {"", one.session}
        and wanted.origin in {"", one.origin}
        and (start is None or (one.time is not None and local(one.time, zone) >= start))
    ]


def _undo_edits(ws: OpenWorkspace, edits: list[AutomaticEdit]) -> tuple[list[str], list[str], list[str]]:
    """Undo edits, the last first; return the changed files, problems, and busy files."""
    done: list[str] = []
    problems: list[str] = []
    waiting: list[str] = []
    for one in reversed(edits):
        try:
            result = file_edits.reverse(ws, one.id)
        except UsageError as error:
            problems.append(str(error))
            continue
        (waiting if result.status == "deferred" else done).append(one.path)
    return done, problems, waiting


def told(found: Reverted, words: Speaker) -> list[str]:
    """Return what was taken back, a line each, in the language of a speaker."""
    if not (found.hidden or found.facts or found.edits or found.problems):
        return [words("Nothing found; nothing was changed.")]
    hidden, facts, edits = _FORESEEN if found.dry_run else _DONE
    lines: list[str] = []
    for title, items in ((hidden, found.hidden), (facts, found.facts)):
        if items:
            lines.append(words(title, counted=counted(items, words)))
            lines += indented(map(str, items), words=words)
    for title, rows in (
        (edits, found.edits),
        ("Could not be undone; check by hand:", map(words.line, found.problems)),
        ("Not done yet; the next sync does it:", found.waiting),
    ):
        if said := [f"  {row}" for row in rows]:
            lines += [words(title), *said]
    return [*lines, *([words("Nothing was changed.")] if found.dry_run else [])]
