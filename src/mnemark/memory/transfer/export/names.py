"""Name the files of an exported folder: unique and legal on Linux, macOS and Windows."""

import re
import unicodedata
from itertools import count
from typing import Final

from mnemark.files.platform import RESERVED
from mnemark.text.lazy_pattern import lazy_pattern

_FORBIDDEN: Final = lazy_pattern(r'[<>:"|?*\\\x00-\x1f\x7f]')
_NO_LINK: Final = lazy_pattern(r"[\[\]#^]")
"""What links of Obsidian cannot name."""
_UNFIT: Final = lazy_pattern(r"[^\w\s.,;!+=@&()\u3000-\u303f\uff00-\uffef·–—'’-]+")
_MOST_BYTES: Final = 100
_ROOM: Final = 16
"""Bytes for a number and an ending."""


class FileNames:
    """Gives each page and file a path of its own; upper and lower case count as the same."""

    def __init__(self, gap: str, *, linked: bool) -> None:
        """`gap` stands between words of a name; `linked`: the names must fit into `[[ ]]`."""
        self._gap = gap
        self._linked = linked
        self._taken: set[str] = set()

    def kept(self, path: str) -> str:
        """Return a path for a file with this one: the same where it is legal and free."""
        return self._free("/".join(self._legal(part) for part in path.split("/")))

    def made(self, folder: str, title: str, suffix: str) -> str:
        """Return a path for a new page with this title."""
        words = " ".join(_UNFIT.sub(" ", unicodedata.normalize("NFC", title)).split())
        words = _cut(words, _MOST_BYTES - _ROOM) or "untitled"
        name = self._legal(words.replace(" ", self._gap) + suffix)
        return self._free(f"{folder}/{name}" if folder else name)

    def _legal(self, part: str) -> str:
        legal = _FORBIDDEN.sub("_", part)
        legal = _NO_LINK.sub("_", legal) if self._linked else legal
        legal = legal.encode("utf-8", "replace").decode()
        stripped = legal.rstrip(". ")
        legal = stripped + "_" * (len(legal) - len(stripped))
        return f"_{legal}" if legal.partition(".")[0].rstrip().casefold() in RESERVED else legal or "_"

    def _free(self, path: str) -> str:
        stem, dot, suffix = path.rpartition(".")
        if not dot or "/" in suffix:
            stem, dot, suffix = path, "", ""
        numbered = (f"{stem}{self._gap}{number}{dot}{suffix}" for number in count(2))
        name = path
        while (key := unicodedata.normalize("NFC", name).casefold()) in self._taken:
            name = next(numbered)
        self._taken.add(key)
        return name


def _cut(words: str, most: int) -> str:
    """Cut words to a number of bytes, at a gap where there is one late enough."""
    cut = words.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
    if cut == words.encode("utf-8", "replace").decode():
        return cut.strip(" .-")
    head = re.sub(r" [^ ]*$", "", cut)
    return (head if len(head) > len(cut) // 2 else cut).strip(" .-,;")
