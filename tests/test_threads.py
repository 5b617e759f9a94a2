"""Work that two threads share."""

import multiprocessing
import threading
import time

import pytest

from mnemark.threads import Beside

PARTS = 200


def test_each_part_is_done_once() -> None:
    beside = Beside("test")
    for _ in range(20):
        done: list[int] = []
        finish = beside.begin(done.append, PARTS)
        finish()
        assert sorted(done) == list(range(PARTS))


def test_both_threads_work() -> None:
    beside, both = Beside("test"), threading.Barrier(2)
    finish = beside.begin(lambda _part: both.wait(20), 2)
    finish()
    assert not both.broken


def test_work_begins_before_it_is_waited_for() -> None:
    began = threading.Event()
    finish = Beside("test").begin(lambda _part: began.set(), 2)
    assert began.wait(20)
    finish()


def test_several_threads_get_their_own_work_done() -> None:
    beside = Beside("test")
    found: dict[int, int] = {}

    def add_up(number: int) -> None:
        done: list[int] = []
        for _ in range(30):
            done.clear()
            beside.begin(lambda part: done.append(part * number), PARTS)()
        found[number] = sum(done)

    threads = [threading.Thread(target=add_up, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: number * PARTS * (PARTS - 1) // 2 for number in range(6)}


@pytest.mark.parametrize("failing", [0, 1])
def test_errors_of_either_thread_are_raised(failing: int) -> None:
    beside, both = Beside("test"), threading.Barrier(2)

    def fail_in_one(part: int) -> None:
        both.wait(20)
        if part == failing:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        beside.begin(fail_in_one, 2)()
    done: list[int] = []
    beside.begin(done.append, PARTS)()
    assert len(done) == PARTS


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_fork_has_a_thread_of_its_own() -> None:
    beside = Beside("test")
    beside.begin(lambda _part: None, 2)()
    context = multiprocessing.get_context("fork")
    both = context.Event()

    def in_the_fork() -> None:
        met = threading.Barrier(2)
        beside.begin(lambda _part: met.wait(20), 2)()
        both.set()

    for _ in range(200):  # until the thread is idle: nothing that it holds goes into the fork
        if not beside._idle.locked():
            break
        time.sleep(0.01)
    child = context.Process(target=in_the_fork)
    child.start()
    child.join(30)
    assert both.is_set()
