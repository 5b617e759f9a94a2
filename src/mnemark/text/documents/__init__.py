"""Convert documents that are not text to a view: Markdown that is searched and shown in their place.

A view is always the same for the same bytes and libraries, so that refs to its lines last. One table says
which module converts which format, and with what libraries. Nothing is fetched, no link is followed, no
external entity read and no script run. What can take long, or much memory, is for the caller to bound: see
`mnemark.files.documents`.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern

VERSION: Final = 1
"""Raise it where views change: documents are indexed anew."""
EXTRA: Final = 'pip install "mnemark[documents]"'
"""Installs the libraries."""
LARGEST: Final = 64 * 1024 * 1024
"""Maximum size in bytes of a document."""
MOST: Final = 16 * 1024 * 1024
"""Maximum number of characters of a view."""
_GAP: Final = lazy_pattern(r"\n{3,}")
_TRAILING: Final = lazy_pattern(r"(?<=[^ \t\n])[ \t]++$", re.MULTILINE)
_EMPTY: Final = lazy_pattern(r"^[ \t]++$", re.MULTILINE)
_CONTROL: Final = lazy_pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class UnreadableDocumentError(Exception):
    """A document cannot be converted; the message ends a sentence that begins with its name."""


class Format(NamedTuple):
    """How a format is converted."""

    module: str
    """Module of this package with a function of that name: bytes to text, or UnreadableDocumentError."""
    function: str
    packages: tuple[str, ...] = ()
    """Modules of optional libraries that it needs. Without any it is quick and safe in each process."""


FORMATS: Final[Mapping[str, Format]] = {
    ".ipynb": Format("json_files", "notebook"),
    ".canvas": Format("json_files", "canvas"),
    ".html": Format("html", "html", ("html_to_markdown",)),
    ".htm": Format("html", "html", ("html_to_markdown",)),
    ".xhtml": Format("html", "html", ("html_to_markdown",)),
    ".epub": Format("epub", "epub", ("html_to_markdown",)),
    ".docx": Format("docx", "docx", ("mammoth", "html_to_markdown")),
    ".pdf": Format("pdf", "pdf", ("pypdfium2",)),
}
"""The formats by suffix."""
SUFFIXES: Final = tuple(FORMATS)
PACKAGES: Final = tuple(sorted({name for how in FORMATS.values() for name in how.packages}))
PAGE: Final = "## Page "
"""Begins the heading of a page of a PDF."""
RULES: Final = (".cursorrules", ".windsurfrules")
"""Files of rules for agents, which are hidden, and Markdown; only mounts that name them read them."""
DATA: Final = (".csv", ".tsv", ".yaml", ".yml")
"""Text that people write by hand, and programs by the megabyte."""
LARGEST_DATA: Final = 256 * 1024
"""Maximum size in bytes of such a file: beyond it, its lines would drown the notes."""
UNREAD: Final = (
    ".doc", ".docm", ".dot", ".odt", ".fodt", ".rtf", ".pages", ".wpd", ".wps", ".hwp", ".hwpx",
    ".ppt", ".pptx", ".odp", ".xls", ".xlsx", ".ods", ".numbers",
    ".mobi", ".azw", ".azw3", ".fb2", ".djvu", ".caj", ".xps",
    ".one", ".enex", ".eml", ".msg", ".mbox", ".mht", ".mhtml", ".webarchive",
    ".opml", ".xmind", ".textile", ".mediawiki", ".goodnotes", ".textpack",
)  # fmt: skip
"""Formats that hold text and are not read."""
MARKDOWN: Final = (".md", ".markdown", ".mdc", *RULES)
"""Endings of Markdown, and of the rules of Cursor and Windsurf, which are."""


def format_of(path: str) -> Format | None:
    """Return the format of a file by its name; None for text and all else."""
    return FORMATS.get(f".{path.rpartition('.')[2].lower()}") if path.lower().endswith(SUFFIXES) else None


def is_installed(package: str) -> bool:
    """Whether a library is there, without loading it."""
    return find_spec(package) is not None


@cache
def missing() -> tuple[str, ...]:
    """Return the suffixes of formats whose libraries are not installed."""
    return tuple(suffix for suffix, how in FORMATS.items() if not all(map(is_installed, how.packages)))


def unread_suffixes() -> tuple[str, ...]:
    """Return the suffixes of files that hold text and are not read here."""
    return (*UNREAD, *missing())


def suffix_of(path: str) -> str:
    """Return the suffix of a file, by which what is not read is counted."""
    return f".{path.rpartition('.')[2].lower()}"


def is_too_much(path: str, size: int) -> bool:
    """Whether a file is a table or YAML by the megabyte; see `LARGEST_DATA`."""
    return size > LARGEST_DATA and path.lower().endswith(DATA)


def convert(path: str, data: bytes) -> str:
    """Return the view of a document.

    Args:
        path: its name, of which the suffix counts.
        data: its bytes.

    Raises:
        UnreadableDocumentError: it is damaged, encrypted or too large, or its pages are pictures.
    """
    how = FORMATS[f".{path.rpartition('.')[2].lower()}"]
    function: Callable[[bytes], str] = getattr(
        import_module(f"mnemark.text.documents.{how.module}"), how.function
    )
    try:
        view = function(data)
    except (UnreadableDocumentError, MemoryError):
        raise
    except Exception as error:
        raise UnreadableDocumentError(f"is damaged: {_brief(error)}; open it and save it anew") from error
    if len(view) > MOST:
        raise UnreadableDocumentError(f"holds more than {MOST >> 20} million characters: split it")
    return tidy(view)


def tidy(text: str) -> str:
    """Return a text with line feeds alone, without control characters, blanks at line ends and wide gaps."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = printable(text)
    for pattern, by in ((_TRAILING, ""), (_EMPTY, ""), (_GAP, "\n\n")):
        text = pattern.sub(by, text)
    text = text.strip("\n")
    return f"{text}\n" if text.strip() else ""


def printable(text: str) -> str:
    """Return a text without control characters but tabs and line ends."""
    return _CONTROL.sub("", text)


def _brief(error: Exception) -> str:
    words = " ".join(str(error).split())[:100]
    return words or type(error).__name__
