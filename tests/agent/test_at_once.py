"""Two ways into an empty memory at the same moment: nothing is doubled or lost, and there is one of each."""

import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from agent.samples import claude_line, write
from faults.at_once import SAID, SECRET, WAYS
from mnemark import Memory
from mnemark.files import jsonl
from mnemark.files.projects import folders
from mnemark.files.turns import decode_turn

pytestmark = pytest.mark.timed

_SECONDS = 60.0
_REPLY = "The heron is deployed."
_TRANSCRIPT = {"hook session-start", "hook stop", "hook session-end"}
_PAIRS = list(itertools.combinations_with_replacement(WAYS, 2))
_SOME = [
    pair for number, pair in enumerate(_PAIRS)
    if all(way.startswith("hook") for way in pair) or number % 12 == 0
]  # fmt: skip


def started(folder: Path, ways: tuple[str, str]) -> list[subprocess.Popen[str]]:
    """Start both ways, wait until they are ready, and let them begin."""
    root, repository, gate = folder / "memory", folder / "code/shop", folder / "gates/go"
    for made in (root, repository / ".git", gate.parent, folder / "home"):
        made.mkdir(parents=True)
    (repository / ".git/HEAD").write_text("ref: refs/heads/main\n")
    write(folder / "code/transcript.jsonl", claude_line(1, "user", SAID), claude_line(2, "assistant", _REPLY))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("MNEMARK", "CLAUDE"))},
        "HOME": str(folder / "home"), "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
    }  # fmt: skip
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "faults.at_once", way, str(root), str(repository), str(gate)],
            env=environment, cwd=folder, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for way in ways
    ]  # fmt: skip
    until = time.monotonic() + _SECONDS
    while len(list(gate.parent.glob("ready-*"))) < 2 and time.monotonic() < until:
        assert not [one for one in running if one.poll() is not None], running[0].communicate()
        time.sleep(0.002)
    gate.touch()
    return running


def settled(root: Path) -> None:
    """Wait until the processes have ended that were started in the background."""
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        names = [
            path for path in Path("/proc").glob("[0-9]*/cmdline") if path.parent.name != str(os.getpid())
        ]
        if not any(os.fsencode(root) in _command(path) for path in names):
            return
        time.sleep(0.05)
    raise AssertionError("a process in the background does not end")


def _command(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def check(root: Path, ways: tuple[str, str]) -> None:
    """See that all is there, once."""
    log = root / ".mnemark/hook.log"
    assert not log.exists(), log.read_text("utf-8")
    said: Counter[str] = Counter()
    for file in root.rglob("sessions/*.jsonl"):
        records = [(line, record) for line, record in jsonl.records(file)]
        turns = [turn for line, record in records if (turn := decode_turn(record, line)) is not None]
        said.update(turn.content for turn in turns)
    told = {text: count for text, count in said.items() if "heron" in text}
    text = "\n".join(path.read_text("utf-8") for path in root.rglob("*.md"))
    journal = [json.loads(line) for file in root.glob("journal/*") for line in file.read_text().splitlines()]
    wanted = Counter(
        {"transcript": int(bool(_TRANSCRIPT & {*ways})), "cli": ways.count("turn")}
        | {"prompt": int("hook prompt" in ways)}
    )
    assert sum(count for words, count in told.items() if "Monday" in words) == sum(wanted.values()), told
    assert said[_REPLY] == wanted["transcript"], told
    assert len(re.findall(r"^- \d\d:\d\d We deploy the heron", text, re.MULTILINE)) == ways.count("add"), text
    seen = [one["payload"]["title"] for one in journal if one["kind"] == "observe"]
    assert Counter(seen) == {
        **({"Bash: touch heron.txt": 1} if "hook tool" in ways else {}),
        **({"exec: touch otter.txt": 1} if "observe" in ways else {}),
    }, seen
    marks = set(re.findall(r"\[redacted:[a-z-]*:([0-9a-f]{8})\]", text + "".join(told)))
    assert len(marks) <= 1, marks
    assert SECRET not in text + "".join(said)
    assert len(list(root.glob(".mnemark/salt"))) <= 1
    assert len(folders(root)) == int(any(way.startswith("hook") for way in ways)), folders(root)
    with Memory.open(root) as memory:
        memory.sync()
        assert memory.workspace.unfinished(9) == []
        teas = [fact.value for fact in memory.facts(history=True) if fact.predicate == "tea"]
        assert teas == ["oolong"] * int(bool({"remember", "mcp"} & {*ways})), teas


def _try(folder: Path, ways: tuple[str, str]) -> None:
    running = started(folder, ways)
    for way, one in zip(ways, running, strict=True):
        out, err = one.communicate(timeout=_SECONDS)
        assert one.returncode == 0, (way, out, err)
        assert "Traceback" not in err, (way, err)
    settled(folder / "memory")
    check(folder / "memory", ways)


@pytest.mark.skipif(sys.platform != "linux", reason="processes in the background are looked up in /proc")
@pytest.mark.parametrize("ways", _SOME[::3], ids=" + ".join)
def test_two_ways_at_once(tmp_path: Path, ways: tuple[str, str]) -> None:
    _try(tmp_path, ways)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes in the background are looked up in /proc")
@pytest.mark.parametrize("ways", _PAIRS, ids=" + ".join)
def test_any_two_ways_at_once_several_times(tmp_path: Path, ways: tuple[str, str]) -> None:
    for number in range(3):
        _try(tmp_path / str(number), ways)
