"""Tell which files hold text that is not read: formats that nothing here converts, and tables of data.

Pictures, programs and other files without notes are not told.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from mnemark.text.documents import EXTRA, missing

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


def unread_suffixes() -> tuple[str, ...]:
    """Return the suffixes of files that hold text and are not read here."""
    return (*UNREAD, *missing())


def suffix_of(path: str) -> str:
    """Return the suffix of a file, by which what is not read is counted."""
    return f".{path.rpartition('.')[2].lower()}"


def is_too_much(path: str, size: int) -> bool:
    """Whether a file is data by the megabyte; see `LARGEST_DATA`."""
    return size > LARGEST_DATA and path.lower().endswith(DATA)


def told(counts: Mapping[str, int]) -> str:
    """Return what was not read, such as "12 .pdf, 3 .docx (pip install …)"; empty for nothing.

    >>> told({".pages": 2, ".csv": 1})
    '1 .csv (larger than 256 kB), 2 .pages'
    """
    wanted = missing()
    parts = (
        (f" ({EXTRA})", [suffix for suffix in counts if suffix in wanted]),
        (f" (larger than {LARGEST_DATA >> 10} kB)", [suffix for suffix in counts if suffix in DATA]),
        ("", [suffix for suffix in counts if suffix not in (*wanted, *DATA)]),
    )
    return ", ".join(
        ", ".join(f"{counts[one]:,} {one}" for one in _ranked(suffixes, counts)) + why
        for why, suffixes in parts
        if suffixes
    )


def _ranked(suffixes: Iterable[str], counts: Mapping[str, int]) -> list[str]:
    return sorted(suffixes, key=lambda suffix: (-counts[suffix], suffix))
