"""Read and write Markdown; find and remove HTML comments in it, written by people or by mnemark."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern

_COMMENT: Final = lazy_pattern(r"<!--(?P<body>.*?)-->", re.DOTALL)
_END: Final = "-->"
_ID: Final = lazy_pattern(r"\bid:", re.ASCII)


def comments(text: str) -> Iterator[re.Match[str]]:
    """Yield a match with group `body` for each closed comment, in order; comments do not nest."""
    # After the last "-->" no comment is closed; searching for its end from each "<!--" would be quadratic.
    return _COMMENT.finditer(text, 0, text.rfind(_END) + len(_END))


def drop_comments(text: str, which: Callable[[str], bool] | None = None, *, blanks: str = "") -> str:
    """Remove all comments, or those whose body `which` accepts, and the characters `blanks` before them.

    >>> drop_comments("tea <!-- id: 01A --> or <!-- not --> coffee", names_id, blanks=" ")
    'tea or <!-- not --> coffee'
    """
    kept: list[str] = []
    at = 0
    for found in comments(text):
        if which is None or which(found["body"]):
            before = text[at : found.start()]
            kept.append(before.rstrip(blanks) if blanks else before)
            at = found.end()
    return "".join((*kept, text[at:])) if at else text


def names_id(body: str) -> bool:
    """Return whether a comment's body is one line with an `id:`, as mnemark writes it."""
    return "\n" not in body and _ID.search(body) is not None
