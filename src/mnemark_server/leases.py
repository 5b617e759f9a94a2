"""Renew the leases that a node holds, while the changes that they are for go on."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from mnemark.errors import MnemarkError
from mnemark_server.database import said
from mnemark_server.repeating import Repeating
from mnemark_server.rows import LEASE_SECONDS, Lease, TenantRows

_EVERY: Final = LEASE_SECONDS / 3
_log = logging.getLogger("mnemark.server")


class Renewals:
    """One thread of a node that renews all leases."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[TenantRows, Lease]] = {}
        self._guard = threading.Lock()
        self._thread = Repeating("mnemark-leases", _EVERY, self._renew)
        self._thread.start()

    @contextmanager
    def holding(self, rows: TenantRows, lease: Lease) -> Iterator[None]:
        """Renew a lease for the length of the block."""
        with self._guard:
            self._held[id(lease)] = rows, lease
        try:
            yield
        finally:
            with self._guard:
                del self._held[id(lease)]

    def close(self) -> None:
        """End the thread."""
        self._thread.close()

    def _renew(self) -> None:
        with self._guard:
            held = list(self._held.values())
        for rows, lease in held:
            try:
                rows.renew(lease)
            except MnemarkError as error:  # the next time, or another node takes over
                _log.warning("a lease was not renewed: %s", said(error))
