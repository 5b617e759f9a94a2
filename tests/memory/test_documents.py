"""Documents in a memory: found by their text, read by lines and pages, hidden in part, erased as a whole."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from made_documents import docx, pdf
from mnemark import Memory, NotFoundError, UsageError
from mnemark.files import edit
from mnemark.files.documents import forget_views
from mnemark.index import sync as syncing
from mnemark.memory.transfer import transfer

PAGES = (
    ["The otter sleeps in the boiler room."],
    ["The valve of the pump was replaced."],
    ["水獭住地下室"],
)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    defaults: Any = edit.edit.__kwdefaults__
    monkeypatch.setitem(defaults, "quiet", 0.0)
    (tmp_path / "house.pdf").write_bytes(pdf(*PAGES))
    with Memory.open(tmp_path, config={"embedder": "none"}) as found:
        yield found


def refs(memory: Memory, words: str) -> list[str]:
    return [hit.ref for hit in memory.search(words).hits if words in hit.text]


def test_a_hit_names_its_page_and_its_ref_reads_it(memory: Memory) -> None:
    hit = memory.search("valve pump").hits[0]
    assert (hit.path, hit.title, hit.origin) == ("house.pdf", "Page 2", "file")
    assert memory.read(hit.ref) == "## Page 2\n\nThe valve of the pump was replaced.\n\n"
    assert "valve of the pump" in memory.recall("which valve was replaced?", deadline=10).text
    assert refs(memory, "水獭") == ["house.pdf#L9-L11"]


@pytest.mark.parametrize(("page", "words"), [(1, "otter"), (2, "valve"), (3, "水獭")])
def test_a_page_is_read_by_its_number(memory: Memory, page: int, words: str) -> None:
    text = memory.read(f"house.pdf#page={page}")
    assert text.startswith(f"## Page {page}\n")
    assert [words in text, text.count("## Page")] == [True, 1]


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        ("house.pdf#page=4", "has 3 pages; there is no page 4"),
        ("house.pdf#page=0", "there is no page 0"),
        ("note.docx#page=1", "has no pages"),
        ("gone.pdf#page=1", "does not exist"),
        ("bad.pdf#page=1", "is damaged"),
    ],
)
def test_pages_that_are_not_there_are_told(memory: Memory, ref: str, reason: str) -> None:
    (memory.root / "note.docx").write_bytes(docx([("", "words")]))
    (memory.root / "bad.pdf").write_bytes(b"no pdf")
    with pytest.raises(NotFoundError, match=reason):
        memory.read(ref)


def test_a_page_outside_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError):
        memory.read("../house.pdf#page=1")


def test_a_page_that_is_forgotten_is_found_by_nobody_until_that_is_undone(memory: Memory) -> None:
    before = (memory.root / "house.pdf").read_bytes()
    receipt = memory.forget("house.pdf#page=1")
    assert [item.ref for item in receipt.items] == ["house.pdf#L1-L4"]
    assert refs(memory, "otter") == []
    assert "otter" not in memory.read("house.pdf")
    assert "otter" not in memory.recall("where does the otter sleep?", deadline=10).text
    assert "valve" in memory.read("house.pdf#page=2")
    assert (memory.root / "house.pdf").read_bytes() == before
    shutil.rmtree(memory.root / ".mnemark/index.db", ignore_errors=True)
    memory.undo(receipt.id)
    assert refs(memory, "otter")


def test_a_part_is_never_said_to_be_erased(memory: Memory) -> None:
    with pytest.raises(UsageError, match=r"house\.pdf .*Delete the file itself, or hide the part"):
        memory.forget("house.pdf#L3", erase=True)
    with pytest.raises(UsageError, match="Delete the file itself"):
        memory.forget(query="otter", erase=True, dry_run=True)
    assert refs(memory, "otter")


def test_an_erasure_elsewhere_hides_the_part_and_says_what_still_holds_it(memory: Memory) -> None:
    (memory.root / "a.md").write_text("Yes, the otter sleeps.\n")
    (memory.root / "b.md").write_text("Nothing.\n")
    receipt = memory.forget(query="otter sleeps", erase=True)
    assert [item.ref for item in receipt.items] == ["a.md#L1"]
    assert receipt.still == (
        "house.pdf: still holds it, as no part of a document can be erased; delete the file itself",
    )
    assert receipt.waiting == ()
    assert refs(memory, "otter") == []
    assert (memory.root / "a.md").read_text() == ""
    derived = (file for file in (memory.root / ".mnemark").rglob("*") if file.is_file())
    assert not any(b"otter" in file.read_bytes() for file in derived)


def test_a_document_that_quotes_an_erased_turn_is_named(memory: Memory) -> None:
    log = memory.session("chat")
    log.add("user", PAGES[1][0])
    receipt = memory.forget(f"{log.path}#L2", erase=True)
    assert any(one.startswith("house.pdf: still holds it") for one in receipt.still)


def test_a_whole_document_is_erased_with_its_file(memory: Memory) -> None:
    memory.sync()
    receipt = memory.forget("house.pdf", erase=True)
    assert [(place.path, place.what) for place in receipt.places if "mnemark" not in place.path] == [
        ("house.pdf", "file")
    ]
    assert not (memory.root / "house.pdf").exists()
    assert refs(memory, "otter") == []


def test_secrets_in_a_document_are_not_shown(memory: Memory) -> None:
    key = "AKIA" + "Z7Q2M4X9R1T5V8B3"
    (memory.root / "keys.pdf").write_bytes(pdf([f"aws_access_key_id = {key}"]))
    assert key not in memory.read("keys.pdf")
    assert not any(key in hit.text for hit in memory.search("aws access key").hits)


def test_a_document_is_indexed_again_where_it_or_its_converter_changes(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (memory.root / "a.canvas").write_text('{"nodes": [{"type": "text", "text": "first"}]}')
    memory.sync()
    assert memory.sync().touched == 0
    (memory.root / "house.pdf").write_bytes(pdf(["The heron came."]))
    assert memory.sync().changed == 1
    assert refs(memory, "heron")
    monkeypatch.setattr(syncing, "_converters", lambda: "newer")
    assert memory.sync().changed == 2
    assert memory.sync().touched == 0


def test_a_damaged_document_is_a_problem_and_is_found_once_it_is_whole(memory: Memory) -> None:
    (memory.root / "b.pdf").write_bytes(b"no pdf")
    assert [(one.path, one.skipped) for one in memory.sync().problems] == [("b.pdf", True)]
    (memory.root / "b.pdf").write_bytes(pdf(["The heron came."]))
    assert memory.sync().problems == ()
    assert refs(memory, "heron")


def test_names_of_documents_have_no_role_in_the_memory(memory: Memory) -> None:
    for name in ("MEMORY.pdf", "memory/facts/user.org", "memory/2026-02-13.org", "users/ann/USER.pdf"):
        (memory.root / name).parent.mkdir(parents=True, exist_ok=True)
        (memory.root / name).write_bytes(pdf(["x"]) if name.endswith("pdf") else b"- city: Bern\n")
    memory.sync()
    assert list(memory.facts()) == []
    found = {hit.path: (hit.kind, hit.date, hit.scope) for hit in memory.search("city Bern").hits}
    assert found["memory/2026-02-13.org"] == ("note", "2026-02-13", "")
    assert found["memory/facts/user.org"][0] == "note"


def test_an_export_has_the_passages_of_documents(memory: Memory, tmp_path: Path) -> None:
    transfer.export_workspace(memory.workspace, tmp_path / "all.jsonl", format="jsonl")
    lines = (tmp_path / "all.jsonl").read_text("utf-8").splitlines()
    assert any('"title":"Page 2"' in line and "valve" in line for line in lines)


def test_views_are_not_kept_after_an_erasure(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr("mnemark.memory.forgetting.erase.forget_views", lambda: asked.append(True))
    (memory.root / "a.md").write_text("The heron came.\n")
    memory.forget("a.md", erase=True)
    assert asked
    forget_views()
