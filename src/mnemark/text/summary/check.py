"""Check whether a model's words about a conversation are founded in it."""

import re
from typing import Final

_NUMBER: Final = re.compile(r"\d[\d.,:/-]*\d|\d{2,}")
_NAME: Final = re.compile(r"(?<=[a-z,;] )[A-Z][\w'-]{2,}")
"""A capital in the middle of a sentence."""
_WORD: Final = re.compile(r"[a-z][\w'-]{3,}", re.IGNORECASE)
_HAN: Final = re.compile(r"[\u4e00-\u9fff]+")
LONGEST: Final = 20_000
"""Characters of a model's words that are checked: each number and name is looked for in all that was said."""
_STEM: Final = 4
_FEWEST: Final = 5
"""So many words can be told from chance."""
_SHARED: Final = 0.25
_ABOUT: Final = frozenset({"user", "users", "assistant", "agent", "owner", "the user", "english", "chinese"})


def unfounded(words: str, said: str) -> str:
    """Why `words` are not about `said`, in words that follow "because"; empty where they may be.

    Good summaries of a conversation share well over a third of their word stems (Chinese: pairs of
    characters) with it; answers that have nothing to do with it share a tenth. It finds what is made up
    out of nothing, not what is turned around.

    >>> unfounded("Ann fixed the parser in 3 hours, with 97 tests.", "ann: I fixed the parser")
    'it names 97, which nobody said'
    """
    if len(words) > LONGEST:
        return f"it is longer than {LONGEST:,} characters"
    known = set(_NUMBER.findall(said))
    for number in dict.fromkeys(_NUMBER.findall(words)):
        if number not in known and number not in said:
            return f"it names {number}, which nobody said"
    low = said.casefold()
    for name in dict.fromkeys(_NAME.findall(words)):
        bare = name.casefold().removesuffix("'s")
        if bare not in low and bare not in _ABOUT:
            return f"it names {name}, which nobody said"
    pieces = _pieces(words)
    if len(pieces) >= _FEWEST and len(pieces & _pieces(said)) < _SHARED * len(pieces):
        return "it has hardly a word of the conversation"
    return ""


def _pieces(text: str) -> set[str]:
    stems = {word[:_STEM].casefold() for word in _WORD.findall(text)}
    pairs = {run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1)}
    return stems | pairs
