"""Core memory: MEMORY.md, USER.md, SOUL.md and personas."""
