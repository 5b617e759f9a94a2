"""Append-only lines: what was acknowledged is there once and whole."""

import os
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.layer import FaultyFileSystem
from mnemark.errors import MnemarkError, ReadOnlyError, UsageError
from mnemark.files import jsonl, platform
from mnemark.types import Problem


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "log.jsonl"


def lines(path: Path) -> list[bytes]:
    return [line.data for line in jsonl.read(path)]


# Appending


def test_lines_come_back_with_their_places(log: Path) -> None:
    assert jsonl.append(log, [b'{"a":1}']) == [0]
    assert jsonl.append(log, [b'{"b":2}', '{"c":"三"}'.encode()]) == [8, 16]
    assert [tuple(line) for line in jsonl.read(log)] == [
        (0, 1, b'{"a":1}', 8),
        (8, 2, b'{"b":2}', 16),
        (16, 3, '{"c":"三"}'.encode(), 28),
    ]


def test_reading_goes_on_where_it_ended(log: Path) -> None:
    jsonl.append(log, [b'{"a":1}', b'{"b":2}', b'{"c":3}'])
    second = list(jsonl.read(log))[1]
    assert [(line.number, line.data) for line in jsonl.read(log, second.end)] == [(3, b'{"c":3}')]
    assert next(jsonl.read(log, second.offset, start_line=2)).number == 2
    assert list(jsonl.read(log, 24)) == []
    assert list(jsonl.read(log, 1000)) == []


def test_a_missing_file_has_no_lines(log: Path) -> None:
    assert list(jsonl.read(log)) == []
    assert list(jsonl.read_back(log)) == []
    assert jsonl.append(log, []) == []
    assert not log.exists()


@pytest.mark.parametrize("torn", [b'{"a":1}\n{"b', b'{"b', b'{"a":1}\n{"b":"\xe4\xb8', b'{"a":1}\n\0\0\0\0'])
def test_a_torn_line_is_closed_and_never_glued(log: Path, torn: bytes) -> None:
    log.parent.mkdir()
    log.write_bytes(torn)
    assert set(lines(log)) <= {b'{"a":1}'}
    jsonl.append(log, [b'{"c":3}'], header=b'{"head":1}')
    assert lines(log)[-2:] == [b'{"head":1}', b'{"c":3}']
    problems: list[Problem] = []
    list(jsonl.records(log, problems=problems, name="sessions/x.jsonl"))
    assert [problem.path for problem in problems] == ["sessions/x.jsonl"]
    assert not problems[0].skipped


def test_a_whole_last_line_without_newline_counts_as_a_line(log: Path) -> None:
    log.parent.mkdir()
    log.write_bytes(b'{"a":1}\n{"b":2}')
    assert lines(log) == [b'{"a":1}', b'{"b":2}']
    jsonl.append(log, [b'{"c":3}'])
    assert lines(log) == [b'{"a":1}', b'{"b":2}', b'{"c":3}']


def test_what_editors_and_windows_add_is_no_part_of_a_line(log: Path) -> None:
    log.parent.mkdir()
    log.write_bytes(b'\xef\xbb\xbf{"a":1}\r\n\r\n{"b":2}\r\n')
    assert [(line.number, line.data) for line in jsonl.read(log)] == [(1, b'{"a":1}'), (3, b'{"b":2}')]


def test_a_header_comes_first_and_once(log: Path) -> None:
    jsonl.append(log, [b'{"a":1}'], header=b'{"head":1}')
    jsonl.append(log, [b'{"b":2}'], header=b'{"head":2}')
    assert lines(log) == [b'{"head":1}', b'{"a":1}', b'{"b":2}']


def test_a_line_with_a_newline_is_refused(log: Path) -> None:
    with pytest.raises(UsageError, match="newline"):
        jsonl.append(log, [b"{}\n{}"])


