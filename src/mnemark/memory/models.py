"""The workspace's bookkeeping, and the language model it configured, if any."""

import threading
from datetime import date
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from mnemark.index.state import State
from mnemark.llm import LLM, Budget, Entry, Ledger, Meter, Spent
from mnemark.memory.of_memory import OfMemory

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_states = OfMemory[State]()
_models: "WeakKeyDictionary[Memory, LLM]" = WeakKeyDictionary()
_making = threading.Lock()


def bookkeeping(memory: "Memory") -> State:
    """The `state.db` of a memory's workspace, one object for each memory."""
    return _states.of(memory, lambda: State(memory.root, readonly=memory.readonly))


def meter_of(memory: "Memory") -> Meter:
    """The day's budget as configured, its ledger in `state.db`, shared by all processes."""
    state = bookkeeping(memory)

    def append(entry: Entry) -> None:
        day, time = entry.day.isoformat(), entry.time.isoformat()
        numbers = (entry.calls, entry.tokens_in, entry.tokens_out)
        state.spend((entry.id, day, time, entry.model, entry.what, *numbers))

    def spent(day: date) -> Spent:
        return Spent(*state.spent(day))

    settings = memory.config.llm
    budget = Budget(calls_per_day=settings.calls_per_day, tokens_per_day=settings.tokens_per_day)
    return Meter(budget, Ledger(append, spent))


def model_of(memory: "Memory") -> LLM | None:
    """The configured model; None unless a model and a budget above zero are configured.

    Raises:
        ConfigError: its URL is not one, or leads to a host that nobody allowed.
    """
    settings = memory.config.llm
    if not settings.active or memory.readonly:
        return None
    from mnemark.llm.chat import ChatClient  # needs httpx

    with _making:
        found = _models.get(memory)
    if found is None:
        from mnemark.net import OPENAI, check_host

        check_host(settings.url or OPENAI, "the language model")
        found = ChatClient(
            settings.model, url=settings.url or None, key_env=settings.key_env or None, meter=meter_of(memory)
        )
        with _making:
            found = _models.setdefault(memory, found)
    return found
