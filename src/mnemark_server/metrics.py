"""Count what a node does, in the text format of Prometheus; no text of a memory is in it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from mnemark_interfaces.http.guard import Activity, Message, Send
from mnemark_server.database import Database
from mnemark_server.node import Tenants

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Seen:
    """A request as it is counted."""

    def __init__(self) -> None:
        self.status = 0

    def sending(self, send: Send) -> Send:
        """Return a `send` that notes the status."""

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
            await send(message)

        return noting


class Metrics:
    """The counters of a node."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        kept: dict[str, Any] = {"registry": self._registry}
        self._requests = Counter(
            "mnemark_requests", "Requests by route and status.", ["route", "status"], **kept
        )
        self._seconds = Histogram(
            "mnemark_request_seconds",
            "How long requests took, by route.",
            ["route"],
            buckets=_BUCKETS,
            **kept,
        )
        self._filled = Histogram(
            "mnemark_cold_seconds", "How long it took to make a memory's folder from its rows and open it.",
            buckets=_BUCKETS, **kept,
        )  # fmt: skip
        self._open = Gauge("mnemark_open_memories", "Memories that are open.", **kept)
        self._folders = Gauge("mnemark_folders", "Folders of memories on the disk.", **kept)
        self._evicted = Gauge("mnemark_evicted_folders", "Folders removed since the start.", **kept)
        self._waiting = Gauge("mnemark_database_waiting", "Requests that wait for a connection.", **kept)
        self._degraded = Gauge(
            "mnemark_degraded_answers", "Answers without some route since the start.", **kept
        )
        self._erasures = Gauge(
            "mnemark_erasures_waiting", "Erasures that are not finished, or not cleared from tables.", **kept
        )
        self._descriptors = Gauge("mnemark_descriptors", "Open file descriptors.", **kept)

    @contextmanager
    def request(self, route: str) -> Iterator[Seen]:
        """Count a request for the length of the block."""
        seen, begun = Seen(), time.perf_counter()
        try:
            yield seen
        finally:
            self._requests.labels(route, str(seen.status)).inc()
            self._seconds.labels(route).observe(time.perf_counter() - begun)

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Measure how long a memory takes to be there."""
        with self._filled.time():
            yield

    def text(self, tenants: Tenants, database: Database, activity: Activity) -> bytes:
        """Return all as text."""
        self._degraded.set(activity.degraded)
        self._erasures.set(tenants.erasures())
        self._open.set(tenants.count())
        self._folders.set(tenants.folders())
        self._evicted.set(tenants.evicted)
        self._waiting.set(database.waiting())
        with suppress(OSError):  # only Linux lists them
            self._descriptors.set(sum(1 for _ in Path("/proc/self/fd").iterdir()))
        return generate_latest(self._registry)
