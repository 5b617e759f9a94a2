"""Files of the index that another program cuts short or deletes, under a process that has them open."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faults.logical import LEXICAL
from mnemark import Memory
from mnemark.index.vectors.mapped_file import VectorFile
from sampled import sampled

NOTES = 120
DELETED = -1.0
"""In place of the share of the file that is left."""
PROGRAM = """
import os, sys, time
from pathlib import Path
from mnemark import Memory

root, name, share = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
with Memory.open(root) as memory:
    memory.sync()
    assert "dense" in memory.search("tea for the cat").mode
    file = next((root / ".mnemark").rglob(name))
    if share < 0:
        file.unlink()
    else:
        os.truncate(file, int(file.stat().st_size * share))
    for _ in range(60):  # the first answers say what is missing; it is made anew meanwhile
        found = memory.search("tea for the cat")
        assert found.hits[0].path == "memory/n7.md", found
        if not found.degraded:
            break
        time.sleep(0.1)
    print(found.mode, found.degraded)
"""


@pytest.mark.parametrize(
    ("name", "share"),
    sampled([("*.vec", 0.5), ("*.vec", 0.0), ("index.db", 0.5), ("index.db", 0.0), ("*.vec", DELETED)], 2),
)
def test_a_file_cut_short_ends_no_process_and_is_made_anew(tmp_path: Path, name: str, share: float) -> None:
    (tmp_path / "memory").mkdir()
    for number in range(NOTES):
        said = "The cat had tea." if number == 7 else f"Ship {number} left the harbour."
        (tmp_path / f"memory/n{number}.md").write_text(f"# Note {number}\n\n{said}\n", "utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), name, str(share)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ran.returncode, ran.stdout) == (0, "lexical+dense ()\n"), ran.stderr


def test_vectors_rewritten_during_a_search_are_no_damage_of_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/tea.md").write_text("# Tea\n\nThe cat had tea.\n", "utf-8")
    begin = VectorFile.begin_scores

    def after_an_erasure(store: VectorFile, *arguments: Any) -> Any:
        monkeypatch.setattr(VectorFile, "begin_scores", begin)
        store.compact([])
        return begin(store, *arguments)

    with Memory.open(tmp_path) as memory:
        memory.sync()
        index = (tmp_path / ".mnemark/index.db").stat().st_ino
        monkeypatch.setattr(VectorFile, "begin_scores", after_an_erasure)
        found = memory.search("tea for the cat")
        assert found.hits[0].path == "memory/tea.md"
        assert found.degraded == ("dense: the vectors were rewritten meanwhile; search again",)
        assert not memory.workspace.index.is_damaged()
        assert (tmp_path / ".mnemark/index.db").stat().st_ino == index


def test_an_index_cut_to_nothing_locks_no_other_process_out(tmp_path: Path) -> None:
    """The connections of a daemon keep it locked, and answer from the log beside it."""
    (tmp_path / "notes.md").write_text("# Tea\n\nThe cat had tea.\n", "utf-8")
    with Memory.open(tmp_path, config=LEXICAL) as memory:
        memory.sync()
        assert memory.search("cat").hits
        os.truncate(tmp_path / ".mnemark/index.db", 0)
        assert memory.sync().rebuilt == "index.db is empty"
        with Memory.open(tmp_path, config=LEXICAL) as other:
            assert other.search("cat").hits
