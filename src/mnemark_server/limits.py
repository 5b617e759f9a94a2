"""Limit the requests of a tenant, over all nodes, and refuse those that are too many."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from mnemark_interfaces.http.guard import Refusal
from mnemark_server.access import Access
from mnemark_server.database import Database, Statement

PER_MINUTE: Final = 1_200
"""Requests of a tenant a minute where its limits do not say."""
IMPORT_BYTES: Final = 1_000_000_000
"""Bytes of a memory that is sent as a whole, packed and unpacked, where its limits do not say."""
IMPORT_FILES: Final = 50_000
"""Files of it."""
_PARTS: Final = 20
"""A node takes a twentieth of a minute's requests at a time, so that few of them ask the database."""
_KEPT_SECONDS: Final = 60.0
"""How long a node keeps what it took and did not use."""
_MOST: Final = 10_000


class Limits:
    """What this node took of the requests that tenants may send; the database has the rest. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._taken: OrderedDict[int, tuple[float, float]] = OrderedDict()
        """Requests that are left, and when they were taken; below one: until when there are none."""
        self._guard = threading.Lock()

    async def wait(self, tenant: int, limits: Mapping[str, Any]) -> float:
        """Take a request of a tenant and return 0, or the seconds until there is one again.

        Raises UnavailableError.
        """
        now = time.monotonic()
        with self._guard:
            left, at = self._taken.get(tenant, (0.0, 0.0))
            if left >= 1 and now - at < _KEPT_SECONDS:
                self._taken[tenant] = left - 1, at
                return 0.0
            if left < 1 and now < at:
                return max(at - now, 1.0)
        return await asyncio.to_thread(
            self._take, tenant, float(limits.get("requests_per_minute", PER_MINUTE))
        )

    def _take(self, tenant: int, most: float) -> float:
        wanted = max(most // _PARTS, 1.0)
        statement = Statement("SELECT got FROM mnemark.take(%s, %s)", [most, wanted])
        ((row,),) = self._database.write(tenant, statement)
        got = float(row[0])
        pause = 0.0 if got else max(60 / most if most else 60.0, 1.0)
        now = time.monotonic()
        with self._guard:
            self._taken[tenant] = (got - 1, now) if got else (0.0, now + pause)
            self._taken.move_to_end(tenant)
            while len(self._taken) > _MOST:
                self._taken.popitem(last=False)
        return pause


async def refused(key: Access, limits: Limits | None = None) -> Refusal | None:
    """Refuse a key of a memory that is suspended, or asks too much; a request is taken from `limits`.

    Raises UnavailableError.
    """
    if key.state != "active":
        return Refusal(403, "suspended", "this memory is suspended; ask whoever runs this server")
    wait = await limits.wait(key.tenant, key.limits) if limits is not None else 0.0
    if wait <= 0:
        return None
    return Refusal(429, "limit", f"too many requests; try again in {wait:.0f} s", retry=round(wait))
