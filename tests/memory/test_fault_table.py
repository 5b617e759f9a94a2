"""Every operation with a fault at any call of the file layer: what was kept, and what was said.

`pytest -s -m slow tests/memory/test_fault_table.py` prints the table of all calls.
"""

import re
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faults.layer import FaultyFileSystem, Killed
from faults.logical import LEXICAL
from faults.wal import full_logs
from mnemark.errors import MnemarkError
from mnemark.files import platform
from mnemark.files.jsonl import TEMPORARY
from mnemark.memory.memory import Memory
from mnemark.memory.transfer.backup import backup
from mnemark.memory.transfer.restore import restore
from mnemark_agents.connect import connect
from sampled import sampled

SAID = "the heron stands in the river"
KEPT = ("the otter swims", "数据库的备份在三点")
"""What was acknowledged before, and must be there after any fault."""

_NAMES_A_FILE = re.compile(r"/\w|\w\.(?:md|jsonl?|toml|db)\b")


def _add(root: Path, _: Path) -> Any:
    with Memory.open(root, config=LEXICAL) as memory:
        return memory.session("cli:main").add("user", SAID)


def _with(work: Callable[[Memory], Any]) -> Callable[[Path, Path], Any]:
    def run(root: Path, _: Path) -> Any:
        with Memory.open(root, config=LEXICAL) as memory:
            return work(memory)

    return run


def _import(root: Path, beside: Path) -> Any:
    with Memory.open(root, config=LEXICAL) as memory:
        return memory.import_("markdown", beside / "notes")


