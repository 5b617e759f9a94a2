"""The journal: one file for each machine, read as one."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemark.errors import UsageError
from mnemark.files.ids import is_id
from mnemark.files.journal import FOLDER, Change, Journal
from mnemark.files.platform import machine_name
from mnemark.types import Problem


def test_a_change_comes_back_as_it_was(tmp_path: Path) -> None:
    kept = Journal(tmp_path).append(
        Change(
            kind="remember", payload={"主语": ["a", 1]}, origin="owner", scope="users/ann", extra={"by": 7}
        )
    )
    assert is_id(kept.id)
    assert kept.time is not None
    (entry,) = Journal(tmp_path).read()
    assert entry.change == kept
    assert (entry.file, entry.line) == (f"{machine_name()}.jsonl", 1)


def test_machines_are_merged_by_id_and_read_on(tmp_path: Path) -> None:
    one, two = Journal(tmp_path, "one"), Journal(tmp_path, "two")
    for number in range(6):
        (one if number % 2 else two).append(Change(kind="note", payload=number))
    entries = one.read()
    assert [entry.change.payload for entry in entries] == list(range(6))
    offsets = {entry.file: entry.end for entry in entries}
    assert one.read(offsets) == []
    two.append(Change(kind="note", payload=6))
    assert [(entry.change.payload, entry.line) for entry in one.read(offsets)] == [(6, 4)]


def test_a_copy_made_by_syncing_adds_nothing_twice(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "one")
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
    (entry,) = Journal(tmp_path).read(problems=problems)
    assert entry.change.extra == {"later": True}
    assert entry.change.origin == "tool"
    assert entry.change.time == datetime(2016, 7, 30, 22, 36, 16, 385000, UTC)
    assert len(problems) == 2


def test_no_journal_is_an_empty_one(tmp_path: Path) -> None:
    assert Journal(tmp_path).read() == []
    assert Journal(tmp_path).append_many([]) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("machine", ["../x", "a/b", ".hidden"])
def test_a_machine_needs_a_plain_name(tmp_path: Path, machine: str) -> None:
    with pytest.raises(UsageError, match="cannot name a machine"):
        Journal(tmp_path, machine)
