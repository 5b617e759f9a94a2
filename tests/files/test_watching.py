"""That a change in a real folder is told, in time and only if it concerns memory."""

import queue
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from mnemark.errors import NotFoundError
from mnemark.files import watching
from mnemark.files.watching import watch


class Following:
    """A watch in a thread of its own."""

    def __init__(self, root: Path) -> None:
        self.told: queue.Queue[set[str]] = queue.Queue()
        self.messages: list[str] = []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(root,))
        self.thread.start()
        assert self.told.get(timeout=10) == set()  # armed

    def _run(self, root: Path) -> None:
        watch(root, stop=self.stop, on_change=self.told.put, debounce_ms=100, on_message=self.messages.append)

    def until(self, path: str, seconds: float = 5) -> float:
        """Seconds until `path` is told."""
        started = time.monotonic()
        while path not in self.told.get(timeout=seconds):
            assert time.monotonic() - started < seconds
        return time.monotonic() - started

    def rest(self) -> set[str]:
        """Everything told until half a second passes in silence."""
        told: set[str] = set()
        try:
            while True:
                told |= self.told.get(timeout=0.5)
        except queue.Empty:
            return told


@pytest.fixture(params=["events", "polling"])
def following(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Following]:
    for folder in ("memory/deep", ".mnemark", ".git"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "memory/old.md").write_text("old")
    if request.param == "polling":

        def refused(*_: object) -> NoReturn:
            raise watching._NoWatchError("OS file watch limit reached")

        monkeypatch.setattr(watching, "_events", refused)
        monkeypatch.setattr(watching, "_POLL_SECONDS", 0.1)
    followed = Following(tmp_path)
    yield followed
    followed.stop.set()
    followed.thread.join(timeout=5)
    assert not followed.thread.is_alive()
    assert bool(followed.messages) == (request.param == "polling")


@pytest.mark.timed
def test_an_edit_is_told_within_a_second(following: Following, tmp_path: Path) -> None:
    (tmp_path / "memory/deep/new.md").write_text("new")
    assert following.until("memory/deep/new.md") < 1
    (tmp_path / "memory/old.md").write_text("newer")
    assert following.until("memory/old.md") < 1


@pytest.mark.timed
def test_a_deletion_and_a_rename_are_told(following: Following, tmp_path: Path) -> None:
    (tmp_path / "memory/old.md").rename(tmp_path / "memory/moved.md")
    assert following.rest() >= {"memory/old.md", "memory/moved.md"}
    (tmp_path / "memory/moved.md").unlink()
    following.until("memory/moved.md")


@pytest.mark.timed
def test_a_folder_made_later_is_watched_too(following: Following, tmp_path: Path) -> None:
    (tmp_path / "users/ann").mkdir(parents=True)
    time.sleep(0.3)
    (tmp_path / "users/ann/MEMORY.md").write_text("x")
    following.until("users/ann/MEMORY.md")


@pytest.mark.timed
def test_what_is_no_memory_is_not_told(following: Following, tmp_path: Path) -> None:
    (tmp_path / ".mnemark/index.db").write_text("x")
    (tmp_path / ".git/HEAD.md").write_text("x")
    (tmp_path / "memory/.new.md.tmp").write_text("x")
    (tmp_path / "photo.png").write_bytes(b"x")
    assert following.rest() <= {"memory"}


@pytest.mark.timed
def test_another_workspace_inside_is_told_of_once_and_what_happens_in_it_is_not(
    following: Following, tmp_path: Path
) -> None:
    (tmp_path / "inner").mkdir()
    time.sleep(0.3)
    (tmp_path / "inner/note.md").write_text("x")
    following.until("inner/note.md")
    (tmp_path / "inner/mnemark.toml").write_text("")
    assert following.rest() & {"inner", "inner/note.md"}  # polling sees that the note is gone
    (tmp_path / "inner/note.md").write_text("newer")
    (tmp_path / "inner/deep").mkdir()
    time.sleep(0.3)
    (tmp_path / "inner/deep/other.md").write_text("y")
    assert following.rest() == set()
    (tmp_path / "inner/mnemark.toml").unlink()
    assert following.rest() & {"inner", "inner/note.md"}


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="is not a folder"):
        watch(tmp_path / "nowhere", stop=threading.Event(), on_change=lambda _: None)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of inotify")
def test_without_a_watch_to_get_the_folder_is_polled(tmp_path: Path) -> None:
    import os
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    events = watching._events(tmp_path, threading.Event(), 100)
    import watchfiles  # noqa: F401 - imported before files can no longer be opened

    highest = max(int(name) for name in os.listdir("/proc/self/fd"))  # noqa: PTH208 - numbers, no paths
    spare = [os.open(os.devnull, os.O_RDONLY) for _ in range(highest)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(spare), hard))
    try:
        with pytest.raises(watching._NoWatchError, match="Too many open files"):
            next(events)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in spare:
            os.close(descriptor)
