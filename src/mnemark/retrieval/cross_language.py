"""Expand terms of a question that no text holds with words of the texts' language."""

from collections.abc import Sequence
from typing import Final, Literal

from mnemark.embed.dictionary import expand
from mnemark.index.snapshot import Mask, Snapshot
from mnemark.retrieval.routes.lexical import QueryTerm

WEIGHT: Final = 0.6
"""Of a translated term beside one that was said."""
MOST: Final = 64
"""Translated terms of one question."""
_SPOKEN: Final = 0.01
"""Share of the passages that must hold a language's commonest word for it to be spoken there."""
_COMMONEST: Final = {"en": "the", "zh": "的"}

Language = Literal["en", "zh"]


def bridge(terms: Sequence[QueryTerm], snapshot: Snapshot, mask: Mask | None) -> tuple[QueryTerm, ...]:
    """Translate the terms that stand nowhere in the visible text, where it is in the other language.

    Terms that are found need none, so that a question in the text's own language is left as it is.
    """
    said = [term for term, weight in terms if weight == 1]
    extra: dict[str, float] = {}
    chinese = [term for term in said if "\u3400" <= term[0] <= "\u9fff"]
    english = [term for term in said if term.isascii() and term.isalpha()]
    directions: tuple[tuple[list[str], Language], ...] = ((chinese, "en"), (english, "zh"))
    for unknown, to in directions:
        missing = [term for term in unknown if not _holding(snapshot, term, mask)]
        if missing and _spoken(snapshot, to, mask):
            for term, weight in expand(missing, to)[:MOST]:  # the dictionary loads on first use
                extra[term] = max(extra.get(term, 0.0), weight * WEIGHT)
    known = {term for term, _ in terms}
    return tuple(QueryTerm(term, weight) for term, weight in extra.items() if term not in known)


def load(terms: Sequence[QueryTerm]) -> None:
    """Load the dictionary: the first question that needs it would wait for it."""
    expand([term for term, _ in terms], "en")


def _holding(snapshot: Snapshot, term: str, mask: Mask | None) -> int:
    pos = snapshot.term(term).pos
    return len(pos) if mask is None else int(mask[pos].sum())


def _spoken(snapshot: Snapshot, language: Language, mask: Mask | None) -> bool:
    visible = len(snapshot) if mask is None else int(mask.sum())
    return _holding(snapshot, _COMMONEST[language], mask) > _SPOKEN * visible
