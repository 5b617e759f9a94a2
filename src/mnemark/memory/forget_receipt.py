"""What forgetting did, for people and programs."""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from mnemark.memory.forget_find import Item, Kind
from mnemark.retrieval.snippet import without_comments

_WORDS: Final = 72
_SHOWN: Final = 40
_NAMES: Final[dict[str, tuple[str, str]]] = {
    "turn": ("turn", "turns"),
    "note": ("piece of a note", "pieces of notes"),
    "fact": ("fact", "facts"),
    "file": ("file", "files"),
}


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was, or would be, forgotten."""

    kind: Kind
    ref: str
    """Where it stands, or stood; empty for a fact that was in no file yet."""
    id: str = ""
    words: str = ""
    """How it begins; empty once it is erased."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One place from which bytes went, or would go."""

    path: str
    what: str
    """`turn`, `note`, `fact`, `quote`, `journal`, `file`, `index`, `vectors`, `record`, `draft`."""
    lines: tuple[int, ...] = ()
    """Lines as they were before, where the place has lines."""
    bytes: int = 0
    """How many bytes went; for the index and vectors, by how much the files became smaller."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What forgetting did.

    `still` names what holds the words and is out of reach; `waiting` what could not be done yet and is done
    by the next sync.
    """

    id: str = ""
    """Of the line in the journal, for `undo`; empty where nothing was changed."""
    action: Literal["hidden", "erased", "nothing"]
    dry_run: bool = False
    items: tuple[Forgotten, ...] = ()
    places: tuple[Place, ...] = ()
    still: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The receipt for people."""
        return "\n".join(_lines(self))


def forgotten(items: Iterable[Item], *, words: bool) -> tuple[Forgotten, ...]:
    """Items as a receipt names them."""
    return tuple(
        Forgotten(
            kind=item.kind, ref=item.ref if item.start_line or item.kind == "file" else "", id=item.id,
            words=_beginning(item.text) if words else "",
        )
        for item in items
    )  # fmt: skip


def _beginning(text: str) -> str:
    plain = " ".join(without_comments(text).split())
    return plain if len(plain) <= _WORDS else plain[: _WORDS - 1] + "…"


def _lines(receipt: Receipt) -> list[str]:
    if receipt.action == "nothing":
        return ["Nothing that fits was found; nothing was changed."]
    verb = {"hidden": "hidden", "erased": "erased"}[receipt.action]
    would = "Would be " if receipt.dry_run else ""
    lines = [f"{would}{verb}: {counted(receipt.items)}.".capitalize()]
    lines += _listed([_item(one) for one in receipt.items])
    if receipt.places:
        lines.append("From these places:" if receipt.action == "erased" else "Where they stand:")
        lines += _listed([_place(one) for one in receipt.places])
    if receipt.still:
        lines += ["What still holds it:", *_listed(list(receipt.still))]
    if receipt.waiting:
        lines += ["Not done yet; the next sync does it:", *_listed(list(receipt.waiting))]
    if receipt.dry_run:
        lines.append("Nothing was changed.")
    elif receipt.action == "hidden":
        lines.append(f"Show it again with `mnemark undo {receipt.id}`.")
    return lines


def counted(items: Iterable[Forgotten]) -> str:
    """How many of what: "2 turns, 1 fact"."""
    kinds: dict[str, int] = {}
    for item in items:
        kinds[item.kind] = kinds.get(item.kind, 0) + 1
    return ", ".join(f"{count} {_NAMES[kind][count != 1]}" for kind, count in kinds.items())


def _item(item: Forgotten) -> str:
    return f"{item.ref or item.id}  {item.words}".rstrip()


def _place(place: Place) -> str:
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


def _listed(rows: list[str]) -> list[str]:
    more = [f"  … and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    return [f"  {row}" for row in rows[:_SHOWN]] + more
