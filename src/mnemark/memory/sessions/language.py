"""Weigh words for titles: by the bundled word table, and by how much of the memory holds them."""

from contextlib import suppress
from typing import Final

from mnemark.embed.bundled import BundledEmbedder
from mnemark.errors import MnemarkError
from mnemark.index.store import Index
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.summary.topics import Language

_FEWEST: Final = 100
"""Passages from which it is known what is common in a memory."""


def language(ws: OpenWorkspace) -> Language:
    """Return how words weigh in this memory; with few passages, or without an index, as in the language.

    The index is read as it was last synced, without the turns since: an end must not read all logs.
    """
    weigh = BundledEmbedder().weights
    index, count = ws.searcher.index, 0
    with suppress(MnemarkError):
        count = index.size() if index.exists() else 0
    return Language(weigh) if count < _FEWEST else Language(weigh, lambda term: _share(index, term, count))


def _share(index: Index, term: str, count: int) -> float:
    try:
        return index.frequencies((term,)).get(term, 0) / count
    except MnemarkError:  # damaged: the next search tells
        return 0.0
