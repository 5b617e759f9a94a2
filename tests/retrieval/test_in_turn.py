"""One thread computes at a time; none waits for ever, and words alone are not kept waiting."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.retrieval import turns
from mnemark.retrieval.turns import OutOfTimeError, TurnQueue, in_turn

pytestmark = pytest.mark.timed

LONG = 30.0


@pytest.fixture(autouse=True)
def lent_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_turns", TurnQueue(LONG))


def started(*jobs: Callable[[], None]) -> list[threading.Thread]:
    """Start each on a thread of its own; they ask for a turn in this order."""
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        asked = turns._turns._count
        thread.start()
        while thread.is_alive() and turns._turns._count == asked:
            time.sleep(0.001)
    return threads


def joined(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()


def elsewhere(job: Callable[[], None]) -> None:
    joined(started(job))


def test_one_at_a_time() -> None:
    now, most = [0], [0]

    def work() -> None:
        for _ in range(5):
            with in_turn(time.monotonic() + LONG):
                now[0] += 1
                most[0] = max(most[0], now[0])
                time.sleep(0.002)
                now[0] -= 1

    joined(started(*[work] * 8))
    assert (now, most) == ([0], [1])


def test_who_is_first_goes_before_those_who_came_earlier() -> None:
    order: list[str] = []

    def asks(name: str, *, first: bool = False) -> Callable[[], None]:
        def work() -> None:
            with in_turn(first=first):
                order.append(name)

        return work

    with in_turn():
        waiting = started(asks("search"), asks("recall"), asks("words", first=True), asks("late"))
    joined(waiting)
    assert order == ["words", "search", "recall", "late"]


def test_who_may_not_wait_longer_gives_up_and_takes_no_ones_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_MAX_WAIT", LONG)

    def gives_up() -> None:
        begun = time.monotonic()
        for deadline in (begun + 0.05, begun - 1):
            with pytest.raises(OutOfTimeError), in_turn(deadline):
                pytest.fail("another one has the turn")
        assert 0.04 < time.monotonic() - begun < LONG / 2

    with in_turn():
        elsewhere(gives_up)
    assert not turns._turns.is_wanted()
    assert turns._turns._current is None


def test_a_search_without_a_deadline_computes_beside_work_that_does_not_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_MAX_WAIT", 0.05)
    done = []

    def search() -> None:
        with in_turn():
            done.append("search")

    with in_turn():
        elsewhere(search)
    assert done == ["search"]


def test_long_work_loses_its_turn_and_gives_nobody_elses_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_turns", TurnQueue(0.05))
    order: list[str] = []
    came, over = threading.Event(), threading.Event()

    def second() -> None:
        with in_turn(time.monotonic() + LONG):
            order.append("second begins beside it")
            came.set()
            over.wait(LONG)
            order.append("second ends")

    def third() -> None:
        with in_turn(time.monotonic() + LONG):
            order.append("third")

    with in_turn():
        begun = time.monotonic()
        waiting = started(second)
        assert came.wait(LONG)
        assert time.monotonic() - begun < LONG / 2
        monkeypatch.setattr(turns._turns, "_lent", LONG)
        assert turns._turns._current is not None
        turns._turns._current.ends += LONG
    waiting += started(third)
    assert order == ["second begins beside it"]  # the end of the first began no third
    over.set()
    joined(waiting)
    assert order[1:] == ["second ends", "third"]


def test_long_work_lets_others_go_between_its_parts() -> None:
    order: list[str] = []

    def recall() -> None:
        with in_turn(time.monotonic() + LONG):
            order.append("recall")

    with in_turn() as pass_on:
        pass_on()  # nobody waits
        waiting = started(recall)
        order.append("first part")
        pass_on()
        order.append("second part")
        assert turns._turns._current is not None
    joined(waiting)
    assert order == ["first part", "recall", "second part"]
    assert turns._turns._current is None


def test_inside_of_a_turn_there_is_no_other_to_wait_for() -> None:
    with in_turn(), in_turn(time.monotonic() - 1) as pass_on:
        pass_on()
        assert turns._turns._current is not None
    assert turns._turns._current is None


def test_a_recall_without_a_turn_answers_by_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_MAX_WAIT", 0.1)
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("a").add("user", "the walrus sleeps")
        memory.sync()
        memory.recall("walrus", deadline=5.0)
        monkeypatch.setattr("mnemark.retrieval.routes.lexical.score", None)  # the full answer would fail
        with in_turn():
            begun = time.monotonic()
            found = memory.recall("walrus", deadline=1.0)
            assert time.monotonic() - begun < 1.0
        assert [hit.text for hit in found.hits] == ["the walrus sleeps"]
        assert any("words alone" in reason for reason in found.degraded)


def test_a_search_that_fails_gives_its_turn_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("a").add("user", "the walrus sleeps")
        with monkeypatch.context() as broken:
            broken.setattr("mnemark.retrieval.routes.lexical.score", None)
            for _ in range(3):
                with pytest.raises(TypeError):
                    memory.search("walrus")
        assert turns._turns._current is None
        assert memory.search("walrus").hits


class Slow:
    """A lock on which a thread stands still after it waited in vain."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._meanwhile = meanwhile

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002 - as a lock's
        came = self._lock.acquire(blocking, timeout)
        if blocking and timeout >= 0:
            assert not came
            self._meanwhile()
        return came

    def release(self) -> None:
        self._lock.release()


def let_wait(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], None]) -> None:
    """Let the next turn that is made wait on a `Slow` lock."""

    class Late(turns.QueuedTurn):
        __slots__ = ()

        def __init__(self, number: int, *, first: bool) -> None:
            super().__init__(number, first=first)
            self.came = Slow(meanwhile)  # type: ignore[assignment]
            self.came.acquire()
            monkeypatch.setattr(turns, "QueuedTurn", turns.QueuedTurn.__mro__[1])

    monkeypatch.setattr(turns, "QueuedTurn", Late)


def test_a_thread_that_stands_still_may_find_its_turn_over(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = TurnQueue(0.01)
    held = queue.take(time.monotonic() + LONG)
    assert held is not None

    def its_turn_comes_and_passes() -> None:
        queue.give_back(held)
        time.sleep(0.02)
        other = queue.take(time.monotonic() + LONG)
        assert other is not None
        queue.give_back(other)

    let_wait(monkeypatch, its_turn_comes_and_passes)
    assert queue.take(time.monotonic()) is not None
    assert not queue.is_wanted()


@pytest.mark.parametrize("given", [False, True])
def test_who_is_interrupted_stands_in_nobodys_way(monkeypatch: pytest.MonkeyPatch, *, given: bool) -> None:
    queue = TurnQueue(LONG)
    held = queue.take(time.monotonic() + LONG)
    assert held is not None

    def interrupted() -> None:
        if given:
            queue.give_back(held)
        raise KeyboardInterrupt

    let_wait(monkeypatch, interrupted)
    with pytest.raises(KeyboardInterrupt):
        queue.take(time.monotonic())
    assert not queue.is_wanted()
    queue.give_back(held)
    assert queue.take(time.monotonic()) is not None
