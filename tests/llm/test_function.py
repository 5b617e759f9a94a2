import subprocess
import sys
import time
from collections.abc import Sequence

import msgspec
import pytest

from mnemark.llm import LLM, Breaker, Budget, Ledger, LLMUnavailable, Message, Meter
from mnemark.llm.chat import ChatClient
from mnemark.llm.function import from_callable

QUESTION = [Message("user", "What do I drink?")]
PLENTY = Budget(calls_per_day=50, tokens_per_day=100_000)


class Drink(msgspec.Struct):
    drink: str


def meter(budget: Budget = PLENTY) -> Meter:
    return Meter(budget, Ledger.in_memory())


def test_a_function_answers_in_the_type_asked_for() -> None:
    seen: list[Sequence[Message]] = []

    def model(messages: Sequence[Message]) -> str:
        seen.append(messages)
        return 'Sure: {"drink": "tea"}' if len(seen) > 1 else "tea"

    counted = meter()
    answer = from_callable(model, meter=counted).complete(QUESTION, schema=Drink)
    assert answer.value == Drink("tea")
    assert (answer.model, answer.requests, answer.estimated) == ("callable", 2, True)
    assert [message.role for message in seen[0]] == ["system", "user"]
    assert "no JSON object" in seen[1][-1].content
    assert counted.spent().calls == 2
    assert counted.spent().tokens == answer.tokens_in + answer.tokens_out


def test_both_kinds_are_models() -> None:
    models: list[LLM] = [from_callable(lambda messages: "tea", meter=meter()), ChatClient("m")]
    assert [model.model for model in models] == ["callable", "m"]
    assert models[0].complete(QUESTION).text == "tea"


@pytest.mark.timed
def test_a_function_that_hangs_is_left_behind() -> None:
    def model(messages: Sequence[Message]) -> str:
        time.sleep(2)
        return "tea"

    counted = meter()
    start = time.monotonic()
    with pytest.raises(LLMUnavailable, match=r"within 0\.1 s"):
        from_callable(model, meter=counted).complete(QUESTION, timeout=0.1)
    assert time.monotonic() - start < 1
    assert counted.spent().tokens > 1000


def test_a_function_that_fails_is_unavailable_and_its_secrets_stay_hidden() -> None:
    def model(messages: Sequence[Message]) -> str:
        raise RuntimeError("401 for api_key=sk-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL")

    breaker = Breaker(failures=1)
    stand_in = from_callable(model, meter=meter(), model="mine", breaker=breaker)
    with pytest.raises(LLMUnavailable, match="mine failed with RuntimeError: 401") as caught:
        stand_in.complete(QUESTION)
    assert "abcdefghijklmnop" not in str(caught.value)
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert breaker.state == "open"


def test_a_mistake_passes_through_where_errors_are_named() -> None:
    def model(messages: Sequence[Message]) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        from_callable(model, meter=meter(), errors=(OSError,)).complete(QUESTION)


def test_without_a_budget_it_is_not_called() -> None:
    called: list[int] = []

    def model(messages: Sequence[Message]) -> str:
        called.append(1)
        return "tea"

    with pytest.raises(LLMUnavailable, match="calls_per_day"):
        from_callable(model, meter=meter(Budget())).complete(QUESTION)
    assert not called


def test_the_layer_loads_without_the_network() -> None:
    program = "import sys, mnemark.llm.chat, mnemark.llm.function; print({'httpx', 'ssl'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
