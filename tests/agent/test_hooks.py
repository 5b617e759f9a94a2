"""A hook that raises or hangs harms neither the agent nor the other hooks."""

import threading
import time
from typing import Any

import pytest

from mnemark.errors import UsageError
from mnemark_agents.dispatch import SECONDS, AgentHook, Dispatcher


class Listening(AgentHook):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def message_received(self, said: str) -> str:
        self.heard.append(said)
        return f"heard {said}"


class Failing(AgentHook):
    def message_received(self, said: str) -> str:
        raise RuntimeError("broken on purpose")


class Hanging(AgentHook):
    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.calls = 0

    def message_received(self, said: str) -> str:
        self.calls += 1
        self.go_on.wait(10)
        return "too late"


def test_each_event_reaches_the_method_of_its_name() -> None:
    called: list[str] = []

    class All(AgentHook):
        pass

    for event in SECONDS:
        setattr(All, event, lambda self, *words, event=event: called.append(event))
    dispatcher = Dispatcher([All()])
    for event in SECONDS:
        words: tuple[Any, ...] = {
            "message_received": ("a",),
            "tool_executed": ({},),
            "response_ready": ("b",),
        }.get(event, ())
        dispatcher.tell(event, *words)  # type: ignore[arg-type] # the keys are the events
    assert called == list(SECONDS)


def test_a_failing_hook_is_logged_and_counted_and_the_others_run(caplog: pytest.LogCaptureFixture) -> None:
    good = Listening()
    dispatcher = Dispatcher([Failing(), good])
    found = dispatcher.tell("message_received", "hello")
    assert [one.state for one in found] == ["failed", "done"]
    assert found[1].value == "heard hello"
    assert dispatcher.counts == {"failed": 1, "done": 1}
    assert "broken on purpose" in caplog.text


@pytest.mark.timed
def test_a_hanging_hook_is_not_waited_for_and_then_passed_over_until_it_is_back() -> None:
    slow, good = Hanging(), Listening()
    dispatcher = Dispatcher([slow, good], seconds={"message_received": 0.05})
    started = time.monotonic()
    assert [one.state for one in dispatcher.tell("message_received", "one")] == ["late", "done"]
    assert [one.state for one in dispatcher.tell("message_received", "two")] == ["skipped", "done"]
    assert time.monotonic() - started < 2
    assert slow.calls == 1
    slow.go_on.set()
    deadline = time.monotonic() + 5
    while dispatcher.tell("message_received", "three")[0].state != "done":
        assert time.monotonic() < deadline
    assert good.heard[:2] == ["one", "two"]


def test_a_hook_may_end_its_thread_in_any_way() -> None:
    class Leaving(AgentHook):
        def message_received(self, said: str) -> str:
            raise SystemExit(3)

    dispatcher = Dispatcher([Leaving(), Listening()])
    states = [one.state for one in dispatcher.tell("message_received", "x")]
    assert states == ["failed", "done"]
    assert dispatcher.tell("message_received", "y")[1].state == "done"


def test_an_unknown_event_is_a_mistake_of_the_host() -> None:
    with pytest.raises(UsageError, match="message_received"):
        Dispatcher([]).tell("message", "x")  # type: ignore[arg-type] # on purpose
