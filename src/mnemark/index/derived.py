"""Find out what derived text comes from: episodes, lines of notes and scratchpads name turns or pages.

Derived text repeats its sources in other words. A search ranks the sources by it, too, and does not let it
take their places. Text that a person wrote or changed is not derived.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import msgspec
import numpy as np
import numpy.typing as npt

from mnemark.index.rows import DERIVED, KIND_CODE
from mnemark.index.snapshot import Mask, Positions, Snapshot
from mnemark.text.lazy_pattern import lazy_pattern

SOURCES: Final = "sources"
"""Key of the sources in the `meta` of a derived passage."""
FEW: Final = 4
"""Passages that a line may come from to say something about each; an episode comes from more."""
_REFS: Final = lazy_pattern(r" \u2014 (?P<refs>[^ ]+\.jsonl#L\d+(?:, [^ ]+\.jsonl#L\d+)*)$")
"""The turns of a line, at its end."""
_LINK: Final = lazy_pattern(r"\]\((?P<target>[^()\s:]+\.(?:md|jsonl)(?:#L\d+(?:-L\d+)?)?)\)")
_REF: Final = lazy_pattern(
    r"(?P<path>.+?)(?:#L(?P<first>\d{1,9})(?:C\d+)?(?:-L(?P<last>\d{1,9})(?:C\d+)?)?)?\Z", re.DOTALL
)
_BITS: Final = 41
"""Bits of an ordinal: 21 of the line, 20 of the chunk."""
_ALL: Final = (1 << _BITS) - 1
_LINE_SHIFT: Final = 20


class SourcedLine(NamedTuple):
    """A derived line that names its turns, without the list marker and without their refs."""

    number: int
    text: str
    sources: tuple[str, ...]


def sourced_lines(text: str) -> list[SourcedLine]:
    """Return the lines that end with refs of turns; numbers from 1."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _REFS.search(line.rstrip()) if ".jsonl#L" in line else None
        if match is not None:
            words = line[: match.start()].strip().removeprefix("- ")
            found.append(SourcedLine(number, words, tuple(match["refs"].split(", "))))
    return found


def linked(text: str, path: str) -> tuple[str, ...]:
    """Return the refs that a passage of the page at `path` links to, relative to the workspace."""
    folder = posixpath.dirname(path)
    targets = (unquote(match["target"]) for match in _LINK.finditer(text))
    return tuple(dict.fromkeys(posixpath.normpath(posixpath.join(folder, target)) for target in targets))


class Edges(NamedTuple):
    """Sources of derived passages in one snapshot. Positions are sorted."""

    apart: Mask
    """The derived passages whose sources are in the index, shape (n,)."""
    lines: Positions
    """Derived passages with at most `FEW` sources, once for each source."""
    sources: Positions
    """The source of each of `lines`."""
    pages: Positions
    """Derived passages that may be found themselves: facts, and those with more sources."""


class Ranges(NamedTuple):
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
    for passage, meta in metas:
        for ref in _sources(msgspec.json.decode(meta)):
            match = _REF.match(ref)
            if match is None:
                continue
            document = documents.get(match["path"]) if ref[-1] != "/" else _any_below(ref, documents)
            if document is None:
                continue
            first = int(match["first"] or 0)
            last = int(match["last"] or first) if first else _ALL >> _LINE_SHIFT
            found.append((passage, document, first << _LINE_SHIFT, ((last + 1) << _LINE_SHIFT) - 1))
    columns = np.array(found, np.int64).reshape(-1, 4).T
    return Ranges(*columns)


def _any_below(folder: str, documents: Mapping[str, int]) -> int | None:
    return next((number for path, number in documents.items() if path.startswith(folder)), None)


def _sources(meta: Any) -> Sequence[str]:
    refs = meta.get(SOURCES) if isinstance(meta, dict) else None
    return [ref for ref in refs if isinstance(ref, str)] if isinstance(refs, list) else []


def edges(snapshot: Snapshot, known: Ranges) -> Edges | None:
    """Place sources in a snapshot; None where no derived passage has one."""
    at = derived_passages(snapshot)
    numbers = snapshot.rows["passage"][at]
    order = np.argsort(numbers)
    places = np.searchsorted(numbers, known.passages, sorter=order)
    places = np.minimum(places, len(at) - 1) if len(at) else places
    if not len(at):
        return None
    place = order[places]
    there = numbers[place] == known.passages
    starts = np.flatnonzero(~snapshot.follows)
    top = max(known.documents.max(initial=0), snapshot.rows["document"].max(initial=0))
    groups = np.full(int(top) + 1, -1)
    groups[snapshot.rows["document"][starts]] = np.arange(len(starts))
    group = groups[known.documents]
    there &= group >= 0
    keys = (snapshot.group << _BITS) | np.minimum(snapshot.rows["ordinal"], _ALL)
    low = np.searchsorted(keys, (group << _BITS) | np.minimum(known.first, _ALL))
    high = np.searchsorted(keys, (group << _BITS) | np.minimum(known.last, _ALL), side="right")
    count = np.where(there, high - low, 0)
    totals = np.bincount(place, count, len(at)).astype(np.int64)
    apart = np.zeros(len(snapshot), np.bool_)
    apart[at[totals > 0]] = True
    if not apart.any():
        return None
    fact = snapshot.rows["kind"][at] == KIND_CODE["fact"]
    # A link to a whole page is no source of a line: a page of facts does not speak for each of them.
    few = (totals[place] <= FEW) & (count > 0) & (known.first > 0)
    repeats = count[few]
    lines = np.repeat(at[place[few]], repeats)
    offsets = np.arange(len(lines)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    sources = np.repeat(low[few], repeats) + offsets
    keep = ~apart[sources]
    by_line = np.argsort(lines[keep], kind="stable")
    return Edges(
        apart, lines[keep][by_line], sources[keep][by_line], at[(totals > FEW) | (fact & (totals > 0))]
    )
