"""The old name of `mnemark.memory.curation.identity`: import from there."""

from mnemark.memory.curation.identity import compiled

__all__ = ["compiled"]
