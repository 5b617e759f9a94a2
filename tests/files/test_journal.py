"""The journal: one file for each machine, read as one."""

from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import pytest

from mnemark.errors import UsageError
from mnemark.files import platform
from mnemark.files.ids import is_id
from mnemark.files.journal import FOLDER, Change, Journal
from mnemark.files.platform import machine_name
from mnemark.files.truth import Folder
from mnemark.types import Problem


def test_a_change_comes_back_as_it_was(tmp_path: Path) -> None:
    kept = Journal(Folder(tmp_path)).append(
        Change(
            kind="remember", payload={"主语": ["a", 1]}, origin="owner", scope="users/ann", extra={"by": 7}
        )
    )
    assert is_id(kept.id)
    assert kept.time is not None
    (entry,) = Journal(Folder(tmp_path)).read()
    assert entry.change == kept
    assert (entry.file, entry.line) == (f"{machine_name()}.jsonl", 1)


def test_machines_are_merged_by_id_and_read_on(tmp_path: Path) -> None:
    one, two = Journal(Folder(tmp_path), "one"), Journal(Folder(tmp_path), "two")
    for number in range(6):
        (one if number % 2 else two).append(Change(kind="note", payload=number))
    entries = one.read()
    assert [entry.change.payload for entry in entries] == list(range(6))
    offsets = {entry.file: entry.end for entry in entries}
    assert one.read(offsets) == []
    two.append(Change(kind="note", payload=6))
    assert [(entry.change.payload, entry.line) for entry in one.read(offsets)] == [(6, 4)]


def test_a_copy_made_by_syncing_adds_nothing_twice(tmp_path: Path) -> None:
    journal = Journal(Folder(tmp_path), "one")
    journal.append_many([Change(kind="note", payload="a"), Change(kind="note", payload="b")])
    path = tmp_path / FOLDER / "one.jsonl"
    path.with_name("one.sync-conflict-20260213-101500-ABC.jsonl").write_bytes(path.read_bytes())
    assert [entry.change.payload for entry in journal.read()] == ["a", "b"]


def test_broken_lines_are_told_and_newer_keys_kept(tmp_path: Path) -> None:
    path = tmp_path / FOLDER / "one.jsonl"
    path.parent.mkdir()
    path.write_text(
        '{"id":"01ARYZ6S41TSV4RRFFQ69G5FAV","kind":"merge","origin":"root","later":true}\n{"kind":1}\n{"torn\n',
        encoding="utf-8",
    )
    problems: list[Problem] = []
    (entry,) = Journal(Folder(tmp_path)).read(problems=problems)
    assert entry.change.extra == {"later": True}
    assert entry.change.origin == "tool"
    assert entry.change.time == datetime(2016, 7, 30, 22, 36, 16, 385000, UTC)
    assert len(problems) == 2


def test_no_journal_is_an_empty_one(tmp_path: Path) -> None:
    assert Journal(Folder(tmp_path)).read() == []
    assert Journal(Folder(tmp_path)).append_many([]) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("machine", ["../x", "a/b", ".hidden"])
def test_a_machine_needs_a_plain_name(tmp_path: Path, machine: str) -> None:
    with pytest.raises(UsageError, match="cannot name a machine"):
        Journal(Folder(tmp_path), machine)


def test_feeds_share_one_reading_and_each_gets_its_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(Folder(tmp_path), "one")
    journal.append_many([Change(kind="forget"), Change(kind="write", payload={"kind": "forget"})])
    forgets, both = journal.feed("forget"), journal.feed("forget", "write")
    assert [entry.change.kind for entry in forgets.take()[1]] == ["forget"]
    assert [entry.change.kind for entry in both.take()[1]] == ["forget", "write"], "asked later, and has all"

    Journal(Folder(tmp_path), "two").append_many(
        [Change(kind="write"), Change(kind="other"), Change(kind="forget")]
    )
    opened: list[Path] = []
    plain = platform.opened

    def noted(path: Path) -> BinaryIO:
        opened.append(path)
        return plain(path)

    monkeypatch.setattr(platform, "opened", noted)
    assert [entry.change.kind for entry in both.take()[1]] == ["write", "forget"]
    assert [entry.change.kind for entry in forgets.take()[1]] == ["forget"]
    assert forgets.take() == both.take() == (False, [])
    assert [path.name for path in opened] == ["two.jsonl"], "what was appended is read once"


def test_a_feed_begins_anew_where_a_file_was_rewritten(tmp_path: Path) -> None:
    journal = Journal(Folder(tmp_path), "one")
    journal.append_many([Change(kind="note", payload=n) for n in range(3)])
    feed = journal.feed("note")
    assert [entry.change.payload for entry in feed.take()[1]] == [0, 1, 2]
    path = tmp_path / "journal/one.jsonl"
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    rewritten, entries = feed.take()
    assert rewritten
    assert [entry.change.payload for entry in entries] == [0]


def test_a_line_that_is_being_written_waits_for_its_end(tmp_path: Path) -> None:
    journal = Journal(Folder(tmp_path), "one")
    journal.append(Change(kind="note", payload="first"))
    path = tmp_path / "journal/one.jsonl"
    line = path.read_bytes()
    feed = journal.feed("note")
    feed.take()
    later = line.replace(b"first", b"later").replace(b'"id":"0', b'"id":"1')
    with path.open("ab") as file:
        file.write(later[:-20])
    assert feed.take() == (False, [])
    with path.open("ab") as file:
        file.write(later[-20:-1])
    assert [entry.change.payload for entry in feed.take()[1]] == ["later"], "whole, if without a line end"
    journal.append(Change(kind="note", payload="last"))
    assert [entry.change.payload for entry in feed.take()[1]] == ["last"]


def test_a_feed_that_is_new_while_a_journal_is_closed_gets_all_of_it_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(Folder(tmp_path), "one")
    journal.append_many([Change(kind="forget"), Change(kind="remember", payload="a fact")])
    journal.feed("forget").take()
    feed = journal.feed("remember")

    def closed(path: Path) -> BinaryIO:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(platform, "opened", closed)
        assert feed.take() == (False, [])
        assert journal.problems
    rewritten, entries = feed.take()
    assert rewritten, "what was given before is given again"
    assert [entry.change.payload for entry in entries] == ["a fact"]
    assert feed.take() == (False, [])
