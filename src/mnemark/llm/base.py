"""Interface between mnemark and language models."""

from collections.abc import Sequence
from typing import Generic, Literal, Protocol, TypeVar, overload

import msgspec

from mnemark.errors import MnemarkError

T = TypeVar("T", bound=msgspec.Struct)
V_co = TypeVar("V_co", covariant=True)

Kind = Literal["budget", "breaker", "key", "refused", "too long", "unreachable", "invalid"]
"""Why there is no answer.

`budget`: the day's budget does not allow it, or none is configured · `breaker`: too many failures in a row,
paused · `key`: no API key · `refused`: the server will not answer this · `too long`: send less at a time ·
`unreachable`: no good answer in time · `invalid`: answers that are not what was asked for.
"""

_NOT_ASKED: frozenset[Kind] = frozenset({"budget", "breaker", "key"})


class LLMUnavailable(MnemarkError):  # noqa: N818 - the name says what is the matter, as callers print it
    """The model cannot answer now; the message gives the reason and the fix.

    `after` is how many seconds to wait before asking again, where that is known.
    """

    def __init__(self, kind: Kind, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.after = after

    @property
    def asked(self) -> bool:
        """Whether the model was asked at all; if not, it was no try and a queue should not count it."""
        return self.kind not in _NOT_ASKED


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


class Completion(msgspec.Struct, Generic[V_co], frozen=True, kw_only=True):
    """A model's answer."""

    text: str
    """The last answer, without the thoughts some models write before it."""
    value: V_co
    """The answer as the type that was asked for; None where none was."""
    tokens_in: int
    """Of all requests this took, repair and retries that were answered included."""
    tokens_out: int
    model: str
    """As the server names it."""
    requests: int = 1
    """How many were answered."""
    estimated: bool = False
    """The server did not count the tokens; they are estimated from the texts."""
    truncated: bool = False
    """The answer reached the limit of its length."""


class LLM(Protocol):
    """Messages in, one answer out. Safe to call from several threads."""

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
        """Answer `messages`.

        Args:
            messages: the conversation, redacted by the caller.
            schema: a `msgspec.Struct` the answer must be; None for free text.
            timeout: seconds for everything together: retries, repair, waiting.

        Raises:
            LLMUnavailable: there is no answer, with the reason and the fix.
        """
        ...
