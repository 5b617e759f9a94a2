"""Filter which passages a search may answer with."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec
import numpy as np

from mnemark.index.rows import ARCHIVED, KIND_CODE, NO_TIME, ORIGIN_CODE, SUSPECT, UNTRUSTED, Rows, seconds
from mnemark.index.snapshot import Mask, Snapshot
from mnemark.types import DateRange, Kind, Origin

Planted = Literal["none", "only", "apart"]


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """What narrows a search. Times are wall times, `since <= t < until`."""

    kinds: frozenset[Kind] | None = None
    origins: frozenset[Origin] | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    """Only what was dated up to then; undated text stays."""
    scopes: frozenset[str] | None = frozenset({""})
    """Whose memory; None for everyone's."""
    archived: bool = False
    planted: Planted = "apart"
    """What speaks for the owner in the words of a tool or a page: left out ("none"), alone ("only"), or found
    but apart from the rest, so that it counts in no statistics, lifts nothing and takes one place at most.
    Where origins are named, it is like any other."""

    @property
    def counted(self) -> Literal["all", "only", "without"]:
        """What the base of all statistics is, as far as such text goes."""
        if self.planted == "only":
            return "only"
        return "without" if self.origins is None else "all"

    @property
    def base(self) -> tuple[object, ...]:
        """What the base of all statistics depends on: equal for searches that share it."""
        return self.scopes, self.archived, self.counted


def visible(snapshot: Snapshot, scopes: Mapping[str, int], wanted: Filter) -> Mask | None:
    """The passages a searcher can know of: the base of all statistics. None when that is all of them."""
    rows = snapshot.rows
    mask: Mask | None = None
    if wanted.scopes is not None:
        numbers = [number for name, number in scopes.items() if name in wanted.scopes]
        if len(numbers) < len(scopes):
            mask = np.isin(rows["scope"], np.array(numbers, np.int32))
    if not wanted.archived:
        archived = (rows["flags"] & ARCHIVED) > 0
        if archived.any():
            mask = ~archived if mask is None else mask & ~archived
    speaking = None if wanted.counted == "all" else planted(snapshot)
    if wanted.counted == "only":
        chosen = np.zeros(len(rows), np.bool_) if speaking is None else speaking
        mask = chosen if mask is None else mask & chosen
    elif speaking is not None:
        mask = ~speaking if mask is None else mask & ~speaking
    return None if mask is None or mask.all() else mask


def planted(snapshot: Snapshot) -> Mask | None:
    """The passages that speak for the owner in the words of a tool or a page; None where there are none."""
    if "planted" not in snapshot.memo:
        rows = snapshot.rows
        untrusted = np.array([ORIGIN_CODE[origin] for origin in sorted(UNTRUSTED)], np.uint8)
        speaking = ((rows["flags"] & SUSPECT) > 0) & np.isin(rows["origin"], untrusted)
        snapshot.memo["planted"] = speaking if speaking.any() else None
    found = snapshot.memo["planted"]
    return found if isinstance(found, np.ndarray) else None


def allowed(rows: Rows, wanted: Filter) -> Mask | None:
    """The passages that may be in the answer; None when nothing is ruled out."""
    masks: list[Mask] = []
    if wanted.kinds is not None:
        masks.append(
            np.isin(rows["kind"], np.array([KIND_CODE[kind] for kind in sorted(wanted.kinds)], np.uint8))
        )
    if wanted.origins is not None:
        codes = [ORIGIN_CODE[origin] for origin in sorted(wanted.origins)]
        masks.append(np.isin(rows["origin"], np.array(codes, np.uint8)))
    times = rows["time"]
    if wanted.since is not None:
        masks.append((times != NO_TIME) & (times >= seconds(wanted.since)))
    if wanted.until is not None:
        masks.append((times != NO_TIME) & (times < seconds(wanted.until)))
    if wanted.as_of is not None:
        masks.append((times == NO_TIME) | (times <= seconds(wanted.as_of)))
    if not masks:
        return None
    return np.asarray(np.logical_and.reduce(masks), np.bool_)


def inside(rows: Rows, ranges: Sequence[DateRange]) -> Mask | None:
    """Passages dated inside any of the ranges; None when there are no ranges."""
    if not ranges:
        return None
    times = rows["time"]
    masks = [(times >= seconds(span.start)) & (times < seconds(span.end)) for span in ranges]
    return np.asarray(np.logical_or.reduce(masks) & (times != NO_TIME), np.bool_)
