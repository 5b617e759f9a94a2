"""The old name of `mnemark.memory.consolidation.condense`: import from there."""

from mnemark.memory.consolidation.condense import condense

__all__ = ["condense"]
