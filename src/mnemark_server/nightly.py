"""Consolidate each memory once a night, on whichever node comes first."""

import logging
from collections.abc import Callable
from datetime import date, datetime
from typing import Final

from mnemark.errors import MnemarkError
from mnemark_server.database import Database, Statement, said
from mnemark_server.node import Tenants
from mnemark_server.repeating import Repeating

HOURS: Final = range(2, 6)
"""Hours of the node's clock in which memories are consolidated."""
_LOOK_SECONDS: Final = 30.0
_log = logging.getLogger("mnemark.server")


class Nightly:
    """One thread of a node that consolidates one memory at a time.

    A night's memory is claimed in the database, so that no other node does it again; one whose node is killed
    waits for the next night.
    """

    def __init__(
        self, database: Database, tenants: Tenants, *, now: Callable[[], datetime] = datetime.now
    ) -> None:
        self._database = database
        self._tenants = tenants
        self._now = now
        self._thread = Repeating("mnemark-nightly", _LOOK_SECONDS, self._run_due)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """End the thread when the memory that it is at is done."""
        self._thread.close()

    def _run_due(self) -> None:
        now = self._now()
        while now.hour in HOURS and not self._thread.closing and self.run_one(now.date()):
            now = self._now()

    def run_one(self, night: date) -> bool:
        """Consolidate one memory that changed since its last night; False where none is due."""
        try:
            ((row,),) = self._database.read(None, Statement("SELECT mnemark.claim_night(%s)", [night]))
            if row[0] is None:
                return False
            with self._tenants.lease(str(row[0]), active=False) as at:
                at.memory.consolidate()
        except MnemarkError as error:
            _log.warning("a memory was not consolidated: %s", said(error))
        return True
