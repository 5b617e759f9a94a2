"""Translate query terms that occur in no passage, where the passages are in the other language."""

from collections.abc import Sequence
from typing import Final, Literal

from mnemark.index.snapshot import Mask, Snapshot
from mnemark.retrieval.routes.lexical import QueryTerm

WEIGHT: Final = 0.6
"""Weight of a translated term; a term of the query itself weighs 1."""
MAX_TRANSLATIONS: Final = 64
"""Maximum number of translated terms for each direction."""
_MIN_LANGUAGE_SHARE: Final = 0.01
"""Minimum share of passages with a language's commonest word for that language to count as used."""
_COMMONEST_WORD: Final = {"en": "the", "zh": "的"}

Language = Literal["en", "zh"]


def bridge(terms: Sequence[QueryTerm], snapshot: Snapshot, mask: Mask | None) -> tuple[QueryTerm, ...]:
    """Return translations of query terms that occur in no visible passage, if the other language is used.

    Terms that occur are not translated, so a query in the passages' language is unchanged.
    """
    original = [term for term, weight in terms if weight == 1]
    extra: dict[str, float] = {}
    chinese = [term for term in original if "\u3400" <= term[0] <= "\u9fff"]
    english = [term for term in original if term.isascii() and term.isalpha()]
    directions: tuple[tuple[list[str], Language], ...] = ((chinese, "en"), (english, "zh"))
    for unknown, to in directions:
        missing = [term for term in unknown if not _passage_count(snapshot, term, mask)]
        if missing and _is_used(snapshot, to, mask):
            from mnemark.embed.dictionary import expand

            for term, weight in expand(missing, to)[:MAX_TRANSLATIONS]:  # the dictionary loads on first use
                extra[term] = max(extra.get(term, 0.0), weight * WEIGHT)
    known = {term for term, _ in terms}
    return tuple(QueryTerm(term, weight) for term, weight in extra.items() if term not in known)


def load(terms: Sequence[QueryTerm]) -> None:
    """Load the dictionary ahead of the first query that needs it."""
    from mnemark.embed.dictionary import expand

    expand([term for term, _ in terms], "en")


def _passage_count(snapshot: Snapshot, term: str, mask: Mask | None) -> int:
    pos = snapshot.term(term).pos
    return len(pos) if mask is None else int(mask[pos].sum())


def _is_used(snapshot: Snapshot, language: Language, mask: Mask | None) -> bool:
    visible = len(snapshot) if mask is None else int(mask.sum())
    return _passage_count(snapshot, _COMMONEST_WORD[language], mask) > _MIN_LANGUAGE_SHARE * visible
