"""Implement `watch`: sync the index whenever files change."""

import contextvars
import threading
from typing import Final

from mnemark.errors import BusyError, MnemarkError
from mnemark.files.watching import watch as listen
from mnemark.index.sync import SyncReport
from mnemark.memory.memory import Memory
from mnemark.text.dates import local_now
from mnemark_interfaces import options, output, render, speech, workspace

_LOOK_SECONDS: Final = 60.0
"""Interval of full syncs: a system under load drops events."""
_RETRY_SECONDS: Final = 1.0
"""Seconds before a sync is retried while another process syncs."""


def watch(*, workspace_: options.Workspace = None, json: options.Json = False) -> None:
    """Keep the index up to date while files change.

    Prints a line for each change; stop it with Ctrl-C.
    """
    root = workspace.locate(workspace_, any_folder=True)
    with workspace.opened(root) as memory:
        _Watch(memory, json=json).run()


class _Watch:
    """Sync on events of the file system and at intervals."""

    def __init__(self, memory: Memory, *, json: bool) -> None:
        self.memory = memory
        self.json = json
        self.stop = threading.Event()
        self._due = threading.Event()
        self._paths: set[str] = set()
        self._lock = threading.Lock()
        self._failed: list[BaseException] = []
        self._problem = ""
        self._begun = False

    def run(self) -> None:
        """Run until interrupted; syncs run on this thread, so that an interrupt ends them safely."""
        spoken = contextvars.copy_context()  # a thread begins without the language
        listener = threading.Thread(
            target=spoken.run, args=(self._listen,), name="mnemark-watch", daemon=True
        )  # fmt: skip
        listener.start()
        try:
            while not self.stop.is_set():
                # A wait without end could not be interrupted on Windows.
                self._due.wait(_LOOK_SECONDS)
                self._due.clear()
                self._sync()
        finally:
            self.stop.set()
            listener.join(2.0)
        if self._failed:
            raise self._failed[0]

    def _listen(self) -> None:
        try:
            listen(self.memory.root, stop=self.stop, on_change=self._changed, on_message=_hint)
        except (MnemarkError, OSError) as error:
            self._failed.append(error)
            self.stop.set()
            self._due.set()

    def _changed(self, paths: set[str]) -> None:
        with self._lock:
            self._paths |= paths
        self._due.set()

    def _sync(self) -> None:
        with self._lock:
            paths, self._paths = self._paths, set()
        try:
            report, problem = workspace.synced(self.memory.sync, self.memory)
        except BusyError:
            self._changed(paths)
            self.stop.wait(_RETRY_SECONDS)
            return
        if problem and problem != self._problem:
            output.say("Note: {reason}", reason=output.spoken(problem))
        self._problem = problem
        if not self._begun:
            self._begun = True
            output.say(
                "Watching {path}: {files}. Stop with Ctrl-C.",
                path=output.safe(str(self.memory.root)), files=render.counted(report.files, "file"),
            )  # fmt: skip
        if report.touched:
            self._tell(report, paths)

    def _tell(self, report: SyncReport, paths: set[str]) -> None:
        moment = local_now(self.memory.config.timezone)
        if self.json:
            output.out_json({"time": moment, "paths": sorted(paths), "report": report}, line=True)
        else:
            words = speech.words()
            passages = render.counted(report.passages, "passage")
            done = words("{changes}; {passages}", changes=render.changes(report), passages=passages)
            names = words.listed(map(output.safe_line, sorted(paths)))
            output.out(f"{moment:%H:%M:%S}  {done}  {names}".rstrip())
        output.flush()


def _hint(text: str) -> None:
    output.hint(output.spoken(text))
