"""Build the receipt of what was hidden or erased, for people and programs."""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Final, Literal

import msgspec

from mnemark.facts.visible import Visible
from mnemark.files.reading import read
from mnemark.memory.forgetting.select import ForgetItem, Kind
from mnemark.retrieval.render import without_comments
from mnemark.text.lines import lines
from mnemark.types import Problem

_MAX_WORDS: Final = 72
_MAX_ROWS: Final = 40
_MAX_RELATED: Final = 10
_UNREAD: Final = "Could not be searched:"
_NAMES: Final[dict[str, tuple[str, str]]] = {
    "turn": ("turn", "turns"),
    "note": ("piece of a note", "pieces of notes"),
    "fact": ("fact", "facts"),
    "file": ("file", "files"),
}


class ForgottenItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item that was, or would be, forgotten."""

    kind: Kind
    ref: str
    """Its location; empty for a fact that was in no file yet."""
    id: str = ""
    words: str = ""
    """Its first words; empty once it is erased."""

    def __str__(self) -> str:
        return f"{self.ref or self.id}  {self.words}".rstrip()


class ErasedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place from which bytes were, or would be, removed."""

    path: str
    what: str
    """Such as `turn`, `note`, `fact`, `turns`, `journal`, `file`, `records`, `index`, `vectors`."""
    lines: tuple[int, ...] = ()
    """Lines as they were before, where the place has lines."""
    bytes: int = 0
    """Removed bytes; for the index and vectors, by how much the files shrank."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """The result of forgetting.

    `still` names what holds the words, or may, and is out of reach; `waiting` what could not be done yet: the
    next sync goes on with it, for a closed file the first one that can read it. Until then it is hidden.
    """

    id: str = ""
    """Of the line in the journal, for `undo`; empty where nothing was changed."""
    action: Literal["hidden", "erased", "nothing"]
    dry_run: bool = False
    items: tuple[ForgottenItem, ...] = ()
    places: tuple[ErasedPlace, ...] = ()
    still: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    related: tuple[ForgottenItem, ...] = ()
    """What holds other forms of the words of a query, as "Peanut" for "peanuts", and stays."""
    kept: tuple[ForgottenItem, ...] = ()
    """Facts of a hidden turn that say something else than the query, and stay."""

    @property
    def text(self) -> str:
        """The receipt for people."""
        return "\n".join(_lines(self))


def forgotten(items: Iterable[ForgetItem], visible: Visible | None = None) -> tuple[ForgottenItem, ...]:
    """Return items as a receipt names them, with their words as far as they are `visible`, or without."""

    @cache
    def redacted(visible: Visible, path: str) -> list[str]:
        found = read(visible.root, path)
        return [] if isinstance(found, Problem) else lines(visible.redacted(found.text))

    def words(visible: Visible, item: ForgetItem) -> str:
        if item.kind == "turn" or not item.start_line:
            return visible.redacted(item.text)
        # By the whole file, as a private passage may begin above an item.
        return "".join(redacted(visible, item.path)[item.start_line - 1 : item.end_line])

    return tuple(
        ForgottenItem(
            kind=item.kind, ref=item.ref if item.start_line or item.kind == "file" else "", id=item.id,
            words=beginning(words(visible, item)) if visible else "",
        )
        for item in items
    )  # fmt: skip


def beginning(text: str) -> str:
    """Return the first words of an item."""
    plain = " ".join(without_comments(text).split())
    return plain if len(plain) <= _MAX_WORDS else plain[: _MAX_WORDS - 1] + "…"


def _lines(receipt: Receipt) -> list[str]:
    if receipt.action == "nothing":
        unread = [_UNREAD, *indented(receipt.still)] if receipt.still else []
        return ["Nothing found; nothing was changed.", *unread, *_related(receipt)]
    unfinished = receipt.waiting and not receipt.dry_run
    verb = "hidden, but not yet erased everywhere" if unfinished else receipt.action
    would = "Would be " if receipt.dry_run else ""
    lines = [f"{would}{verb}: {counted(receipt.items)}.".capitalize()]
    lines += indented(map(str, receipt.items))
    erased = receipt.action == "erased"
    late = (
        "Waiting for these files first:"
        if receipt.dry_run
        else "Not done yet; a later `mnemark sync` does it:"
    )
    for title, rows in (
        ("In these files:", list(map(_place, receipt.places))),
        ("Copies that may remain:" if erased else _UNREAD, receipt.still),
        (late, receipt.waiting),
    ):
        lines += [title, *indented(rows)] if rows else []
    if receipt.kept:
        lines.append("Learned from the same turn, not hidden (forget it by its ref):")
        lines += indented(map(str, receipt.kept), _MAX_RELATED)
    lines += _related(receipt)
    if receipt.dry_run:
        lines.append("Nothing was changed.")
    elif receipt.action == "hidden":
        lines.append(f"Undo with `mnemark undo {receipt.id}`.")
    return lines


def _related(receipt: Receipt) -> list[str]:
    if not receipt.related:
        return []
    action = {"erased": "erased", "hidden": "hidden", "nothing": "forgotten"}[receipt.action]
    return [
        f"Also found, not {action} (other forms of these words; forget them by their ref):",
        *indented(map(str, receipt.related), _MAX_RELATED),
    ]


def counted(items: Iterable[ForgottenItem]) -> str:
    """Return the counts by kind: "2 turns, 1 fact"."""
    kinds = Counter(item.kind for item in items)
    return ", ".join(f"{count} {_NAMES[kind][count != 1]}" for kind, count in kinds.items())


def _place(place: ErasedPlace) -> str:
    where = place.path
    if place.lines:
        word = "line" if len(place.lines) == 1 else "lines"
        where += f", {word} {_ranges(place.lines)}"
    return f"{where}: {place.what}" + (f", {place.bytes:,} bytes" if place.bytes else "")


def _ranges(lines: tuple[int, ...]) -> str:
    found: list[list[int]] = []
    for line in sorted(set(lines)):
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return ", ".join(str(one) if one == two else f"{one}-{two}" for one, two in found)


def indented(rows: Iterable[str], most: int = _MAX_ROWS) -> list[str]:
    """Return the first rows, indented, and how many more there are."""
    lines = [f"  {row}" for row in rows]
    return lines[:most] + ([f"  … and {len(lines) - most} more"] if len(lines) > most else [])
