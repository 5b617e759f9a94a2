"""The old name of `mnemark.memory.sessions.compaction`: import from there."""

from mnemark.memory.sessions.compaction import flush_prompt

__all__ = ["flush_prompt"]
