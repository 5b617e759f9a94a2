"""What a call opens and reads does not grow with the age of the memory."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from mnemark import Memory
from mnemark.files import listing, platform
from mnemark.files.journal import Change, JournalEntry
from mnemark.memory import file_edits
from mnemark.memory.journal.edits import EditJournal
from mnemark.text.markdown.hunks import hunks

LATER = 53
"""A session at the same time of day as the fifth, two days later: the first of a day opens more."""
FIRST = datetime(2026, 2, 13, 9, tzinfo=ZoneInfo("Europe/Berlin"))


class Opened:
    """Counts the files that its own thread opens to read, not those of a sync beside it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[str] = []
        caller = threading.get_ident()
        plain = platform.FS.open_to_read

        def noted(path: Path, *, links: bool = True) -> int:
            if threading.get_ident() == caller:
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
        for number in range(6, LATER):
            live(memory, number)
        with opened.during() as old:
            live(memory, LATER)
        assert len(old) <= few + 2, sorted(old)


def test_an_end_lists_the_episodes_once_and_looks_at_the_recent_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    plain = listing.entries

    def noted(root: Path, folder: str, *endings: str, first: str = "") -> list["os.DirEntry[str]"]:
        found = plain(root, folder, *endings, first=first)
        if folder == "memory/episodes":
            seen.append(len(found))
        return found

    monkeypatch.setattr(listing, "entries", noted)
    with Memory.open(tmp_path, config={"embedder": "none", "timezone": "Europe/Berlin"}) as memory:
        for day in range(80):
            live(memory, day * 24)
    assert seen == [min(day, 60) for day in range(80)]  # one list an end, of the days that name projects


def test_episodes_changed_by_hand_between_ends_are_seen(tmp_path: Path) -> None:
    pad = tmp_path / "SCRATCHPAD.md"

    def name(path: Path, title: str) -> None:
        path.write_text(re.sub(r"(?m)^# .*$", f"# {title}", path.read_text()))

    with Memory.open(tmp_path, config={"embedder": "none", "timezone": "Europe/Berlin"}) as memory:
        for number in range(2):
            live(memory, number)
        first, second = sorted((tmp_path / "memory/episodes").iterdir())
        name(first, "The move to Oslo")
        live(memory, 2)
        assert "The move to Oslo" in pad.read_text()
        first.unlink()
        second = second.rename(second.with_name("2026-02-13-by-hand.md"))
        name(second, "The move to Bergen")
        live(memory, 3)
        assert "The move to Oslo" not in pad.read_text()
        assert "The move to Bergen" in pad.read_text()


def test_an_end_in_a_new_process_does_not_read_the_edits_of_earlier_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"embedder": "none", "timezone": "Europe/Berlin"}
    with Memory.open(tmp_path, config=config) as memory:
        live(memory, 0)
    taken: list[str] = []
    plain = EditJournal._read

    def noted(self: EditJournal, entry: JournalEntry) -> None:
        taken.append(entry.change.id)
        plain(self, entry)

    monkeypatch.setattr(EditJournal, "_read", noted)
    with Memory.open(tmp_path, config=config) as memory:
        live(memory, 1)
        assert not taken


def test_an_edit_that_was_cut_off_is_found_after_the_mark_and_in_a_rewritten_journal(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        live(memory, 0)
        assert file_edits.finish(memory.workspace) == []
        for rewrite in (False, True):
            path = f"notes/{rewrite}.md"
            payload = {"step": "test", "path": path, "created": True, "hunks": hunks("", "kept\n")}
            memory.workspace.journal.append(Change(kind="write", payload=payload))
            if rewrite:
                (journal,) = (tmp_path / "journal").iterdir()
                journal.write_text("".join(journal.read_text().splitlines(keepends=True)[3:]))
            assert file_edits.finish(memory.workspace) == []
            assert (tmp_path / path).read_text() == "kept\n"
            assert memory.workspace.edits.settled(memory.workspace.state.position("edits")) or rewrite


def test_where_a_look_at_the_files_takes_long_a_new_fact_is_found_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.remember("python version", "3.10")
        memory.sync()
        assert memory.search("which python version do I use").hits
        memory.workspace.searcher.refresher._sync_seconds = 1.0

        def sync(*_: object, **__: object) -> None:
            raise AssertionError("all files were looked at")

        monkeypatch.setattr("mnemark.retrieval.refresh.sync", sync)
        memory.remember("python version", "3.12")
        found = memory.search("which python version do I use")
        assert found.complete
        current = [hit.text for hit in found.hits if hit.kind == "fact" and hit.meta["current"]]
        assert [text.partition(" (")[0] for text in current] == ["user python version: 3.12"]
        assert "3.12" in memory.recall("which python version do I use", deadline=5).text
