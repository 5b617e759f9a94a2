"""Real processes: killed in the middle, and side by side."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

import pytest

from faults import processes
from mnemark.files.journal import Journal
from mnemark.files.sessions import SessionLog
from mnemark.files.truth import Folder
from mnemark.types import Problem


def acknowledged_until_killed(root: Path, delay: float) -> list[str]:
    """What a process acknowledged until it was killed `delay` seconds after its first word."""
    environment = os.environ | {"PYTHONPATH": str(Path(processes.__file__).parents[1])}
    command = [sys.executable, processes.__file__, str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        words = (first + process.stdout.read()).split("\n")
    return words[:-1]  # without its newline, the last word was not said to the end


def survive(root: Path, times: int) -> int:
    """Kill `times` processes; returns how many turns were acknowledged, all of which must be there once."""
    chance = random.Random(11)
    said: list[str] = []
    for _ in range(times):
        said += acknowledged_until_killed(root, chance.uniform(0, 0.15))
        SessionLog(root, "victim").append(Folder(root), [processes.turn(f"after-{len(said)} ")])
    problems: list[Problem] = []
    found = Counter(
        placed.turn.content.split(" ")[0] for placed in SessionLog(root, "victim").turns(problems=problems)
    )
    assert [word for word in said if found[word] != 1] == []
    assert max(found.values()) == 1
    assert len(problems) <= times
    assert sum(found.values()) <= len(said) + 2 * times
    return len(said)


def test_acknowledged_turns_survive_kill(tmp_path: Path) -> None:
    assert survive(tmp_path, 5) >= 5


@pytest.mark.slow
def test_acknowledged_turns_survive_fifty_kills(tmp_path: Path) -> None:
    assert survive(tmp_path, 50) >= 50


def test_processes_side_by_side_lose_and_tear_nothing(tmp_path: Path) -> None:
    spawn = get_context("spawn")
    workers = [
        spawn.Process(target=processes.append_side_by_side, args=(tmp_path, f"w{number}", 20))
        for number in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    expected = {f"w{who} {number}" for who in range(4) for number in range(20)}
    problems: list[Problem] = []
    turns = [placed.turn.content for placed in SessionLog(tmp_path, "shared").turns(problems=problems)]
    changes = [entry.change.payload for entry in Journal(Folder(tmp_path)).read(problems=problems)]
    assert problems == []
    assert len(turns) == len(changes) == 80
    assert {turn.partition(" x")[0] for turn in turns} == set(changes) == expected
    assert all(len(turn.split(" ")[2]) == 5000 for turn in turns)
