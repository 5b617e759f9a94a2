"""Revert all that one source brought in: delete what it planted, hide what it said."""

import re
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import UsageError
from mnemark.files import listing, platform
from mnemark.files.journal import Change
from mnemark.files.locks import LOCK_SECONDS, workspace_lock
from mnemark.memory import file_edits
from mnemark.memory.curation.generated import withdraw_all
from mnemark.memory.forgetting.hide import follow, hide
from mnemark.memory.forgetting.receipt import Forgotten, counted, forgotten
from mnemark.memory.forgetting.select import Item, Selector, Wanted
from mnemark.memory.journal.edits import Entry
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.sessions import scratchpad
from mnemark.memory.undo.undo import take_out
from mnemark.text.dates.moment import moment
from mnemark.types import ORIGINS, Json

_SHOWN: Final = 40
_NAMED: Final = re.compile(r"<!-- (?:observed|id): ([0-9A-Z]{26})\b")
_FOR_PAD: Final = re.compile(r"memory/episodes/|SCRATCHPAD\.md$")
_BODY: Final = re.compile(r"^(?!#|[ \t]*$)", re.MULTILINE)
"""A line that is no heading and not empty."""


class Reverted(msgspec.Struct, frozen=True, kw_only=True):
    """What was, or would be, taken back."""

    dry_run: bool = False
    hidden: tuple[Forgotten, ...] = ()
    """Turns, and facts that are in the files and were written there by other means."""
    facts: tuple[Forgotten, ...] = ()
    """Facts taken out of their files; those they had replaced hold again."""
    edits: tuple[str, ...] = ()
    """Files whose automatic edits were taken out again."""
    problems: tuple[str, ...] = ()
    """Edits that were themselves changed since, and stay: to be looked at by hand."""
    waiting: tuple[str, ...] = ()
    """Files that someone is saving; the next sync changes them."""
    id: str = ""
    """Of the line in the journal that hides the turns, for `undo`."""

    @property
    def text(self) -> str:
        """The same for people."""
        return "\n".join(_lines(self))


def revert(
    ws: OpenWorkspace,
    *,
    session: str | None = None,
    origin: str | None = None,
    since: datetime | str | None = None,
    dry_run: bool = False,
) -> Reverted:
    """Take back what a session, an origin, or everyone since a time brought in; what is given has to fit all.

    Facts and proposals that came from there go, and the facts they had replaced hold again; automatic edits
    made for it are taken out of their files; its turns are hidden from search and recall, and stay in the
    log until they are erased with `forget`.

    Args:
        ws: whose.
        session: id of a session: what its turns are the only source of, and the edits made for it.
        origin: what that origin said.
        since: what was recorded from then on.
        dry_run: only say what would go.

    Raises:
        UsageError: nothing says what is meant, or there is no such origin.
        BusyError, ReadOnlyError: it could not be written.
    """
    if not (session or origin or since):
        raise UsageError("say what to undo: give session, origin or since")
    if origin and origin not in ORIGINS:
        raise UsageError(f"origin must be one of {', '.join(ORIGINS)}, not {origin!r}")
    if not dry_run:
        ws.check_writable("take changes back")
    start = moment(since, "since", ws.now())
    finder = Selector(ws, Wanted(session=session or "", origin=origin or "", since=start))
    items = finder.find()
    edits = _edits(ws, finder.wanted, finder.zone)
    planted, others = _planted(ws, items)
    if dry_run or not (items or edits):
        return Reverted(
            dry_run=dry_run,
            hidden=forgotten(others, ws.visible),
            facts=forgotten(planted, ws.visible),
            edits=tuple(dict.fromkeys(one.path for one in edits)),
        )
    said = {"session": session or "", "origin": origin or "", "since": start.isoformat() if start else ""}
    identifier = hide(ws, others, {"asked": {"revert": True} | said}) if others else ""
    _withdraw(ws, [item.id for item in planted])
    busy = take_out(ws)[1]
    done, problems, waiting = _taken_back(ws, [one for one in edits if not _is_pad(one)])
    cleared, late = _cleared(ws, items, edits)
    done, waiting = [*done, *cleared], [*waiting, *late]
    withdraw_all(ws)
    follow(ws)
    return Reverted(
        hidden=forgotten(others, ws.visible),
        facts=forgotten(planted, ws.visible),
        edits=tuple(dict.fromkeys(done)),
        problems=tuple(problems),
        waiting=tuple(dict.fromkeys([*busy, *waiting])),
        id=identifier,
    )


