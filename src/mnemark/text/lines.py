"""Split text into lines as editors number them."""

from io import StringIO


def lines(text: str) -> list[str]:
    r"""Return the lines of a text with their ends (`\n`, `\r\n` or `\r`), the last one also without.

    >>> lines("one\r\ntwo\rthree")
    ['one\r\n', 'two\r', 'three']
    """
    return list(StringIO(text, newline=""))
