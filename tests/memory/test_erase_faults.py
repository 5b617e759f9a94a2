"""One fault at any call of the file layer, then two quiet syncs: nothing of the erased text is left."""

import re
import shutil
import time
from pathlib import Path

import pytest

from faults.layer import Fault, FaultyFileSystem
from faults.logical import LEXICAL
from faults.wal import full_logs
from memory.erasing import old
from mnemark.errors import MnemarkError
from mnemark.files import platform
from mnemark.memory.forgetting.receipt import Receipt
from mnemark.memory.memory import Memory

WORD = "Zanzibarix"
_HELD = re.compile(WORD.encode(), re.IGNORECASE)
_FAULTS: tuple[Fault, ...] = ("ENOSPC", "EIO", "EACCES", "EBUSY", "EMFILE", "EROFS", "short")


def begun(root: Path) -> None:
    """Write the word into turns, facts, notes, an observation, and the names of an episode and attachment."""
    (root / "memory").mkdir(parents=True)
    with Memory.open(root, config=LEXICAL) as memory:
        session = memory.session("chat:1")
        plan = {"path": f"/home/me/{WORD}-plan.pdf", "description": f"the plan of {WORD}"}
        session.add("user", f"Plan the {WORD} launch in Lisbon", attachments=[plan])
        session.add("assistant", "We start on Monday with the heron")
        session.add("user", f"Book the {WORD} hotel")
        session.observe("exec", {"command": f"touch {WORD}.txt"}, f"made {WORD}.txt")
        memory.remember("employer", "Acme", subject=WORD)
        memory.remember("hotel", f"the {WORD} palace")
        memory.remember("city", "Oslo")
        session.end()
        memory.sync()
    for part in ("episodes", "attachments", "facts"):
        assert [path for path in root.glob(f"memory/{part}/*.md") if _HELD.search(path.name.encode())]
    quiet(root)


def quiet(root: Path) -> None:
    """Let nobody have saved a note for a while."""
    for path in root.rglob("*.md"):
        old(path)


def everywhere(root: Path) -> list[str]:
    """Return the files that hold the word, in their name or their bytes."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return [
        str(path.relative_to(root))
        for path in files
        if _HELD.search(str(path.relative_to(root)).encode()) or _HELD.search(path.read_bytes())
    ]


def erased(root: Path, layer: FaultyFileSystem) -> Receipt | None:
    """Erase with a fault; return the receipt, None where it was refused."""
    before, platform.FS = platform.FS, layer
    try:
        with Memory.open(root, config=LEXICAL) as memory:
            return memory.forget(query=WORD, erase=True)
    except (MnemarkError, OSError):
        return None
    finally:
        platform.FS = before


def check(root: Path, receipt: Receipt | None, *what: object) -> None:
    """See that the receipt is true, and that two quiet syncs leave nothing."""
    there = everywhere(root)
    if receipt is None:  # refused: nothing was begun, and all is still found
        with Memory.open(root, config=LEXICAL) as memory:
            assert not memory.workspace.index.hidden.unfinished(), what
            assert memory.search(f"{WORD} hotel").hits, what
            receipt = memory.forget(query=WORD, erase=True)
            assert receipt.action == "erased", what
    elif not receipt.waiting:
        assert not there, (what, there)
    for _ in range(2):
        quiet(root)
        with Memory.open(root, config=LEXICAL) as memory:
            memory.sync()
            unfinished = memory.workspace.unfinished(9)
    assert unfinished == [], what
    assert everywhere(root) == [], what
    with Memory.open(root, config=LEXICAL) as memory:
        assert [fact.value for fact in memory.facts()] == ["Oslo"], what
        assert memory.search("heron Monday").hits, what


@pytest.mark.parametrize("fault", _FAULTS)
@pytest.mark.parametrize(
    "step", [pytest.param(211, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
def test_one_fault_then_two_syncs_leave_nothing(tmp_path: Path, fault: Fault, step: int) -> None:
    begun(tmp_path / "template")
    shutil.copytree(tmp_path / "template", tmp_path / "whole")
    whole = FaultyFileSystem(reads=True)
    check(tmp_path / "whole", erased(tmp_path / "whole", whole))
    assert whole.calls > 200
    for at in range(_FAULTS.index(fault) * step // len(_FAULTS), whole.calls, step):
        root = tmp_path / "run"
        shutil.copytree(tmp_path / "template", root)
        check(root, erased(root, FaultyFileSystem(at, fault, reads=True)), fault, at)
        shutil.rmtree(root)


@pytest.mark.parametrize("room", [0, 1, 3, 10, 40])
def test_full_logs_of_the_databases_then_two_syncs_leave_nothing(tmp_path: Path, room: int) -> None:
    begun(tmp_path / "w")
    with full_logs(room):
        receipt = erased(tmp_path / "w", FaultyFileSystem())
    check(tmp_path / "w", receipt, room)


@pytest.mark.parametrize("name", ["session", "turn"])
def test_pages_of_what_is_erased_go_with_their_names(tmp_path: Path, name: str) -> None:
    """Also where no word is given: the page of an attachment is about the turn that brought it."""
    root = tmp_path / "w"
    (root / "memory").mkdir(parents=True)
    with Memory.open(root, config=LEXICAL) as memory:
        session = memory.session("chat:1")
        turn = session.add("user", f"Plan the {WORD} launch", attachments=[{"path": f"/me/{WORD}-x.pdf"}])
        session.end()
        memory.sync()
        quiet(root)
        receipt = (
            memory.forget(session="chat:1", erase=True)
            if name == "session"
            else memory.forget(id=turn.id, erase=True)
        )
        assert receipt.waiting == ()
        assert memory.workspace.unfinished() == []
    assert everywhere(root) == []


def test_the_pages_of_a_short_name_are_renamed(tmp_path: Path) -> None:
    root = tmp_path / "w"
    (root / "memory").mkdir(parents=True)
    with Memory.open(root, config=LEXICAL) as memory:
        session = memory.session("chat:1")
        session.add("user", "Here is the plan", attachments=[{"path": "/me/Bob-plan.pdf"}])
        session.add("user", "Bob wrote it")
        session.end()
        memory.sync()
        quiet(root)
        memory.forget(query="Bob", erase=True)
    assert not [path for path in root.rglob("*") if re.search(r"\bbob\b", path.name, re.IGNORECASE)]
    journal = b"".join(path.read_bytes() for path in root.glob("journal/*"))
    assert not re.search(rb"\bbob\b", journal, re.IGNORECASE)


def test_a_sync_drops_what_edits_replaced_a_minute_ago(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "w"
    begun(root)
    kept = list((root / ".mnemark/displaced").glob("*/*"))
    assert kept
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
    assert list((root / ".mnemark/displaced").glob("*/*")) == kept
    now = time.time()
    monkeypatch.setattr("mnemark.files.edit_records.time.time", lambda: now + 61)
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
        assert memory.workspace.unfinished() == []
    assert list((root / ".mnemark/displaced").glob("*/*")) == []
