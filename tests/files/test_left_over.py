"""What killed processes leave is swept at the next start; what a running one writes is not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from faults.logical import LEXICAL
from mnemark.files import platform
from mnemark.files.jsonl import TEMPORARY
from mnemark.memory.memory import Memory
from mnemark.memory.transfer.backup import backup

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="a day has to pass there")
_KILLED = """
import os, signal, sys
from pathlib import Path
from mnemark.files import platform
from mnemark.files.jsonl import replace_file

class Dies(platform.FileSystem):
    def replace(self, source, target):
        os.kill(os.getpid(), signal.SIGKILL)

platform.FS = Dies()
exec(sys.argv[1])
"""
_WRITES = {
    "a derived file": "replace_file(Path('w/.mnemark/facts/x'), b'what was said')",
    "private": "Path.replace = lambda *_: Dies().replace(*_); "
    "platform.write_private(Path('w/.mnemark/x'), b'what was said')",
    "a note": "replace_file(Path('w/memory/note.md'), b'what was said')",
    "backup": "from mnemark.memory.transfer.backup import backup; backup(Path('w'), Path('saved.zip'))",
    "connect": "from mnemark_agents.connect import connect; Path.replace = lambda *_: Dies().replace(*_); "
    "connect._write(Path('agent/settings.json'), 'what was said', None)",
    "restore": "Dies.rename_new = Dies.replace; "
    "from mnemark.memory.transfer.restore import restore; restore(Path('whole.zip'), Path('back'))",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    (folder / "memory").mkdir(parents=True)
    (folder / "memory/note.md").write_text("what was said\n", "utf-8")
    (tmp_path / "agent").mkdir()
    with Memory.open(folder, config=LEXICAL) as memory:
        memory.remember("city", "Oslo")
        memory.sync()
    backup(folder, tmp_path / "whole.zip")
    return folder


def left(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob(f"{TEMPORARY}*")]


@pytest.mark.timed
@POSIX
@pytest.mark.parametrize("what", _WRITES)
def test_a_killed_write_is_swept_at_the_next_start(root: Path, tmp_path: Path, what: str) -> None:
    (root / ".mnemark/facts").mkdir(exist_ok=True)
    ran = subprocess.run(
        [sys.executable, "-c", _KILLED, _WRITES[what]],
        cwd=tmp_path,
        check=False,
        timeout=60,
        capture_output=True,
    )
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    assert len(left(tmp_path)) == 1
    if what == "connect":
        from mnemark_agents.connect import connect

        connect._write(tmp_path / "agent/settings.json", "{}", None)
    else:
        with Memory.open(tmp_path / "back" if what == "restore" else root, config=LEXICAL) as memory:
            memory.sync()
    assert left(tmp_path) == []


def test_what_is_being_written_is_left_alone(root: Path) -> None:
    mine = platform.temporary_beside(root / "memory/note.md")
    mine.write_text("being written", "utf-8")
    theirs = mine.with_name(f"{TEMPORARY}1-0badcafe-{'0' * 12}")
    theirs.write_text("on another machine", "utf-8")
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
        assert mine.exists()
        assert theirs.exists()
        old = time.time() - 100_000
        os.utime(theirs, (old, old))
        os.utime(root / "memory/note.md")
        memory.sync()
    assert mine.exists()
    assert not theirs.exists()


@POSIX
def test_a_temporary_index_of_a_killed_process_is_swept(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    name = platform.temporary_beside(place / "x").name.replace(
        str(os.getpid()), ended.stdout.decode().strip()
    )
    (place / name).mkdir()
    (place / name / "index.db").write_text("what was said", "utf-8")
    for path in (root / ".mnemark").glob("index.db*"):
        path.unlink()
    with Memory.open(root, config=LEXICAL, readonly=True) as memory:
        assert memory.search("what was said").hits
        (own,) = place.iterdir()
        assert own.name != name
    assert list(place.iterdir()) == []
