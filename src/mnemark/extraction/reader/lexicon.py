"""Classes of names that a table knows: cities, jobs, illnesses, programs, words for relatives."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from mnemark.extraction.reader.tokens import Token
from mnemark.text import rows

_LONGEST: Final = 8
"""Tokens of a name; of a Chinese one characters."""
_ONE_CHARACTER: Final = frozenset({"kin", "pet"})
"""Classes of which a single Chinese character is a word: 爸, 猫."""


class Lexicon:
    """Names, each as its tokens are compared, without blanks, with its classes, separated by blanks."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def classes(self, found: Sequence[Token]) -> dict[int, list[str]]:
        """Return the classes of tokens by their place: the longest name from each place, `B-` where it begins."""
        forms = [token.form for token in found]
        out: dict[int, list[str]] = {}
        until = 0
        for start in range(len(forms)):
            if start < until:
                continue
            for length in range(min(_LONGEST, len(forms) - start), 0, -1):
                kinds = self._names.get("".join(forms[start : start + length]))
                if kinds is None:
                    continue
                named = kinds.split(" ")
                if length == 1 and found[start].is_han:
                    named = [kind for kind in named if kind in _ONE_CHARACTER]
                if named:
                    out[start] = [f"B-{kind}" for kind in named]
                    for at in range(start + 1, start + length):
                        out[at] = [f"I-{kind}" for kind in named]
                    until = start + length
                    break
        return out


@cache
def lexicon() -> Lexicon:
    """Return the table of the package."""
    return Lexicon({name.replace(" ", ""): kinds for name, kinds in rows("lexicon")})
