"""Filter which passages a search may answer with."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec
import numpy as np

from mnemark.index.rows import ARCHIVED, KIND_CODE, NO_TIME, ORIGIN_CODE, SUSPECT, UNTRUSTED, Rows, seconds
from mnemark.index.snapshot import Mask, Snapshot
from mnemark.types import DateRange, Kind, Origin

Suspected = Literal["none", "only", "apart"]


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
    suspected: Suspected = "apart"
    """What speaks for the owner in the words of a tool or a page: left out ("none"), alone ("only"), or found
    but apart from the rest, so that it counts in no statistics, lifts nothing and takes one place at most.
    Where origins are named, it is like any other."""

    @property
    def counted(self) -> Literal["all", "only", "without"]:
        """Which of such text counts in statistics."""
        if self.suspected == "only":
            return "only"
        return "without" if self.origins is None else "all"

    @property
    def base(self) -> tuple[object, ...]:
        """Key of the base of all statistics: equal for searches that share it."""
        return self.scopes, self.archived, self.counted


def visible(snapshot: Snapshot, scopes: Mapping[str, int], wanted: Filter) -> Mask | None:
    """Return the passages a searcher can know of, the base of all statistics; None for all of them."""
    rows = snapshot.rows
    masks: list[Mask] = []
    if wanted.scopes is not None:
        numbers = [number for name, number in scopes.items() if name in wanted.scopes]
        if len(numbers) < len(scopes):
            masks.append(np.isin(rows["scope"], np.array(numbers, np.int32)))
    if not wanted.archived:
        masks.append((rows["flags"] & ARCHIVED) == 0)
    speaking = None if wanted.counted == "all" else suspected(snapshot)
    if wanted.counted == "only":
        masks.append(np.zeros(len(rows), np.bool_) if speaking is None else speaking)
    elif speaking is not None:
        masks.append(~speaking)
    mask = np.asarray(np.logical_and.reduce(masks), np.bool_) if masks else None
    return None if mask is None or mask.all() else mask


def suspected(snapshot: Snapshot) -> Mask | None:
    """Return the passages that speak for the owner in the words of a tool or a page; None for none."""
    if "suspected" not in snapshot.memo:
        rows = snapshot.rows
        untrusted = np.array([ORIGIN_CODE[origin] for origin in sorted(UNTRUSTED)], np.uint8)
        speaking = ((rows["flags"] & SUSPECT) > 0) & np.isin(rows["origin"], untrusted)
        snapshot.memo["suspected"] = speaking if speaking.any() else None
    found = snapshot.memo["suspected"]
    return found if isinstance(found, np.ndarray) else None


def allowed(rows: Rows, wanted: Filter) -> Mask | None:
    """Return the passages that may be in the answer; None when nothing is ruled out."""
    masks: list[Mask] = []
    if wanted.kinds is not None:
        codes = [KIND_CODE[kind] for kind in sorted(wanted.kinds)]
        masks.append(np.isin(rows["kind"], np.array(codes, np.uint8)))
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
    return np.asarray(np.logical_and.reduce(masks), np.bool_) if masks else None


def inside(rows: Rows, ranges: Sequence[DateRange]) -> Mask | None:
    """Return the passages dated inside any of the ranges; None when there are no ranges."""
    if not ranges:
        return None
    times = rows["time"]
    masks = [(times >= seconds(span.start)) & (times < seconds(span.end)) for span in ranges]
    return np.asarray(np.logical_or.reduce(masks) & (times != NO_TIME), np.bool_)
