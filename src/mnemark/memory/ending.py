"""The old name of `mnemark.memory.sessions.ending`: import from there."""

from mnemark.memory.sessions.ending import catch_up

__all__ = ["catch_up"]
