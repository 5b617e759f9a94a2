"""Record an edit as hunks of lines, to apply or take back on a text that has moved on."""

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from mnemark.text.diff import Gap, changes, runs_in

_CONTEXT: Final = 2
_MOST: Final = 500
"""Hunks of one edit: each is looked for in the whole text, so of more all from first to last become one."""


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
    found = [Gap(near[0].a, near[-1].b, near[0].c, near[-1].d) for near in _near(changes(one, two))]
    if len(found) > _MOST:
        found = [Gap(found[0].a, found[-1].b, found[0].c, found[-1].d)]
    return tuple(
        Hunk(
            a, tuple(one[a:b]), tuple(two[c:d]),
            tuple(one[max(a - _CONTEXT, 0) : a]), tuple(one[b : b + _CONTEXT]),
        )
        for a, b, c, d in found
    )  # fmt: skip


def without_context(edits: Sequence[Hunk], lines: Collection[int]) -> tuple[Hunk, ...]:
    """The same edits without surroundings that are or lie beyond `lines` (0-based, of the old text)."""
    found = []
    for hunk in edits:
        first, end = hunk.at - len(hunk.before), hunk.at + len(hunk.old)
        above = [n for n in range(first, hunk.at) if n in lines]
        below = [n for n in range(end, end + len(hunk.after)) if n in lines]
        before = hunk.before[above[-1] - first + 1 :] if above else hunk.before
        after = hunk.after[: below[0] - end] if below else hunk.after
        found.append(msgspec.structs.replace(hunk, before=before, after=after))
    return tuple(found)


def _near(gaps: Sequence[Gap]) -> list[list[Gap]]:
    """Changes whose surroundings touch, together."""
    groups: list[list[Gap]] = []
    for gap in gaps:
        if groups and gap.a - groups[-1][-1].b <= 2 * _CONTEXT:
            groups[-1].append(gap)
        else:
            groups.append([gap])
    return groups


def apply(text: str, edits: Sequence[Hunk]) -> str | None:
    """`text` with the edits in it; where it holds one already, that one is passed over.

    Lines may have moved: each change goes where its surroundings are, nearest to where it was. None where one
    fits nowhere, because what it changed was changed since.
    """
    lines = text.split("\n")
    moved = 0
    for hunk in edits:
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


def take_back(text: str, edits: Sequence[Hunk]) -> str | None:
    """`text` without the edits; None where one was itself changed since."""
    moved = 0
    turned = []
    for hunk in edits:
        turned.append(msgspec.structs.replace(hunk.reversed, at=hunk.at + moved))
        moved += len(hunk.new) - len(hunk.old)
    return apply(text, turned)


def diff(path: str, old: str, new: str) -> str:
    """The change as a unified diff for people; empty where there is none."""
    one, two = old.splitlines(), new.splitlines()
    rows: list[str] = []
    for near in _near(changes(one, two)):
        a, b = max(near[0].a - _CONTEXT, 0), min(near[-1].b + _CONTEXT, len(one))
        c, d = near[0].c - (near[0].a - a), near[-1].d + (b - near[-1].b)
        rows.append(f"@@ -{_range(a, b)} +{_range(c, d)} @@")
        for gap in near:
            rows += [f" {line}" for line in one[a : gap.a]]
            rows += [f"-{line}" for line in one[gap.a : gap.b]]
            rows += [f"+{line}" for line in two[gap.c : gap.d]]
            a = gap.b
        rows += [f" {line}" for line in one[a:b]]
    return "\n".join([f"--- a/{path}", f"+++ b/{path}", *rows]) if rows else ""


def _range(start: int, end: int) -> str:
    """Lines as a unified diff counts them: from 1; of none the line before."""
    size = end - start
    return str(start + 1) if size == 1 else f"{start + bool(size)},{size}"


def _place(lines: list[str], hunk: Hunk, at: int, *, anywhere: bool = False) -> int | None:
    """Where the hunk's old lines stand among their surroundings, nearest to line `at`.

    Surroundings that are short are those of the beginning or the end of the file, and only fit there unless
    `anywhere`: lines may have been added before and behind.
    """
    whole = (*hunk.before, *hunk.old, *hunk.after)
    first, last = len(hunk.before) < _CONTEXT, len(hunk.after) < _CONTEXT

    def fits(start: int) -> bool:
        return anywhere or ((start == 0 or not first) and (start + len(whole) == len(lines) or not last))

    here = at - len(hunk.before)
    if here >= 0 and tuple(lines[here : here + len(whole)]) == whole and whole and fits(here):
        return at
    if not any(line.strip() for line in whole):  # blank lines are everywhere: only where they were
        return None
    found = [start + len(hunk.before) for start in runs_in(lines, whole) if fits(start)]
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
    undone = hunk.old and next(runs_in(lines, (*hunk.before, *hunk.old)), None) is not None
    known = not undone and (any(line.strip() for line in new) or not hunk.new)
    whole = (*hunk.before, *new, *after)
    return known and any(line.strip() for line in whole) and next(runs_in(lines, whole), None) is not None


def _loose_place(lines: list[str], hunk: Hunk) -> int | None:
    """Where the surroundings changed: the only place of the old lines, or beside a line that is left."""
    if any(line.strip() for line in hunk.old):
        found = list(runs_in(lines, hunk.old))
        return found[0] if len(found) == 1 else None
    if hunk.old:
        return None
    for around, step in ((hunk.before, len(hunk.before)), (hunk.after, 0)):
        found = list(runs_in(lines, around)) if any(line.strip() for line in around) else []
        if len(found) == 1:
            return found[0] + step
    return len(lines) - 1 if not any(lines) else None
