"""Tell which files hold text that is not read: formats that nothing here converts, and tables of data.

Pictures, programs and other files without notes are not told.
"""

from collections.abc import Iterable, Mapping

from mnemark.text.documents import DATA, EXTRA, LARGEST_DATA, missing


def told(counts: Mapping[str, int]) -> str:
    """Return what was not read, such as "12 .pdf, 3 .docx (pip install …)"; empty for nothing.

    >>> told({".pages": 2, ".csv": 1})
    '1 .csv (larger than 256 kB), 2 .pages'
    """
    return ", ".join(f"{files} ({why})" if why else files for files, why in grouped(counts))


def grouped(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the files that were not read, by the reason; it is empty where nothing reads them."""
    wanted = missing()
    parts = (
        [suffix for suffix in counts if suffix in wanted],
        [suffix for suffix in counts if suffix in DATA],
        [suffix for suffix in counts if suffix not in (*wanted, *DATA)],
    )
    return [
        (", ".join(f"{counts[one]:,} {one}" for one in _ranked(suffixes, counts)), reason(suffixes[0]))
        for suffixes in parts
        if suffixes
    ]


def reason(suffix: str) -> str:
    """Return why files of that suffix are not read, or how they would be; empty: nothing here reads them."""
    if suffix in missing():
        return EXTRA
    return f"larger than {LARGEST_DATA >> 10} kB" if suffix in DATA else ""


def _ranked(suffixes: Iterable[str], counts: Mapping[str, int]) -> list[str]:
    return sorted(suffixes, key=lambda suffix: (-counts[suffix], suffix))
