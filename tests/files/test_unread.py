"""What is not read is counted by its ending, with what would have it read; pictures are not told."""

from pathlib import Path

import pytest

from mnemark.files import layout, unread
from mnemark.files.scan import only, scan
from mnemark.text import documents


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")


def without_libraries(monkeypatch: pytest.MonkeyPatch, *suffixes: str) -> None:
    for module in (documents, unread):
        monkeypatch.setattr(module, "missing", lambda: suffixes)


def test_formats_that_hold_text_are_counted_and_others_are_not(tmp_path: Path) -> None:
    fill(
        tmp_path,
        "a.doc",
        "b/C.DOC",
        "d.pages",
        "e.png",
        "f.py",
        "g.zip",
        "h",
        "node_modules/i.doc",
        ".j/k.doc",
    )
    fill(tmp_path, "inner/mnemark.toml", "inner/l.doc")
    found = scan(tmp_path)
    assert found.unread == {".doc": 2, ".pages": 1}
    assert found.entries == []
    assert unread.told(found.unread) == "2 .doc, 1 .pages"


def test_what_is_left_out_on_purpose_is_not_told(tmp_path: Path) -> None:
    fill(tmp_path, "a.doc", "old/b.doc", "c.md")
    assert scan(tmp_path, ignore=["old/"]).unread == {".doc": 1}
    assert scan(tmp_path, ignore=only(["*.md"])).unread == {}


def test_documents_without_their_library_are_named_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, "a.pdf", "b.pdf", "c.docx", "d.rtf", "e.ipynb")
    assert scan(tmp_path).unread == {".rtf": 1}
    without_libraries(monkeypatch, ".pdf", ".docx")
    found = scan(tmp_path)
    assert [entry.path for entry in found.entries] == ["e.ipynb"]
    assert unread.told(found.unread) == '2 .pdf, 1 .docx (pip install "mnemark[documents]"), 1 .rtf'


def test_data_by_the_megabyte_is_not_read(tmp_path: Path) -> None:
    fill(tmp_path, "a.csv", "b.yaml", "pnpm-lock.yaml", "c.md")
    (tmp_path / "d.csv").write_bytes(b"x" * (documents.LARGEST_DATA + 1))
    (tmp_path / "e.org").write_bytes(b"x" * (documents.LARGEST_DATA + 1))
    found = scan(tmp_path)
    assert [entry.path for entry in found.entries if layout.place(entry.path)] == [
        "a.csv", "b.yaml", "c.md", "e.org",
    ]  # fmt: skip
    assert unread.told(found.unread) == "1 .csv (larger than 256 kB)"
