"""Wrap any function from messages to text as a model."""

import time
from collections.abc import Callable, Sequence

import msgspec

from mnemark.llm.base import LLMUnavailable, Message
from mnemark.llm.breaker import Breaker
from mnemark.llm.budget import Meter
from mnemark.llm.dialogue import Dialogue, Reply, shown, tokens_of
from mnemark.net import within
from mnemark.text.words.tokens import estimate_tokens

_EXPECTED = 1024
"""Tokens of an answer to allow for before asking, as a function cannot be told to be brief."""


class FunctionLLM(Dialogue):
    """Asks a function, in a thread that is left behind when it is late.

    Args:
        function: messages to the text of the answer; called in another thread, one for each request. The
            messages say which JSON is wanted.
        meter: the budget and where it is written down; it counts calls, and tokens by estimate.
        model: a name for messages and the ledger.
        breaker: shared by the models that should rest together; None for one of its own.
        errors: what it raises when it cannot answer. Anything else is a mistake and passes through.
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
        schema: type[msgspec.Struct] | None,  # noqa: ARG002 - the messages say it, a function takes no more
        deadline: float,
    ) -> Reply:
        left = deadline - time.monotonic()
        if left <= 0:
            raise LLMUnavailable("unreachable", f"there was no time left to ask {self.model}; allow more")
        expected = tokens_of(messages)
        with self._meter.request(self.model, expected, _EXPECTED) as ticket:
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
"""The documented name."""
