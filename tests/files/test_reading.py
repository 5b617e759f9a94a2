"""What a read gives back, whatever is in the file or happens to it."""

import hashlib
import os
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.errors import UsageError
from mnemark.files import reading
from mnemark.files.reading import Document, read
from mnemark.files.scan import scan
from mnemark.text.decoding import BIG5, decode
from mnemark.types import Problem

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")
CHINESE = "用户偏好:开发语言是 Rust,文档以中文为主。\n昨天讨论了向量检索的方案,决定先不引入外部依赖。\n"


def document(root: Path, path: str = "a.md") -> Document:
    found = read(root, path)
    assert isinstance(found, Document), found
    return found


def problem(root: Path, path: str = "a.md") -> Problem:
    found = read(root, path)
    assert isinstance(found, Problem), found
    return found


def write(root: Path, data: bytes, path: str = "a.md") -> None:
    (root / path).write_bytes(data)


def test_a_document_is_the_files_bytes_as_text(tmp_path: Path) -> None:
    data = "# 标题\r\nline two\n\nno end".encode()
    write(tmp_path, data)
    found = document(tmp_path)
    assert found.text == data.decode()
    assert found.digest == hashlib.blake2b(data, digest_size=16).hexdigest()
    assert found.entry == scan(tmp_path).entries[0]
    assert (found.encoding, found.problems) == ("utf-8", ())
    assert (tmp_path / "a.md").read_bytes() == data


def test_an_empty_file_is_an_empty_document(tmp_path: Path) -> None:
    write(tmp_path, b"")
    assert document(tmp_path).text == ""


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_not_text_but_counts_for_the_digest(tmp_path: Path, encoding: str) -> None:
    write(tmp_path, "备忘 memo".encode(encoding))
    found = document(tmp_path)
    assert found.text == "备忘 memo"
    assert found.digest == reading.digest("备忘 memo".encode(encoding))
    assert found.problems == ()


@pytest.mark.parametrize("encoding", ["utf-16-be", "utf-16-le"])
def test_utf_16_of_either_order_is_read_with_its_mark(encoding: str) -> None:
    decoded = decode(("\ufeff" + CHINESE).encode(encoding))
    assert decoded is not None
    assert decoded[:2] == (CHINESE, encoding)


def test_old_chinese_files_are_read_and_flagged(tmp_path: Path) -> None:
    write(tmp_path, CHINESE.encode("gb18030"))
    found = document(tmp_path)
    assert found.text == CHINESE
    assert found.encoding == "gb18030"
    assert [(p.skipped, "save it as UTF-8" in p.reason) for p in found.problems] == [(False, True)]


TRADITIONAL = (
    "地下室的鍋爐三月份檢修過，師傅換了閥門和水泵，並留下了關於水壓的說明。",
    "今天下午三點跟林小姐開會，討論新產品的包裝。",
    "密碼放在抽屜裡",
    "會議紀錄",
    "Dear team,\n請在星期五以前把報告寄給我。\nThanks",
)
SIMPLIFIED = (
    "地下室的锅炉三月份检修过，师傅换了阀门和水泵。",
    "今天下午三点跟林小姐开会，讨论新产品的包装。",
    "密码放在抽屉里",
    "会议纪要",
    "测试",
    "姓名：张伟 电话 123",
    "红烧茄子",
)


@pytest.mark.parametrize("text", TRADITIONAL)
def test_old_traditional_files_are_read_and_flagged(tmp_path: Path, text: str) -> None:
    write(tmp_path, text.encode("big5"))
    found = document(tmp_path)
    assert (found.text, found.encoding) == (text, BIG5)
    assert "read as Big5" in found.problems[0].reason


@pytest.mark.parametrize("text", SIMPLIFIED)
def test_simplified_text_is_never_taken_for_big5(text: str) -> None:
    assert decode(text.encode("gb18030"))[:2] == (text, "gb18030")  # type: ignore[index]


@given(st.text(st.sampled_from("".join(SIMPLIFIED)), min_size=1, max_size=12))
def test_a_short_file_does_not_flip_to_big5(text: str) -> None:
    found = decode(text.encode("gb18030"))
    assert found is not None
    assert found[1] != BIG5


def test_old_western_files_are_read_and_flagged(tmp_path: Path) -> None:
    text = "Le café était fermé – naïve façade.\nOver the weekend we fixed it."
    write(tmp_path, text.encode("cp1252"))
    found = document(tmp_path)
    assert found.text == text
    assert found.encoding == "cp1252"


@pytest.mark.parametrize(
    "data",
    [
        CHINESE.encode() + b"\xff broken \xc3( end",
        CHINESE.encode()[:-2],  # cut in the middle of a character
        "Привет, мир, как дела".encode("koi8-r"),
    ],
    ids=["damaged", "cut", "koi8-r"],
)
def test_what_cannot_be_told_is_marked_not_guessed(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, data)
    found = document(tmp_path)
    assert found.encoding == "utf-8"
    assert "\ufffd" in found.text
    assert found.problems[0].skipped is False


