"""Values that are known of somebody, to be recognised in what they say next: "Pixel", of their pets."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from mnemark.extraction.reader.tokens import Token, tokens
from mnemark.text import rows
from mnemark.text.lazy_pattern import lazy_pattern

_LONGEST: Final = 6
"""Tokens of a value that may be met again; what is longer is told in other words."""
_PARTS: Final = lazy_pattern(r"[()（）,，;；、]| and | named | called |叫")
_COMMON: Final = frozenset({"a", "an", "the", "my", "our", "one", "two", "no", "yes", "none"})


@cache
def _keys() -> Mapping[str, str]:
    """Return the key that the reader gives the values of a predicate."""
    keys = {predicate: key for key, _, predicate, *_ in rows("reader_keys") if predicate}
    return {**keys, "car": "possessions", "relation": "relation"}


class KnownValues:
    """What is known of somebody, by its words; more may be added."""

    def __init__(self, facts: Iterable[tuple[str, str]] = ()) -> None:
        """`facts`: predicates and values."""
        self._by_first: dict[str, dict[tuple[str, ...], str]] = {}
        for predicate, value in facts:
            self.add(predicate, value)

    def add(self, predicate: str, value: str) -> None:
        """Add a value; of "Pixel (cat)" the name and the kind, each for itself."""
        key = _keys().get(predicate)
        if key is None or key in {"rule", "decisions", "age"}:
            return
        for part in {value, *_PARTS.split(value)}:
            forms = tuple(token.form for token in tokens(part))
            if 0 < len(forms) <= _LONGEST and len("".join(forms)) > 1 and not _COMMON.issuperset(forms):
                self._by_first.setdefault(forms[0], {})[forms] = key

    def met_in(self, found: Sequence[Token]) -> dict[int, str]:
        """Return the key of each token of a message that is part of a known value."""
        met: dict[int, str] = {}
        for start, token in enumerate(found):
            for forms, key in self._by_first.get(token.form, {}).items():
                end = start + len(forms)
                if tuple(one.form for one in found[start:end]) == forms:
                    met.update(dict.fromkeys(range(start, end), key))
        return met


NOTHING_KNOWN: Final = KnownValues()
