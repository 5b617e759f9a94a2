"""Record an edit as hunks of lines, and apply or revert it on a text that was edited since."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec

from mnemark.text.lines import Gap, changes, runs_in

_CONTEXT: Final = 2
_MAX_HUNKS: Final = 500  # more hunks are merged into one, as each is searched in the whole text


class Hunk(msgspec.Struct, frozen=True, omit_defaults=True):
    """Replacement of the lines `old` from line `at` (0-based) by `new`, with context `before` and `after`."""

    at: int
    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def reversed(self) -> "Hunk":
        """The inverse hunk."""
        return Hunk(self.at, self.new, self.old, self.before, self.after)


def hunks(old: str, new: str) -> tuple[Hunk, ...]:
    """Return the hunks that turn `old` into `new`, in order; `at` is a line of `old`.

    Nearby changes are merged into one hunk, so that no hunk changes the context of another.
    """
    one, two = old.split("\n"), new.split("\n")
    found = [Gap(near[0].a, near[-1].b, near[0].c, near[-1].d) for near in _group_near(changes(one, two))]
    if len(found) > _MAX_HUNKS:
        found = [Gap(found[0].a, found[-1].b, found[0].c, found[-1].d)]
    return tuple(
        Hunk(
            a, tuple(one[a:b]), tuple(two[c:d]),
            tuple(one[max(a - _CONTEXT, 0) : a]), tuple(one[b : b + _CONTEXT]),
        )
        for a, b, c, d in found
    )  # fmt: skip


def without_context(edits: Sequence[Hunk], lines: Collection[int]) -> tuple[Hunk, ...]:
    """Remove `lines` (0-based, of the old text), and context beyond them, from the context of hunks."""
    found = []
    for hunk in edits:
        first, end = hunk.at - len(hunk.before), hunk.at + len(hunk.old)
        above = [n for n in range(first, hunk.at) if n in lines]
        below = [n for n in range(end, end + len(hunk.after)) if n in lines]
        before = hunk.before[above[-1] - first + 1 :] if above else hunk.before
        after = hunk.after[: below[0] - end] if below else hunk.after
        found.append(msgspec.structs.replace(hunk, before=before, after=after))
    return tuple(found)


def _group_near(gaps: Sequence[Gap]) -> list[list[Gap]]:
    groups: list[list[Gap]] = []
    for gap in gaps:
        if groups and gap.a - groups[-1][-1].b <= 2 * _CONTEXT:
            groups[-1].append(gap)
        else:
            groups.append([gap])
    return groups


def apply(text: str, edits: Sequence[Hunk]) -> str | None:
    """Apply hunks to `text`, skipping those already applied; return None if one fits nowhere.

    Lines may have moved: each hunk is applied where its context matches, nearest to its old position.
    """
    lines = text.split("\n")
    moved = 0
    for hunk in edits:
        at = hunk.at + moved
        place = _find_place(lines, hunk, at)
        if place is None and _is_applied(lines, hunk, at):
            moved += len(hunk.new) - len(hunk.old)
            continue
        if place is None:
            place = _find_place(lines, hunk, at, anywhere=True)
        if place is None and (place := _loose_place(lines, hunk)) is None:
            return None
        lines[place : place + len(hunk.old)] = hunk.new
        moved = place - hunk.at + len(hunk.new) - len(hunk.old)
    return "\n".join(lines)


def take_back(text: str, edits: Sequence[Hunk]) -> str | None:
    """Revert hunks in `text`; return None if their lines were changed since."""
    return apply(text, turned(edits))


def turned(edits: Sequence[Hunk]) -> list[Hunk]:
    """Return the hunks that revert these."""
    moved = 0
    found = []
    for hunk in edits:
        found.append(msgspec.structs.replace(hunk.reversed, at=hunk.at + moved))
        moved += len(hunk.new) - len(hunk.old)
    return found


def diff(path: str, old: str, new: str) -> str:
    """Return the change as a unified diff for people; empty if there is none."""
    one, two = old.splitlines(), new.splitlines()
    rows: list[str] = []
    for near in _group_near(changes(one, two)):
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
    """Format a line range for a unified diff: counted from 1; for an empty range the line before."""
    size = end - start
    return str(start + 1) if size == 1 else f"{start + bool(size)},{size}"


def _find_place(lines: list[str], hunk: Hunk, at: int, *, anywhere: bool = False) -> int | None:
    """Return where the hunk's old lines match with their context, nearest to line `at`, or None.

    Short context was at the start or end of the file and must match there, unless `anywhere`.
    """
    whole = (*hunk.before, *hunk.old, *hunk.after)
    first, last = len(hunk.before) < _CONTEXT, len(hunk.after) < _CONTEXT

    def fits(start: int) -> bool:
        return anywhere or ((start == 0 or not first) and (start + len(whole) == len(lines) or not last))

    here = at - len(hunk.before)
    if here >= 0 and tuple(lines[here : here + len(whole)]) == whole and whole and fits(here):
        return at
    if not _has_text(whole):  # blank lines match everywhere: accept only their old position
        return None
    found = [start + len(hunk.before) for start in runs_in(lines, whole) if fits(start)]
    return min(found, key=lambda start: abs(start - at), default=None)


def _is_applied(lines: list[str], hunk: Hunk, at: int) -> bool:
    """Return whether the hunk is already applied, even if text was added at its ends since."""
    if _find_place(lines, hunk.reversed, at) is not None:
        return True
    new, after = list(hunk.new), hunk.after
    if len(after) < _CONTEXT and not _has_text(after):
        after = ()
        while new and not new[-1].strip():  # blank lines at the end of the file may be gone
            new.pop()
    undone = hunk.old and next(runs_in(lines, (*hunk.before, *hunk.old)), None) is not None
    known = not undone and (_has_text(new) or not hunk.new)
    whole = (*hunk.before, *new, *after)
    return known and _has_text(whole) and next(runs_in(lines, whole), None) is not None


def _has_text(lines: Iterable[str]) -> bool:
    return any(map(str.strip, lines))


def _loose_place(lines: list[str], hunk: Hunk) -> int | None:
    """Return the only match of the old lines without context, or for an insertion of one side's context."""
    if _has_text(hunk.old):
        found = list(runs_in(lines, hunk.old))
        return found[0] if len(found) == 1 else None
    if hunk.old:
        return None
    for around, step in ((hunk.before, len(hunk.before)), (hunk.after, 0)):
        found = list(runs_in(lines, around)) if _has_text(around) else []
        if len(found) == 1:
            return found[0] + step
    return len(lines) - 1 if not any(lines) else None
