"""Find out what derived text comes from: episodes, lines of notes and scratchpads name turns or pages.

Derived text repeats its sources in other words. A search ranks the sources by it, too, and does not let it
take their places. Text that a person wrote or changed is not derived.
"""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import msgspec
import numpy as np
import numpy.typing as npt

from mnemark.files.names import SOURCES, split_ref, split_sources
from mnemark.index.rows import DERIVED, KIND_CODE, first_ordinal
from mnemark.index.snapshot import Mask, Positions, Snapshot
from mnemark.text.lazy_pattern import lazy_pattern

FEW: Final = 4
"""Passages that a line may come from to say something about each; an episode comes from more."""
_LINK: Final = lazy_pattern(r"\]\((?P<target>[^()\s:]+\.(?:md|jsonl)(?:#L\d+(?:-L\d+)?)?)\)")
_BITS: Final = 41
"""Bits of an ordinal: 21 of the line, 20 of the chunk."""
_ALL: Final = (1 << _BITS) - 1


class SourcedLine(NamedTuple):
    """A derived line that names its turns, without the list marker and without their refs."""

    number: int
    text: str
    sources: tuple[str, ...]


def sourced_lines(text: str) -> list[SourcedLine]:
    """Return the lines that end with refs of turns; numbers from 1."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        words, sources = split_sources(line.rstrip())
        if sources:
            found.append(SourcedLine(number, words.strip().removeprefix("- "), sources))
    return found


def linked(text: str, path: str) -> tuple[str, ...]:
    """Return the refs that a passage of the page at `path` links to, relative to the workspace."""
    folder = posixpath.dirname(path)
    targets = (unquote(match["target"]) for match in _LINK.finditer(text))
    return tuple(dict.fromkeys(posixpath.normpath(posixpath.join(folder, target)) for target in targets))


class Edges(msgspec.Struct, frozen=True):
    """Sources of derived passages in one snapshot. Positions are sorted."""

    apart: Mask
    """The derived passages whose sources are in the index, shape (n,)."""
    lines: Positions
    """Derived passages with at most `FEW` sources, once for each source."""
    sources: Positions
    """The source of each of `lines`."""
    pages: Positions
    """Derived passages that may be found themselves: facts, what restates them, those with more sources."""


class Ranges(msgspec.Struct, frozen=True):
    """Sources as parts of documents: one element for each derived passage and source."""

    passages: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    """Ordinals, both inclusive."""


def derived_passages(snapshot: Snapshot) -> Positions:
    """Return the positions of derived passages."""
    return np.flatnonzero((snapshot.rows["flags"] & DERIVED) > 0)


def ranges(metas: Iterable[tuple[int, str]], documents: Mapping[str, int]) -> Ranges:
    """Return the sources of passages, given their `meta` as JSON, that lie in known documents."""
    found: list[tuple[int, int, int, int]] = []
    below = cache(partial(_any_below, documents=documents))
    for passage, meta in metas:
        for ref in _sources(msgspec.json.decode(meta)):
            path, first, last = split_ref(ref)
            document = below(ref) if ref.endswith("/") else documents.get(path)
            if document is not None:
                begin = 0 if last is None else first_ordinal(first)
                end = _ALL if last is None else first_ordinal(last + 1) - 1
                found.append((passage, document, begin, end))
    columns = np.array(found, np.int64).reshape(-1, 4).T
    return Ranges(*columns)


def _any_below(folder: str, documents: Mapping[str, int]) -> int | None:
    return next((number for path, number in documents.items() if path.startswith(folder)), None)


def _sources(meta: Any) -> Sequence[str]:
    refs = meta.get(SOURCES) if isinstance(meta, dict) else None
    return [ref for ref in refs if isinstance(ref, str)] if isinstance(refs, list) else []


def edges(snapshot: Snapshot, at: Positions, known: Ranges) -> Edges | None:
    """Place the sources of the derived passages `at`, at least one; None where none of them is there."""
    place, there = _places(snapshot.rows["passage"][at], known.passages)
    low, high = _positions(snapshot, known)
    count = np.where(there, high - low, 0)
    totals = np.bincount(place, count, len(at)).astype(np.int64)
    if not totals.any():
        return None
    apart = np.zeros(len(snapshot), np.bool_)
    apart[at[totals > 0]] = True
    fact = snapshot.rows["kind"][at] == KIND_CODE["fact"]
    # A link to a whole page is no source of a line: a page of facts does not speak for each of them.
    few = (totals[place] <= FEW) & (count > 0) & (known.first > 0)
    lines = np.repeat(at[place[few]], count[few])
    sources = positions_from(low[few], count[few])
    keep = ~apart[sources]
    by_line = np.argsort(lines[keep], kind="stable")
    of_facts = (count > 0) & (known.first == 0)  # of core memory, which may say what no fact file does
    of_facts[of_facts] = snapshot.rows["kind"][low[of_facts]] == KIND_CODE["fact"]
    restates = np.bincount(place[of_facts], minlength=len(at)) > 0
    pages = at[(totals > FEW) | ((fact | restates) & (totals > 0))]
    return Edges(apart, lines[keep][by_line], sources[keep][by_line], pages)


def _places(numbers: Positions, wanted: Positions) -> tuple[Positions, Mask]:
    """Return where each wanted number stands among `numbers` (not sorted, not empty), and whether it does."""
    order = np.argsort(numbers)
    found = np.minimum(np.searchsorted(numbers, wanted, sorter=order), len(numbers) - 1)
    place = order[found]
    return place, numbers[place] == wanted


def _positions(snapshot: Snapshot, known: Ranges) -> tuple[Positions, Positions]:
    """Return the first and the last position, exclusive, of each range; equal where its document is gone."""
    documents = snapshot.rows["document"]
    starts = np.flatnonzero(~snapshot.follows)
    top = max(known.documents.max(initial=0), documents.max(initial=0))
    groups = np.full(int(top) + 1, -1)
    groups[documents[starts]] = np.arange(len(starts))
    group = groups[known.documents]
    keys = (snapshot.group << _BITS) | np.minimum(snapshot.rows["ordinal"], _ALL)
    low = np.searchsorted(keys, (group << _BITS) | np.minimum(known.first, _ALL))
    high = np.searchsorted(keys, (group << _BITS) | np.minimum(known.last, _ALL), side="right")
    return low, np.where(group >= 0, high, low)


def positions_from(first: Positions, count: Positions) -> Positions:
    """Return `count[i]` positions from `first[i]` on, for each i."""
    offsets = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(first, count) + offsets
