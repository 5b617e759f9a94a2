"""What another process writes into a note through the ledger is found by the next search."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forked import mnemark
from mnemark import Memory
from mnemark.files.journal import Change, Journal
from mnemark.files.truth import Folder
from mnemark.index.sync import sync
from mnemark.memory.file_edits import write
from mnemark.retrieval import refresh
from mnemark.retrieval.refresh import ExternalEdits

WRITE = """
import sys
from mnemark import Memory
from mnemark.memory.file_edits import write
with Memory.open(sys.argv[1], config={"embedder": "none"}) as memory:
    write(memory.workspace, "memory/notes.md", lambda old: f"{old}- {sys.argv[2]}\\n", step="test")
"""


def test_a_note_by_another_process_is_found_at_once(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.remember("colour", "red")
        for words in ("zebra crossing repainted", "斑马线 重新 粉刷"):
            assert not any(words in hit.text for hit in memory.search(words).hits)
            # As if just synced: none is due for a second.
            memory.workspace.searcher.refresher._last_sync.mark()
            subprocess.run([sys.executable, "-c", WRITE, str(tmp_path), words], check=True)
            memory.workspace.searcher.refresher._last_sync.mark()
            assert any(words in hit.text for hit in memory.search(words).hits)


def test_a_note_that_is_added_or_replaced_elsewhere_is_found_at_once(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.search("anything")  # makes the index
        for number, words in enumerate(("a magpie on the roof", "屋顶上有一只喜鹊")):
            memory.workspace.searcher.refresher._last_sync.mark()
            assert mnemark("add", words, "-w", str(tmp_path)).returncode == 0
            memory.workspace.searcher.refresher._last_sync.mark()
            assert any(words in hit.text for hit in memory.search(words).hits)
            edited = tmp_path / "memory" / ".tmp"
            edited.write_text(f"The heron number{number} stands in the pond.\n", "utf-8")
            edited.replace(tmp_path / "memory" / "birds.md")
            memory.workspace.searcher.refresher._last_sync.mark()
            assert any(f"number{number}" in hit.text for hit in memory.search(f"heron number{number}").hits)


def test_what_is_written_while_the_files_are_looked_at_is_found_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*given: Any, **named: Any) -> Any:
        found = sync(*given, **named)
        if not (tmp_path / "memory/late.md").exists():  # another thread, of a place that was passed already
            write(memory.workspace, "memory/late.md", lambda _: "a note on the marmot\n", step="test")
            memory.workspace.searcher.refresher.mark_stale()
        return found

    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        monkeypatch.setattr("mnemark.retrieval.refresh.sync", look)
        memory.sync()
        assert [hit.path for hit in memory.search("marmot").hits] == ["memory/late.md"]


def test_only_edits_count_and_each_once(tmp_path: Path) -> None:
    journal = Journal(Folder(tmp_path))
    journal.append(Change(kind="done", payload={"ids": []}))
    edits = ExternalEdits(Journal(Folder(tmp_path)))
    assert not edits.came()

    def told(kind: str, **payload: str) -> bool:
        journal.append(Change(kind=kind, payload=dict(payload)))
        return bool(edits.came())

    assert not told("observe", text='say "kind":"done" to them')
    assert told("done")
    assert not told("remember")
    assert told("project")
    assert not edits.came()
    for path in (tmp_path / "journal").iterdir():
        path.write_bytes(b"")
    assert edits.came(), "it was replaced"


def test_files_of_another_program_are_seen_by_a_sync_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search after it has nothing to wait for, also where syncs are slow."""
    monkeypatch.setattr(refresh, "_QUICK_SECONDS", -1.0)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/tea.md").write_text("# Tea\n\nThe cat had tea.\n", "utf-8")
    with Memory.open(tmp_path) as memory:
        memory.sync()
        assert memory.search("tea").complete
        (tmp_path / "memory/boat.md").write_text("# Boat\n\nThe boat is moored.\n", "utf-8")
        memory.sync()
        found = memory.search("boat")
        assert (found.hits[0].path, found.complete) == ("memory/boat.md", True)
