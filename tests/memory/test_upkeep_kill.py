"""A consolidation killed at any call of the file layer: the next one completes it."""

import os
import re
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from faults.layer import FaultyFileSystem, Killed
from mnemark import Memory
from mnemark.files import platform
from mnemark.files.journal import Journal
from mnemark.files.truth import Folder

# A kill reaches the sync in the background, too, where the machine is so slow that there is one.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")

_MADE_NOW = re.compile(r"(id|recorded): \S+ (?:\| )?")
"""What differs from run to run in facts that are learned in it; `recorded` stands where it is not the second
of the id."""
NOW = datetime.now().astimezone() + timedelta(hours=30)


def prepare(root: Path) -> None:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        for value in ("hiking", "to hike", "绿茶", "喝绿茶"):
            memory.remember("likes", value)
        memory.remember("tests", "before each commit", type="rule")
        memory.remember("ticket", "open", subject="atlas", origin="agent", priority="transient")
    (root / "MEMORY.md").write_text("# Memory\n\nby hand\n")
    for days in (1, 2):  # what notes say is learned first, and twice it is core memory
        day = root / f"memory/{NOW - timedelta(days=days):%Y-%m-%d}.md"
        day.write_text("- User prefers short answers.\n- 用户住在杭州\n", encoding="utf-8")
    for path in root.rglob("*.md"):  # nobody has saved them for a while
        os.utime(path, (1e9, 1e9))
    shutil.rmtree(root / ".mnemark/displaced", ignore_errors=True)


def state(root: Path) -> dict[str, str]:
    names = ("MEMORY.md", "USER.md", "memory/facts", "memory/archive/facts")
    files = [path for name in names for path in sorted((root / name).rglob("*.md"))]
    files += [root / name for name in names if (root / name).is_file()]
    return {str(path.relative_to(root)): _MADE_NOW.sub("", path.read_text()) for path in files}


def consolidate(root: Path) -> None:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.consolidate(now=NOW)


def run_with(root: Path, layer: FaultyFileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(root, config={"embedder": "none"}) as memory, monkeypatch.context() as patch:
        patch.setattr(platform, "FS", layer)
        memory.consolidate(now=NOW)


def survives(template: Path, work: Path, at: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    shutil.copytree(template, work)
    with pytest.raises(Killed):
        run_with(work, FaultyFileSystem(at), monkeypatch)
    consolidate(work)
    with Memory.open(work, config={"embedder": "none"}) as memory:
        open_edits = [entry for entry in memory.workspace.edits.entries() if entry.state == "open"]
        assert open_edits == []
        ids = [change.change.id for change in Journal(Folder(work)).read()]
        assert len(ids) == len(set(ids))
    return state(work)


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, str], int]:
    """A workspace to consolidate, what comes of it, and how many calls that takes."""
    template = tmp_path / "template"
    prepare(template)
    shutil.copytree(template, tmp_path / "whole")
    layer = FaultyFileSystem()
    run_with(tmp_path / "whole", layer, monkeypatch)
    return template, state(tmp_path / "whole"), layer.calls


def check(
    tmp_path: Path,
    whole: tuple[Path, dict[str, str], int],
    parts: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    template, wanted, calls = whole
    points = range(calls) if parts is None else [calls * part // parts for part in range(parts)]
    for at in points:
        found = survives(template, tmp_path / f"at{at}", at, monkeypatch)
        assert found == wanted, f"killed at call {at} of {calls}"
        shutil.rmtree(tmp_path / f"at{at}")


def test_a_kill_in_between(
    tmp_path: Path, whole: tuple[Path, dict[str, str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    check(tmp_path, whole, 6, monkeypatch)


@pytest.mark.slow
def test_a_kill_at_every_call(
    tmp_path: Path, whole: tuple[Path, dict[str, str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    check(tmp_path, whole, None, monkeypatch)
