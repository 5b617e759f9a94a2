"""What the tests of the client ask for and get."""

import msgspec

from mnemark.llm import Budget, Message
from mnemark.llm.chat import Limits

SECRET = "sk-made-up-0123456789"
QUESTION = [Message("system", "You take notes."), Message("user", "我喜欢喝茶。")]
PLENTY = Budget(calls_per_day=100, tokens_per_day=1_000_000)
PATIENT = Limits(attempts=3, silence=30, answer=500, most_bytes=1_000_000)
"""A server of a test is a thread, which gets no processor for a while where much else runs."""
QUICK = Limits(attempts=3, silence=0.4, answer=500, most_bytes=1_000_000)


class Fact(msgspec.Struct):
    text: str
    confidence: float = 0.5


class Facts(msgspec.Struct):
    facts: list[Fact]


TEA = Facts([Fact("likes tea", 0.9)])
