"""The process that converts documents: limited in time, used again, ended, and no harm where it dies."""

import os
import sys
from pathlib import Path

import pytest

from made_documents import docx, pdf
from mnemark.files import documents, pipes
from mnemark.files.documents import converting, view_of
from mnemark.files.reading import VIEW, Document, read
from mnemark.text.documents import UnreadableDocumentError
from mnemark.types import Problem


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    documents.forget_views()


def process() -> int | None:
    started = documents._converter.process
    return None if started is None else started.pid


def why_not(data: bytes) -> str:
    with pytest.raises(UnreadableDocumentError) as raised:
        view_of("a.pdf", data)
    return str(raised.value)


def test_one_process_converts_all_in_a_block_and_is_ended_with_it() -> None:
    with converting():
        view_of("a.pdf", pdf(["one"]))
        first = process()
        assert first
        with converting():
            view_of("a.docx", docx([("", "two")]))
        assert process() == first
        assert why_not(b"no pdf").startswith("is damaged")
        assert process() == first
    assert process() is None
    assert view_of("a.pdf", pdf(["one"])) == "## Page 1\n\none\n"
    assert process() is None


def test_formats_without_a_library_need_no_process() -> None:
    with converting():
        view_of("a.canvas", b"{}")
        assert process() is None


def test_a_document_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    program = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(pipes, "program", lambda _: program)
    monkeypatch.setattr(documents, "SECONDS", 0.2)
    assert "takes longer than" in why_not(pdf(["x"]))
    assert process() is None


def test_what_ends_the_process_is_told_and_the_next_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with converting():
        with monkeypatch.context() as patch:
            patch.setattr(pipes, "program", lambda _: [sys.executable, "-c", "import os; os._exit(3)"])
            assert "ends the program" in why_not(pdf(["x"]))
        assert view_of("a.pdf", pdf(["one"]))


def test_a_process_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pipes, "program", lambda _: [str(tmp_path / "gone")])
    assert "no process can be started" in why_not(pdf(["x"]))


@pytest.mark.skipif(sys.platform != "linux", reason="others bound no memory")
def test_the_memory_of_the_process_is_bounded() -> None:
    with converting():
        view_of("a.pdf", pdf(["one"]))
        limits = Path(f"/proc/{process()}/limits").read_text("utf-8")
        assert f"{2 << 30}" in next(line for line in limits.splitlines() if "address space" in line)


def test_a_document_is_read_as_its_view_and_damage_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(["锅炉"]))
    (tmp_path / "b.pdf").write_bytes(b"no pdf")
    found = read(tmp_path, "a.pdf")
    assert isinstance(found, Document)
    assert (found.text, found.encoding) == ("## Page 1\n\n锅炉\n", VIEW)
    assert read(tmp_path, "b.pdf") == Problem("b.pdf", "is damaged: open it and save it anew")


def test_a_document_may_be_larger_than_a_text(tmp_path: Path) -> None:
    for name, size in (("a.md", 17), ("a.pdf", 17), ("b.pdf", 65)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size << 20)
    found = {name: read(tmp_path, name) for name in ("a.md", "a.pdf", "b.pdf")}
    assert [isinstance(one, Problem) and "split it" in one.reason for one in found.values()] == [
        True, False, True,
    ]  # fmt: skip


def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemark.text.documents.missing", lambda: (".pdf",))
    assert 'pip install "mnemark[documents]"' in why_not(pdf(["x"]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_starts_its_own() -> None:
    with converting():
        view_of("a.pdf", pdf(["one"]))
        child = os.fork()
        if child == 0:
            os._exit(0 if process() is None else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert view_of("a.pdf", pdf(["two"]))
