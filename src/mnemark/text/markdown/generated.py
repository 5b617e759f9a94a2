"""Read and write generated parts of a file that people write, too: only between visible markers.

    <!-- mnemark:begin core | 3f2a9c 04b1de | without: 77aa01 -->
    - lines that mnemark wrote
    <!-- mnemark:end core -->

The begin marker has a short hash of each line written. So a line that a person wrote between the markers is
known and kept (it moves below the part), and one that a person took out is known and does not come back
("without").
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Final, NamedTuple

_BEGIN: Final = re.compile(
    r"^[ \t]*<!-- mnemark:begin (?P<name>[\w-]+)(?: \|(?P<own>[ 0-9a-f]*))?"
    r"(?:\| without:(?P<without>[ 0-9a-f]*))?-->[ \t]*$"
)
_END: Final = re.compile(r"^[ \t]*<!-- mnemark:end (?P<name>[\w-]+) -->[ \t]*$")
_DIGITS: Final = 6


class Part(NamedTuple):
    """A generated part as it stands. `start` and `stop` are lines (0-based, half-open), markers included."""

    start: int
    stop: int
    lines: tuple[str, ...]
    """What mnemark wrote and still stands."""
    added: tuple[str, ...]
    """What a person wrote between the markers."""
    removed: frozenset[str]
    """Marks of lines that a person took out."""


def mark(line: str) -> str:
    """What a line is known by: the first bits of its hash, blanks around it left out."""
    return hashlib.blake2b(line.strip().encode("utf-8", "replace"), digest_size=8).hexdigest()[:_DIGITS]


def find(text: str, name: str) -> Part | None:
    """The part of that name; None where its markers are not both there."""
    lines = text.split("\n")
    start = -1
    for at, line in enumerate(lines):
        begin, end = _BEGIN.match(line.rstrip("\r")), _END.match(line.rstrip("\r"))
        if begin and begin["name"] == name:
            start = at
        elif end and end["name"] == name and start >= 0:
            return _part(lines, start, at + 1)
    return None


def _part(lines: Sequence[str], start: int, stop: int) -> Part:
    head = _BEGIN.match(lines[start].rstrip("\r"))
    own = set((head["own"] or "").split()) if head else set()
    without = (head["without"] or "").split() if head else []
    inside = [line.rstrip("\r") for line in lines[start + 1 : stop - 1]]
    kept = tuple(line for line in inside if line.strip() and mark(line) in own)
    added = tuple(line for line in inside if line.strip() and mark(line) not in own)
    removed = (own - {mark(line) for line in kept}) | set(without)
    return Part(start, stop, kept, added, frozenset(removed))


def put(text: str, name: str, lines: Iterable[str]) -> str:
    """`text` with the part of that name holding `lines`, but for those that a person took out.

    A new part goes to the end. What a person wrote in the part stands below it afterwards; all other text is
    as it was. Putting the same lines again changes nothing.
    """
    stop = "\r\n" if "\r\n" in text else "\n"
    part = find(text, name)
    removed = part.removed if part else frozenset[str]()
    wanted = [line for line in lines if mark(line) not in removed]
    if part is None:
        if not wanted:
            return text
        gap = "" if not text else stop if text.endswith("\n") else 2 * stop
        return text + gap + stop.join(_framed(name, wanted, removed)) + stop
    old = text.split("\n")
    tail = "\r" if stop == "\r\n" else ""
    framed = [line + tail for line in _framed(name, wanted, removed)]
    if part.added:
        framed += [tail, *(line + tail for line in part.added)]
    last = part.stop == len(old)
    if last and tail:  # the last line of a file may lack its end
        framed[-1] = framed[-1].rstrip("\r")
    return "\n".join([*old[: part.start], *framed, *old[part.stop :]])


def _framed(name: str, lines: Sequence[str], removed: frozenset[str]) -> list[str]:
    own = " ".join(dict.fromkeys(mark(line) for line in lines if line.strip()))
    head = f"<!-- mnemark:begin {name} | {own}".rstrip() + " "
    head += f"| without: {' '.join(sorted(removed))} " if removed else ""
    return [f"{head}-->", *lines, f"<!-- mnemark:end {name} -->"]


def emptied(text: str) -> str:
    """The text with the lines of generated parts emptied, so that the numbers of all lines hold."""
    return "\n".join("" if place is _OURS else line for line, place in _judged(text.split("\n")))


def without(text: str, is_gone: Callable[[str], bool]) -> str:
    """The text without those lines of generated parts that are gone; what people wrote there stays."""
    judged = _judged(text.split("\n"))
    left = (line for line, place in judged if place is not _OURS or not is_gone(line.rstrip("\r")))
    return "\n".join(left)


def written(text: str) -> frozenset[str]:
    """The lines of generated parts that mnemark wrote, blank ones and markers among them."""
    judged = _judged(text.split("\n"))
    return frozenset(line.rstrip("\r") for line, place in judged if place is _OURS)


def outside(text: str) -> str:
    """The text without generated parts: what people wrote, between the markers included."""
    judged = _judged(text.split("\n"))
    return "\n".join(
        line if place is _OUTSIDE else line.rstrip("\r") for line, place in judged if place is not _OURS
    )


class _Place(Enum):
    OUTSIDE = "outside"
    ADDED = "added"
    OURS = "ours"


_OUTSIDE: Final = _Place.OUTSIDE
_OURS: Final = _Place.OURS


def _judged(lines: Sequence[str]) -> Iterator[tuple[str, _Place]]:
    """Each line and whose it is. Parts may lie in one another: then it is ours if it is in one of them."""
    begins: defaultdict[int, list[str]] = defaultdict(list)
    ends: defaultdict[int, list[str]] = defaultdict(list)
    for start, stop in _spans(lines):
        head = _BEGIN.match(lines[start].rstrip("\r"))
        own = list(dict.fromkeys((head["own"] or "").split())) if head else []
        begins[start] = ends[stop - 1] = own
    known: Counter[str] = Counter()
    depth = 0
    for at, line in enumerate(lines):
        inside = depth > 0 or at in begins
        marker = at in begins or at in ends
        ours = inside and (marker or not line.strip() or known[mark(line)] > 0)
        yield line, _OURS if ours else _Place.ADDED if inside else _OUTSIDE
        if at in begins:
            depth += 1
            known.update(begins[at])
        if at in ends:
            depth -= 1
            known.subtract(ends[at])


def _spans(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Lines of the first part of each name, markers included."""
    begun: dict[str, int] = {}
    found: dict[str, tuple[int, int]] = {}
    for at, line in enumerate(lines):
        if "<!-- mnemark:" not in line:
            continue
        bare = line.rstrip("\r")
        if (begin := _BEGIN.match(bare)) and begin["name"] not in found:
            begun[begin["name"]] = at
        elif (end := _END.match(bare)) and end["name"] in begun:
            found.setdefault(end["name"], (begun[end["name"]], at + 1))
    return sorted(found.values())
