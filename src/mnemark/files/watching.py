"""Watch a workspace for changes."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from mnemark.errors import NotFoundError
from mnemark.files import layout
from mnemark.files.scan import FileEntry, scan

OnChange = Callable[[set[str]], None]
OnMessage = Callable[[str], None]

_STEP_MS = 50
_TIMEOUT_MS = 250
_POLL_SECONDS = 0.5
_POLL_SHARE = 20  # polling sleeps this many times as long as a scan takes: at most 5 % of one core


def watch(
    root: Path,
    *,
    stop: threading.Event,
    on_change: OnChange,
    debounce_ms: int = 200,
    on_message: OnMessage | None = None,
) -> None:
    """Call `on_change` with the relative paths that changed, until `stop` is set. Blocks.

    The first call has an empty set and says that the watch is armed: sync once then. Paths are memory files,
    folders and `mnemark.toml`, created, changed or deleted; for a folder that was moved only its own name may
    be told. Hidden folders and workspaces inside this one are not told, only that a folder became one, or is
    one no more. A system under load may drop events: also sync from time to time.

    Args:
        root: the workspace.
        stop: ends the call within a fraction of a second.
        on_change: runs in this thread; what it raises ends the watch.
        debounce_ms: longest time over which changes are gathered into one call.
        on_message: told once if the system gives no watch and the folder is polled instead.

    Raises:
        NotFoundError: `root` is no folder, or, when polling, is gone.
    """
    if not root.is_dir():
        raise NotFoundError(f"{root} is not a folder.")
    root = root.resolve()  # the system reports real paths
    try:
        for changed in _events(root, stop, debounce_ms):
            on_change(changed)
    except _NoWatchError as error:
        if on_message is not None:
            on_message(
                f"Cannot watch {root} for changes ({error}); checking it every {_POLL_SECONDS} s instead. "
                "On Linux, raise fs.inotify.max_user_watches and max_user_instances."
            )
        _poll(root, stop, on_change)


class _NoWatchError(Exception):
    """The operating system's limit on watches is reached."""


def _events(root: Path, stop: threading.Event, debounce_ms: int) -> Iterator[set[str]]:
    """Yield sets of changes from the operating system, first an empty one when the watch is armed."""
    import watchfiles
    from watchfiles._rust_notify import WatchfilesRustInternalError

    found = watchfiles.watch(
        root,
        watch_filter=None,
        debounce=debounce_ms,
        step=min(_STEP_MS, debounce_ms),
        stop_event=stop,
        rust_timeout=_TIMEOUT_MS,
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    armed = False
    try:
        for changes in found:
            if not armed:
                armed = True
                yield set()
            changed = {rel for _, path in changes if (rel := _relevant(root, path)) is not None}
            if changed:
                yield changed
    except (WatchfilesRustInternalError, OSError) as error:
        # The limit on watches has no class of its own; it is told by its words only.
        if isinstance(error, OSError) and (armed or "watch limit" not in str(error)):
            raise
        raise _NoWatchError(str(error)) from error


def _relevant(root: Path, path: str) -> str | None:
    """Return the relative path if it can concern memory."""
    full = Path(path)
    if not full.is_relative_to(root):
        return None
    rel = full.relative_to(root).as_posix()
    *folders, name = rel.split("/")
    if folders and name in {layout.CONFIG, layout.PRIVATE}:  # a workspace of its own begins or ends there
        return None if layout.border(root, "/".join(folders[:-1])) else "/".join(folders)
    if layout.border(root, rel):
        return None
    if layout.skipped_folder(name) or any(layout.skipped_folder(folder) for folder in folders):
        return None
    if layout.place(rel) is None and rel != layout.CONFIG and full.is_file():
        return None
    return rel


def _poll(root: Path, stop: threading.Event, on_change: OnChange) -> None:
    """Compare scans, so that an edit with an unchanged time is seen by its size."""
    before, pause = _scanned(root)
    on_change(set())
    while not stop.wait(pause):
        after, pause = _scanned(root)
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        before = after
        if changed:
            on_change(changed)


def _scanned(root: Path) -> tuple[dict[str, FileEntry], float]:
    """Return all files by path, and seconds to pause after that."""
    started = time.monotonic()
    try:
        found = scan(root)
    except OSError as error:
        raise NotFoundError(f"{root} cannot be watched any more: {error.strerror}.") from error
    entries = {entry.path: entry for entry in (*found.entries, *found.journals)}
    return entries, max(_POLL_SECONDS, _POLL_SHARE * (time.monotonic() - started))
