"""What commands, tools and pages say of documents, and of what is not read."""

from pathlib import Path

import pytest

from made_documents import pdf
from mnemark import Memory
from mnemark_faces.editing import content
from mnemark_interfaces import tools_run

from .conftest import Shell


@pytest.fixture
def notes(shell: Shell) -> Shell:
    shell.write("mnemark.toml", 'embedder = "none"\n')
    shell.write("a.md", "The otter sleeps.\n")
    for name in ("b.doc", "c.DOC", "d.pages", "e.png"):
        shell.write(name, "x")
    return shell


def test_each_report_names_what_was_not_read(notes: Shell) -> None:
    counts = {".doc": 2, ".pages": 1}
    for command in ("sync", "status"):
        assert notes(command, "--json").data["unread"] == counts
    assert "Not read: 2 .doc, 1 .pages" in notes("sync").err
    assert "not read   2 .doc, 1 .pages" in notes("status").out
    assert "not read: 2 .doc, 1 .pages" in notes("doctor").out
    found = notes("doctor", "--json").data["findings"]
    assert [one["level"] for one in found if one["kind"] == "unread"] == ["ok"]


@pytest.mark.parametrize("command", ["search", "recall"])
def test_an_empty_answer_names_it_and_does_not_say_that_all_was_searched(notes: Shell, command: str) -> None:
    ran = notes(command, "heron")
    assert "Not read: 2 .doc, 1 .pages\n" in ran.err
    assert "Nothing found in what was read" in ran.err
    assert "complete" not in ran.err
    assert notes(command, "heron", "--json").data["unread"] == {".doc": 2, ".pages": 1}


def test_an_answer_and_a_folder_without_such_files_say_nothing_of_it(notes: Shell) -> None:
    ran = notes("search", "otter")
    assert "Not read" not in ran.err
    for name in ("b.doc", "c.DOC", "d.pages"):
        (notes.folder / name).unlink()
    assert "The search was complete" in notes("search", "heron").err
    assert "not read" not in notes("status").out


def test_a_folder_with_nothing_but_such_files_names_them(shell: Shell) -> None:
    shell.write("a.doc", "x")
    assert shell("search", "heron").err.count("Not read: 1 .doc\n") == 1
    assert shell("search", "heron", "--json").data["unread"] == {".doc": 1}
    assert shell("sync").err.count("Not read: 1 .doc\n") == 1


def test_a_missing_library_is_named_with_its_command(notes: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    (notes.folder / "house.pdf").write_bytes(pdf(["The heron came."]))
    assert notes("search", "heron", "--json").data["hits"]
    for place in ("mnemark.files.unread.missing", "mnemark.text.documents.missing"):
        monkeypatch.setattr(place, lambda: (".pdf",))
    ran = notes("search", "heron")
    assert 'Not read: 1 .pdf (pip install "mnemark[documents]"), 2 .doc, 1 .pages' in ran.err
    ran = notes("read", "house.pdf")
    assert (ran.code, 'pip install "mnemark[documents]"' in ran.err) == (3, True)


def test_a_page_is_read_and_forgotten_by_its_number(notes: Shell) -> None:
    (notes.folder / "house.pdf").write_bytes(pdf(["The heron came."], ["水獭睡觉"]))
    assert notes("read", "house.pdf#page=2").out == "## Page 2\n\n水獭睡觉\n"
    assert notes("read", "house.pdf#page=3").code == 3
    assert "1 piece of a note" in notes("forget", "house.pdf#page=2").out
    assert "水獭" not in notes("search", "水獭", "--json").out
    ran = notes("forget", "house.pdf#page=1", "--erase", "--yes")
    assert ran.code == 2
    assert "Delete the file itself" in ran.err


def test_tools_read_pages_and_tell_what_was_not_read(notes: Shell) -> None:
    (notes.folder / "house.pdf").write_bytes(pdf(["The heron came."], ["水獭睡觉"]))
    with Memory.open(notes.folder) as memory:

        def call(name: str, **given: object) -> dict[str, object]:
            found: dict[str, object] = tools_run.call(memory, name, given)["structuredContent"]
            return found

        row = call("memory_search", query="heron")["results"][0]  # type: ignore[index]
        assert row["title"] == "Page 1"
        page = call("memory_get", path="house.pdf#page=2")
        assert (page["path"], page["from"]) == ("house.pdf", 5)
        assert "水獭睡觉" in str(page["text"])
        assert call("memory_search", query="kingfisher")["notRead"] == "2 .doc, 1 .pages"


@pytest.mark.parametrize("name", ["house.pdf", "a.canvas", "a.ipynb", "a.html", "a.org", "a.csv"])
def test_no_page_edits_a_document(notes: Shell, name: str) -> None:
    (notes.folder / name).write_bytes(b"{}")
    with Memory.open(notes.folder) as memory, pytest.raises(Exception, match="cannot be edited here"):
        content(memory, name)


def test_old_files_in_big5_are_searched(notes: Shell, tmp_path: Path) -> None:
    (notes.folder / "old.txt").write_bytes("地下室的鍋爐三月份檢修過，師傅換了閥門和水泵。".encode("big5"))
    (hit,) = notes("search", "鍋爐檢修", "--json").data["hits"]
    assert hit["path"] == "old.txt"
    assert "read as Big5" in notes("sync").err
