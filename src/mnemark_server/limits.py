"""Limit the requests of a tenant: each node its share of them."""

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

PER_MINUTE: Final = 1_200
"""Requests of a tenant a minute where its limits do not say."""
_MOST: Final = 10_000


class Limits:
    """A bucket of requests for each tenant, which fills evenly. Thread-safe."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[int, tuple[float, float]] = OrderedDict()
        self._guard = threading.Lock()

    def wait(self, tenant: int, limits: Mapping[str, Any]) -> float:
        """Take a request from a tenant's bucket and return 0, or the seconds until there is one again."""
        most = float(limits.get("requests_per_minute", PER_MINUTE))
        now = time.monotonic()
        with self._guard:
            left, at = self._buckets.get(tenant, (most, now))
            left = min(most, left + (now - at) * most / 60)
            enough = left >= 1
            self._buckets[tenant] = (left - 1 if enough else left), now
            self._buckets.move_to_end(tenant)
            while len(self._buckets) > _MOST:
                self._buckets.popitem(last=False)
        return 0.0 if enough else max((1 - left) * 60 / most if most else 60.0, 1.0)
