"""Join two versions of a file that two machines changed, so that both machines get the same bytes.

`join_logs` is for files of JSON lines, `join_texts` for what people write. Neither depends on which version
is whose: joining is commutative and idempotent, and of logs associative.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from mnemark.files import ids, jsonl
from mnemark.text.lines import changes, common
from mnemark.types import Json

_GIT: Final = re.compile(rb"(?:<{7}|>{7}|\|{7}) [^\r\n]*\r?|={7}\r?")
"""A line by which git marks two versions."""
_BEGIN: Final = b"<!-- two machines changed these lines; keep one version -->"
_OR: Final = b"<!-- or -->"
_END: Final = b"<!-- end of both versions -->"
PART_LINE: Final = "\0"
"""Begins a line that stands for a part of a text: it is an item, and no version of any other line."""
_ITEM: Final = re.compile(rb"(?:[-*+]|\d{1,9}[.)])[ \t]|\0")
_STAMP: Final = re.compile(rb"\A[-*+] (\d\d:\d\d)(?= )")
"""Begins an entry of a day: it tells when it was written."""
_OBSERVED: Final = re.compile(rb"<!-- observed: (\w{1,40}) -->")
"""Ends the entry of a tool call: its id stays when a person edits the line."""
_FENCE: Final = re.compile(rb"[ \t]*(?:```|~~~)")
_ALIKE: Final = 0.6
"""Similarity of two lines from which on one of them replaced the other."""
_MOST_COMPARED: Final = 50
"""Lines of a change that are compared with each other."""


class JoinedLog(msgspec.Struct, frozen=True):
    """A log with all records of two others."""

    data: bytes
    ours: dict[int, int]
    """The new number (from 1) of each line of `ours` that has another than before."""
    theirs: dict[int, int]
    added: int
    """Records of `theirs` that `ours` lacked."""


_Key = tuple[str, str, bool]
"""The place of a line: order and id of the record that it is, or follows, and whether it follows one."""


class _Record(NamedTuple):
    line: bytes
    number: int
    key: _Key
    erased: bool


def join_logs(ours: bytes, theirs: bytes) -> JoinedLog:
    """Return a log with each record of both once, where the logs differ in the order of their ids.

    A record that one side erased is erased. Of two records with one id that say different things both stay.
    Lines that are no records stay below the record that they followed, but for torn ones whose whole is on
    either side, and the marks of git.
    """
    if ours == theirs:
        return JoinedLog(ours, {}, {}, 0)
    one, other = _records_of(ours), _records_of(theirs)
    same = 0
    while same < min(len(one), len(other)) and one[same].key == other[same].key:
        same += 1
    first = [record.key for record in one[:same]]
    rest = sorted({record.key for record in (*one[same:], *other[same:])} - set(first))
    versions: defaultdict[_Key, dict[bytes, bool]] = defaultdict(dict)
    for record in (*one, *other):
        versions[record.key][record.line] = record.erased
    whole = sorted({record.line for record in (*one, *other)})
    lines: list[bytes] = []
    numbers: dict[tuple[_Key, bytes], int] = {}
    for key in dict.fromkeys((*first, *rest)):
        found = versions[key]
        gone = sorted(line for line, erased in found.items() if erased)
        # Both sides may have erased it, at different times: the line of the first is kept.
        for line in gone[:1] or sorted(found):
            if not (key[2] and _is_torn(line, whole)):
                lines.append(line)
            for version in found if gone else (line,):
                numbers[key, version] = len(lines)
    data = b"".join(line + b"\n" for line in lines)
    known = {record.key for record in one}
    return JoinedLog(
        data,
        _moved(one, numbers),
        _moved(other, numbers),
        sum(not key[2] and key not in known for key in {record.key for record in other}),
    )


def _moved(records: Sequence[_Record], numbers: Mapping[tuple[_Key, bytes], int]) -> dict[int, int]:
    pairs = ((record.number, numbers[record.key, record.line]) for record in records)
    return {old: new for old, new in pairs if old != new}


def _records_of(data: bytes) -> list[_Record]:
    records: list[_Record] = []
    order, anchor = "", ""
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = raw.strip(b"\xef\xbb\xbf \t\r")
        if not line or _GIT.fullmatch(line):
            continue
        record = jsonl.decode(line)
        identifier = (record or {}).get("id")
        own = identifier if isinstance(identifier, str) else ""
        if own:
            order, anchor = _order(record, own), own
        records.append(
            _Record(line, number, (order, anchor, not own), own != "" and "erased" in (record or {}))
        )
    return records


def _order(record: dict[str, Json] | None, identifier: str) -> str:
    """Return the ULID of a record, or one made from its time."""
    if ids.is_id(identifier):
        return identifier
    time = (record or {}).get("time")
    try:
        return ids.derived_id(b"", datetime.fromisoformat(time)) if isinstance(time, str) else ""
    except (ValueError, OverflowError):
        return ""


def _is_torn(line: bytes, whole: Sequence[bytes]) -> bool:
    """Whether `line` is only the beginning of another; `whole` is sorted."""
    following = bisect_right(whole, line)
    return jsonl.decode(line) is None and following < len(whole) and whole[following].startswith(line)


class JoinedText(msgspec.Struct, frozen=True):
    """A text with the changes of two others."""

    data: bytes
    doubled: bool = False
    """Whether both changed the same lines differently: both versions stand, marked, for a person."""
    left_out: bool = False
    """Whether lines of one version are left out, where a mark would break front matter or code."""


class _Hunk(NamedTuple):
    """Replace lines `start` to `end` (half-open) of the base by `lines`."""

    start: int
    end: int
    lines: list[bytes]


def join_texts(
    base: bytes | None, ours: bytes, theirs: bytes, *, order: Callable[[bytes], bytes] | None = None
) -> JoinedText:
    """Return a text with the changes that both made to `base`.

    Without a base, nothing counts as deleted: lines of either side stay. What both put in one place stands
    one after the other, list items sorted; where lines replace the same ones, or each other, both versions
    are marked. Entries of a day that were written at different times, or of two tool calls, are no versions
    of each other; without a base, other entries of one minute that are alike may be: a person edits them.

    With `order`, which returns a sort key of the first line of a list item, no two items are versions of one.
    """
    if base in (ours, theirs) or ours == theirs:
        return JoinedText(theirs if base == ours else ours)
    one, other = (text.split(b"\n") for text in sorted((ours, theirs)))
    lines = _shared(one, other) if base is None else base.split(b"\n")
    joining = _Joining(lines, order, has_base=base is not None)
    joining.join(_hunks(lines, one), _hunks(lines, other))
    return JoinedText(b"\n".join(joining.lines), joining.doubled, joining.left_out)


def is_doubled(data: bytes) -> bool:
    """Whether a text holds two versions of some lines, as `join_texts` marks them."""
    return _BEGIN in data


def _shared(one: list[bytes], other: list[bytes]) -> list[bytes]:
    return [line for run in common(one, other) for line in one[run.one : run.one + run.size]]


def _hunks(base: list[bytes], other: list[bytes]) -> list[_Hunk]:
    return [_Hunk(a, b, other[c:d]) for a, b, c, d in changes(base, other)]


class _Joining:
    """The join of two lists of hunks to one base."""

    def __init__(self, base: list[bytes], order: Callable[[bytes], bytes] | None, *, has_base: bool) -> None:
        self.base = base
        self.order = order
        self.has_base = has_base
        self.lines: list[bytes] = []
        self.doubled = False
        self.left_out = False
        self._head = _head_end(base)
        self._fenced = False

    def join(self, first: Sequence[_Hunk], second: Sequence[_Hunk]) -> None:
        """Fill `lines` with the base and the changes of both, in order."""
        one, two = list(reversed(first)), list(reversed(second))
        at = 0
        while one or two:
            if not two or (one and _is_before(one[-1], two[-1])):
                at = self._take(at, one.pop())
            elif not one or _is_before(two[-1], one[-1]):
                at = self._take(at, two.pop())
            else:
                at = self._take_both(at, one, two)
        self._keep(at, len(self.base))

    def _keep(self, start: int, end: int) -> None:
        self._add(self.base[start:end])

    def _add(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            self._fenced ^= bool(_FENCE.match(line))
            self.lines.append(line)

    def _take(self, at: int, hunk: _Hunk) -> int:
        self._keep(at, hunk.start)
        self._add(hunk.lines)
        return hunk.end

    def _take_both(self, at: int, one: list[_Hunk], two: list[_Hunk]) -> int:
        """Join changes that overlap: each side is taken as it stands from the first to the last of them."""
        mine, yours = [one.pop()], [two.pop()]
        end = max(mine[0].end, yours[0].end)
        while (one and one[-1].start < end) or (two and two[-1].start < end):
            rest, taken = (one, mine) if one and one[-1].start < end else (two, yours)
            taken.append(rest.pop())
            end = max(end, taken[-1].end)
        start = min(mine[0].start, yours[0].start)
        self._keep(at, start)
        versions = self._version(start, end, mine), self._version(start, end, yours)
        self._put(*versions, is_new=start == end, in_head=0 < start <= self._head)
        return end

    def _version(self, start: int, end: int, hunks: Sequence[_Hunk]) -> list[bytes]:
        lines, at = list[bytes](), start
        for hunk in hunks:
            lines += [*self.base[at : hunk.start], *hunk.lines]
            at = hunk.end
        return lines + self.base[at:end]

    def _put(self, mine: list[bytes], yours: list[bytes], *, is_new: bool, in_head: bool) -> None:
        """Put both versions of some lines; `is_new`: they replace none of the base."""
        fences = any(map(_FENCE.match, (*mine, *yours)))
        before, mine, yours, after = _around(*sorted((mine, yours)), is_apart=fences or not is_new)
        self._add(before)
        if _holds(mine, yours):
            self._add(mine)
        elif _holds(yours, mine):
            self._add(yours)
        elif in_head or self._fenced or (fences and not is_new):
            # A comment would break the front matter, or stand in the code.
            self._add(yours)
            self.left_out = True
        elif (is_new or self.order) and (items := self._in_order(mine, yours)):
            self._add(items)
        elif is_new and not _alike(mine, yours):
            self._add(mine + yours)
        else:
            versions = sorted({*map(tuple, _versions(mine)), *map(tuple, _versions(yours))})
            end = b"\r" if mine[:1] and mine[0].endswith(b"\r") else b""
            self._add([_BEGIN + end])
            for at, version in enumerate(versions):
                self._add([_OR + end, *version] if at else version)
            self._add([_END + end])
            self.doubled = True
        self._add(after)

    def _in_order(self, mine: list[bytes], yours: list[bytes]) -> list[bytes]:
        """Return the list items of both, each once; none where a side has other lines, or items are alike."""
        one, other = _items(mine), _items(yours)
        if not one or not other or (not self.has_base and self.order is None and _alike(mine, yours)):
            return []
        order = self.order or bytes
        known = set(map(tuple, one))
        two = [item for item in other if tuple(item) not in known]
        joined: list[bytes] = []
        while one or two:
            first = not two or (one and order(one[0][0]) <= order(two[0][0]))
            joined += (one if first else two).pop(0)
        return joined


def _is_before(hunk: _Hunk, other: _Hunk) -> bool:
    return hunk.end <= other.start and (hunk.start, hunk.end) != (other.start, other.end)


def _head_end(lines: Sequence[bytes]) -> int:
    """Return the number of lines of the front matter; 0 without one."""
    if not lines or lines[0].removeprefix(b"\xef\xbb\xbf").rstrip() != b"---":
        return 0
    ends = (at for at, line in enumerate(lines[1:], 1) if line.rstrip() in {b"---", b"..."})
    return next(ends, 0)


def _around(
    one: list[bytes], other: list[bytes], *, is_apart: bool
) -> tuple[list[bytes], list[bytes], list[bytes], list[bytes]]:
    """Return the lines that both begin with, the rest of each, and those that both end with.

    Both may have put the same heading, or an empty line, before what they added. `is_apart`: of lines that
    are changed, or code, the whole is one version.
    """
    shorter = 0 if is_apart else min(len(one), len(other))
    first = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    left = shorter - first
    last = next((at for at in range(left) if one[-1 - at] != other[-1 - at]), left)
    return one[:first], one[first : len(one) - last], other[first : len(other) - last], one[len(one) - last :]


def _holds(longer: Sequence[bytes], shorter: Sequence[bytes]) -> bool:
    """Whether one version contains the other as a run of whole lines."""
    one, other = (b"\n%b\n" % b"\n".join(lines) for lines in (shorter, longer))
    return not shorter or one in other


def _versions(lines: list[bytes]) -> list[list[bytes]]:
    """Return the versions in lines that are marked as such already; else these lines."""
    bare = [line.rstrip(b"\r") for line in lines]
    if len(lines) < 2 or (bare[0], bare[-1]) != (_BEGIN, _END) or _BEGIN in bare[1:]:
        return [lines]
    versions: list[list[bytes]] = [[]]
    for line in lines[1:-1]:
        if line.rstrip(b"\r") == _OR:
            versions.append([])
        else:
            versions[-1].append(line)
    return versions


def _items(lines: Sequence[bytes]) -> list[list[bytes]]:
    """Return the list items that these lines are; none if others are among them."""
    items: list[list[bytes]] = []
    for line in lines:
        if _ITEM.match(line):
            items.append([line])
        elif items and (not line.strip() or line[:1] in b" \t"):
            items[-1].append(line)
        else:
            return []
    return items


def _alike(one: Sequence[bytes], other: Sequence[bytes]) -> bool:
    """Whether a line of one side looks like another version of a line of the other."""
    from difflib import SequenceMatcher  # only where both sides changed a place

    if len(one) * len(other) > _MOST_COMPARED**2:
        return True
    part = PART_LINE.encode()
    pairs = (
        (a.strip(), b.strip())
        for a in one
        for b in other
        if not (a.startswith(part) or b.startswith(part) or _are_apart(a, b))
    )
    return any(a and b and SequenceMatcher(None, a, b).ratio() >= _ALIKE for a, b in pairs)


def _are_apart(one: bytes, other: bytes) -> bool:
    """Whether these begin entries of a day of different times, or of different tool calls."""
    signs = ((sign.search(one), sign.search(other)) for sign in (_STAMP, _OBSERVED))
    return any(a is not None and b is not None and a[1] != b[1] for a, b in signs)
