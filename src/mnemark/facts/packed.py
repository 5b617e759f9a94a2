"""Pack the facts of a file as bytes, so that who finds the file unchanged need not parse it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from mnemark.facts.files import needs_saved
from mnemark.facts.model import Fact

if TYPE_CHECKING:
    from mnemark.facts.parse import ParsedFact

_VERSION: Final = 1
"""Raise it when bullets are parsed otherwise, or `Fact` changes."""
_DECODER: Final = msgspec.msgpack.Decoder(tuple[int, tuple[Fact, ...]])


def pack(found: Sequence[tuple["ParsedFact", Fact]]) -> bytes:
    """Return the facts of a file; empty if not all of them follow from its path and bytes alone."""
    if not found or any(needs_saved(parsed) for parsed, _ in found):
        return b""
    try:
        return msgspec.msgpack.encode((_VERSION, [fact for _, fact in found]))
    except UnicodeEncodeError:  # bytes of the file that are no text
        return b""


def unpack(data: bytes) -> tuple[Fact, ...] | None:
    """Return the facts in the bytes; None if this version did not write them."""
    try:
        version, facts = _DECODER.decode(data)
    except msgspec.DecodeError:
        return None
    return facts if version == _VERSION else None
