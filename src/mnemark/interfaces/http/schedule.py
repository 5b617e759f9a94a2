"""Consolidate the user's workspaces once a night, at the configured time."""

import asyncio
import logging
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from mnemark.agent.upkeep import keep_up
from mnemark.errors import MnemarkError
from mnemark.interfaces.http.lanes import Lanes
from mnemark.interfaces.http.pool import Workspaces

_LOOK_SECONDS: Final = 60.0
_QUIET_SECONDS: Final = 300.0
"""Seconds for which a workspace must be unused, so that no agent is working there."""

_log = logging.getLogger("mnemark.serve")


class Nightly:
    """Consolidate open workspaces that are not in use."""

    def __init__(self, workspaces: Workspaces, lanes: Lanes) -> None:
        self._workspaces = workspaces
        self._lanes = lanes

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
                if not keep_up(opened.memory, now):
                    return False
        except MnemarkError as error:
            _log.warning("%s was not consolidated: %s", root, error)
            return False
        _log.info("%s was consolidated", root)
        return True
