"""Find the words of tables in texts: phrases by one of their words, Chinese by its first characters."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from mnemark.text import word_lists
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction import positions

_PARTS: Final = lazy_pattern("[^a-z0-9]+")
_CHOICE: Final = lazy_pattern(r"\{([^{}\s]*)\}")
_GROUP: Final = 16  # first characters of words that are looked at together
_FREQUENT: Final = word_lists("stop_words")["frequent"]
"""Words that few texts lack, so a phrase is looked for by another."""

LATIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz")


def written_out(words: Iterable[str]) -> list[str]:
    """Return the entries of a table with each choice made: of "do_{,not_}tell", two."""
    entries: list[str] = []
    for word in words:
        literal, *others = _CHOICE.split(word)
        made = [literal]
        for choices, after in zip(others[::2], others[1::2], strict=True):
            made = [f"{before}{one}{after}" for before in made for one in choices.split(",")]
        entries += made
    return entries


def is_phrase(word: str) -> bool:
    """Return whether an entry of a table in Latin letters has several words."""
    return _PARTS.search(word) is not None


def phrases_by_word(words: Iterable[str], known: Collection[str]) -> dict[str, list[str]]:
    """Return the phrases of `words` by the longest word of each, which ordinary text has least.

    It is no frequent word if there is another; of words as long, it is one that is not `known` by itself.
    The longest phrases come first.
    """
    phrases: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        if word.isascii() and is_phrase(word):
            parts = list(filter(None, _PARTS.split(word))) or [word]
            key = max(parts, key=lambda part: (part not in _FREQUENT, len(part), part not in known))
            phrases.setdefault(key, []).append(word.replace("_", " "))
    return phrases


def any_of(words: list[str]) -> str:
    """Return a pattern of words; their first two characters are looked at first, which saves time."""
    one = [word for word in words if len(word) == 1]
    several = [word for word in words if len(word) > 1]
    starts = "".join(f"[{''.join(sorted({re.escape(word[place]) for word in several}))}]" for place in (0, 1))
    by_first: dict[str, list[str]] = {}
    for word in several:
        by_first.setdefault(re.escape(word[0]), []).append(re.escape(word[1:]))
    begins = [f"{first}(?:{'|'.join(rests)})" for first, rests in by_first.items()]
    firsts = [*by_first]
    grouped = "|".join(
        f"(?=[{''.join(firsts[at : at + _GROUP])}])(?:{'|'.join(begins[at : at + _GROUP])})"
        for at in range(0, len(begins), _GROUP)
    )
    return "|".join((f"(?={starts})(?:{grouped})", *one))


def places_of(word: str, plain: str) -> Iterator[int]:
    """Yield where a word stands alone; beside Chinese no Latin letter matters."""
    for at in positions(plain, word):
        if not word.isascii() or _stands_alone(word, at, plain):
            yield at


def _stands_alone(word: str, at: int, plain: str) -> bool:
    """Return whether no Latin letter stands beside a word; Chinese may. "@ai" is not "@ai-sdk/provider"."""
    before, after = plain[max(0, at - 1) : at], plain[at + len(word) : at + len(word) + 1]
    return before not in LATIN and after not in LATIN and not (word[0] == "@" and after in {"-", "/"})