def _cleared(ws: OpenWorkspace, items: list[Item], edits: list[Entry]) -> tuple[list[str], list[str]]:
    """What no undo takes out: bullets that wait for review, lines of observations; and scratchpads anew.

    Returns the files that changed, and those that are busy.
    """
    gone = {item.id for item in items if item.id}
    wrote = [
        file_edits.write(ws, path, partial(_without, gone), step="undo", timeout=LOCK_SECONDS)
        for path in _pages(ws.root, gone)
    ]
    now = ws.now()
    pads = {one.path[: found.start()].rstrip("/") for one in edits if (found := _FOR_PAD.search(one.path))}
    wrote += [scratchpad.refresh(ws, now, scope=scope, step="undo") for scope in sorted(pads)]
    busy = [one.path for one in wrote if one.status == "deferred"]
    return [one.path for one in wrote if one.status == "written"], busy


def _is_pad(entry: Entry) -> bool:
    """Whether an edit made a scratchpad, which is made anew from the episodes that are left."""
    return entry.path.rpartition("/")[2] == scratchpad.FILE


def _pages(root: Path, gone: set[str]) -> list[str]:
    """Notes and lists for review that name one of these ids."""
    return [
        path.relative_to(root).as_posix()
        for folder in ("memory", "memory/review")
        for scope in ("", *listing.scopes(root))
        for path in listing.files(root, f"{scope}/{folder}".lstrip("/"), ".md")
        if _names(platform.content(path), gone)
    ]


def _names(data: bytes, ids: set[str]) -> bool:
    return any(match[1] in ids for match in _NAMED.finditer(data.decode("utf-8", "replace")))


def _without(gone: set[str], text: str) -> str:
    """Without the lines that name one of the ids, and with no heading left over that stood for them alone."""
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if not any(match[1] in gone for match in _NAMED.finditer(line))]
    rest = "".join(kept)
    return "" if len(kept) < len(lines) and not _BODY.search(rest) else rest


def _planted(ws: OpenWorkspace, items: list[Item]) -> tuple[list[Item], list[Item]]:
    """Facts that were remembered, which can be taken out of their files; and all the rest."""
    facts = ws.fact_store
    with facts.lock:
        facts.log.refresh()
        known = facts.log.records.keys() - facts.log.hidden
    planted = [item for item in items if item.kind == "fact" and item.id in known]
    return planted, [item for item in items if item not in planted]


def _edits(ws: OpenWorkspace, wanted: Wanted, zone: tzinfo) -> list[Entry]:
    found = []
    for one in file_edits.entries(ws):
        time = one.time if one.time is None or one.time.tzinfo else one.time.replace(tzinfo=zone)
        start = (
            wanted.since if wanted.since is None or wanted.since.tzinfo else wanted.since.replace(tzinfo=zone)
        )
        fits = (
            one.state in {"done", "open"}
            and wanted.session in {"", one.session}
            and wanted.origin in {"", one.origin}
            and (start is None or (time is not None and time >= start))
        )
        found += [one] if fits and one.step != "undo" else []
    return found


def _withdraw(ws: OpenWorkspace, ids: list[str]) -> None:
    facts = ws.fact_store
    if ids:
        with facts.lock, workspace_lock(ws.root):
            payload: dict[str, Json] = {"ids": list(ids), "revert": True}
            facts.log.append(Change(kind="undo", payload=payload, origin="owner"))


def _taken_back(ws: OpenWorkspace, edits: list[Entry]) -> tuple[list[str], list[str], list[str]]:
    """Edits taken back, the last first: files done, problems, files that are busy."""
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


def _lines(found: Reverted) -> list[str]:
    if not (found.hidden or found.facts or found.edits or found.problems):
        return ["Nothing found; nothing was changed."]
    would = "would be " if found.dry_run else ""
    rows: list[str] = []
    for title, items in (("hidden", found.hidden), ("taken back", found.facts)):
        if items:
            rows.append(f"{would}{title}: {counted(items)}.".capitalize())
            rows += [f"  {item.ref or item.id}  {item.words}".rstrip() for item in items[:_SHOWN]]
            rows += [f"  … and {len(items) - _SHOWN} more"] if len(items) > _SHOWN else []
    for title, lines in (
        (f"Edits {would}taken out of", found.edits),
        ("Could not be undone; check by hand:", found.problems),
        ("Not done yet; the next sync does it:", found.waiting),
    ):
        rows += [title, *(f"  {line}" for line in lines)] if lines else []
    return [*rows, *(["Nothing was changed."] if found.dry_run else [])]
