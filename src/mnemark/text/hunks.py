"""What an edit changed, as hunks of lines: to be done again, or taken back, on a text that has moved on."""

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from typing import Final

import msgspec

_CONTEXT: Final = 2
_LONG: Final = 2000  # lines; beyond, the matcher may pass over frequent lines, or it takes minutes


class Hunk(msgspec.Struct, frozen=True, omit_defaults=True):
    """From line `at` (0-based) on, the lines `old` became `new`; `before` and `after` stood around them."""

    at: int
    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def reversed(self) -> "Hunk":
        """What takes it back."""
        return Hunk(self.at, self.new, self.old, self.before, self.after)


def hunks(old: str, new: str) -> tuple[Hunk, ...]:
    """What turns `old` into `new`, in the order of lines; `at` counts lines of `old`.

    Changes that are near each other make one hunk, so that no hunk's surroundings are changed by another.
    """
    one, two = old.split("\n"), new.split("\n")
    start, shorter = 0, min(len(one), len(two))
    while start < shorter and one[start] == two[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == two[-1 - end]:
        end += 1
    middle, other = one[start : len(one) - end], two[start : len(two) - end]
    matcher = SequenceMatcher(None, middle, other, autojunk=max(len(middle), len(other)) > _LONG)
    found: list[list[int]] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        if found and a - found[-1][1] <= 2 * _CONTEXT:
            found[-1][1::2] = [b, d]
        else:
            found.append([a, b, c, d])
    return tuple(
        Hunk(
            start + a,
            tuple(middle[a:b]),
            tuple(other[c:d]),
            tuple(one[max(start + a - _CONTEXT, 0) : start + a]),
            tuple(one[start + b : start + b + _CONTEXT]),
        )
        for a, b, c, d in found
    )


def without_context(changes: Sequence[Hunk], lines: Collection[int]) -> tuple[Hunk, ...]:
    """The same changes without surroundings that are or lie beyond `lines` (0-based, of the old text)."""
    found = []
    for hunk in changes:
        first, end = hunk.at - len(hunk.before), hunk.at + len(hunk.old)
        above = [n for n in range(first, hunk.at) if n in lines]
        below = [n for n in range(end, end + len(hunk.after)) if n in lines]
        before = hunk.before[above[-1] - first + 1 :] if above else hunk.before
        after = hunk.after[: below[0] - end] if below else hunk.after
        found.append(msgspec.structs.replace(hunk, before=before, after=after))
    return tuple(found)


def apply(text: str, changes: Sequence[Hunk]) -> str | None:
    """`text` with the changes in it; where it holds one already, that one is passed over.

    Lines may have moved: each change goes where its surroundings are, nearest to where it was. None where one
    fits nowhere, because what it changed was changed since.
    """
    lines = text.split("\n")
    moved = 0
    for hunk in changes:
        at = hunk.at + moved
        place = _place(lines, hunk, at)
        if place is None and _is_in(lines, hunk, at):
            moved += len(hunk.new) - len(hunk.old)
            continue
        if place is None:
            place = _place(lines, hunk, at, anywhere=True)
        place = _loose_place(lines, hunk) if place is None else place
        if place is None:
            return None
        lines[place : place + len(hunk.old)] = hunk.new
        moved = place - hunk.at + len(hunk.new) - len(hunk.old)
    return "\n".join(lines)


def take_back(text: str, changes: Sequence[Hunk]) -> str | None:
    """`text` without the changes; None where one was itself changed since."""
    moved = 0
    turned = []
    for hunk in changes:
        turned.append(msgspec.structs.replace(hunk.reversed, at=hunk.at + moved))
        moved += len(hunk.new) - len(hunk.old)
    return apply(text, turned)


def diff(path: str, old: str, new: str) -> str:
    """The change as a unified diff for people; empty where there is none."""
    one, two = old.splitlines(), new.splitlines()
    return "\n".join(unified_diff(one, two, f"a/{path}", f"b/{path}", lineterm="", n=_CONTEXT))


def _place(lines: list[str], hunk: Hunk, at: int, *, anywhere: bool = False) -> int | None:
    """Where the hunk's old lines stand among their surroundings, nearest to line `at`.

    Surroundings that are short are those of the beginning or the end of the file, and only fit there unless
    `anywhere`: lines may have been added before and behind.
    """
    whole = (*hunk.before, *hunk.old, *hunk.after)
    first, last = len(hunk.before) < _CONTEXT, len(hunk.after) < _CONTEXT
    found = [
        start + len(hunk.before)
        for start in _runs(lines, whole)
        if anywhere or ((start == 0 or not first) and (start + len(whole) == len(lines) or not last))
    ]
    if not any(line.strip() for line in whole):  # blank lines are everywhere: only where they were
        return at if at in found else None
    return min(found, key=lambda start: abs(start - at), default=None)


def _is_in(lines: list[str], hunk: Hunk, at: int) -> bool:
    """Whether the change was made before, whatever was added at the ends of the file since."""
    if _place(lines, hunk.reversed, at) is not None:
        return True
    new, after = list(hunk.new), hunk.after
    if len(after) < _CONTEXT and not any(line.strip() for line in after):
        after = ()
        while new and not new[-1].strip():  # what ended the file need not end it now
            new.pop()
    undone = hunk.old and next(_runs(lines, (*hunk.before, *hunk.old)), None) is not None
    known = not undone and (any(line.strip() for line in new) or not hunk.new)
    whole = (*hunk.before, *new, *after)
    return known and any(line.strip() for line in whole) and next(_runs(lines, whole), None) is not None


def _loose_place(lines: list[str], hunk: Hunk) -> int | None:
    """Where the surroundings changed: the only place of the old lines, or beside a line that is left."""
    if any(line.strip() for line in hunk.old):
        found = list(_runs(lines, hunk.old))
        return found[0] if len(found) == 1 else None
    if hunk.old:
        return None
    for around, step in ((hunk.before, len(hunk.before)), (hunk.after, 0)):
        found = list(_runs(lines, around)) if any(line.strip() for line in around) else []
        if len(found) == 1:
            return found[0] + step
    return len(lines) - 1 if not any(lines) else None


def _runs(lines: list[str], wanted: tuple[str, ...]) -> Iterator[int]:
    if not wanted:
        return
    first, count = wanted[0], len(wanted)
    start = -1
    while True:
        try:
            start = lines.index(first, start + 1)
        except ValueError:
            return
        if tuple(lines[start : start + count]) == wanted:
            yield start
