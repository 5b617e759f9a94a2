"""Merge three versions by lines, and tell whether a version lacks an edit."""

import re
from collections import Counter
from typing import NamedTuple

from mnemark.files.ids import LENGTH
from mnemark.text.lines import changes

_ID = rb"\bid: ([0-9A-Z]{%d})\b" % LENGTH


class _Hunk(NamedTuple):
    """Replace lines `start` to `end` (half-open) of the base by `lines`."""

    start: int
    end: int
    lines: list[bytes]


def merge3(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge two versions of `base`; None where both changed the same lines differently.

    Different insertions at one place are both kept, theirs first; the same insertion is kept once.
    """
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    lines = base.split(b"\n")
    hunks = _combined(_hunks(lines, theirs.split(b"\n")), _hunks(lines, ours.split(b"\n")))
    if hunks is None:
        return None
    merged: list[bytes] = []
    position = 0
    for hunk in hunks:
        merged += lines[position : hunk.start]
        merged += hunk.lines
        position = hunk.end
    return b"\n".join(merged + lines[position:])


def lacks(version: bytes, before: bytes, after: bytes) -> bool:
    """Whether `version` has no line that the edit from `before` to `after` added and each that it removed.

    Lines are counted, blank ones left out, so moved text is not mistaken for lost text. A version with an id
    that the edit made was written by somebody who knew it, and who may have changed its lines.
    """
    made = set(re.findall(_ID, after)) - set(re.findall(_ID, before))
    if not made.isdisjoint(re.findall(_ID, version)):
        return False
    old, new, now = (Counter(text.split(b"\n")) for text in (before, after, version))
    changed = [line for line in old | new if old[line] != new[line] and line.strip()]
    return bool(changed) and all(
        now[line] <= old[line] if new[line] > old[line] else now[line] >= old[line] for line in changed
    )


def _hunks(base: list[bytes], other: list[bytes]) -> list[_Hunk]:
    return [_Hunk(a, b, other[c:d]) for a, b, c, d in changes(base, other)]


def _combined(first: list[_Hunk], second: list[_Hunk]) -> list[_Hunk] | None:
    """Merge two lists in the order of the base; None where two hunks overlap and differ."""
    result: list[_Hunk] = []
    one, two = list(reversed(first)), list(reversed(second))
    while one and two:
        a, b = one[-1], two[-1]
        if (a.start, a.end) == (b.start, b.end):
            joined = _joined(a, b)
            if joined is None:
                return None
            result.append(joined)
            one.pop()
            two.pop()
        elif a.end <= b.start:
            result.append(one.pop())
        elif b.end <= a.start:
            result.append(two.pop())
        else:
            return None
    return result + one[::-1] + two[::-1]


def _joined(first: _Hunk, second: _Hunk) -> _Hunk | None:
    if _contains(first.lines, second.lines):
        return first
    if _contains(second.lines, first.lines):
        return second
    inserted = first.start == first.end
    return _Hunk(first.start, first.end, first.lines + second.lines) if inserted else None


def _contains(longer: list[bytes], shorter: list[bytes]) -> bool:
    """Whether one insertion contains the other as a run of whole lines."""
    if not shorter:
        return not longer
    one, other = (b"\n%b\n" % b"\n".join(lines) for lines in (shorter, longer))
    return one in other
