"""Decide whether a recall is confident enough for a prompt."""

from typing import Final

from mnemark.agent.hook.event import FLOOR, checked
from mnemark.types import Recall

SMALL_FLOOR: Final = 0.2
"""The floor where all that is known is less than one recall: belief needs a store to compare with, and a
person's first try, one thing said and asked for in the next session, must not meet silence."""


def worth(found: Recall, most: int) -> str:
    """The block, if it is believable and soundly quoted; else nothing.

    Args:
        found: what memory had to say.
        most: hits that were asked for; fewer came where there is hardly anything to find.
    """
    floor = SMALL_FLOOR if len(found.hits) < most else FLOOR
    return checked(found.text) if found.believable >= floor else ""
