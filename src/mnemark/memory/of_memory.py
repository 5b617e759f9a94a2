"""Objects of which each memory has one: made when they are first asked for, gone with the memory."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

Value = TypeVar("Value")


class OfMemory(Generic[Value]):
    """One value for each memory. Safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Memory, Value] = WeakKeyDictionary()
        self._making = threading.Lock()

    def of(self, memory: "Memory", make: Callable[[], Value]) -> Value:
        """The value kept for a memory; made by `make` where there is none."""
        with self._making:
            found = self._kept.get(memory)
            if found is None:
                found = self._kept[memory] = make()
            return found
