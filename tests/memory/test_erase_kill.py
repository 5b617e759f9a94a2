"""Erasing that is cut off at any moment is completed by the next sync or opening, and keeps all else."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from faults.layer import FaultyFileSystem, Killed
from memory.erasing import holding, old, write
from mnemark import Memory
from mnemark.files import platform
from mnemark.memory import file_edits

SECRET = "苍鹭在老磨坊后面筑巢 the heron nests behind the old mill"


def opened(root: Path) -> Memory:
    return Memory.open(root, config={"embedder": "none"})


def planted(root: Path) -> str:
    """The secret in a turn, quoted in another, in a fact, a note and an automatic edit; the turn's ref."""
    with opened(root) as memory:
        log = memory.session("cli:a")
        log.add("user", SECRET)
        log.add("assistant", f"So you say: {SECRET}")
        log.add("user", "a turn to be kept")
        memory.remember("bird", SECRET, origin="agent", source=f"{log.path}#L2")
        memory.remember("city", "Berlin")
        write(memory, "memory/2026-02-13.md", f"- a line to be kept\n- {SECRET}\n")
        file_edits.write(
            memory.workspace,
            "memory/2026-02-14.md",
            lambda text: f"{text}- {SECRET}\n- kept as well\n",
            step="x",
        )
        (root / ".mnemark/compiled").mkdir()
        (root / ".mnemark/compiled/user.md").write_text(SECRET, encoding="utf-8")
        memory.sync()
        for path in root.rglob("*.md"):
            old(path)
        return f"{log.path}#L2"


def check(root: Path) -> None:
    """What a restart finds: all of it gone, the rest there; or nothing begun."""
    with opened(root) as memory:
        for path in root.rglob("*.md"):
            old(path)
        memory.sync()
        begun = bool(memory.workspace.index.hidden.current().turns)
        assert not memory.workspace.index.hidden.unfinished()
        assert bool(holding(root, SECRET)) == (not begun)
        assert not [hit for hit in memory.search("heron mill").hits if SECRET in hit.text] or not begun
        texts = "".join(path.read_text(encoding="utf-8") for path in root.rglob("*.md"))
        assert texts.count("a line to be kept") == 1
        assert texts.count("kept as well") == 1
        assert [fact.value for fact in memory.facts() if fact.predicate == "city"] == ["Berlin"]
        said = [turn.content for turn in memory.session("cli:a").last()]
        assert said[-1] == "a turn to be kept"
        assert not begun or said[0] == "So you say: [erased]"


def killed_at(home: Path, root: Path, ref: str, at: int, patch: pytest.MonkeyPatch) -> int:
    """Erase in a copy of `home`, killed at the file call number `at`; how many calls there were."""
    shutil.copytree(home, root)
    layer = FaultyFileSystem(at, "kill")
    memory = opened(root)
    with patch.context() as now:
        now.setattr(platform, "FS", layer)
        with suppress(Killed):
            memory.forget(ref, erase=True)
    memory.close()
    return layer.calls


def sweep(tmp_path: Path, step: int, patch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    ref = planted(home)
    calls = killed_at(home, tmp_path / "run", ref, -1, patch)
    check(tmp_path / "run")
    assert calls > 30
    for at in range(0, calls, step):
        root = tmp_path / f"run-{at}"
        killed_at(home, root, ref, at, patch)
        check(root)
        shutil.rmtree(root, ignore_errors=True)


def test_killed_at_some_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep(tmp_path, 11, monkeypatch)


@pytest.mark.slow
def test_killed_at_every_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep(tmp_path, 1, monkeypatch)


_CHILD = """
import sys
from mnemark import Memory
with Memory.open(sys.argv[1], config={"embedder": "none"}) as memory:
    print("go", flush=True)
    memory.forget(sys.argv[2], erase=True)
    print("done", flush=True)
"""


@pytest.mark.timed
@pytest.mark.slow
def test_killed_from_outside_at_random_moments(tmp_path: Path) -> None:
    home = tmp_path / "home"
    ref = planted(home)
    dice = random.Random(3)
    for number in range(25):
        root = tmp_path / f"run-{number}"
        shutil.copytree(home, root)
        command = [sys.executable, "-c", _CHILD, str(root), ref]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(dice.uniform(0, 0.5))
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        check(root)


def test_killed_while_a_query_is_erased(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of a query stand nowhere but in what it found: the last of these goes last."""
    home = tmp_path / "home"
    planted(home)
    for at in range(3, 80, 16):
        root = tmp_path / f"run-{at}"
        shutil.copytree(home, root)
        layer = FaultyFileSystem(at, "kill")
        memory = opened(root)
        with monkeypatch.context() as now:
            now.setattr(platform, "FS", layer)
            with suppress(Killed):
                memory.forget(query="heron nests", erase=True)
        memory.close()
        with opened(root) as again:
            for path in root.rglob("*.md"):
                old(path)
            again.sync()
            begun = bool(again.workspace.index.hidden.current().turns)
            assert bool(holding(root, "heron nests")) == (not begun), at
