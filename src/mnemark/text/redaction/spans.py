"""Spans, marks, and where a token may begin: shared by the rules of redaction."""

from mnemark.text.lazy_pattern import lazy_pattern

VERSION = 2
"""Version of all rules. Raise it when they find more: data derived from files is then rebuilt."""

Span = tuple[str, int, int]
"""(kind, start, end): half-open, in characters."""

MARK = lazy_pattern(r"\[redacted:[a-z-]{1,24}:[0-9a-f]{8}\]|\[private\]")
"""Replaces a secret. Rules never touch a mark."""

BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
"""A token begins here: also behind an escaped line break or an escaped character of a URL."""


def positions(text: str, needle: str) -> list[int]:
    """Return where `needle` begins in `text`, without overlaps."""
    found: list[int] = []
    at = text.find(needle)
    while at >= 0:
        found.append(at)
        at = text.find(needle, at + len(needle))
    return found
