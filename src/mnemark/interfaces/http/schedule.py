"""Consolidate the user's workspaces once a night, at the configured time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemark.errors import MnemarkError
from mnemark.interfaces.http.pool import Workspaces
from mnemark.text.dates.clock import local_now

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_LOOK_SECONDS: Final = 60.0
_QUIET_SECONDS: Final = 300.0
"""A workspace that was asked so lately is left for later: an agent is at work there."""

_log = logging.getLogger("mnemark.serve")


def due(at: str, last: datetime | None, now: datetime) -> bool:
    """Whether what is done daily `at` ("03:00"; empty: never) is to be done now.

    It is, where the latest such time lies after `last`. Without a last time, a day on which nobody wrote
    anything yet is not made up for: only the hour after the time counts.

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
    """Consolidates the workspaces that are open and not in use."""

    def __init__(self, workspaces: Workspaces, work: Callable[[Callable[[], Any]], Awaitable[Any]]) -> None:
        self._workspaces = workspaces
        self._work = work
        self._failed: dict[Path, datetime] = {}

    async def run(self) -> None:
        """Look every minute, for ever; cancel it to end it."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            for root in self._workspaces.unused(_QUIET_SECONDS):
                await self._work(lambda root=root: self.visit(root))  # type: ignore[misc]

    def visit(self, root: Path, now: datetime | None = None) -> bool:
        """Consolidate a workspace if that is due; whether it was. What fails is tried again the next day."""
        try:
            with self._workspaces.lease(str(root)) as opened:
                memory = opened.memory
                now = now or local_now(memory.config.timezone)
                if memory.readonly or not (root / "journal").is_dir():
                    return False  # nobody writes with mnemark here
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
        """When it was last consolidated, by anyone, or tried in vain by us."""
        edits = memory.edits
        edits.refresh()
        times = [run.time for run in edits.runs if run.time is not None]
        times += [self._failed[root]] if root in self._failed else []
        return max(times, default=None)
