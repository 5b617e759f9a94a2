"""Call language models within a budget: a client for OpenAI-compatible chat APIs, or any Python function.

    from mnemark.llm import Budget, Ledger, Message, Meter
    from mnemark.llm.chat import ChatClient

No request is sent without a budget. `mnemark.llm.chat` is not imported here, to keep the import fast; httpx
is imported at the first request.
"""

from mnemark.llm.base import LLM, Completion, LLMUnavailable, Message
from mnemark.llm.budget import Breaker, Budget, Entry, Ledger, Meter, Spent, spent_on

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
