"""Searches wait for a free processor, not longer than they may, and hold up nobody for ever."""

import threading
import time
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.retrieval import deadline as module
from mnemark.retrieval.deadline import OutOfTimeError, in_turn


@pytest.fixture(autouse=True)
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_processors", module.Slots(2))


def test_two_at_once_and_the_others_after_them() -> None:
    guard, now, most = threading.Lock(), [0], [0]

    def work() -> None:
        with in_turn(time.monotonic() + 30):
            with guard:
                now[0] += 1
                most[0] = max(most[0], now[0])
            time.sleep(0.02)
            with guard:
                now[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (now, most) == ([0], [2])


def test_who_may_not_wait_longer_gives_up_and_takes_no_ones_place() -> None:
    with in_turn(None), in_turn(None):
        started = time.monotonic()
        for deadline in (started + 0.05, started - 1):
            with pytest.raises(OutOfTimeError), in_turn(deadline):
                pass
        assert 0.04 < time.monotonic() - started < 0.9
        with in_turn(None):  # a search without a deadline goes on
            pass
    for _ in range(4):  # the two places are free again, and there are no more of them
        with in_turn(None):
            pass


def test_who_has_a_deadline_goes_first() -> None:
    order: list[str] = []

    def work(name: str, deadline: float | None) -> None:
        with in_turn(deadline):
            order.append(name)
            time.sleep(0.02)

    with in_turn(None), in_turn(None):
        waiting = [threading.Thread(target=work, args=(f"search {n}", None)) for n in range(3)]
        for thread in waiting:
            thread.start()
        time.sleep(0.05)
        recall = threading.Thread(target=work, args=("recall", time.monotonic() + 10))
        recall.start()
        time.sleep(0.05)
    for thread in (*waiting, recall):
        thread.join()
    assert "recall" in order[:2]
    assert len(order) == 4


def test_a_recall_without_a_place_answers_by_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("a").add("user", "the walrus sleeps")
        memory.sync()
        memory.recall("walrus", deadline=5.0)
        monkeypatch.setattr("mnemark.retrieval.routes.lexical.score", None)  # the full answer would fail
        with in_turn(None), in_turn(None):
            started = time.monotonic()
            found = memory.recall("walrus", deadline=1.0)
            assert time.monotonic() - started < 1.0
        assert [hit.text for hit in found.hits] == ["the walrus sleeps"]
        assert any("words alone" in reason for reason in found.degraded)


def test_a_search_that_fails_leaves_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("a").add("user", "the walrus sleeps")
        with monkeypatch.context() as broken:
            broken.setattr("mnemark.retrieval.routes.lexical.score", None)
            for _ in range(3):
                with pytest.raises(TypeError):
                    memory.search("walrus")
        started = time.monotonic()
        assert memory.search("walrus").hits
        assert time.monotonic() - started < 0.9
