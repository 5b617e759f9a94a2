"""Mounts that are damaged, or slow, delay no recall."""

import shutil
import threading
import time
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.files import trust
from mnemark.files.mounts import accept
from mnemark.retrieval import turns
from mnemark.retrieval.refresh import IndexRefresher
from mnemark.retrieval.stages import Found, Request

WORD = "Pelikan"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MNEMARK_CONFIG", str(tmp_path / "user.toml"))
    root, notes = tmp_path / "own", tmp_path / "notes"
    for folder in (root, notes):
        folder.mkdir()
    (root / "MEMORY.md").write_text("The bakery opens at seven.\n")
    (notes / "shop.md").write_text(f"The staging server is called {WORD}.\n")
    trust.trust(root)
    accept(root, "claude-code", notes, ("*.md",))
    return root


@pytest.mark.timed
@pytest.mark.parametrize("damage", ["garbage", "truncated", "empty", "deleted"])
def test_a_damaged_index_of_a_mount_heals_and_delays_nothing(own: Path, damage: str) -> None:
    place = own / ".mnemark/mounts/claude-code/.mnemark/index.db"
    with Memory.open(own) as memory:
        memory.sync()
        memory.workspace.searcher.mounts.sync()
    data = place.read_bytes()
    if damage == "deleted":
        shutil.rmtree(place.parent)
    else:
        place.write_bytes({"garbage": b"x" * len(data), "truncated": data[:5000], "empty": b""}[damage])
    with Memory.open(own) as memory:
        started = time.monotonic()
        found = memory.recall("when does the bakery open?", deadline=0.5)
        assert time.monotonic() - started < 1.5
        assert found.hits[0].path == "MEMORY.md"
        memory.workspace.searcher.mounts.sync()
        assert WORD in memory.search("staging server").hits[0].text


@pytest.mark.timed
def test_a_mount_that_takes_long_does_not_delay_a_recall(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = threading.Event()
    with Memory.open(own) as memory:
        memory.sync()
        memory.recall("bakery", deadline=5)  # loads what a recall needs
        mounts = memory.workspace.searcher.mounts
        monkeypatch.setattr(IndexRefresher, "sync", lambda *_, **__: held.wait(5))
        for mount in mounts._open.values():
            mount.refresher.mark_stale()
        started = time.monotonic()
        found = memory.recall("when does the bakery open?", deadline=0.4)
        took = time.monotonic() - started
        held.set()
    assert took < 1.0
    assert found.hits[0].path == "MEMORY.md"
    assert not found.complete


def test_a_mount_that_gets_no_processor_in_time_is_left_out(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside: set[int] = set()
    """Threads that search the mount: others, in the background, take turns as well."""

    class NotForTheMount(turns.TurnQueue):
        def take(self, until: float, *, first: bool = False) -> turns.QueuedTurn | None:
            return None if threading.get_ident() in inside else super().take(until, first=first)

    with Memory.open(own) as memory:
        memory.sync()
        memory.recall("bakery", deadline=5)  # loads what a recall needs
        mount = memory.workspace.searcher.mounts._open["claude-code"]
        find = mount.find

        def find_without_a_turn(request: Request) -> Found:
            inside.add(threading.get_ident())
            try:
                return find(request)
            finally:
                inside.clear()

        monkeypatch.setattr(mount, "find", find_without_a_turn)
        monkeypatch.setattr(turns, "_turns", NotForTheMount())
        found = memory.recall("when does the bakery open?", deadline=20)
    assert found.hits[0].path == "MEMORY.md"
    assert any("mount claude-code: no time was left" in reason for reason in found.degraded)
