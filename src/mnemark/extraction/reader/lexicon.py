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
        self._longest: dict[str, int] = {}
        """Characters of the longest name that begins with these two."""
        for name in names:
            self._longest[name[:2]] = max(self._longest.get(name[:2], 0), len(name))

    def classes(self, found: Sequence[Token]) -> dict[int, list[str]]:
        """Return the classes of tokens by their place: the longest name from each place, `B-` where it begins."""
        forms = [token.form for token in found]
        out: dict[int, list[str]] = {}
        until = 0
        for start, token in enumerate(found):
            if start < until:
                continue
            length, kinds = self._name_at(forms, start)
            if length == 1 and token.is_han:
                kinds = [kind for kind in kinds if kind in _ONE_CHARACTER]
            if kinds:
                out[start] = [f"B-{kind}" for kind in kinds]
                for at in range(start + 1, start + length):
                    out[at] = [f"I-{kind}" for kind in kinds]
                until = start + length
        return out

    def _name_at(self, forms: Sequence[str], start: int) -> tuple[int, list[str]]:
        """Return the tokens and classes of the longest name that begins at a token; 0 if there is none."""
        name = forms[start]
        found = self._names.get(name)
        length = 1 if found is not None else 0
        head = name if len(name) > 1 else "".join(forms[start : start + 2])
        longest = self._longest.get(head[:2], 0)
        for more, form in enumerate(forms[start + 1 : start + _LONGEST], 2):
            name += form
            if len(name) > longest:
                break
            if (kinds := self._names.get(name)) is not None:
                length, found = more, kinds
        return length, found.split(" ") if found is not None else []


@cache
def lexicon() -> Lexicon:
    """Return the table of the package."""
    return Lexicon({name.replace(" ", ""): kinds for name, kinds in rows("lexicon")})
