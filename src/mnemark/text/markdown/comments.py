"""Find and drop HTML comments: those of people, and those that are mnemark's bookkeeping."""

import re
from collections.abc import Callable, Iterator
from typing import Final

_COMMENT: Final = re.compile(r"<!--(?P<body>.*?)-->", re.DOTALL)
_END: Final = "-->"
_ID: Final = re.compile(r"\bid:", re.ASCII)


def comments(text: str) -> Iterator[re.Match[str]]:
    """The comments in order, each with its `body`. One that is open and one within another are none."""
    # Behind the last end none ends, and looking for it from each beginning would cost the square of the text.
    return _COMMENT.finditer(text, 0, text.rfind(_END) + len(_END))


def drop_comments(text: str, which: Callable[[str], bool] | None = None, *, blanks: str = "") -> str:
    """`text` without its comments, or those `which` says by their body, and without `blanks` before them.

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
    """Whether a comment on one line holds an id, as those of mnemark do."""
    return "\n" not in body and _ID.search(body) is not None
