"""Language models: one small client for OpenAI-compatible chat APIs, and any function as a stand-in.

    from mnemark.llm import Budget, Ledger, Message, Meter
    from mnemark.llm.chat import ChatClient

No call happens without a budget. The client's module, which needs httpx only when it asks, is imported by
who uses it.
"""

from mnemark.llm.base import LLM, Completion, LLMUnavailable, Message
from mnemark.llm.breaker import Breaker
from mnemark.llm.budget import Budget, Entry, Ledger, Meter, Spent, spent_on

__all__ = [
    "LLM",
    "Breaker",
    "Budget",
    "Completion",
    "Entry",
    "LLMUnavailable",
    "Ledger",
    "Message",
    "Meter",
    "Spent",
    "spent_on",
]
