"""Use a Python function from messages to text as a model."""

from collections.abc import Callable, Sequence

import msgspec

from mnemark.llm.base import LLMUnavailable, Message
from mnemark.llm.budget import Breaker, Meter
from mnemark.llm.dialogue import Dialogue, Reply, shown, tokens_of
from mnemark.text.words.tokens import estimate_tokens
from mnemark.threads import within

_EXPECTED_TOKENS = 1024
"""Answer tokens reserved in the budget per call, as a function has no `max_tokens`."""


class FunctionLLM(Dialogue):
    """A model that calls a function in a thread, which is abandoned at the timeout.

    Args:
        function: takes messages and returns the answer's text; called in a new thread for each request. The
            messages contain the JSON schema.
        meter: the budget and its ledger; it counts calls and estimated tokens.
        model: the model name in messages and the ledger.
        breaker: circuit breaker, possibly shared with other models; None for its own.
        errors: exceptions of `function` that mean "no answer". All others are raised unchanged.
    """

    def __init__(
        self,
        function: Callable[[Sequence[Message]], str],
        *,
        meter: Meter,
        model: str = "callable",
        breaker: Breaker | None = None,
        errors: tuple[type[Exception], ...] = (Exception,),
    ) -> None:
        super().__init__(model, breaker or Breaker())
        self._function = function
        self._meter = meter
        self._errors = errors

    def __repr__(self) -> str:
        return f"FunctionLLM({self.model!r})"

    def _ask(
        self,
        messages: Sequence[Message],
        schema: type[msgspec.Struct] | None,  # noqa: ARG002 - the messages contain it
        deadline: float,
    ) -> Reply:
        left = self._time_left(deadline)
        expected = tokens_of(messages)
        with self._meter.request(self.model, expected, _EXPECTED_TOKENS) as ticket:
            try:
                text = within(left, lambda: self._function(messages))
            except TimeoutError:
                raise LLMUnavailable(
                    "unreachable", f"{self.model} gave no answer within {left:.1f} s; allow more or try later"
                ) from None
            except self._errors as error:
                raise LLMUnavailable(
                    "unreachable",
                    f"{self.model} failed with {type(error).__name__}: {shown(str(error))}; try later",
                ) from error
            tokens_out = estimate_tokens(text)
            ticket.answered(expected, tokens_out)
        return Reply(text=text, tokens_in=expected, tokens_out=tokens_out, model=self.model, estimated=True)


from_callable = FunctionLLM
"""The documented alias."""
