import email.utils
import time
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from llm import scripted_chat as server
from llm.samples import PLENTY, QUESTION, QUICK, TEA, Facts
from mnemark import net
from mnemark.llm import Breaker, Budget, Entry, Ledger, LLMUnavailable, Meter, Spent, spent_on
from mnemark.llm.chat import ChatClient, Limits


def spent(entries: list[Entry]) -> Spent:
    return spent_on(entries[0].day, entries)


@pytest.mark.parametrize(
    "fault",
    [
        server.status(429, "slow down", retry_after="0"),
        server.status(429, retry_after=email.utils.formatdate(usegmt=True)),
        server.status(429, retry_after="soon"),
        server.status(500),
        server.status(503),
        server.drop,
        server.raw(b'{"choices": [{"mess'),
        server.raw(b"<html>starting up</html>"),
        server.raw(b"\xff\xfe"),
        server.raw(b"not packed", content_encoding="gzip"),
        server.bomb,
        server.sends({"error": {"message": "overloaded"}}),
        server.sends({"choices": "none"}),
    ],
)
def test_a_passing_fault_is_tried_again(
    script: server.Script, client: ChatClient, fault: server.Step
) -> None:
    script.steps = [fault, server.good]
    assert client.complete(QUESTION, schema=Facts, timeout=5).value == TEA
    assert len(script.requests) == 2


@pytest.mark.parametrize("limits", [QUICK])
def test_a_server_that_says_nothing_is_asked_again(script: server.Script, client: ChatClient) -> None:
    script.steps = [server.slow(0.6), server.good]
    assert client.complete(QUESTION, schema=Facts, timeout=5).value == TEA
    assert len(script.requests) >= 2


def test_a_slow_answer_is_waited_for(script: server.Script, client: ChatClient) -> None:
    script.steps = [server.slow(0.6)]
    assert client.complete(QUESTION, schema=Facts).requests == 1


@pytest.mark.timed
def test_retry_after_is_waited_for(script: server.Script, client: ChatClient) -> None:
    script.steps = [server.status(429, retry_after="1"), server.good]
    start = time.monotonic()
    client.complete(QUESTION)
    assert time.monotonic() - start >= 1


@pytest.mark.timed
@pytest.mark.parametrize(
    "fault",
    [
        server.status(500),
        server.drop,
        server.slow(3),
        server.trickle(3),
        server.trickle(3, in_headers=True),
        server.status(429, retry_after="60"),
        server.raw(b" " * 2_000_000),
        server.bomb,
        server.sends({"choices": None}),
    ],
    ids=["500", "dropped", "slow", "trickle", "headers", "429-long", "huge", "bomb", "null"],
)
def test_a_lasting_fault_is_an_error_by_the_deadline(
    script: server.Script, client: ChatClient, fault: server.Step
) -> None:
    script.steps = [fault]
    start = time.monotonic()
    with pytest.raises(LLMUnavailable, match="gave no answer") as caught:
        client.complete(QUESTION, schema=Facts, timeout=0.6)
    assert time.monotonic() - start < 1.1
    assert caught.value.kind == "unreachable"
    assert caught.value.asked
    assert len(script.requests) <= 3


def test_a_redirect_is_not_followed(script: server.Script, client: ChatClient) -> None:
    script.steps = [server.status(307, location="http://127.0.0.1:1/v1/chat/completions")]
    with pytest.raises(LLMUnavailable, match="set url to the final address"):
        client.complete(QUESTION)
    assert len(script.requests) == 1


def test_without_a_budget_nothing_is_sent(script: server.Script) -> None:
    client = ChatClient("m", url=script.url)
    with pytest.raises(LLMUnavailable, match="calls_per_day") as caught:
        client.complete(QUESTION)
    assert caught.value.kind == "budget"
    assert not script.requests


def test_every_request_is_in_the_ledger_first(
    script: server.Script, client: ChatClient, entries: list[Entry]
) -> None:
    seen: list[int] = []

    def watch(step: server.Step) -> server.Step:
        def watched(handler: server.Handler, body: dict[str, Any]) -> None:
            seen.append(len(entries))
            step(handler, body)

        return watched

    script.steps = [watch(server.status(500)), watch(server.says("no")), watch(server.good)]
    client.complete(QUESTION, schema=Facts)
    assert seen == [1, 3, 5]
    whats = [entry.what for entry in entries]
    assert whats == ["asked", "failed", "asked", "answered", "asked", "answered"]
    assert spent(entries) == Spent(calls=3, tokens=54)


