"""The old name of `mnemark.memory.sessions.observations`: import from there."""

from mnemark.memory.sessions.observations import age_out

__all__ = ["age_out"]
