"""Make file names of any text, split refs, and keep paths inside the workspace."""

import os
import re
import unicodedata
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path
from typing import Final

from mnemark.errors import UsageError
from mnemark.files.layout import check_border
from mnemark.files.platform import RESERVED
from mnemark.hashes import blake2b
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import WHOLE, Columns

NAME_BYTES = 120
"""Longest file name made here, in bytes of UTF-8, extension included."""

_HASH_CHARACTERS = 10  # 50 bits: nobody makes two ids that share a name by accident
_LOWER_BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"
_FORBIDDEN = frozenset("<>:\"/\\|?*#%'`")


def log_name(session: str) -> str:
    """Return the path of a session's log in its scope, by its id without keys; see `sessions.SessionLog`."""
    return f"sessions/{file_name(session, '.jsonl')}"


def file_name(identifier: str, extension: str) -> str:
    """Name a file after any non-empty text: readable, at most 120 bytes, ending in a hash of the text.

    The hash tells apart what a file system would not: upper and lower case, composed and decomposed accents.
    Raises UsageError for an empty identifier.
    """
    if not identifier:
        raise UsageError("a session needs an id, for example chat:1")
    digest = blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    value = int.from_bytes(digest, "big")
    mark = "".join(_LOWER_BASE32[value >> 5 * place & 31] for place in range(_HASH_CHARACTERS))
    room = NAME_BYTES - len(extension.encode()) - len(mark) - 1
    words = readable(identifier).encode()[:room].decode("utf-8", "ignore").strip("-. ")
    if words.split(".")[0].casefold() in RESERVED:
        words = f"_{words}"[:room]
    return f"{words}-{mark}{extension}" if words else f"{mark}{extension}"


def readable(identifier: str) -> str:
    """Return the beginning of a text without what file names cannot hold everywhere; it may be empty."""
    # C and Z: control, format (zero width, bidi), surrogate, private and unassigned characters; separators.
    characters = (
        "-" if character in _FORBIDDEN or unicodedata.category(character)[0] in "CZ" else character
        for character in unicodedata.normalize("NFC", identifier[: 4 * NAME_BYTES])
    )
    return "-".join(filter(None, "".join(characters).split("-"))).strip(". ")


def inside(root: Path, path: str | Path) -> Path:
    """Return the real path of `path` (relative to the workspace `root`, or absolute), which need not exist.

    A link to a place inside is followed, so that writing keeps the link. Raises UsageError for a path that
    leaves the workspace: `..`, absolute, NUL, a link out, or in a workspace inside this one.
    """
    if "\0" in str(path):
        raise UsageError("a path cannot hold the character NUL")
    if ".." in Path(path).parts:
        raise UsageError(f"{path} is outside the workspace; give a file inside it")
    base = Path(os.path.realpath(root))
    real = Path(os.path.realpath(base / path))
    if not real.is_relative_to(base):
        raise UsageError(f"{path} is outside the workspace; give a file inside it")
    check_border(base, real.relative_to(base).as_posix())
    return real


_REF: Final = lazy_pattern(
    r"(?P<path>.*?)(?:#L(?P<first>\d{1,9})(?:C(?P<start>\d{1,9}))?(?:-L?(?P<last>\d{1,9})(?:C(?P<end>\d{1,9}))?)?)?",
    re.DOTALL,
)


OBSERVED: Final = lazy_pattern(
    r"^(?P<line>- [0-9]{2}:[0-9]{2} (?P<title>[^\n]*?)) ?<!-- observed: \w{1,40} -->[ \t\r]*$", re.MULTILINE
)
"""A line of a day's note that lists an observation of the journal."""
SOURCES: Final = "sources"
"""Key of the refs that a derived passage comes from, in its `meta`."""
_SOURCES: Final = lazy_pattern(r" \u2014 (?P<refs>[^ ]+\.jsonl#L\d+(?:, [^ ]+\.jsonl#L\d+)*)$")


def free_name(root: Path, path: str) -> str:
    """Return `path`, or the first numbered name beside it, that no file has yet."""
    stem, dot, suffix = path.rpartition(".")
    numbered = (f"{stem}-{number}{dot}{suffix}" for number in count(2))
    return next(name for name in chain([path], numbered) if not (root / name).exists())


def split_sources(line: str) -> tuple[str, tuple[str, ...]]:
    """Return a line without the refs of turns at its end, which a model's note has, and those refs."""
    match = _SOURCES.search(line) if ".jsonl#L" in line else None
    return (line, ()) if match is None else (line[: match.start()], tuple(match["refs"].split(", ")))


def split_ref(ref: str) -> tuple[str, int, int | None]:
    """Return path, first and last line (from 1, inclusive) of a ref; (path, 1, None) for a whole file."""
    match = _REF.fullmatch(ref)
    if match is None or match["first"] is None:
        return ref, 1, None
    first = int(match["first"])
    return match["path"], first, int(match["last"] or first)


def columns_of(ref: str) -> Columns:
    """Return the characters of its lines that a ref names."""
    match = _REF.fullmatch(ref)
    return WHOLE if match is None else (int(match["start"] or 0), int(match["end"] or 0))


def cut_to_columns(lines: Sequence[str], columns: Columns) -> list[str]:
    """Return lines with the first and the last cut to the given characters."""
    start, end = columns
    found = list(lines)
    if end and found:
        found[-1] = found[-1][:end]
    if start and found:
        found[0] = found[0][start - 1 :]
    return found
