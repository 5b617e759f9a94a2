"""Compile regular expressions at first use, so that a start does not wait for them."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final


class LazyPattern:
    """A stand-in for `re.Pattern`; arguments as of `re.compile`."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source: Final = source
        self.flags: Final = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.source, self.flags)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """As `re.Pattern.match`."""
        return self.compiled.match(text, start)

    def search(self, text: str) -> re.Match[str] | None:
        """As `re.Pattern.search`."""
        return self.compiled.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As `re.Pattern.finditer`."""
        return self.compiled.finditer(text)
