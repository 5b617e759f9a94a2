"""Split text into lines as editors number them, and keep the bytes of files that are not UTF-8."""

from collections.abc import Hashable, Iterator, Sequence
from io import StringIO


def lines(text: str) -> list[str]:
    r"""Return the lines of a text with their ends (`\n`, `\r\n` or `\r`), the last one also without.

    >>> lines("one\r\ntwo\rthree")
    ['one\r\n', 'two\r', 'three']
    """
    return list(StringIO(text, newline=""))


def decode(data: bytes) -> str:
    """Decode a fact file; bytes that are not UTF-8 become lone surrogates, which `encode` restores."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Encode a text from `decode`."""
    return text.encode("utf-8", "surrogateescape")


def clean(text: str) -> str:
    """Return a text on one line, with replacement characters for what is not UTF-8."""
    if text.isascii():
        return " ".join(text.split())
    try:
        data = encode(text)
    except UnicodeEncodeError:  # lone surrogates from JSON escapes
        data = text.encode("utf-8", "replace")
    return " ".join(data.decode("utf-8", "replace").split())


def runs_in(items: Sequence[Hashable], wanted: Sequence[Hashable]) -> Iterator[int]:
    """Yield the positions of `wanted` as a contiguous run, overlaps included; linear (Knuth, Morris, Pratt).

    >>> list(runs_in("aaab", "aa"))
    [0, 1]
    """
    if not wanted:
        return
    back = [0] * len(wanted)
    same = 0
    for place in range(1, len(wanted)):
        while same and wanted[place] != wanted[same]:
            same = back[same - 1]
        same += wanted[place] == wanted[same]
        back[place] = same
    same = 0
    for place, item in enumerate(items):
        while same and item != wanted[same]:
            same = back[same - 1]
        same += item == wanted[same]
        if same == len(wanted):
            yield place - same + 1
            same = back[same - 1]
