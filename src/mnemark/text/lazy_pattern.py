"""Compile regular expressions at first use, so that importing a module is fast."""

import re
from functools import cached_property
from typing import Any, Final

_METHODS: Final = ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split")


class LazyPattern:
    """Proxy of a `re.Pattern` that compiles it at first use."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern: Final = pattern
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern and set its methods as attributes, so that later calls bypass this method."""
        if name.startswith("__"):
            raise AttributeError(name)
        for method in _METHODS:
            setattr(self, method, getattr(self.compiled, method))
        return getattr(self.compiled, name)


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled at first use; arguments as of `re.compile`."""
    stand_in: Any = LazyPattern(pattern, flags)
    found: re.Pattern[str] = stand_in
    return found
