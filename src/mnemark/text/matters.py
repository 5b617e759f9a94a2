"""Find the everyday matters that a request is about: where to stay, what to eat, how to get there. Pure."""

from functools import cache, lru_cache
from typing import Final, NamedTuple

from mnemark.text import rows
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import normalize
from mnemark.text.words.terms import stem

_WORD: Final = lazy_pattern(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class Matter(NamedTuple):
    """A row of `data/matters.tsv`, which says what its cells mean."""

    anchors: tuple[str, ...]
    english: tuple[str, ...]
    """Runs of stems, with a space around each stem."""
    chinese: tuple[str, ...]


@lru_cache(maxsize=2_048)
def matters_of(text: str) -> tuple[Matter, ...]:
    """Return the matters that a text names.

    >>> [matter.anchors[0] for matter in matters_of("Where could I stay in Lisbon?")]
    ['hotel accommodation']
    """
    text = normalize(text)
    words = _stems(text)
    return tuple(
        matter
        for matter in _matters()
        if any(run in words for run in matter.english) or any(word in text for word in matter.chinese)
    )


@cache
def _matters() -> tuple[Matter, ...]:
    return tuple(
        Matter(tuple(anchors.split(";")), tuple(map(_stems, english.split(","))), tuple(chinese.split()))
        for anchors, english, chinese in rows("matters")
    )


def _stems(text: str) -> str:
    return " ".join(["", *(stem(word.lower()) for word in _WORD.findall(text)), ""])
