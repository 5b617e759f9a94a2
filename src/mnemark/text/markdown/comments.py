"""Find and drop HTML comments, of people or of mnemark's bookkeeping."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern

_COMMENT: Final = lazy_pattern(r"<!--(?P<body>.*?)-->", re.DOTALL)
_END: Final = "-->"
_ID: Final = lazy_pattern(r"\bid:", re.ASCII)


def comments(text: str) -> Iterator[re.Match[str]]:
    """Yield the closed comments in order, each with its `body`; they do not nest."""
    # Behind the last end no comment ends; searching for one from each beginning would be quadratic.
    return _COMMENT.finditer(text, 0, text.rfind(_END) + len(_END))


def drop_comments(text: str, which: Callable[[str], bool] | None = None, *, blanks: str = "") -> str:
    """Remove comments, or those whose body `which` accepts, and `blanks` before them.

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
    """Return whether a comment is one line with an id, as those of mnemark."""
    return "\n" not in body and _ID.search(body) is not None
