"""Notes of texts that stood in another program: their names, and what they begin with."""

import re
from collections.abc import Mapping
from typing import Final

from mnemark.files import names
from mnemark.hashes import blake2b
from mnemark.text.lazy_pattern import lazy_pattern

_PROSE: Final = frozenset(
    {"", "md", "markdown", "txt", "text", "pdf", "doc", "docx", "rtf", "odt", "epub", "ppt", "pptx", "pages"}
)
"""Endings of files whose text is prose: it is not quoted as code."""
_LONGEST: Final = 60
"""Characters of a title in the name of a file."""
_TICKS: Final = lazy_pattern(r"^\s{0,3}(`{3,})", re.MULTILINE)


def file_name(title: str, key: str) -> str:
    """Return a name for a file, readable and the same at each import; `key` tells equal titles apart."""
    mark = blake2b(f"{title}\0{key}".encode("utf-8", "replace"), digest_size=3).hexdigest()
    return f"{names.readable(title)[:_LONGEST].strip('-. ') or 'note'}-{mark}"


def note_of(title: str, text: str, about: Mapping[str, str] | None = None, *, code: str = "") -> bytes:
    """Return a note with a title, what is known about it, and a text.

    Args:
        title: becomes the heading.
        text: stands below it as it is.
        about: becomes properties in the front matter; empty values are left out.
        code: the name of a file or a language. What is no prose is quoted as code.
    """
    said = {key: " ".join(value.split()) for key, value in (about or {}).items() if value.strip()}
    front = "".join(f"{key}: {_quoted(value)}\n" for key, value in said.items())
    front = f"---\n{front}---\n" if front else ""
    heading = " ".join(title.split())
    language = code.rpartition(".")[2].rpartition("/")[2].lower()
    if language not in _PROSE:
        ticks = "`" * (1 + max((len(one) for one in _TICKS.findall(text)), default=2))
        text = f"{ticks}{language if language.isalnum() else ''}\n{text.strip(chr(10))}\n{ticks}"
    return f"{front}# {heading}\n\n{text.strip(chr(10))}\n".encode("utf-8", "replace")


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
