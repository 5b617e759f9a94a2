"""Say beside a hit that what it says was corrected since, and what is right."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from mnemark.facts.corrected import Corrections
from mnemark.files import layout
from mnemark.files.names import SOURCES
from mnemark.retrieval.render import CORRECTED
from mnemark.types import Hit

_PAGES: Final = frozenset({"episode", "daily", "scratchpad"})
"""Roles of pages that are made of turns."""


def with_corrections(hits: Iterable[Hit], corrections: Corrections) -> tuple[Hit, ...]:
    """Return hits with what was corrected in them in their `meta`."""
    return tuple(_marked(hit, corrections) for hit in hits) if corrections else tuple(hits)


def _marked(hit: Hit, corrections: Corrections) -> Hit:
    told = corrected_in(
        corrections, hit.path, (hit.start_line, hit.end_line), hit.text, hit.meta.get(SOURCES)
    )
    return replace(hit, meta={**hit.meta, CORRECTED: told}) if told else hit


def corrected_in(
    corrections: Corrections, path: str, lines: tuple[int, int], text: str, sources: object = None
) -> list[str]:
    """Return what was corrected in some lines of a file; empty for facts, which are current themselves.

    Of a log these are the turns that a fact was learned from, and others of it with the wrong value; of
    a page that is made of turns, where it has that.
    """
    if not corrections:
        return []
    place = layout.place(path)
    role = place.role if place is not None else ""
    if role == "session":
        own = corrections.of(path, *lines)
        return own or corrections.of_refs([path], text)
    if isinstance(sources, list | tuple):
        return corrections.of_refs(map(str, sources), text)
    return corrections.of_text(text) if role in _PAGES else []
