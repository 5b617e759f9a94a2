"""Old sessions go to the archive whole: out of the way, and not out of reach."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from mnemark import Memory

NOW = datetime.now().astimezone()
LATER = NOW + timedelta(days=40)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    (tmp_path / "mnemark.toml").write_text(
        'embedder = "none"\nretention_days = 30\nobserve = ["frobnicate", "!deploy*"]\n', "utf-8"
    )
    memory = Memory.open(tmp_path)
    memory.session("old").add("user", "The heron nests by the weir.")
    memory.session("旧的", user="ann").add("user", "苍鹭在堰边筑巢。")
    memory.sync()
    return memory


def test_an_old_session_moves_whole_and_its_refs_resolve(memory: Memory) -> None:
    (hit,) = memory.search("heron").hits
    before = memory.read(hit.ref)
    data = (memory.root / hit.path).read_bytes()
    report = memory.consolidate(now=LATER)
    memory.sync()
    assert not (memory.root / hit.path).exists()
    assert (memory.root / "sessions/archive" / Path(hit.path).name).read_bytes() == data
    assert [one.path for one in memory.search("heron").hits if one.kind == "turn"] == []
    (again,) = (one for one in memory.search("heron", archived=True).hits if one.kind == "turn")
    assert again.path == f"sessions/archive/{Path(hit.path).name}"
    assert memory.read(hit.ref) == before == memory.read(again.ref)
    assert list((memory.root / "users/ann/sessions/archive").iterdir())
    memory.undo(report.group)
    assert (memory.root / hit.path).read_bytes() == data


def test_a_session_that_goes_on_is_archived_beside(memory: Memory) -> None:
    memory.consolidate(now=LATER)
    memory.session("old").add("user", "The heron is back.", time=LATER)
    memory.consolidate(now=LATER + timedelta(days=1))
    assert memory.session("old").last(5)[-1].content == "The heron is back."
    memory.consolidate(now=LATER + timedelta(days=50))
    assert len(list((memory.root / "sessions/archive").iterdir())) == 2
    assert memory.session("old").last(5) == []


def test_what_is_archived_can_be_forgotten(memory: Memory) -> None:
    memory.consolidate(now=LATER)
    memory.sync()
    memory.forget(query="heron", erase=True)
    everything = b"".join(path.read_bytes() for path in memory.root.rglob("*") if path.is_file())
    assert b"heron" not in everything


def test_recent_sessions_stay(memory: Memory) -> None:
    memory.consolidate(now=NOW + timedelta(days=29))
    assert not (memory.root / "sessions/archive").exists()


def test_the_list_of_tools_is_configured(memory: Memory) -> None:
    session = memory.session("old")
    assert session.observe("frobnicate", {"x": 1}, "done") is not None
    assert session.observe("deploy_all", {"x": 1}, "done") is None
    assert session.observe("deploy_all", {"x": 1}, "done", tools=["deploy*"]) is not None
