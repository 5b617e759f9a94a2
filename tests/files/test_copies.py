"""Copies left by syncing tools: which names are copies."""

import pytest

from mnemark.files.copies import Copy, copy_of, may_be_copy, plan_copies


@pytest.mark.parametrize(
    ("name", "original", "tool"),
    [
        ("MEMORY.sync-conflict-20260213-101500-ABCDEF7.md", "MEMORY.md", "syncthing"),
        ("a.b.sync-conflict-20260213-101500-ABCDEF7.jsonl", "a.b.jsonl", "syncthing"),
        ("README.sync-conflict-20260213-101500-ABCDEF7", "README", "syncthing"),
        ("MEMORY.conflict-20260213T101500-01JABCDEF.md", "MEMORY.md", "mnemark"),
        ("MEMORY (Ann's conflicted copy 2026-02-13).md", "MEMORY.md", "dropbox"),
        ("计划 (conflicted copy 2026-02-13 101500).md", "计划.md", "dropbox"),
        ("MEMORY (Case Conflicted Copy).md", "MEMORY.md", "dropbox"),
        ("MEMORY_conflict-20260213-101500.md", "MEMORY.md", "nextcloud"),
        (
            "a.sync-conflict-20260213-101500-ABCDEF7.sync-conflict-20260214-101500-ABCDEF7.md",
            "a.md",
            "syncthing",
        ),
    ],
)
def test_a_conflict_copy_names_its_original(name: str, original: str, tool: str) -> None:
    assert copy_of(name) == (original, tool)


@pytest.mark.parametrize(
    "name",
    [
        "MEMORY (1).md",
        "MEMORY.md",
        "conflict.md",
        "how-to-solve-a-conflict.md",
        "Conflict (2026).md",
        ".conflict-x.md",
        "git.conflict-resolution-3f2a.jsonl",
    ],
)
def test_other_names_are_not(name: str) -> None:
    assert copy_of(name) is None


def test_the_plan_names_each_copy_with_where_it_belongs() -> None:
    paths = [
        "memory/b.sync-conflict-20260213-101500-ABCDEF7.md",
        "memory/b.md",
        "sessions/a.sync-conflict-20260213-101500-ABCDEF7.jsonl",
        "MEMORY (Ann's conflicted copy 2026-02-13).md",
    ]
    assert plan_copies(paths) == [
        Copy(paths[3], "MEMORY.md", "dropbox"),
        Copy(paths[0], "memory/b.md", "syncthing"),
        Copy(paths[2], "sessions/a.jsonl", "syncthing"),
    ]


def test_copies_in_the_archive_are_done_with() -> None:
    assert plan_copies(["users/ann/memory/archive/copies/b.sync-conflict-20260213-101500-ABCDEF7.md"]) == []


def test_names_that_may_be_of_copies() -> None:
    assert may_be_copy("memory/facts/user 2.md") == ["memory/facts/user.md"]
    assert may_be_copy("sessions/a-LAPTOP-7F.jsonl") == ["sessions/a.jsonl"]
    assert may_be_copy("memory/plan.md") == []
