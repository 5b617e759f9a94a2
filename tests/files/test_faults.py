"""Every promise about crashes, tried at every call that changes a file."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest

from faults.layer import Fault, FaultyFileSystem, Killed, WithoutExchange
from faults.people import append_text
from mnemark.errors import MnemarkError
from mnemark.files import platform
from mnemark.files.edit import edit, settle, sweep
from mnemark.files.journal import Change, Journal
from mnemark.files.jsonl import TEMPORARY
from mnemark.files.sessions import SessionLog
from mnemark.files.truth import Folder
from mnemark.types import Problem, Turn
from sampled import sampled

NOW = datetime(2026, 2, 13, 9, 30, tzinfo=UTC)
PERSON = ["# Notes", "", "- written by hand"]


class Run:
    """One workspace's life: what was acknowledged and what was only tried."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.acknowledged: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()

    def live(self, rounds: int = 2) -> None:
        for number in range(rounds):
            for step in (self.turn, self.change, self.note, self.replaced):
                self.step(step, f"{step.__name__} {number}.")

    def step(self, step: Callable[[str], bool], said: str) -> None:
        self.tried[said] += 1
        try:
            done = step(said)
        except MnemarkError:
            return  # told, so not acknowledged
        if done:
            self.acknowledged[said] += 1

    def turn(self, said: str) -> bool:
        SessionLog(self.root, "cli:main").append(
            Folder(self.root), [Turn(id="", time=NOW, role="user", content=said)]
        )
        return True

    def change(self, said: str) -> bool:
        Journal(Folder(self.root), "here").append(Change(kind="note", payload=said))
        return True

    def note(self, said: str) -> bool:
        return append_text(self.root, "memory/2026-02-13.md", said, quiet=0).status == "written"

    def replaced(self, said: str) -> bool:
        def change(content: bytes) -> bytes:
            return content.replace(b"# Notes\n", b"# Notes\n" + said.encode() + b"\n")

        return edit(Folder(self.root), "NOTES.md", change, quiet=0).status == "written"

    def found(self) -> tuple[Counter[str], list[Problem]]:
        problems: list[Problem] = []
        said = Counter(p.turn.content for p in SessionLog(self.root, "cli:main").turns(problems=problems))
        said += Counter(str(e.change.payload) for e in Journal(Folder(self.root)).read(problems=problems))
        for note in self.root.rglob("*.md"):
            said += Counter(note.read_text(encoding="utf-8").splitlines())
        return said, problems


def live_through(root: Path, layer: FaultyFileSystem, monkeypatch: pytest.MonkeyPatch) -> Run:
    root.mkdir()
    (root / "NOTES.md").write_text("\n".join(PERSON) + "\n", encoding="utf-8")
    run = Run(root)
    monkeypatch.setattr(platform, "FS", layer)
    with suppress(Killed):
        run.live()
    monkeypatch.setattr(platform, "FS", FaultyFileSystem())
    assert sweep(Folder(root), quiet=0) == []
    run.step(run.turn, "turn after.")
    run.step(run.change, "change after.")
    run.step(run.note, "note after.")
    assert settle(Folder(root), quiet=0) == []
    return run


def check(run: Run, fault: Fault) -> None:
    found, problems = run.found()
    lost = {said for said in run.acknowledged if found[said] != 1}
    assert not lost
    twice = {said for said in run.tried if found[said] > 1}
    assert not twice
    assert all(line in found for line in PERSON)
    files = [path.name for path in run.root.rglob("*")]
    assert not [name for name in files if name.startswith(TEMPORARY) or name.endswith(".part")]
    assert not [name for name in files if "conflict" in name]
    if fault not in {"kill", "power"}:
        assert problems == []
        assert sum(run.tried.values()) - sum(run.acknowledged.values()) <= 1


def calls_of_a_life(root: Path, layer: FaultyFileSystem, monkeypatch: pytest.MonkeyPatch) -> int:
    run = live_through(root, layer, monkeypatch)
    assert run.acknowledged == run.tried
    check(run, "EIO")
    return layer.calls


def sweep_faults(
    tmp_path: Path, kind: type[FaultyFileSystem], fault: Fault, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = calls_of_a_life(tmp_path / "whole", kind(), monkeypatch)
    for at in range(total % step, total, step):
        layer = kind(at, fault)
        run = live_through(tmp_path / f"at-{at}", layer, monkeypatch)
        check(run, fault)


FAULTS: list[Fault] = ["kill", "power", "EIO", "ENOSPC", "short"]
KINDS = [FaultyFileSystem, WithoutExchange]


@pytest.mark.parametrize(("kind", "fault"), sampled(product(KINDS, FAULTS), 3))
def test_a_fault_loses_nothing_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[FaultyFileSystem], fault: Fault
) -> None:
    sweep_faults(tmp_path, kind, fault, 5, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_at_any_call_loses_nothing_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[FaultyFileSystem], fault: Fault
) -> None:
    sweep_faults(tmp_path, kind, fault, 1, monkeypatch)
