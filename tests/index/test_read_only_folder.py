"""A folder that cannot be written: what is there is read, what would be written is refused."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.logical import LEXICAL
from faults.statements import in_child
from mnemark.errors import MnemarkError, ReadOnlyError
from mnemark.memory.memory import Memory

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
NOBODY = 65_534


@pytest.fixture
def root() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    (folder / "note.md").write_text("# Note\n\nalpha in a folder\n")
    with Memory.open(folder, config=LEXICAL) as memory:
        memory.sync()
        memory.session("s").recall("alpha", deadline=2.0)  # everything is loaded before rights are given up
    for path in (folder, folder / ".mnemark", folder / "note.md", *(folder / ".mnemark").iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield folder
    for path in (folder, folder / ".mnemark"):
        path.chmod(0o755)
    shutil.rmtree(folder)


def without_rights() -> None:
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def test_it_is_read(root: Path) -> None:
    def work() -> None:
        without_rights()
        with Memory.open(root, config=LEXICAL, readonly=True) as memory:
            assert memory.search("alpha").hits
            assert memory.recall("alpha", deadline=5.0).text
            assert memory.stats().passages == 1

    assert in_child(work) == 0


def test_writing_is_refused(root: Path) -> None:
    def work() -> None:
        without_rights()
        with pytest.raises(ReadOnlyError), Memory.open(root, config=LEXICAL) as memory:
            memory.sync()
        with Memory.open(root, config=LEXICAL, readonly=True) as memory, pytest.raises(MnemarkError):
            memory.session("s").add("user", "x")

    assert in_child(work) == 0
