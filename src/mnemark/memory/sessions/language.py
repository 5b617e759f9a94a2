"""Weigh words for titles: by the bundled word table, and by how much of the memory holds them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from mnemark.embed.bundled import BundledEmbedder
from mnemark.errors import MnemarkError
from mnemark.index.read_only import QuickIndex
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.summary.topics import Language

_FEWEST: Final = 100
"""Passages from which it is known what is common in a memory."""


@contextmanager
def language(ws: OpenWorkspace) -> Iterator[Language]:
    """Return how words weigh in this memory; with few passages, or without an index, as in the language.

    The index is read as it was last synced, without the turns since: an end must not read all logs.
    """
    weigh = BundledEmbedder().weights
    with ExitStack() as stack:
        count = 0
        with suppress(MnemarkError):
            index = stack.enter_context(QuickIndex(ws.root))
            count = index.count()
        if count < _FEWEST:
            yield Language(weigh)
        else:
            yield Language(weigh, lambda term: _share(index, term, count))


def _share(index: QuickIndex, term: str, count: int) -> float:
    try:
        return index.frequencies((term,)).get(term, 0) / count
    except MnemarkError:  # damaged: the next search tells
        return 0.0