@given(
    st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")), max_size=20),
    st.integers(1, 64),
)
def test_reading_back_is_reading_reversed(
    tmp_path_factory: pytest.TempPathFactory, data: list[bytes], block: int
) -> None:
    path = tmp_path_factory.mktemp("back") / "log"
    path.write_bytes(b"\n".join(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "_BLOCK", block * 16)
        forward = [(line.offset, line.data) for line in jsonl.read(path)]
        assert list(jsonl.read_back(path)) == forward[::-1]


@pytest.mark.timed
def test_one_huge_line_costs_its_length_not_its_square(log: Path) -> None:
    log.parent.mkdir()
    log.write_bytes(b'{"a":"' + b"x" * (48 << 20) + b'"}\n{"b":1}\n')
    began = time.process_time()
    assert [len(line.data) > 9 for line in jsonl.read(log)] == [True, False]
    assert [len(data) > 9 for _, data in jsonl.read_back(log)] == [False, True]
    assert time.process_time() - began < 5  # 15 s where each block copied what was read before it


# Refusals of the system


@pytest.mark.parametrize("fault", ["ENOSPC", "EIO"])
@pytest.mark.parametrize("call", ["write", "sync"])
def test_what_failed_is_taken_back(log: Path, monkeypatch: pytest.MonkeyPatch, fault: str, call: str) -> None:
    jsonl.append(log, [b'{"a":1}'])
    layer = FaultyFileSystem({"write": 1, "sync": 2}[call], fault)  # type: ignore[arg-type]  # parametrized
    monkeypatch.setattr(platform, "FS", layer)
    with pytest.raises(MnemarkError, match=r"log\.jsonl: (was not|could not be) written"):
        jsonl.append(log, [b'{"b":2}'])
    assert log.read_bytes() == b'{"a":1}\n'
    jsonl.append(log, [b'{"b":2}'])
    assert lines(log) == [b'{"a":1}', b'{"b":2}']


def test_a_read_only_disk_is_told(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jsonl.append(log, [b"{}"])
    monkeypatch.setattr(platform, "FS", FaultyFileSystem(0, "EROFS"))
    with pytest.raises(ReadOnlyError, match=r"log\.jsonl: cannot be written"):
        jsonl.append(log, [b"{}"])


def test_a_link_is_not_written_through(log: Path, tmp_path: Path) -> None:
    log.parent.mkdir()
    log.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is a link"):
        jsonl.append(log, [b"{}"])


# JSON


@pytest.mark.deep
@pytest.mark.parametrize("data", [b"[1]", b"null", b"{", b"\xff", b"\0\0", b"{}x", b"[" * 100_000])
def test_what_is_no_object_is_none(data: bytes) -> None:
    assert jsonl.decode(data) is None


def test_broken_characters_are_made_visible_not_fatal() -> None:
    assert jsonl.decode(rb'{"a":"x\ud83d"}') == {"a": "x?"}
    assert jsonl.decode(jsonl.encode({"a": "x\ud83d", "b": 1})) == {"a": "x?", "b": 1}
    with pytest.raises(UsageError, match="JSON"):
        jsonl.encode({"a": object()})


# Erasing


def test_rewriting_keeps_line_numbers_and_what_was_not_changed(log: Path) -> None:
    jsonl.append(log, [b'{"a":1}', b'{"secret":2}', b'{"c":3}'])
    log.chmod(0o600)
    assert jsonl.rewrite(log, lambda line: b"{}" if b"secret" in line.data else None) == 1
    assert [(line.number, line.data) for line in jsonl.read(log)] == [
        (1, b'{"a":1}'),
        (2, b"{}"),
        (3, b'{"c":3}'),
    ]
    assert log.stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    assert jsonl.rewrite(log, lambda line: None) == 0
    assert [path.name for path in log.parent.iterdir()] == ["log.jsonl"]


def test_rewriting_a_long_log_makes_no_object_of_each_line(log: Path) -> None:
    log.parent.mkdir(parents=True)
    log.write_bytes(b'{"a":1}\n' * 50_000 + b'{"secret":2}\n')
    tracemalloc.start()
    try:
        assert jsonl.rewrite(log, lambda line: b"{}" if b"secret" in line.data else None) == 1
        assert tracemalloc.get_traced_memory()[1] < 4 * log.stat().st_size
    finally:
        tracemalloc.stop()
    assert log.read_bytes() == b'{"a":1}\n' * 50_000 + b"{}\n"
