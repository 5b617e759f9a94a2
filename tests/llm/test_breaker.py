import threading

import pytest

from mnemark.llm import Breaker, LLMUnavailable
from mnemark.llm.base import Kind


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def call(breaker: Breaker, kind: Kind | None = None, after: float | None = None) -> str:
    """`done`, or the kind of the refusal."""
    try:
        with breaker.guard():
            answer(kind, after)
    except LLMUnavailable as error:
        return error.kind
    return "done"


def answer(kind: Kind | None, after: float | None) -> None:
    if kind:
        raise LLMUnavailable(kind, "made up", after)


def test_it_opens_rests_tries_once_and_closes() -> None:
    clock = Clock()
    breaker = Breaker(3, 60, clock=clock)
    assert [call(breaker, "unreachable") for _ in range(4)] == ["unreachable"] * 3 + ["breaker"]
    assert breaker.state == "open"
    clock.now += 59
    assert call(breaker) == "breaker"
    clock.now += 1
    assert breaker.state == "half open"
    assert call(breaker, "unreachable") == "unreachable"
    assert call(breaker) == "breaker"
    clock.now += 60
    assert call(breaker) == "done"
    assert breaker.state == "closed"
    assert call(breaker, "unreachable") == "unreachable"
    assert call(breaker) == "done"


def test_only_failures_in_a_row_count_and_only_the_models() -> None:
    breaker = Breaker(2, 60, clock=Clock())
    for _ in range(5):
        assert call(breaker, "invalid") == "invalid"
        assert call(breaker) == "done"
    innocent: list[Kind] = ["budget", "key", "too long"]
    for kind in innocent * 3:
        assert call(breaker, kind) == kind
    assert breaker.state == "closed"


def test_half_open_lets_one_through() -> None:
    clock = Clock()
    breaker = Breaker(1, 60, clock=clock)
    call(breaker, "unreachable")
    clock.now += 61
    with breaker.guard():
        assert call(breaker) == "breaker"
    assert call(breaker) == "done"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), LLMUnavailable("budget", "made up")])
def test_a_try_that_ends_otherwise_lets_the_next_try(error: BaseException) -> None:
    clock = Clock()
    breaker = Breaker(1, 60, clock=clock)
    call(breaker, "unreachable")
    clock.now += 61
    with pytest.raises(type(error)), breaker.guard():
        raise error
    assert call(breaker) == "done"


def test_a_wait_that_was_asked_for_is_kept_but_not_for_ever() -> None:
    clock = Clock()
    breaker = Breaker(5, 60, clock=clock)
    assert call(breaker, "unreachable", after=1e9) == "unreachable"
    with pytest.raises(LLMUnavailable, match="asked again in 3600 s") as caught, breaker.guard():
        pass
    assert caught.value.after == pytest.approx(3600)
    clock.now += 3600
    assert call(breaker) == "done"


def test_threads_do_not_try_together() -> None:
    clock = Clock()
    breaker = Breaker(1, 60, clock=clock)
    call(breaker, "unreachable")
    clock.now += 61
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with breaker.guard():
            inside.set()
            leave.wait(5)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(5)
    assert [call(breaker) for _ in range(3)] == ["breaker"] * 3
    leave.set()
    thread.join()
    assert call(breaker) == "done"