@pytest.mark.parametrize(
    "case",
    [
        (server.status(500), 30, 0),
        (server.status(400), 30, 0),
        (server.slow(1), 0.3, 600),
        (server.drop, 30, 600),
    ],
    ids=["500", "400", "slow", "dropped"],
)
def test_what_may_have_been_billed_counts(
    script: server.Script, client: ChatClient, entries: list[Entry], case: tuple[server.Step, float, int]
) -> None:
    fault, timeout, most = case
    script.steps = [fault]
    with pytest.raises(LLMUnavailable):
        client.complete(QUESTION, timeout=timeout)
    sums = spent(entries)
    until = time.monotonic() + 30
    while len(script.requests) < sums.calls and time.monotonic() < until:
        time.sleep(0.01)  # the server, too, may get no processor for a while
    assert sums.calls == len(script.requests)
    assert most * 0.8 * sums.calls <= sums.tokens <= most * sums.calls


def test_a_server_that_is_not_there_costs_no_tokens(entries: list[Entry]) -> None:
    with server.serve() as script:
        url = script.url
    ledger = Ledger(entries.append, lambda day: spent_on(day, entries))
    client = ChatClient("m", url=url, limits=Limits(attempts=1), meter=Meter(PLENTY, ledger))
    with pytest.raises(LLMUnavailable, match=url):
        client.complete(QUESTION)
    assert spent(entries) == Spent(calls=1, tokens=0)


def test_retries_end_with_the_budget(script: server.Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net, "_MIN_PAUSE", 0.01)
    meter = Meter(Budget(calls_per_day=2, tokens_per_day=100_000), Ledger.in_memory())
    client = ChatClient("m", url=script.url, meter=meter, limits=Limits(attempts=5))
    script.steps = [server.status(500)]
    with pytest.raises(LLMUnavailable, match="budget of 2 calls"):
        client.complete(QUESTION)
    client.close()
    assert len(script.requests) == 2


def test_a_server_that_fails_is_left_alone(script: server.Script) -> None:
    now = [0.0]
    breaker = Breaker(failures=2, pause=60, clock=lambda: now[0])
    meter = Meter(PLENTY, Ledger.in_memory())
    client = ChatClient("m", url=script.url, meter=meter, breaker=breaker, limits=Limits(attempts=1))
    script.steps = [server.status(500)]
    kinds: Callable[[], str] = lambda: _kind(client)  # noqa: E731
    assert [kinds(), kinds(), kinds()] == ["unreachable", "unreachable", "breaker"]
    assert len(script.requests) == 2
    now[0] = 61
    script.steps = [server.good]
    assert kinds() == "answered"
    client.close()


def test_a_server_that_asks_for_time_gets_it_at_once(script: server.Script) -> None:
    now = [0.0]
    breaker = Breaker(failures=5, clock=lambda: now[0])
    meter = Meter(PLENTY, Ledger.in_memory())
    client = ChatClient("m", url=script.url, meter=meter, breaker=breaker, limits=Limits(attempts=1))
    script.steps = [server.status(429, retry_after="90"), server.good]
    assert [_kind(client), _kind(client)] == ["unreachable", "breaker"]
    now[0] = 91
    assert _kind(client) == "answered"
    client.close()


def _kind(client: ChatClient) -> str:
    try:
        client.complete(QUESTION)
    except LLMUnavailable as error:
        return error.kind
    return "answered"


def test_a_ledger_that_cannot_be_written_lets_nothing_out(script: server.Script) -> None:
    def full(entry: Entry) -> None:
        raise OSError("no space left")

    def nothing(day: date) -> Spent:
        return Spent()

    client = ChatClient("m", url=script.url, meter=Meter(PLENTY, Ledger(full, nothing)))
    with pytest.raises(OSError, match="no space"):
        client.complete(QUESTION)
    assert not script.requests
