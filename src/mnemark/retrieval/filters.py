"""Filter the passages of a search by scope, kind, origin and time."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec
import numpy as np

from mnemark.index.rows import (
    ARCHIVED,
    KIND_CODE,
    NO_TIME,
    ORIGIN_CODE,
    SUSPECT,
    TASTE,
    UNTRUSTED,
    Rows,
    seconds,
)
from mnemark.index.snapshot import Mask, Positions, Snapshot
from mnemark.types import DateRange, Kind, Origin

Suspected = Literal["none", "only", "apart"]


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on the passages of a search. Times are wall times, `since <= t < until`."""

    kinds: frozenset[Kind] | None = None
    origins: frozenset[Origin] | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    """Only passages dated up to then, and undated ones."""
    scopes: frozenset[str] | None = frozenset({""})
    """Scopes to search; None for all."""
    archived: bool = False
    suspected: Suspected = "apart"
    """How to treat tool output and web pages written as if by the owner: exclude ("none"), only these
    ("only"), or search them separately ("apart"), outside all statistics and boosts, for one hit at most.
    With `origins` given they are like any other passage."""

    @property
    def counted(self) -> Literal["all", "only", "without"]:
        """Which suspected passages count in statistics."""
        if self.suspected == "only":
            return "only"
        return "without" if self.origins is None else "all"

    @property
    def base(self) -> tuple[object, ...]:
        """Cache key of the set of passages that statistics are computed over."""
        return self.scopes, self.archived, self.counted


def visible(snapshot: Snapshot, scopes: Mapping[str, int], wanted: Filter) -> Mask | None:
    """Return the mask of passages that statistics are computed over; None for all."""
    rows = snapshot.rows
    masks: list[Mask] = []
    if (inside_scopes := in_scopes(rows, scopes, wanted.scopes)) is not None:
        masks.append(inside_scopes)
    if not wanted.archived:
        masks.append((rows["flags"] & ARCHIVED) == 0)
    suspect = None if wanted.counted == "all" else suspected(snapshot)
    if wanted.counted == "only":
        masks.append(np.zeros(len(rows), np.bool_) if suspect is None else suspect)
    elif suspect is not None:
        masks.append(~suspect)
    mask = np.asarray(np.logical_and.reduce(masks), np.bool_) if masks else None
    return None if mask is None or mask.all() else mask


def in_scopes(rows: Rows, scopes: Mapping[str, int], wanted: Collection[str] | None) -> Mask | None:
    """Return the mask of passages in the wanted scopes, of all `scopes` by their numbers; None for all."""
    numbers = [number for name, number in scopes.items() if wanted is None or name in wanted]
    return np.isin(rows["scope"], np.array(numbers, np.int32)) if len(numbers) < len(scopes) else None


def suspected(snapshot: Snapshot) -> Mask | None:
    """Return the mask of untrusted passages written as if by the owner; None where there are none."""
    if "suspected" not in snapshot.memo:
        rows = snapshot.rows
        untrusted = np.array([ORIGIN_CODE[origin] for origin in sorted(UNTRUSTED)], np.uint8)
        suspect = ((rows["flags"] & SUSPECT) > 0) & np.isin(rows["origin"], untrusted)
        snapshot.memo["suspected"] = suspect if suspect.any() else None
    found = snapshot.memo["suspected"]
    return found if isinstance(found, np.ndarray) else None


def tastes(snapshot: Snapshot) -> Positions:
    """Return the positions of turns that state a taste, without those that look like instructions."""
    if "tastes" not in snapshot.memo:
        snapshot.memo["tastes"] = np.flatnonzero(snapshot.rows["flags"] & (TASTE | SUSPECT) == TASTE)
    found = snapshot.memo["tastes"]
    return found if isinstance(found, np.ndarray) else np.zeros(0, np.int64)


def allowed(rows: Rows, wanted: Filter) -> Mask | None:
    """Return the mask of passages that match kinds, origins and times; None where all match."""
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
    """Return the mask of passages dated inside any of the ranges; None without ranges."""
    if not ranges:
        return None
    times = rows["time"]
    masks = [(times >= seconds(span.start)) & (times < seconds(span.end)) for span in ranges]
    return np.asarray(np.logical_or.reduce(masks) & (times != NO_TIME), np.bool_)
