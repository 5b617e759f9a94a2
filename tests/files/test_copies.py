"""Copies left by syncing tools: which names are copies, and that merging logs loses nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.files import ids
from mnemark.files.copies import Copy, Lacking, copy_of, lacking, plan_copies


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
        Copy(paths[3], "MEMORY.md", "markdown", "dropbox"),
        Copy(paths[0], "memory/b.md", "markdown", "syncthing"),
        Copy(paths[2], "sessions/a.jsonl", "jsonl", "syncthing"),
    ]


def line(identifier: str | None, content: str = "", **more: str) -> bytes:
    return json.dumps(({"id": identifier} if identifier else {}) | {"content": content} | more).encode()


EARLY, MIDDLE, LATE = (f"01J{digit}{'0' * 22}" for digit in "123")


def test_what_the_other_machine_said_is_appended_in_the_order_it_was_said() -> None:
    ours = line(MIDDLE, "two") + b"\n"
    theirs = b"\n".join([line(LATE, "three"), line(MIDDLE, "two"), line(EARLY, "one")])
    assert lacking(ours, theirs) == Lacking([line(EARLY, "one"), line(LATE, "three")], [])


def test_records_without_a_ulid_are_ordered_by_their_time() -> None:
    first = line(None, "a", time="2024-01-01T09:00:00+08:00")
    second = line("x-1", "b", time="2024-01-01T02:00:00Z")
    later = line(ids.derived_id(b"c", None).replace("0", "7", 1), "c")
    assert lacking(b"", b"\n".join([later, second, first])).lines == [first, second, later]


def test_another_content_of_a_known_id_is_for_a_person() -> None:
    assert lacking(line(EARLY, "a"), line(EARLY, "b")) == Lacking([], [line(EARLY, "b")])


def test_what_was_erased_here_does_not_come_back() -> None:
    ours = json.dumps({"id": EARLY, "erased": "2026-02-13T10:00:00Z"}).encode()
    assert lacking(ours, line(EARLY, "secret")) == Lacking([], [])


def test_lines_of_other_programs_are_for_a_person() -> None:
    assert lacking(line(EARLY), b"// header\n" + line(EARLY)) == Lacking([], [b"// header"])


def test_a_torn_line_is_left_out_where_its_whole_is_there() -> None:
    whole = line(EARLY, "hello")
    assert lacking(whole, whole[:20]) == Lacking([], [])
    assert lacking(b"", whole[:20] + b"\n" + whole) == Lacking([whole], [])
    assert lacking(line(LATE), whole[:20]).unclear == [whole[:20]]


def test_line_ends_changed_by_git_make_no_new_records() -> None:
    unix = line(EARLY) + b"\n" + line(LATE) + b"\n"
    assert lacking(unix, unix.replace(b"\n", b"\r\n")) == Lacking([], [])


records = st.builds(
    line,
    st.sampled_from([EARLY, MIDDLE, LATE, "not-a-ulid", None]),
    st.text(max_size=3),
    time=st.sampled_from(["2026-02-13", "2026-02-13T10:00:00Z", "no time", "9999-12-31T23:59:59-14:00"]),
)
logs = st.lists(records | st.binary(max_size=4) | records.map(lambda data: data[:9]), max_size=6).map(
    b"\n".join
)


def lines_of(data: bytes) -> set[bytes]:
    return {part.removesuffix(b"\r") for part in data.split(b"\n") if part.strip()}


@given(logs, logs)
def test_every_line_of_both_is_kept_or_told(ours: bytes, theirs: bytes) -> None:
    found = lacking(ours, theirs)
    kept = lines_of(ours) | {*found.lines, *found.unclear}
    assert kept <= lines_of(ours) | lines_of(theirs)
    for left_out in lines_of(theirs) - kept:
        assert any(one.startswith(left_out) for one in kept)


@given(logs, logs)
def test_once_appended_nothing_is_lacking(ours: bytes, theirs: bytes) -> None:
    joined = b"\n".join([ours, *lacking(ours, theirs).lines])
    assert lacking(joined, theirs).lines == []
