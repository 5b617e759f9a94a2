"""Answer by a deadline, with work on other threads; load what answers need before they are asked for."""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from mnemark.errors import MnemarkError
from mnemark.threads import settle
from mnemark.types import Recall

if TYPE_CHECKING:
    from concurrent.futures import Future
    from queue import SimpleQueue

    _Tasks = SimpleQueue[Callable[[], None] | None]

Value = TypeVar("Value")

_MAX_WORKERS: Final = 4
"""Maximum number of threads, so that stuck ones (on a locked disk, say) cannot pile up."""
_WORDS_SHARE: Final = 0.4
"""Share of a deadline after which an answer by words alone is prepared, in case that the full one is late."""
_BEHIND: Final = "sync: the index is being updated; what was written last may be missing"
_LOADING: Final = 0.3
"""Seconds that loading the Chinese dictionary may take."""
_SLOW_SHARE: Final = 0.4
"""Share of a deadline after which the first full answer, which takes four times as long as words alone, is
not begun any more: it would only delay what words found."""
_COLD_SHARE: Final = 0.9
"""Share of a deadline until which the first full answer is waited for, where words found something."""
_HEAD_START: Final = 0.05
"""Seconds that loading in the background leaves to a message that comes at once: it stops all threads."""
_QUIET: Final = 1.0
"""Seconds for which loading the dictionary, 0.1 s, waits for a first recall."""


class TimedOut:
    """Sentinel for the result of work that did not finish in time."""


LATE: Final = TimedOut()


class DeadlineRunner(Generic[Value]):
    """Run work on a few threads. Work whose result comes too late continues in the background.

    Threads are reused; each calls `rest` when its work is done.
    """

    def __init__(self, rest: Callable[[], None] = lambda: None) -> None:
        self._rest = rest
        self._lock = threading.Lock()
        self._idle: list[_Tasks] = []
        self._workers = 0
        self._closed = False

    def start(self, work: Callable[[], Value]) -> "Future[Value] | None":
        """Start the work, and return its future result; None where all threads are busy."""
        tasks = self._worker()
        if tasks is None:
            return None

        def work_and_free() -> Value:
            try:
                return work()
            finally:
                self._rest()
                with self._lock:
                    if self._closed:
                        tasks.put(None)
                    else:
                        self._idle.append(tasks)

        from concurrent.futures import Future  # it loads `logging`

        future: Future[Value] = Future()
        tasks.put(lambda: settle(future, work_and_free))
        return future

    def close(self) -> None:
        """Stop the idle threads, and the others when their work is done."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            self._workers -= len(idle)
        for tasks in idle:
            tasks.put(None)

    def _worker(self) -> "_Tasks | None":
        """Return the task queue of an idle or new thread; None where `_MAX_WORKERS` are busy."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._workers >= _MAX_WORKERS:
                return None
            self._workers += 1
        from queue import SimpleQueue

        tasks: _Tasks = SimpleQueue()
        threading.Thread(target=_loop, args=(tasks,), name="mnemark-recall", daemon=True).start()
        return tasks


def _loop(tasks: "_Tasks") -> None:
    while (task := tasks.get()) is not None:
        task()
        del task  # release its result before waiting for the next task


def by_deadline(future: "Future[Value] | None", seconds: float | None) -> Value | TimedOut:
    """Return the future's result, or LATE after `seconds` (None: as long as it takes); raise its error.

    Without a future it is LATE at once.
    """
    if future is None:
        return LATE
    try:
        return future.result(None if seconds is None else max(seconds, 0.0))
    except TimeoutError:  # of the work itself, where that is done
        return future.result() if future.done() else LATE


