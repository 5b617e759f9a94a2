"""Hold what was corrected of turns, by their refs."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from mnemark.files.names import split_ref

_ARCHIVE: Final = "/archive/"


class CorrectedTurn(msgspec.Struct, frozen=True):
    """What a turn says that was corrected since."""

    id: str
    """Of the correction."""
    first: int
    last: int
    """Its lines."""
    wrong: str
    """The value that was wrong."""
    text: str
    """That it was corrected, when, and what is right: in the language of the values."""


class Corrections:
    """The corrections that stand, by the turns that they are about."""

    def __init__(self, by_path: Mapping[str, Sequence[CorrectedTurn]] = MappingProxyType({})) -> None:
        self._by_path = by_path

    def __bool__(self) -> bool:
        return bool(self._by_path)

    def of(self, path: str, first: int, last: int) -> list[str]:
        """Return what is to be shown beside these lines of a log; empty where nothing was corrected."""
        if not self._by_path:
            return []
        found = self._by_path.get(plain(path), ())
        return list(dict.fromkeys(one.text for one in found if one.first <= last and first <= one.last))

    def of_refs(self, refs: Iterable[str], text: str) -> list[str]:
        """Return what is to be shown beside a text that was made of turns, where it says what was wrong."""
        if not self._by_path:
            return []
        folded = text.casefold()
        told: dict[str, None] = {}
        for ref in refs:
            path, first, last = split_ref(ref)
            for one in self._by_path.get(plain(path), ()):
                inside = last is None or (one.first <= last and first <= one.last)
                if inside and one.wrong and one.wrong.casefold() in folded:
                    told[one.text] = None
        return list(told)

    def of_text(self, text: str) -> list[str]:
        """Return what is to be shown beside a page that was made of turns, where it says what was wrong."""
        return self.of_refs(self._by_path, text)


NONE: Final = Corrections()


def plain(path: str) -> str:
    """Return the path of a log as it was before it was archived."""
    return path.replace(_ARCHIVE, "/")
