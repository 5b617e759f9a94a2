"""Processes that remember into one workspace and are killed at any moment."""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from mnemark.facts.remember import facts
from mnemark.memory.memory import Memory

pytestmark = pytest.mark.timed

_CHILD = """
import os, sys
from pathlib import Path
from mnemark.memory.memory import Memory
from mnemark.facts.remember import remember
root, who = sys.argv[1:]
with Memory.open(root) as memory:
    for number in range(1_000_000):
        said = f"{who}-{os.getpid()}-{number}"
        remember(memory.workspace.fact_store, f"{who} key {number % 5}", said)
        print(said, flush=True)
"""


def start(root: Path, who: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", _CHILD, str(root), who]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(child: "subprocess.Popen[str]") -> list[str]:
    child.kill()
    said, errors = child.communicate()
    assert errors == ""
    return [line for line in said.split("\n")[:-1] if line]


@pytest.mark.slow
def test_what_was_acknowledged_is_there_once_after_kills(tmp_path: Path) -> None:
    dice = random.Random(7)
    children = {who: start(tmp_path, who) for who in ("one", "two", "three")}
    acknowledged: list[str] = []
    for _ in range(10):
        time.sleep(dice.uniform(0.8, 2.5))
        who = dice.choice(list(children))
        acknowledged += end(children[who])
        children[who] = start(tmp_path, who)
    for child in children.values():
        acknowledged += end(child)
    time.sleep(1.2)  # until the file counts as free
    with Memory.open(tmp_path) as memory:
        found = Counter(fact.value for fact in facts(memory.workspace.fact_store, history=True))
        assert len(acknowledged) > 20
        assert [said for said in acknowledged if found[said] != 1] == []
        assert [said for said, count in found.items() if count > 1] == []
        current = [fact.predicate for fact in facts(memory.workspace.fact_store)]
        assert len(current) == len(set(current))
        assert not any(fact.pending for fact in facts(memory.workspace.fact_store))
