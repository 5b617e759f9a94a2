"""Consolidate a memory, and check its index, once a day: by whoever uses it first after the configured time.

Ends of sessions and commands look whether it is due, and leave the work to the background. A file says when
it was tried last, or when the memory was first seen; a failure is retried the next day. What was done is told
in the next briefing, a line each. A language model is used as `mnemark consolidate` would use it.
"""

import os
from contextlib import suppress
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemark.errors import BusyError, IntegrityError, MnemarkError
from mnemark.facts.visible import PlainWorkspace
from mnemark.files import off_record, platform
from mnemark.files.private import private, private_folder
from mnemark_agents import daemon

if TYPE_CHECKING:
    from mnemark.memory.consolidation.report import Consolidated
    from mnemark.memory.memory import Memory

MARK: Final = "upkeep"
"""File below `.mnemark/` whose time says when upkeep was tried last."""
NEWS: Final = "upkeep.news"
"""File beside it with the lines for the next briefing."""
_MAX_NEWS: Final = 3
_CLOCK_SECONDS: Final = 86_400.0
"""How far in the future a time may lie; one further was noted by a wrong clock, and says nothing."""
_LOCK: Final = "upkeep.lock"


def latest(at: str, now: datetime) -> datetime | None:
    """Return the last time of day `at` ("03:00") before `now`; None for an empty one: never.

    >>> latest("03:00", datetime(2026, 2, 13, 2, 0))
    datetime.datetime(2026, 2, 12, 3, 0)
    """
    if not at:
        return None
    hour, minute = at.split(":")
    found = datetime.combine(now.date(), time(int(hour), int(minute)), now.tzinfo)
    return found if found <= now else found - timedelta(days=1)


def is_due(memory: PlainWorkspace, now: datetime | None = None) -> bool:
    """Tell whether upkeep was not tried since the last configured time; a new memory is marked only."""
    now = now or memory.now()
    at = latest(memory.config.consolidate.at, now)
    if at is None or memory.readonly or not (memory.root / "journal").is_dir():
        return False
    if off_record.load(memory.root).current(now):
        return False
    try:
        tried = (private(memory.root) / MARK).stat().st_mtime
        return not at.timestamp() <= tried <= now.timestamp() + _CLOCK_SECONDS
    except OSError:
        with suppress(OSError, MnemarkError):
            _mark(memory.root, now)
        return False


def start_if_due(memory: PlainWorkspace) -> None:
    """Start upkeep in the background where it is due; never raise."""
    with suppress(OSError, MnemarkError):
        if is_due(memory):
            daemon.spawn(["-P", "-m", "mnemark_agents.hook.background", str(memory.root)])


def keep_up(memory: "Memory", now: datetime | None = None) -> bool:
    """Consolidate a memory where it is due, and leave a line for the next briefing; return whether it was.

    Raises:
        MnemarkError: it could not be consolidated; the next try is tomorrow.
    """
    now = now or memory.workspace.now()
    if not is_due(memory.workspace, now):
        return False
    folder = private_folder(memory.root)
    try:
        with platform.locked(folder / _LOCK, os.O_RDWR | os.O_CREAT, timeout=0.0):
            if not is_due(memory.workspace, now):
                return False
            _mark(memory.root, now)
            if damage := _heal_index(memory):
                _tell(folder, f"The search index was damaged ({damage}) and is made anew; no text was lost.")
            at, runs = latest(memory.config.consolidate.at, now), memory.workspace.edits.runs()
            soon = now + timedelta(seconds=_CLOCK_SECONDS)
            if any(at is not None and run.time is not None and at <= run.time <= soon for run in runs):
                return False  # somebody asked for it, or another machine did it
            report = memory.consolidate(now=now)
    except BusyError:
        return False
    if line := _line(report):
        _tell(folder, line)
    return not report.skipped


def _heal_index(memory: "Memory") -> str:
    """Have an index made anew that does not fit its checksums; return its damage.

    Searches meet most damage themselves; where a term of a posting list has another bit, they find less.
    """
    from mnemark.index.check import damages

    try:
        found = damages(memory.workspace.index)
        if found:
            memory.workspace.index.discard_unless_replaced(found[0])
            memory.sync(wait=0.0)
    except (BusyError, IntegrityError):  # another process writes it; what cannot be read, every search tells
        return ""
    return next(iter(found), "")


def _tell(folder: Path, line: str) -> None:
    """Add a line for the next briefing; of a memory that no agent is briefed on, only the newest are kept."""
    try:
        before = platform.content(folder / NEWS).decode().splitlines()
    except (OSError, UnicodeDecodeError):
        before = []
    platform.write_private(folder / NEWS, "\n".join([*before, line][-_MAX_NEWS:]).encode())


def take_news(root: Path) -> str:
    """Return the lines about the last upkeep, once; empty where there are none."""
    place = private(root) / NEWS
    try:
        lines = platform.content(place).decode()
        platform.FS.unlink(place)
    except (OSError, UnicodeDecodeError):
        return ""
    return lines


def _line(report: "Consolidated") -> str:
    from mnemark.present.changes import of_run

    if not (report.group and (report.changed or report.learned)):
        return ""
    told = f"{of_run(report).rstrip('.')} ({report.time:%Y-%m-%d})"
    return f"{told}. `mnemark undo {report.group}` takes it back."


def _mark(root: Path, now: datetime) -> None:
    place = private_folder(root) / MARK
    platform.write_private(place, b"")
    os.utime(place, (now.timestamp(), now.timestamp()))
