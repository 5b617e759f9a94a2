"""The worker loses nothing, keeps order, and slows down who is too fast."""

import threading
import time
from functools import partial

import pytest

from mnemark_agents.worker import Worker


def test_jobs_run_in_order_and_close_drains() -> None:
    done: list[int] = []
    worker = Worker()
    for number in range(200):
        assert worker.submit(partial(done.append, number))
    assert worker.close() == 0
    assert done == list(range(200))
    assert worker.counts.done == 200


@pytest.mark.timed
def test_a_full_queue_says_no_after_its_patience_and_nothing_is_dropped() -> None:
    gate = threading.Event()
    done: list[str] = []
    with Worker(room=2) as worker:
        assert worker.submit(lambda: gate.wait(10))
        deadline = time.monotonic() + 5
        while worker.counts.waiting and time.monotonic() < deadline:
            time.sleep(0.001)
        assert worker.submit(lambda: done.append("a"))
        assert worker.submit(lambda: done.append("b"))
        started = time.monotonic()
        assert not worker.submit(lambda: done.append("c"), patience=0.05)
        assert 0.04 < time.monotonic() - started < 2
        assert worker.counts.refused == 1
        gate.set()
    assert done == ["a", "b"]


def test_a_failing_job_does_not_end_the_others(caplog: pytest.LogCaptureFixture) -> None:
    done: list[int] = []
    with Worker() as worker:
        worker.submit(lambda: 1 / 0)
        worker.submit(lambda: done.append(1))
    assert done == [1]
    assert (worker.counts.done, worker.counts.failed) == (1, 1)
    assert "ZeroDivisionError" in caplog.text


def test_flush_waits_for_what_was_queued() -> None:
    done: list[int] = []
    with Worker() as worker:
        worker.submit(partial(time.sleep, 0.05))
        worker.submit(partial(done.append, 1))
        assert worker.flush()
        assert done == [1]


def test_after_close_jobs_are_refused_and_closing_again_is_fine() -> None:
    worker = Worker()
    worker.close()
    assert not worker.submit(lambda: None)
    assert worker.close() == 0
    assert worker.flush(0.1)


def test_the_tick_runs_while_nothing_else_does() -> None:
    ticked = threading.Event()
    with Worker(tick=ticked.set):
        assert ticked.wait(5)
