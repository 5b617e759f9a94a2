"""Split text into lines as editors number them, keep bytes that are not UTF-8, and compare sequences.

Sequences are compared in bounded time: small or ordinary ones by `difflib`, whose time grows with the cube
of repeated lines (a table, a page of blank lines). Where that would take too long, items unique on both sides
are matched first (as in Cohen's patience diff), and only the gaps between them are compared, within a budget.
The rest counts as changed: a correct diff, if not the shortest.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from io import StringIO
from typing import Final, NamedTuple

_MOST_WORK: Final = 1_000_000  # steps of the matcher in one call, at worst: some tenths of a second
_MAX_DEPTH: Final = 8  # maximum recursion depth of matching unique items


def lines(text: str) -> list[str]:
    r"""Return the lines of a text with their ends (`\n`, `\r\n` or `\r`), the last one also without.

    >>> lines("one\r\ntwo\rthree")
    ['one\r\n', 'two\r', 'three']
    """
    return list(StringIO(text, newline=""))


def decode(data: bytes) -> str:
    """Decode a fact file; bytes that are not UTF-8 become lone surrogates, which `encode` restores."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Encode a text from `decode`."""
    return text.encode("utf-8", "surrogateescape")


def clean(text: str) -> str:
    """Return a text on one line, with replacement characters for what is not UTF-8."""
    if text.isascii():
        return " ".join(text.split())
    try:
        data = encode(text)
    except UnicodeEncodeError:  # lone surrogates from JSON escapes
        data = text.encode("utf-8", "replace")
    return " ".join(data.decode("utf-8", "replace").split())


def runs_in(items: Sequence[Hashable], wanted: Sequence[Hashable]) -> Iterator[int]:
    """Yield the positions of `wanted` as a contiguous run, overlaps included; linear (Knuth, Morris, Pratt).

    >>> list(runs_in("aaab", "aa"))
    [0, 1]
    """
    if not wanted:
        return
    back = [0] * len(wanted)
    same = 0
    for place in range(1, len(wanted)):
        while same and wanted[place] != wanted[same]:
            same = back[same - 1]
        same += wanted[place] == wanted[same]
        back[place] = same
    same = 0
    for place, item in enumerate(items):
        while same and item != wanted[same]:
            same = back[same - 1]
        same += item == wanted[same]
        if same == len(wanted):
            yield place - same + 1
            same = back[same - 1]


class Stretch(NamedTuple):
    """`size` equal items, from `one` on in the first and from `other` on in the second."""

    one: int
    other: int
    size: int


class Gap(NamedTuple):
    """Items `a` to `b` of the first became `c` to `d` of the second; half-open, counted from 0."""

    a: int
    b: int
    c: int
    d: int


def common(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[Stretch]:
    """Return the maximal runs of common items, in order. Linear, but for a sort.

    >>> common("abcd", "abxd")
    [Stretch(one=0, other=0, size=2), Stretch(one=3, other=3, size=1)]
    """
    joined: list[Stretch] = []
    for run in _Matcher(one, other).runs():
        last = joined[-1] if joined else None
        if last and (last.one + last.size, last.other + last.size) == (run.one, run.other):
            joined[-1] = Stretch(last.one, last.other, last.size + run.size)
        else:
            joined.append(run)
    return joined


def changes(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[Gap]:
    """Return the changes that turn the first into the second, in order.

    >>> changes("abcd", "abxd")
    [Gap(a=2, b=3, c=2, d=3)]
    """
    found: list[Gap] = []
    at, to = 0, 0
    for run in [*common(one, other), Stretch(len(one), len(other), 0)]:
        if (at, to) != (run.one, run.other):
            found.append(Gap(at, run.one, to, run.other))
        at, to = run.one + run.size, run.other + run.size
    return found


class _Matcher:
    """Compares two sequences within `_MOST_WORK` steps of `difflib`."""

    def __init__(self, one: Sequence[Hashable], other: Sequence[Hashable]) -> None:
        self._one = one
        self._other = other
        self._left = _MOST_WORK

    def runs(self) -> Iterator[Stretch]:
        """Yield the common runs in order."""
        todo: list[tuple[Gap | Stretch, int]] = [(Gap(0, len(self._one), 0, len(self._other)), 0)]
        while todo:
            part, depth = todo.pop()
            if isinstance(part, Stretch):
                yield part
            else:
                todo += [(inside, depth + 1) for inside in reversed(self._parts(part, depth))]

    def _parts(self, gap: Gap, depth: int) -> list[Gap | Stretch]:
        """Split a gap into common runs, and smaller gaps still to be compared."""
        a, b, c, d = gap
        start = 0
        while a + start < b and c + start < d and self._one[a + start] == self._other[c + start]:
            start += 1
        end = 0
        most = min(b - a, d - c) - start
        while end < most and self._one[b - 1 - end] == self._other[d - 1 - end]:
            end += 1
        inside = Gap(a + start, b - end, c + start, d - end)
        found: list[Gap | Stretch] = [Stretch(a, c, start)] if start else []
        found += self._inside(inside, depth)
        return [*found, Stretch(b - end, d - end, end)] if end else found

    def _inside(self, gap: Gap, depth: int) -> list[Gap | Stretch]:
        a, b, c, d = gap
        if a == b or c == d:
            return []
        mine, theirs = Counter(self._one[a:b]), Counter(self._other[c:d])
        work = sum(count * theirs[item] for item, count in mine.items()) * min(b - a, d - c)
        if work <= self._left:
            from difflib import SequenceMatcher  # a start needs none

            self._left -= work
            matcher = SequenceMatcher(None, self._one[a:b], self._other[c:d], autojunk=False)
            return [Stretch(a + x, c + y, size) for x, y, size in matcher.get_matching_blocks() if size]
        if depth >= _MAX_DEPTH:
            return []
        return self._anchored(gap, mine, theirs)

    def _anchored(self, gap: Gap, mine: Counter[Hashable], theirs: Counter[Hashable]) -> list[Gap | Stretch]:
        """Match items unique on both sides, in increasing order; return them and the gaps between them."""
        places = {self._other[at]: at for at in range(gap.c, gap.d) if theirs[self._other[at]] == 1}
        pairs = [
            (at, places[self._one[at]])
            for at in range(gap.a, gap.b)
            if mine[self._one[at]] == 1 and self._one[at] in places
        ]
        found: list[Gap | Stretch] = []
        at, to = gap.a, gap.c
        for here, there in _longest_increasing(pairs):
            found += [Gap(at, here, to, there), Stretch(here, there, 1)]
            at, to = here + 1, there + 1
        return [*found, Gap(at, gap.b, to, gap.d)] if found else []


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence with increasing second numbers of pairs sorted by the first."""
    lows: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for place, (_, there) in enumerate(pairs):
        level = bisect_left(lows, there)
        before.append(tops[level - 1] if level else -1)
        lows[level : level + 1] = [there]
        tops[level : level + 1] = [place]
    found: list[tuple[int, int]] = []
    place = tops[-1] if tops else -1
    while place >= 0:
        found.append(pairs[place])
        place = before[place]
    return found[::-1]
