"""Find the files of core memory and of a day, and cut their texts as prompts show them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemark.files import layout, listing
from mnemark.retrieval.past_facts import CORE_ROLES, IsPast
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown import drop_comments
from mnemark.text.markdown.generated import written

if TYPE_CHECKING:
    from mnemark.memory.open_workspace import OpenWorkspace

_CODE: Final = lazy_pattern(r"[ ]{0,3}(```+|~~~+)")
_OWN_COMMENTS: Final = (" mnemark:begin ", " mnemark:end ", " observed: ", " id: ")
"""Prefixes of comments that are left out: ids and markers of mnemark."""


def past_of(ws: "OpenWorkspace") -> IsPast:
    """Return a predicate that tells from the index whether an entry of core memory is a past fact."""

    def is_past(scope: str, line: str) -> bool:
        book = ws.searcher.fact_index.of({scope}).book
        return book is not None and book.is_past_entry(scope, line)

    return is_past


def past_lines(ws: "OpenWorkspace", path: str, lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers of lines that state a past fact without a mark that it is past.

    These are bullets that are not struck through yet, and entries of core memory.
    """
    place = layout.place(path)
    if place is None or place.role not in {"fact", *CORE_ROLES}:
        return frozenset()
    if place.role != "fact":
        past = past_of(ws)
        entries = written("\n".join(lines))
        numbered = ((number, line) for number, line in enumerate(lines, 1) if line in entries)
        return frozenset(number for number, line in numbered if past(place.scope, line))
    book = ws.searcher.fact_index.of({place.scope}).book
    held = book.facts if book is not None else ()
    now = datetime.now(UTC)
    return frozenset(
        one.fact.line
        for one in held
        if one.fact.path == path and one.end is not None and one.end <= now and one.fact.line
        if "~~" not in "".join(lines[one.fact.line - 1 : one.fact.line])
    )


def curated_files(root: Path, folder: str) -> list[str]:
    """Return the paths of curated memory below `folder` (empty, or ending in a slash), in any case."""
    here = listing.names(root, folder.rstrip("/"))
    found = [folder + name for name in here if name.casefold() == "memory.md"]
    for inner in (folder + name for name in here if name.casefold() == "memory"):
        found += [f"{inner}/{name}" for name in listing.names(root, inner) if name.casefold() == "memory.md"]
    return found


def day_files(root: Path, folder: str, day: date) -> list[str]:
    """Return the paths of the notes of a day, the plain one first."""
    inside, month = f"{folder}memory", day.isoformat()[:7]
    found = []
    # The names of its notes begin with the day, or with the month alone.
    for name in (one for one in listing.names(root, inside) if one.startswith(month)):
        place = layout.place(path := f"{inside}/{name}")
        if place is not None and place.role == "daily" and place.dated == day.isoformat():
            found.append(path)
    return sorted(found, key=lambda path: (len(path), path))


def without_own_comments(text: str) -> str:
    """Remove the ids and markers of mnemark, useless to a model."""
    return drop_comments(text, lambda body: body.startswith(_OWN_COMMENTS), blanks=" \t")


def paragraphs(text: str) -> list[str]:
    """Cut a text at blank lines outside of code."""
    found: list[list[str]] = [[]]
    fence = ""
    for line in text.splitlines():
        mark = _CODE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip(" `~"):
            fence = ""
        if line.strip() or fence:
            found[-1].append(line.rstrip())
        elif found[-1]:
            found.append([])
    return ["\n".join(lines) for lines in found if lines]
