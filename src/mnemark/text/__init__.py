"""Process text with pure functions: tokenization, passages, dates, facts, redaction, quoting."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

DATA: Final = Path(__file__).resolve().parents[1] / "data"
"""The folder of tables."""


def rows(name: str) -> Iterator[list[str]]:
    """Yield the rows of the table `NAME.tsv`, a list of its cells each; "#" begins a comment."""
    for line in (DATA / f"{name}.tsv").read_text("utf-8").splitlines():
        if line and line[0] != "#":
            yield line.split("\t")


@cache
def word_lists(name: str) -> Mapping[str, frozenset[str]]:
    """Return the lists of the table `NAME.tsv`, in which a row has the name of a list and words of it."""
    lists: dict[str, frozenset[str]] = {}
    for row, words in rows(name):
        lists[row] = lists.get(row, frozenset()).union(words.split())
    return lists


def spelled_out(pattern: str, names: Mapping[str, str]) -> str:
    """Return a pattern of a table with the names that stand for others written out, such as `<word>`."""
    for name, written in names.items():
        pattern = pattern.replace(name, written)
    return pattern
