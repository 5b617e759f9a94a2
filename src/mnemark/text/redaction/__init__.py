"""Redact secrets in texts."""

from mnemark.text.lazy_pattern import lazy_pattern

VERSION = 6
"""Version of all rules; raise it when they find other things, so that data derived from files is rebuilt."""

Span = tuple[str, int, int]
"""A finding (kind, start, end): half-open, in characters."""

MARK = lazy_pattern(r"\[redacted:[a-z-]{1,24}:[0-9a-f]{8}\]|\[private\]")
"""Pattern of a mark, which replaces a secret. Rules never change a mark."""

BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
"""Pattern of a token's start: also after an escaped line break or an escaped character of a URL."""


def positions(text: str, needle: str) -> list[int]:
    """Return the positions of `needle` in `text`, without overlaps."""
    found: list[int] = []
    at = text.find(needle)
    while at >= 0:
        found.append(at)
        at = text.find(needle, at + len(needle))
    return found
