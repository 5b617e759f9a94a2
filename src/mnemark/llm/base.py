"""Define the interface to language models: `LLM`, its messages, completions and error."""

from collections.abc import Sequence
from typing import Generic, Literal, Protocol, TypeVar, overload

import msgspec

from mnemark.errors import MnemarkError

T = TypeVar("T", bound=msgspec.Struct)
V_co = TypeVar("V_co", covariant=True)

Kind = Literal["budget", "breaker", "key", "program", "refused", "too long", "unreachable", "invalid"]
"""The reason of an `LLMUnavailable`.

`budget`: the daily budget is used up, or none is configured · `breaker`: the circuit breaker is open ·
`key`: no API key · `program`: it is not installed · `refused`: a client error, or a program that failed ·
`too long`: the prompt exceeds the context length · `unreachable`: no response in time · `invalid`: the
answers do not fit the schema, or are empty.
"""

_NOT_SENT: frozenset[Kind] = frozenset({"budget", "breaker", "key", "program"})


class LLMUnavailable(MnemarkError):  # noqa: N818 - the name says what is the matter, as callers print it
    """The model cannot answer now; the message gives the reason and the fix.

    `after` is the number of seconds to wait before a retry, or None if unknown.
    """

    def __init__(self, kind: Kind, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.after = after

    @property
    def asked(self) -> bool:
        """Whether a request may have been sent; if not, a queue should not count it as an attempt."""
        return self.kind not in _NOT_SENT


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


class Completion(msgspec.Struct, Generic[V_co], frozen=True, kw_only=True):
    """A model's answer."""

    text: str
    """The last answer, without the `<think>` part that some models write before it."""
    value: V_co
    """The answer decoded as `schema`; None without a schema."""
    tokens_in: int
    """Prompt tokens of all answered requests of this completion, including the repair request."""
    tokens_out: int
    model: str
    """The model name that the server reported."""
    requests: int = 1
    """Number of answered requests: 2 if the first answer had to be repaired."""
    estimated: bool = False
    """Whether token counts are estimated from the texts, as the server gave none."""
    truncated: bool = False
    """Whether the answer was cut off at the token limit."""


class LLM(Protocol):
    """A chat model: takes messages, returns one completion. Thread-safe."""

    @property
    def model(self) -> str:
        """The name of the model, as configured."""
        ...

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
        """Return the model's answer to `messages`.

        Args:
            messages: the conversation, redacted by the caller.
            schema: the `msgspec.Struct` type to decode the answer as; None for free text.
            timeout: seconds in total, including retries, repair and back-off.

        Raises:
            LLMUnavailable: there is no valid answer; the message gives the reason and the fix.
        """
        ...
