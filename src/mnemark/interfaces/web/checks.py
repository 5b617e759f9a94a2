"""Run the checks of a workspace beside its pages, and keep what they found."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mnemark.memory.health.doctor import Finding, examine
from mnemark.memory.memory import Memory

_MOST: Final = 16
"""Maximum number of workspaces whose findings are kept."""


class Check:
    """A run of the checks: what it found so far."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        self.findings: list[Finding] = []
        self.running = True
        self.problem = ""
        """Why it stopped before its end; empty if it did not."""


class Checks:
    """The last run of each workspace, one at a time in the background. Thread-safe."""

    def __init__(self, lease: Callable[[str], AbstractContextManager[Memory]]) -> None:
        self._lease = lease
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="mnemark-check")
        self._guard = threading.Lock()
        self._kept: dict[Path, Check] = {}
        self._closed = False

    def last(self, root: Path) -> Check | None:
        """Return the last run, which may be going on; None if there was none."""
        return self._kept.get(root)

    def start(self, root: Path) -> None:
        """Begin a run, unless one is going on."""
        with self._guard:
            known = self._kept.pop(root, None)
            run = known if known is not None and known.running else Check()
            self._kept[root] = run
            for old in [one for one, kept in self._kept.items() if not kept.running][
                : max(0, len(self._kept) - _MOST)
            ]:
                del self._kept[old]
            if run is not known:
                self._thread.submit(self._run, root, run)

    def _run(self, root: Path, run: Check) -> None:
        try:
            with self._lease(str(root)) as memory:
                for finding in examine(memory):
                    run.findings.append(finding)
                    if self._closed:
                        break
        except Exception as error:  # noqa: BLE001 - told on the page
            run.problem = str(error) or type(error).__name__
        finally:
            run.running = False

    def close(self) -> None:
        """Stop after the check that is running."""
        self._closed = True
        self._thread.shutdown(wait=True, cancel_futures=True)
