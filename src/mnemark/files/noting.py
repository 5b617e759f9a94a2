"""Take in the text of a new note: each door to a note, of commands, tools and requests, asks here first."""

from pathlib import Path
from typing import NamedTuple

from mnemark.errors import UsageError
from mnemark.files import off_record
from mnemark.text.redaction.redact import Rules, redact


class NewText(NamedTuple):
    """The text of a new note as it is written."""

    text: str
    redacted: tuple[str, ...]
    """The kinds of secrets that were taken out."""


def taken_in(root: Path, text: str, rules: Rules) -> NewText:
    """Return the text of a new note as it may be written, without secrets and private passages.

    Raises:
        OffRecordError: the memory is off the record; nothing is noted.
        UsageError: nothing is left of the text.
    """
    off_record.check(root, "write a note")
    cleaned, found = redact(text, rules)
    words = cleaned.strip()
    if not words:
        raise UsageError(
            "nothing to write: the text is empty once recalled text, secrets and private passages are removed"
        )
    return NewText(words, tuple(sorted({kind for kind, _, _ in found})))
