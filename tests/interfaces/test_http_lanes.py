"""Requests of one workspace do not wait for those of another."""

import asyncio
import threading

import pytest

from mnemark_interfaces.http.pool import THREADS, Lanes


def test_a_workspace_that_hangs_holds_up_no_other() -> None:
    lanes, over = Lanes(), threading.Event()

    async def ask() -> list[object]:
        hanging = [
            asyncio.ensure_future(lanes.run(f"/stuck{number}", over.wait))
            for number in range(3)
            for _ in range(2 * THREADS)
        ]
        await asyncio.sleep(0.05)
        try:
            return await asyncio.wait_for(
                asyncio.gather(*(lanes.run("/quick", lambda n=n: n) for n in range(20))),  # type: ignore[misc]
                timeout=5,
            )
        finally:
            over.set()
            await asyncio.gather(*hanging)

    assert asyncio.run(ask()) == list(range(20))
    lanes.close()


def test_one_workspace_has_so_many_threads_and_they_do_not_pile_up() -> None:
    lanes = Lanes()
    running, most, guard = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal running, most
        with guard:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.01)
        with guard:
            running -= 1

    async def ask() -> None:
        await asyncio.gather(*(lanes.run("/one", work) for _ in range(5 * THREADS)))
        for number in range(200):
            await lanes.run(f"/many{number}", work)

    before = threading.active_count()
    asyncio.run(ask())
    assert most == THREADS
    assert threading.active_count() - before < 100
    lanes.close()


def test_an_error_reaches_the_request_and_the_end_waits_for_what_runs() -> None:
    lanes, ended = Lanes(), threading.Event()

    def broken() -> None:
        raise ValueError("no")

    def slow() -> None:
        threading.Event().wait(0.2)
        ended.set()

    async def ask() -> None:
        with pytest.raises(ValueError, match="no"):
            await lanes.run("/one", broken)
        running = asyncio.ensure_future(lanes.run("/one", slow))
        await asyncio.sleep(0.05)
        await asyncio.to_thread(lanes.close)
        assert ended.is_set()
        await running

    asyncio.run(ask())
