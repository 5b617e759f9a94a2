"""What learning found, as a value: who shows it need not load what reads turns."""

from typing import Literal

import msgspec

Status = Literal["learned", "known", "review", "ended", "would be learned", "would be ended"]


class LearnedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact and the turn it comes from."""

    status: Status
    """`known`: learned from this turn before; `review`: waiting for review; `ended`: over, says the turn."""
    subject: str
    predicate: str
    value: str
    type: str
    since: str
    ref: str
    quote: str
    """The sentence it was read from."""
    by: Literal["rule", "model"] = "rule"
    id: str = ""
    importance: float | None = None
    confidence: float | None = None
    priority: str = ""
    topic: str = ""
    """Of a statement, which has no predicate."""
    against: str = ""
    """The line that a person wrote and that it contradicts."""
    scope: str = ""
    """Where it is kept: what is about the person is not kept in a project where it was said."""
