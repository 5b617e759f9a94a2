"""Consolidate the user's workspaces once a night, at the configured time."""

import asyncio
import logging
from datetime import datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemark.errors import MnemarkError
from mnemark.interfaces.http.lanes import Lanes
from mnemark.interfaces.http.pool import Workspaces
from mnemark.text.dates.clock import local_now

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_LOOK_SECONDS: Final = 60.0
_QUIET_SECONDS: Final = 300.0
"""Seconds for which a workspace must be unused, so that no agent is working there."""

_log = logging.getLogger("mnemark.serve")


def due(at: str, last: datetime | None, now: datetime) -> bool:
    """Return whether a task scheduled daily `at` ("03:00"; empty: never) is due.

    It is due if the latest scheduled time is after `last`, its last run. A task that never ran is due only in
    the hour after the scheduled time: days before the first use are not made up for.

    >>> due("03:00", datetime(2026, 2, 12, 3, 5), datetime(2026, 2, 13, 9, 0))
    True
    >>> due("03:00", datetime(2026, 2, 13, 3, 5), datetime(2026, 2, 13, 9, 0))
    False
    """
    if not at:
        return False
    hour, minute = at.split(":")
    latest = datetime.combine(now.date(), time(int(hour), int(minute)), now.tzinfo)
    if latest > now:
        latest -= timedelta(days=1)
    return last < latest if last is not None else now - latest < timedelta(hours=1)


class Nightly:
    """Consolidate open workspaces that are not in use."""

    def __init__(self, workspaces: Workspaces, lanes: Lanes) -> None:
        self._workspaces = workspaces
        self._lanes = lanes
        self._failed: dict[Path, datetime] = {}

    async def run(self) -> None:
        """Check all unused workspaces every minute until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            for root in self._workspaces.unused(_QUIET_SECONDS):
                await self._lanes.run(str(root), partial(self.visit, root))

    def visit(self, root: Path, now: datetime | None = None) -> bool:
        """Consolidate a workspace if due and return whether it was; a failure is retried the next day."""
        try:
            with self._workspaces.lease(str(root)) as opened:
                memory = opened.memory
                now = now or local_now(memory.config.timezone)
                if memory.readonly or not (root / "journal").is_dir():
                    return False  # no memory to consolidate, or not writable
                if not due(memory.config.consolidate.at, self._last(memory, root), now):
                    return False
                self._failed[root] = now
                memory.consolidate(now=now)
                del self._failed[root]
        except MnemarkError as error:
            _log.warning("%s was not consolidated: %s", root, error)
            return False
        _log.info("%s was consolidated", root)
        return True

    def _last(self, memory: "Memory", root: Path) -> datetime | None:
        """Return the time of the last consolidation by any process, or of the last failure in this one."""
        memory.edits.refresh()
        times = [run.time for run in memory.edits.runs] + [self._failed.get(root)]
        return max(filter(None, times), default=None)
