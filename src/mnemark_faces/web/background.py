"""Run what takes long beside the pages of a workspace, and keep what it found."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mnemark.errors import BusyError
from mnemark.memory.memory import Memory

_MOST: Final = 16
"""Maximum number of workspaces whose last run is kept."""
Work = Callable[[Memory, Callable[[Any], None]], None]
"""A job: it hands what it finds in the memory to the function, which raises BusyError when it has to stop."""


class JobRun:
    """A run of a job: what it found so far."""

    def __init__(self, about: Mapping[str, str]) -> None:
        self.about = about
        self.started = datetime.now(UTC)
        self.found: list[Any] = []
        self.problem = ""
        """Why it stopped before its end; empty if it did not."""
        self._ended = threading.Event()

    @property
    def running(self) -> bool:
        """Whether it is going on."""
        return not self._ended.is_set()

    def wait(self, seconds: float) -> None:
        """Wait for its end, at most so long."""
        self._ended.wait(seconds)

    def end(self) -> None:
        """Mark it as ended."""
        self._ended.set()


class Background:
    """The last run of each workspace, one at a time in the background. Thread-safe."""

    def __init__(self, lease: Callable[[str], AbstractContextManager[Memory]], name: str) -> None:
        self._lease = lease
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._guard = threading.Lock()
        self._kept: dict[Path, JobRun] = {}
        self._closed = False

    def last(self, root: Path) -> JobRun | None:
        """Return the last run, which may be going on; None if there was none."""
        return self._kept.get(root)

    def start(self, root: Path, work: Work, about: Mapping[str, str] | None = None) -> JobRun:
        """Begin a run, unless one is going on; return the one that is."""
        with self._guard:
            known = self._kept.pop(root, None)
            run = known if known is not None and known.running else JobRun(about or {})
            self._kept[root] = run
            for old in [one for one, kept in self._kept.items() if not kept.running][
                : max(0, len(self._kept) - _MOST)
            ]:
                del self._kept[old]
            if run is not known:
                self._thread.submit(self._run, root, run, work)
        return run

    def _run(self, root: Path, run: JobRun, work: Work) -> None:
        def tell(found: Any) -> None:
            run.found.append(found)
            if self._closed:
                raise BusyError("the daemon was stopped before this ended; begin it again to continue")

        try:
            with self._lease(str(root)) as memory:
                work(memory, tell)
        except Exception as error:  # noqa: BLE001 - told on the page
            run.problem = str(error) or type(error).__name__
        finally:
            run.end()

    def close(self) -> None:
        """Stop after the step that is running."""
        self._closed = True
        self._thread.shutdown(wait=True, cancel_futures=True)
