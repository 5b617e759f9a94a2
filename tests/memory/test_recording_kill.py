"""Sessions and facts in one workspace, killed at every call of the file layer, and from outside."""

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from faults.layer import Fault, FaultyFileSystem, Killed
from mnemark import Memory, MnemarkError
from mnemark.files import platform
from mnemark.files.sessions import SessionLog, list_sessions
from mnemark.types import Problem


def work(root: Path, acknowledged: list[str]) -> None:
    """Turns, facts, newer values, an observation; each is noted once it is acknowledged."""
    with Memory.open(root, config={"embedder": "none"}) as memory:
        session = memory.session("chat")
        steps: list[Callable[[str], object]] = [
            lambda said: session.add("user", said),
            lambda said: memory.remember("city", said),
            lambda said: session.add("assistant", said),
            lambda said: memory.remember("city", said),
            lambda said: memory.remember("编辑器", said, subject="project"),
            lambda said: session.observe("exec", {"command": said}, "ok"),
        ]
        for number, step in enumerate(steps):
            said = f"said-{number}"
            try:
                step(said)
            except MnemarkError:  # told: nothing is promised, and the next one goes on
                continue
            acknowledged.append(said)


def check(root: Path, acknowledged: list[str]) -> None:
    """What was acknowledged is there once; what was not, once or not at all."""
    problems: list[Problem] = []
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.sync()
        said = [
            placed.turn.content
            for info in list_sessions(root)
            for placed in SessionLog(root, info.id).turns(problems=problems)
        ]
        facts = list(memory.facts(history=True))
        said += [fact.value for fact in facts]
        current = [(fact.subject, fact.predicate) for fact in memory.facts()]
        commands = "\n".join(path.read_text("utf-8") for path in (root / "journal").glob("*.jsonl"))
    found = Counter(said)
    kept = [one for one in acknowledged if one != "said-5"]
    assert [one for one in kept if found[one] != 1] == []
    assert [one for one, count in found.items() if count > 1] == []
    assert set(found) <= {f"said-{number}" for number in range(6)}  # nothing torn passes for a word
    assert "said-5" not in acknowledged or "said-5" in commands
    assert len(current) == len(set(current))
    assert len({fact.id for fact in facts}) == len(facts)


def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault, parts: int | None) -> int:
    counting = FaultyFileSystem()
    with monkeypatch.context() as patch:
        patch.setattr(platform, "FS", counting)
        whole: list[str] = []
        work(tmp_path / "whole", whole)
    assert len(whole) == 6
    calls = counting.calls
    points = range(calls) if parts is None else [calls * part // parts for part in range(parts)]
    for at in points:
        root = tmp_path / f"{fault}-{at}"
        acknowledged: list[str] = []
        with monkeypatch.context() as patch:
            patch.setattr(platform, "FS", FaultyFileSystem(at, fault))
            with suppress(Killed, MnemarkError):
                work(root, acknowledged)
        check(root, acknowledged)
    return calls


@pytest.mark.parametrize("fault", ["kill", "ENOSPC"])
def test_a_fault_at_some_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    assert sweep(tmp_path, monkeypatch, fault, 12) > 50


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["kill", "EIO", "ENOSPC", "short"])
def test_a_fault_at_every_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    assert sweep(tmp_path, monkeypatch, fault, None) > 50


_CHILD = """
import os, random, sys
from mnemark import Memory
root, who = sys.argv[1:]
with Memory.open(root, config={"embedder": "none"}) as memory:
    shared, own = memory.session("shared"), memory.session(who)
    for number in range(1_000_000):
        said = f"{who}-{os.getpid()}-{number}"
        shared.add("user", f"s-{said}")
        print(f"s-{said}", flush=True)
        own.add("user", f"o-{said}")
        print(f"o-{said}", flush=True)
        memory.remember(f"{who} key {number % 3}", f"f-{said}")
        print(f"f-{said}", flush=True)
        memory.remember("everyone's key", f"k-{said}")
        print(f"k-{said}", flush=True)
"""


def start(root: Path, who: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", _CHILD, str(root), who]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(child: "subprocess.Popen[str]") -> list[str]:
    child.kill()
    said, errors = child.communicate()
    assert errors == ""
    return said.split("\n")[:-1]  # without its newline, the last word was not said to the end


def survive(root: Path, kills: int) -> int:
    """Kill so many of four processes that record; how much was acknowledged, all of which is there once."""
    dice = random.Random(5)
    children = {who: start(root, who) for who in ("one", "two", "three", "four")}
    acknowledged: list[str] = []
    for _ in range(kills):
        time.sleep(dice.uniform(0.4, 1.2))
        who = dice.choice(list(children))
        acknowledged += end(children[who])
        children[who] = start(root, who)
    for child in children.values():
        acknowledged += end(child)
    time.sleep(1.2)  # until the file counts as free
    problems: list[Problem] = []
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.sync()
        found = Counter(
            placed.turn.content
            for info in list_sessions(root)
            for placed in SessionLog(root, info.id).turns(problems=problems)
        )
        found.update(fact.value for fact in memory.facts(history=True))
        assert not any(fact.pending for fact in memory.facts())
        current = [fact.predicate for fact in memory.facts()]
    assert [said for said in acknowledged if found[said] != 1] == []
    assert [said for said, count in found.items() if count > 1] == []
    assert len(current) == len(set(current))
    assert len(problems) <= 2 * kills + 8  # lines that a kill tore, each left as a line of its own
    return len(acknowledged)


@pytest.mark.timed
def test_four_processes_and_three_kills(tmp_path: Path) -> None:
    assert survive(tmp_path, 3) > 10


@pytest.mark.timed
@pytest.mark.slow
def test_four_processes_and_fifty_kills(tmp_path: Path) -> None:
    assert survive(tmp_path, 50) > 200
