"""Return the first line of a message, as lists of conversations show it."""

from typing import Final

from mnemark.text.quoting.fence import strip_fences
from mnemark.text.redaction.redact import Rules, redact

_LONGEST: Final = 80
_BEFORE_CUT: Final = " .,;:，。；："
_SEARCHED: Final = 20_000
"""Maximum characters of a message in which its first line is looked for."""


def first_line(text: str, rules: Rules) -> str:
    """Return the first line that says something, redacted, without quoted memory, and shortened."""
    clean = redact(strip_fences(text[:_SEARCHED]), rules).text
    lines = (
        " ".join("".join(c if c.isprintable() else " " for c in line).split()) for line in clean.splitlines()
    )
    words = next((line for line in lines if any(char.isalnum() for char in line)), "")
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1].rstrip(_BEFORE_CUT)}…"
