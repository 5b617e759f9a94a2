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
from mnemark.text.speaker import ENGLISH, READ_AS, Speaker
from mnemark.types import Problem

_MAX_WORDS: Final = 72
_MAX_ROWS: Final = 40
_MAX_RELATED: Final = 10
_UNREAD: Final = "Could not be searched:"
_NAMES: Final[dict[str, tuple[str, str]]] = {
    "turn": ("{n} message", "{n} messages"),
    "note": ("{n} piece of a note", "{n} pieces of notes"),
    "fact": ("{n} fact", "{n} facts"),
    "file": ("{n} file", "{n} files"),
}
_ALSO: Final = {
    "erased": "Also found, not erased (other forms of these words; forget them by their ref):",
    "hidden": "Also found, not hidden (other forms of these words; forget them by their ref):",
    "nothing": "Also found, not forgotten (other forms of these words; forget them by their ref):",
}
_LATE: Final = ("Waiting for these files first:", "Not done yet; a later `mnemark sync` does it:")
"""What is said of files that could not be changed: before, and after."""


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
        return "\n".join(told(self, ENGLISH))


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


def told(receipt: Receipt, words: Speaker, *, closing: bool = True) -> list[str]:
    """Return the lines of a receipt, in the language of a speaker.

    Args:
        receipt: the receipt.
        words: who says it.
        closing: also say that nothing was changed, or how to undo it.
    """
    if receipt.action == "nothing":
        unread = [words(_UNREAD), *_said(receipt.still, words)] if receipt.still else []
        return [words("Nothing found; nothing was changed."), *unread, *_related(receipt, words)]
    lines = [words(_headline(receipt), counted=counted(receipt.items, words))]
    lines += indented(map(str, receipt.items), words=words)
    places = [_place(one, words) for one in receipt.places]
    lines += [words("In these files:"), *indented(places, words=words)] if places else []
    for title, rows in (
        ("Copies that may remain:" if receipt.action == "erased" else _UNREAD, receipt.still),
        (_LATE[not receipt.dry_run], receipt.waiting),
    ):
        lines += [words(title), *_said(rows, words)] if rows else []
    if receipt.kept:
        lines.append(words("Learned from the same message, not hidden (forget it by its ref):"))
        lines += indented(map(str, receipt.kept), _MAX_RELATED, words)
    lines += _related(receipt, words)
    if closing and receipt.dry_run:
        lines.append(words("Nothing was changed."))
    elif closing and receipt.action == "hidden":
        lines.append(words("Undo with `mnemark undo {id}`.", id=receipt.id))
    return lines


def _headline(receipt: Receipt) -> str:
    if receipt.waiting and not receipt.dry_run:
        return "Hidden, but not yet erased everywhere: {counted}."
    if receipt.action == "erased":
        return "Would be erased: {counted}." if receipt.dry_run else "Erased: {counted}."
    return "Would be hidden: {counted}." if receipt.dry_run else "Hidden: {counted}."


def _related(receipt: Receipt, words: Speaker) -> list[str]:
    if not receipt.related:
        return []
    rows = indented(map(str, receipt.related), _MAX_RELATED, words)
    return [words(_ALSO[receipt.action]), *rows]


def _said(rows: Iterable[str], words: Speaker) -> list[str]:
    """Return sentences of other modules, indented."""
    return indented(map(words.line, rows), words=words)


def counted(items: Iterable[ForgottenItem], words: Speaker = ENGLISH) -> str:
    """Return the counts by kind: "2 messages, 1 fact"."""
    kinds = Counter(item.kind for item in items)
    return words.listed(words.count(count, *_NAMES[kind]) for kind, count in kinds.items())


def _place(place: ErasedPlace, words: Speaker) -> str:
    what = words.line(READ_AS.get(place.what, place.what))
    if place.lines:
        text = "{path}, line {n}: {what}" if len(place.lines) == 1 else "{path}, lines {n}: {what}"
        told = words(text, path=place.path, n=_ranges(place.lines), what=what)
    else:
        told = words("{path}: {what}", path=place.path, what=what)
    return words("{place}, {n} bytes", place=told, n=place.bytes) if place.bytes else told


def _ranges(lines: tuple[int, ...]) -> str:
    found: list[list[int]] = []
    for line in sorted(set(lines)):
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return ", ".join(str(one) if one == two else f"{one}-{two}" for one, two in found)


def indented(rows: Iterable[str], most: int = _MAX_ROWS, words: Speaker = ENGLISH) -> list[str]:
    """Return the first rows, indented, and how many more there are."""
    lines = [f"  {row}" for row in rows]
    more = [words("  … and {n} more", n=len(lines) - most)] if len(lines) > most else []
    return lines[:most] + more