OPERATIONS: dict[str, Callable[[Path, Path], Any]] = {
    "session add": _add,
    "remember": _with(lambda memory: memory.remember("bird", SAID)),
    "sync": _with(lambda memory: memory.sync()),
    "consolidate": _with(lambda memory: memory.consolidate(force=True)),
    "session end": _with(lambda memory: memory.session("cli:main").end()),
    "import": _import,
    "hide": _with(lambda memory: memory.forget(query="the tapir is shy")),
    "erase": _with(lambda memory: memory.forget(query="the tapir is shy", erase=True)),
    "undo": _with(lambda memory: memory.undo()),
    "backup": lambda root, beside: backup(root, beside / "new.zip"),
    "restore": lambda _, beside: restore(beside / "whole.zip", beside / "back"),
    "connect": lambda _, beside: connect._apply(
        connect.SettingsChange(beside / "settings.json", '{"old": 1}', '{"new": 1}')
    ),
}
FAULTS: dict[str, dict[str, Any]] = {
    "crash": {"fault": "kill"},
    "EIO once": {"fault": "EIO"},
    "EIO for ever": {"fault": "EIO", "forever": True},
    "full once": {"fault": "ENOSPC"},
    "full for ever": {"fault": "ENOSPC", "forever": True},
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    root = folder / "w"
    (root / "memory").mkdir(parents=True)
    (root / "memory/note.md").write_text(f"# Note\n\n{KEPT[1]}\n", "utf-8")
    (folder / "notes").mkdir()
    (folder / "notes/a.md").write_text(f"{SAID}\n", "utf-8")
    (folder / "settings.json").write_text('{"old": 1}', "utf-8")
    with Memory.open(root, config=LEXICAL) as memory:
        session = memory.session("cli:main")
        session.add("user", KEPT[0])
        session.add("user", "the tapir is shy")
        memory.remember("city", "Oslo")
        memory.remember("city", "Rome")
        memory.sync()
    backup(root, folder / "whole.zip")
    return folder


def _texts(folder: Path) -> str:
    found = [
        path
        for path in folder.rglob("*")
        if path.suffix in {".md", ".jsonl"} and ".mnemark" not in path.parts
    ]
    return "\n".join(path.read_text("utf-8") for path in found)


def _strike(template: Path, place: Path, name: str, layer: FaultyFileSystem) -> str:
    """Run an operation on a copy; return how it ended: "done", "crash", or whether it named a file."""
    shutil.copytree(template, place)
    others = set(threading.enumerate())
    hook, threading.excepthook = threading.excepthook, lambda _: None
    before, platform.FS = platform.FS, layer
    try:
        done = OPERATIONS[name](place / "w", place)
        if left := [*getattr(done, "still", ()), *getattr(done, "problems", ())]:  # a receipt, an import
            return "said" if _NAMES_A_FILE.search(str(left)) else f"said nothing: {left}"
    except Killed:
        return "crash"
    except MnemarkError as error:
        return "said" if _NAMES_A_FILE.search(str(error)) else f"said nothing: {error}"
    finally:
        platform.FS = before
        for thread in threading.enumerate():
            if thread not in others and thread.name.startswith("mnemark-"):
                thread.join(5)
        threading.excepthook = hook
    return "done"


def _check(place: Path, name: str, ended: str, *, taken_back: bool = False) -> None:
    """Open what is left, and see that all is there, once, and whole."""
    with Memory.open(place / "w", config=LEXICAL) as memory:
        memory.sync()
        for words in KEPT:
            hits = memory.search(words).hits
            assert hits, (name, ended, words)
        text = _texts(place / "w")
        for words in KEPT:
            assert text.count(words) >= 1, (name, ended, words)
        told = [turn.content for turn in memory.session("cli:main").last(50)]
        assert told.count(KEPT[0]) == 1
        assert told.count(SAID) <= 1
        assert not (taken_back and name == "session add" and ended == "said" and SAID in told)
        if ended == "done":
            assert (name != "session add") or told.count(SAID) == 1
            assert (name != "remember") or any(SAID in str(fact) for fact in memory.facts())
            assert (name not in {"hide", "erase"}) or "the tapir is shy" not in told
            assert (name != "import") or memory.search("heron").hits
        assert any("city" in str(fact) for fact in memory.facts())
    settings = (place / "settings.json").read_text("utf-8")
    assert settings in {'{"old": 1}', '{"new": 1}'}
    assert name != "connect" or ended != "done" or settings == '{"new": 1}'


@pytest.mark.parametrize(
    "step", [pytest.param(0, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", sampled(OPERATIONS, 4))
def test_faults(template: Path, tmp_path: Path, name: str, step: int) -> None:
    whole = FaultyFileSystem(reads=True)
    assert _strike(template, tmp_path / "whole", name, whole) == "done"
    _check(tmp_path / "whole", name, "done")
    for fault, how in FAULTS.items():
        ends: Counter[str] = Counter()
        for at in range(0, whole.calls, step or max(whole.calls // 3, 1)):
            place = tmp_path / "run"
            ended = _strike(template, place, name, FaultyFileSystem(at, reads=True, **how))
            ends[ended] += 1
            _check(place, name, ended, taken_back=not how.get("forever"))
            if how["fault"] != "kill":  # of this running process nothing is swept, so nothing may be left
                left = [path for path in place.rglob(f"{TEMPORARY}*") if "displaced" not in path.parts]
                assert how.get("forever") or not left, (name, fault, at, left)
            shutil.rmtree(place)
        sys.stdout.write(f"{name:12} {fault:14} {whole.calls:4} calls  {dict(ends)}\n")
        assert ends.keys() <= {"done", "said", "crash"}


@pytest.mark.skipif(sys.platform == "win32", reason="the layer below SQLite is that of Unix")
@pytest.mark.parametrize("name", sampled(OPERATIONS, 2))
def test_only_the_logs_of_the_databases_are_full(template: Path, tmp_path: Path, name: str) -> None:
    ends: Counter[str] = Counter()
    for room in (0, 1, 2, 5, 20, 60):
        place = tmp_path / "run"
        with full_logs(room) as logs:
            ended = _strike(template, place, name, FaultyFileSystem())
        ends[ended] += 1
        _check(place, name, ended)
        assert logs.writes or name not in {"sync", "consolidate", "session end", "hide", "erase", "undo"}
        shutil.rmtree(place)
    sys.stdout.write(f"{name:12} {'logs full':14}             {dict(ends)}\n")
    assert ends.keys() <= {"done", "said"}


@pytest.mark.skipif(sys.platform == "win32", reason="the layer below SQLite is that of Unix")
def test_with_full_logs_a_search_finds_what_was_just_said(template: Path, tmp_path: Path) -> None:
    shutil.copytree(template, tmp_path / "run")
    with full_logs(0) as logs, Memory.open(tmp_path / "run/w", config=LEXICAL) as memory:
        memory.session("cli:main").add("user", SAID)
        found = memory.search("heron river")
        assert [hit.text for hit in found.hits if SAID in hit.text]
        assert memory.search(KEPT[0]).hits
        assert any("full" in one for one in found.degraded), found.degraded
    assert logs.writes
