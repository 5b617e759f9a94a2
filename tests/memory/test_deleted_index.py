"""The index may be deleted at will, also while it is in use."""

import shutil
from pathlib import Path

from mnemark.memory.memory import Memory


def test_all_of_it_deleted_while_open(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        (tmp_path / "a.md").write_text("The heron stands in the river.\n", encoding="utf-8")
        memory.sync()
        before = memory.search("heron")
        for number in range(2):
            shutil.rmtree(tmp_path / ".mnemark")
            (tmp_path / f"b{number}.md").write_text("An otter, too.\n", encoding="utf-8")
            memory.sync()
            assert memory.search("otter").hits
        assert memory.search("heron").hits[0].ref == before.hits[0].ref == "a.md#L1"


def test_bookkeeping_of_facts_stays_out_of_the_prompt(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.remember("favourite city", "Oslo")
        memory.sync()
        found = memory.recall("which city is the favourite?", deadline=5.0)
        assert "Oslo" in found.text
        assert "<!--" not in found.text