class RecallInTime:
    """Answer recalls by their deadlines: in full, else by words alone. Thread-safe.

    Its threads call `rest` when they are done.
    """

    def __init__(self, rest: Callable[[], None]) -> None:
        self._full_runner: DeadlineRunner[Recall | TimedOut] = DeadlineRunner(rest)
        self._words_runner: DeadlineRunner[Recall | TimedOut] = DeadlineRunner(rest)
        self._recalling: set[int] = set()
        self._loading_first = threading.Lock()
        """Held by the first full answer, for good."""
        self.asked = threading.Event()
        """Set once a recall was answered."""
        self.loaded = threading.Event()
        """Set once a full answer or a search ended: dictionaries, index and vectors are in memory."""

    @property
    def busy(self) -> bool:
        """Whether a recall is waited for; loading in the background waits for it."""
        return bool(self._recalling)

    def close(self) -> None:
        """Stop the threads when their work is done."""
        self.asked.set()  # nobody needs to wait for one
        self._full_runner.close()
        self._words_runner.close()

    def recall(
        self, full: Callable[[], Recall | TimedOut], words: Callable[[], Recall | TimedOut], *,
        started: float, seconds: float, loads: bool = False,
    ) -> Recall | TimedOut:  # fmt: skip
        """Return the full answer, else what words alone find, else LATE.

        Before the first full answer words come first, and the full one is not waited for to the end: to load
        index and vectors takes longer than a recall may. Where the Chinese dictionary is to be loaded, which
        holds the interpreter for 0.1 s, a full answer is not begun at all unless there is time for that.

        Args:
            full: gives the full answer.
            words: gives the answer by words alone.
            started: monotonic time when the recall began.
            seconds: it may take from then.
            loads: whether the full answer has to load the Chinese dictionary.
        """
        self._recalling.add(threading.get_ident())
        try:
            return self._answer(full, words, started, seconds, loads=loads)
        finally:
            self._recalling.discard(threading.get_ident())
            self.asked.set()

    def _answer(
        self,
        full: Callable[[], Recall | TimedOut],
        words: Callable[[], Recall | TimedOut],
        started: float,
        seconds: float,
        *,
        loads: bool,
    ) -> Recall | TimedOut:
        def left(share: float = 1.0) -> float:
            return started + seconds * share - time.monotonic()

        found: Recall | TimedOut = LATE
        if loads or not self.loaded.is_set():
            found = by_deadline(self._words_runner.start(words), left())
        has_no_time = (loads and left(_COLD_SHARE) < _LOADING) or left(_SLOW_SHARE) < 0
        if not isinstance(found, TimedOut) and found.hits and has_no_time:
            return found
        whole = self._start_full(full, started + seconds)
        if not isinstance(found, TimedOut):
            enough = _COLD_SHARE if found.hits else 1.0
            return found if isinstance(better := by_deadline(whole, left(enough)), TimedOut) else better
        found = by_deadline(whole, left(_WORDS_SHARE))
        if isinstance(found, TimedOut):
            by_words = self._words_runner.start(words)
            found = by_deadline(whole, left())
            return by_deadline(by_words, left()) if isinstance(found, TimedOut) else found
        return found

    def _start_full(
        self, full: Callable[[], Recall | TimedOut], until: float
    ) -> "Future[Recall | TimedOut] | None":
        """Start the full answer; while another one loads what it needs, wait for that first."""
        first = not self.loaded.is_set() and self._loading_first.acquire(blocking=False)

        def answer() -> Recall | TimedOut:
            if not first and not self.loaded.wait(until - time.monotonic()):
                return LATE
            try:
                return full()
            finally:
                self.loaded.set()

        return self._full_runner.start(answer)


def told(degraded: tuple[str, ...], *, complete: bool) -> dict[str, Any]:
    """Return whether an answer is complete with the reasons; where none is known, the index is behind."""
    return {"complete": complete, "degraded": degraded or (() if complete else (_BEHIND,))}


class Loader:
    """Load a searcher's parts, once. Thread-safe.

    Args:
        files: load vectors and index.
        words: load dictionaries; they hold the interpreter for 0.1 s.
        then: what follows in the background.
        in_time: the recalls that wait for this, or that this waits for.
    """

    def __init__(
        self,
        files: Callable[[], None],
        words: Callable[[], None],
        then: Callable[[], None],
        in_time: RecallInTime,
    ) -> None:
        self._files = files
        self._words = words
        self._then = then
        self._in_time = in_time
        self._started = threading.Event()
        self._step = threading.Lock()
        self.closed = False

    def load(self) -> None:
        """Load all now: the next recall is in time."""
        self._started.set()
        self._files()
        self._words()
        self._in_time.loaded.set()

    def load_behind(self) -> None:
        """Load all in the background, ahead of the first recall."""
        if not self._started.is_set():
            self._started.set()
            threading.Thread(target=self._run, name="mnemark-load", daemon=True).start()

    def close(self) -> None:
        """Wait for the step that runs, and begin no other: files are to be closed."""
        with self._step:
            self.closed = True

    def _run(self) -> None:
        time.sleep(_HEAD_START)
        with contextlib.suppress(MnemarkError):  # the next search reports the same error
            if not self._do(self._files):
                return
            self._in_time.asked.wait(_QUIET)  # words stop all threads: better while the model thinks
            time.sleep(_HEAD_START)
            if not self._do(self._words):
                return
            self._in_time.loaded.set()
        self._then()

    def _do(self, step: Callable[[], None]) -> bool:
        """Do a step while no recall is waited for; return False where the files were closed."""
        while self._in_time.busy and not self.closed:  # it would keep from a recall what it needs
            time.sleep(_HEAD_START)
        with self._step:
            if not self.closed:
                step()
            return not self.closed
