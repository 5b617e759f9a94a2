"""Memory for LLM agents: a folder of plain text, found again in milliseconds."""

from mnemark._version import __version__

__all__ = ["__version__"]
