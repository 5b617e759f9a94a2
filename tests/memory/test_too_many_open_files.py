"""Where the system opens no more files, each call does its work or says what to do; nothing is lost."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.errors import MnemarkError
from mnemark.files import platform
from sampled import sampled

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are of POSIX")

PROGRAM = """
import resource, sys
from mnemark import Memory
from mnemark.errors import MnemarkError
root, limit = sys.argv[1], int(sys.argv[2])
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
kept = []
try:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        session = memory.session("second")
        for work in (
            lambda: memory.search("walrus"),
            lambda: session.add("user", f"pelican {limit}"),
            lambda: memory.remember("harbour", f"gate {limit}"),
            memory.sync,
            lambda: memory.facts(),
            lambda: memory.prompt("walrus"),
            lambda: memory.forget(query="nobody says this"),
            lambda: session.end(),
            memory.stats,
        ):
            try:
                work()
                kept.append(True)
            except MnemarkError as error:
                kept.append(False)
                assert str(error).strip() and "unexpected" not in str(error), error
except MnemarkError as error:
    assert str(error).strip()
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
print("said" if kept[1:2] == [True] else "not said", "known" if kept[2:3] == [True] else "not known")
"""


@pytest.mark.parametrize("limit", sampled([6, 8, 10, 11, 12, 13, 14, 16, 20], 3))
def test_a_call_works_or_tells(tmp_path: Path, limit: int) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("first").add("user", "the walrus sleeps")
        memory.remember("harbour", "open")
        memory.sync()
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(limit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        assert memory.search("walrus").hits
        assert not ended.stdout.startswith("said") or memory.search(f"pelican {limit}").hits
        known = ended.stdout.strip().endswith(" known") and not ended.stdout.strip().endswith("not known")
        assert not known or f"gate {limit}" in {fact.value for fact in memory.facts()}


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO])
@pytest.mark.parametrize("new", [True, False], ids=["new", "indexed before"])
def test_what_could_not_be_read_for_a_moment_is_found_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, *, new: bool
) -> None:
    """Nothing about the file changes when the shortage is over."""
    monkeypatch.setattr("mnemark.index.plan.RACY_NS", 0)  # else what was written just now is read again
    plain = platform.FS.open_to_read

    def refused(path: Path, *, links: bool) -> int:
        if path.name.startswith("first-") or path.name == "note.md":
            raise OSError(code, os.strerror(code), str(path))
        return plain(path, links=links)

    note = tmp_path / "note.md"
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("first").add("user", "the walrus sleeps")
        note.write_text("# Harbour\n\nthe pelican waits\n", "utf-8")
        if not new:
            memory.sync()
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory, monkeypatch.context() as short:
        short.setattr(platform.FS, "open_to_read", refused)
        for written in (note, *(tmp_path / "sessions").iterdir()):
            os.utime(written)
        memory.sync()
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        assert memory.search("walrus").hits
        assert memory.search("pelican").hits


def test_a_folder_that_may_not_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> object:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("first").add("user", "the walrus sleeps")
        with monkeypatch.context() as closed:
            closed.setattr("mnemark.index.sync.scan", refused)
            with pytest.raises(MnemarkError, match="Permission denied; check its disk and permissions"):
                memory.sync()
        memory.sync()
        assert memory.search("walrus").hits
