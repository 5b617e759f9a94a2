"""Run requests on worker threads, each workspace on its own, so that none waits for the work of another."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

THREADS: Final = 8
"""Maximum number of concurrent requests of a workspace; each thread has its own connection to an index."""
_MOST: Final = 64
"""Maximum number of lanes whose threads are kept."""


class _Lane:
    """The threads of a workspace, and how many of its requests are waiting or running."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="mnemark-request")
        self.requests = 0


class Lanes:
    """Worker threads by the workspace that a request names, as it spells it. Thread-safe.

    A request that hangs (a folder on a dead network disk), and a workspace that is asked much, fill only
    their own lane.
    """

    def __init__(self) -> None:
        self._lanes: OrderedDict[str, _Lane] = OrderedDict()
        self._guard = threading.Lock()

    async def run(self, workspace: object, job: Callable[[], Any]) -> Any:
        """Run a job of a workspace on one of its threads; `workspace` is as the request names it."""
        lane = self._entered(workspace if isinstance(workspace, str) else "")
        try:
            return await asyncio.get_running_loop().run_in_executor(lane.threads, job)
        finally:
            self._leave(lane)

    def close(self) -> None:
        """Drop the requests that are not running, and wait for the others."""
        with self._guard:
            lanes = list(self._lanes.values())
            self._lanes.clear()
        for lane in lanes:
            lane.threads.shutdown(wait=False, cancel_futures=True)
        for lane in lanes:
            lane.threads.shutdown(wait=True)

    def _entered(self, name: str) -> _Lane:
        with self._guard:
            lane = self._lanes.setdefault(name, _Lane())
            self._lanes.move_to_end(name)
            lane.requests += 1
            return lane

    def _leave(self, lane: _Lane) -> None:
        """Note the end of a request, and drop lanes without requests beyond `_MOST`, the oldest first."""
        with self._guard:
            lane.requests -= 1
            surplus = max(len(self._lanes) - _MOST, 0)
            idle = [name for name, one in self._lanes.items() if not one.requests][:surplus]
            dropped = [self._lanes.pop(name) for name in idle]
        for one in dropped:
            one.threads.shutdown(wait=False)
