"""Turn one request into one answer that fits its type: instruction, check, one repair. Sends nothing."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, overload

import msgspec

from mnemark.llm.base import Completion, LLMUnavailable, Message, T
from mnemark.llm.budget import Breaker
from mnemark.llm.extract import InvalidAnswer, read, without_thoughts
from mnemark.llm.schema import instruction
from mnemark.net import printable
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens

_MAX_SHOWN = 200
_MAX_REPEATED = 2000
"""Maximum tokens of an invalid answer that are sent back to the model."""
_TOKENS_PER_MESSAGE = 4
"""Approximate tokens that chat templates add around a message."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one request and its token counts."""

    text: str
    tokens_in: int
    tokens_out: int
    model: str
    estimated: bool
    truncated: bool = False


class Dialogue(ABC):
    """Base class of models: one repair request and the circuit breaker; subclasses send within the budget."""

    def __init__(self, model: str, breaker: Breaker) -> None:
        self.model = model
        self._breaker = breaker

    @abstractmethod
    def _ask(
        self, messages: Sequence[Message], schema: type[msgspec.Struct] | None, deadline: float
    ) -> Reply:
        """Send one request by `deadline` (`time.monotonic()`), or raise `LLMUnavailable`."""

    def _time_left(self, deadline: float) -> float:
        """Return the seconds until a deadline; raise `LLMUnavailable` if none are left."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise LLMUnavailable("unreachable", f"there was no time left to ask {self.model}; allow more")
        return left

    @overload
    def complete(
        self, messages: Sequence[Message], *, schema: None = None, timeout: float = 60.0
    ) -> Completion[None]: ...

    @overload
    def complete(
        self, messages: Sequence[Message], *, schema: type[T], timeout: float = 60.0
    ) -> Completion[T]: ...

    def complete(
        self, messages: Sequence[Message], *, schema: type[T] | None = None, timeout: float = 60.0
    ) -> Completion[T] | Completion[None]:
        """Return the model's answer to `messages`, see `LLM.complete`.

        Raises:
            LLMUnavailable: there is no valid answer; the message gives the reason and the fix.
        """
        deadline = time.monotonic() + timeout
        asked = list(messages) if schema is None else _with_instruction(messages, schema)
        with self._breaker.guard():
            first = self._ask(asked, schema, deadline)
            try:
                return _completion([first], _value(first, schema))
            except InvalidAnswer as wrong:
                asked = [*asked, *_repair_messages(first, wrong)]
            second = self._ask(asked, schema, deadline)
            try:
                return _completion([first, second], _value(second, schema))
            except InvalidAnswer as wrong:
                raise LLMUnavailable(
                    "invalid",
                    f"{self.model} gave no valid answer, also when told what was wrong "
                    f"({shown(str(wrong))}); try a larger model",
                ) from None


def tokens_of(messages: Sequence[Message]) -> int:
    """Estimate the prompt tokens of `messages`."""
    return sum(_TOKENS_PER_MESSAGE + estimate_tokens(message.content) for message in messages)


def shown(text: str) -> str:
    """Return text of a server or model for an error message: redacted, one line, at most 200 characters."""
    return printable(text)[:_MAX_SHOWN]


def _value(reply: Reply, schema: type[T] | None) -> T | None:
    if schema is not None:
        try:
            return read(reply.text, schema)
        except InvalidAnswer as wrong:
            if reply.truncated:
                raise InvalidAnswer(f"the answer was too long and cut off ({wrong})") from None
            raise
    if not without_thoughts(reply.text):
        raise InvalidAnswer("the answer was empty")
    return None


def _completion(replies: Sequence[Reply], value: Any) -> Completion[Any]:
    last = replies[-1]
    return Completion(
        text=without_thoughts(last.text),
        value=value,
        tokens_in=sum(reply.tokens_in for reply in replies),
        tokens_out=sum(reply.tokens_out for reply in replies),
        model=last.model,
        requests=len(replies),
        estimated=any(reply.estimated for reply in replies),
        truncated=last.truncated,
    )


def _with_instruction(messages: Sequence[Message], schema: type[msgspec.Struct]) -> list[Message]:
    """Append the JSON instruction to the system message: some chat templates take only one, at the start."""
    asked = list(messages)
    if asked and asked[0].role == "system":
        asked[0] = Message("system", f"{asked[0].content}\n\n{instruction(schema)}")
    else:
        asked.insert(0, Message("system", instruction(schema)))
    return asked


def _repair_messages(reply: Reply, wrong: InvalidAnswer) -> list[Message]:
    """Return the messages that ask the model to correct `reply`; none if it was empty."""
    said = cut_to_tokens(without_thoughts(reply.text), _MAX_REPEATED)
    if not said:
        return []
    shorter = " Be shorter." if reply.truncated else ""
    return [
        Message("assistant", said),
        Message("user", f"That does not fit: {wrong}.{shorter} Answer again, with the JSON object only."),
    ]