def test_a_few_damaged_spots_do_not_spoil_the_rest(tmp_path: Path) -> None:
    write(tmp_path, CHINESE.encode() + b"\xff\n" + CHINESE.encode())
    assert document(tmp_path).text == f"{CHINESE}\ufffd\n{CHINESE}"


def test_blocks_of_nul_left_by_a_crash_do_not_hide_the_text(tmp_path: Path) -> None:
    write(tmp_path, CHINESE.encode() + b"\0" * 4096)
    found = document(tmp_path)
    assert found.text == CHINESE
    assert "NUL" in found.problems[0].reason


def test_a_single_nul_is_shown(tmp_path: Path) -> None:
    write(tmp_path, b"x" * 2000 + b"\0" + b"y" * 2000)
    assert document(tmp_path).text == "x" * 2000 + "\ufffd" + "y" * 2000


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0",
        b"\0" * 100,
        "no mark".encode("utf-16-le"),
        bytes(range(1, 256)) * 8,
    ],
    ids=["png", "nul", "utf-16 without mark", "every byte"],
)
def test_binary_is_a_problem(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, data)
    found = problem(tmp_path)
    assert found.skipped
    assert "binary" in found.reason


@given(st.binary(max_size=200) | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_decode_to_printable_text_or_none(data: bytes) -> None:
    decoded = decode(data)
    if decoded is not None:
        decoded[0].encode()
        assert "\0" not in decoded[0]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff")))
def test_utf_8_text_comes_back_as_it_was(text: str) -> None:
    assert decode(text.encode()) == (text, "utf-8", None)


def test_a_very_long_line_is_fine(tmp_path: Path) -> None:
    write(tmp_path, b"x" * 10_000_000)
    assert len(document(tmp_path).text) == 10_000_000


def test_a_file_over_the_limit_is_a_problem_without_reading_it(tmp_path: Path) -> None:
    with (tmp_path / "a.md").open("wb") as file:
        file.truncate(reading.READ_LIMIT + 1)
    assert "16 MB" in problem(tmp_path).reason
    assert problem(tmp_path) == read(tmp_path, "a.md", scan(tmp_path).entries[0])


@posix
def test_a_pipe_never_hangs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    assert "regular" in problem(tmp_path).reason


@posix
def test_links_are_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "w", tmp_path / "out"
    root.mkdir()
    outside.mkdir()
    write(outside, b"secret", "secret.md")
    (root / "a.md").symlink_to(outside / "secret.md")
    (root / "sub").symlink_to(outside)
    assert "link" in problem(root).reason
    assert "link out" in problem(root, "sub/secret.md").reason
    for folder in (outside / "in", root / "real"):
        folder.mkdir()
        write(folder, b"note", "note.md")
    assert "link out" in problem(root, "sub/in/note.md").reason
    (root / "other").symlink_to(root / "real")
    assert document(root, "other/note.md").text == "note"


def test_a_folder_or_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.md").mkdir()
    assert problem(tmp_path).skipped
    assert problem(tmp_path, "b.md").reason == "does not exist"


@posix
@pytest.mark.skipif(sys.platform != "win32" and os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, b"x")
    (tmp_path / "a.md").chmod(0)
    assert "cannot be read" in problem(tmp_path).reason


def test_a_name_outside_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read(tmp_path, "../a.md")


def test_a_file_that_changes_while_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, b"old")
    real, changes = os.read, [b"newer", b"newest!"]

    def disturbed(descriptor: int, size: int) -> bytes:
        data = real(descriptor, size)
        if changes:
            write(tmp_path, changes.pop(0))
        return data

    monkeypatch.setattr("mnemark.files.reading.os.read", disturbed)
    assert document(tmp_path).text == "newest!"


def test_a_file_that_never_rests_is_left_for_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, b"")
    real = os.read

    def disturbed(descriptor: int, size: int) -> bytes:
        with (tmp_path / "a.md").open("ab") as file:
            file.write(b"more")
        return real(descriptor, size)

    monkeypatch.setattr("mnemark.files.reading.os.read", disturbed)
    assert "being written" in problem(tmp_path).reason


def test_an_entry_without_inode_compares_with_the_one_read(tmp_path: Path) -> None:
    write(tmp_path, b"x")
    scanned = msgspec.structs.replace(scan(tmp_path).entries[0], inode=0, device=0)
    found = read(tmp_path, "a.md", scanned)
    assert isinstance(found, Document)
    assert found.entry == scanned


def test_a_replaced_file_is_read_whole(tmp_path: Path) -> None:
    """A writer that renames never lets a reader see half of anything."""
    versions = [letter * 50_000 for letter in "ab"]
    write(tmp_path, versions[0].encode())
    stop = threading.Event()

    def replace() -> None:
        while not stop.is_set():
            for version in versions:
                write(tmp_path, version.encode(), "new")
                (tmp_path / "new").replace(tmp_path / "a.md")
            time.sleep(0.001)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        assert all(document(tmp_path).text in versions for _ in range(100))
    finally:
        stop.set()
        writer.join()
