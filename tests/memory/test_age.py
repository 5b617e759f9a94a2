"""What a call opens and reads does not grow with the age of the memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from mnemark import Memory
from mnemark.files import platform

FIRST = datetime(2026, 2, 13, 9, tzinfo=ZoneInfo("Europe/Berlin"))


class Opened:
    """Counts the files that are opened to be read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[str] = []
        plain = platform.FS.open_to_read

        def noted(path: Path, *, links: bool = True) -> int:
            self.paths.append(path.as_posix())
            return plain(path, links=links)

        monkeypatch.setattr(platform.FS, "open_to_read", noted)

    @contextmanager
    def during(self) -> Iterator[list[str]]:
        self.paths.clear()
        yield self.paths


def live(memory: Memory, number: int) -> None:
    """Record a session and end it."""
    session = memory.session(f"chat:{number}")
    begun = FIRST + timedelta(hours=number)
    said = ["We move the backup to Frankfurt.", "Moved.", f"Version {number} goes out on Friday.", "Noted."]
    session.add_many(
        [
            session.turn("assistant" if n % 2 else "user", text, time=begun + timedelta(minutes=n))
            for n, text in enumerate(said)
        ]
    )
    assert session.end().status == "ended"


def test_an_end_opens_as_many_files_as_the_first_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Opened(monkeypatch)
    with Memory.open(tmp_path, config={"embedder": "none", "timezone": "Europe/Berlin"}) as memory:
        for number in range(5):
            live(memory, number)
        with opened.during() as young:
            live(memory, 5)
            few = len(young)
        for number in range(6, 40):
            live(memory, number)
        with opened.during() as old:
            live(memory, 40)
        assert len(old) <= few + 2, sorted(old)


def test_where_a_look_at_the_files_takes_long_a_new_fact_is_found_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.remember("python version", "3.10")
        memory.sync()
        assert memory.search("which python version do I use").hits
        memory.searcher.refresher._sync_seconds = 1.0

        def sync(*_: object, **__: object) -> None:
            raise AssertionError("all files were looked at")

        monkeypatch.setattr("mnemark.retrieval.refresh.sync", sync)
        memory.remember("python version", "3.12")
        found = memory.search("which python version do I use")
        assert found.complete
        current = [hit.text for hit in found.hits if hit.kind == "fact" and hit.meta["current"]]
        assert [text.partition(" (")[0] for text in current] == ["user python version: 3.12"]
        assert "3.12" in memory.recall("which python version do I use", deadline=5).text
