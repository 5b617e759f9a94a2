"""A folder that cannot be written: commands that read answer, those that write say what to do."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from .conftest import Ran, Shell

_RIGHTS = "-dac_override,-dac_read_search"
pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or (os.geteuid() == 0 and shutil.which("setpriv") is None),
    reason="needs a user who may not write everywhere (root without setpriv may)",
)
FEW = (["sync"], ["add", "牛奶"], ["import", "markdown", "."])
ALL = (
    ["add", "x", "--session", "s"],
    ["remember", "城市", "杭州"],
    ["undo"],
    ["learn"],
    ["pin", "notes.md#L1"],
    ["forget", "--query", "kingfisher"],
    ["consolidate"],
    ["sessions", "end", "s"],
    ["doctor", "--fix"],
)


@pytest.fixture
def frozen(shell: Shell) -> Iterator[Shell]:
    shell.write("notes.md", "The kingfisher nests under the bridge.\n")
    shell("init")
    shell("add", "x", "--session", "s")
    shell("remember", "city", "Oslo")
    shell("sync")
    everything = [shell.folder, *(path for path in shell.folder.rglob("*") if not path.is_symlink())]
    for path in everything:
        path.chmod(path.stat().st_mode & ~0o222)
    yield shell
    for path in everything:
        path.chmod(path.stat().st_mode | 0o200)


def _run(*arguments: str) -> Ran:
    """In a process that has no more rights than its owner."""
    without = ["setpriv", "--bounding-set", _RIGHTS, "--inh-caps", _RIGHTS] if os.geteuid() == 0 else []
    command = [*without, sys.executable, "-m", "mnemark", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("commands", [FEW, pytest.param(ALL, marks=pytest.mark.slow)])
def test_writing_says_what_to_do(frozen: Shell, commands: tuple[list[str], ...]) -> None:
    before = frozen.state()
    for arguments in commands:
        ran = _run(*arguments)
        assert (ran.code, ran.out) == (7, ""), (arguments, ran)
        assert "cannot be written" in ran.err, arguments
        assert "so nothing was changed; make the folder" in ran.err, arguments
        assert "Traceback" not in ran.err, arguments
    assert frozen.state() == before


def test_reading_answers(frozen: Shell) -> None:
    assert "kingfisher" in _run("search", "kingfisher").out
    assert "Oslo" in _run("facts").out
    assert _run("doctor").code == 0


def test_status_shows_what_changed_since_the_last_sync(frozen: Shell) -> None:
    note = frozen.folder / "notes.md"
    note.chmod(0o600)
    note.write_text("The kingfisher left.\n", "utf-8")
    note.chmod(0o400)
    before = frozen.state()
    ran = _run("status")
    assert (ran.code, ran.err) == (0, "")
    assert "changed since the last sync" in ran.out
    assert frozen.state() == before
