"""Find secrets in Markdown tables whose column says what they are: `| user | password |`.

A row that names its secret itself (`| password | X |`) is read beside other names, in `redact_pairs`.
"""

import re
from collections.abc import Generator, Iterator

from mnemark.text.redaction.extents import TRAIL, bare, quoted
from mnemark.text.redaction.named_values import KINDS, cell_fits, fits_quoted
from mnemark.text.redaction.names import Strength, strength
from mnemark.text.redaction.spans import Span

_SIGN = re.compile(r"-:? ?\|")  # in every line that rules off the names of more than one column
_RULE = re.compile(r"[ \t>]{0,16}\|?[-:| \t]*+\r?")
_HEAD = 512  # characters of a row of names
_ROW = re.compile(r"[ \t>]{0,16}\|?(?P<cells>[^\n]{0,2048})(?:\n|\Z)")
_CELL = re.compile(r"(?P<cell>(?:[^|\\\n]++|\\[^\n])*+)(?:\||\Z)")
_EMPHASIS = " \t\r*_`"
_LONGEST_NAME = 40


def tables(text: str) -> Iterator[Span]:
    """What stands below the name of a secret."""
    done = 0
    for sign in _SIGN.finditer(text):
        if sign.start() < done:
            continue
        begin = text.rfind("\n", done, sign.start())
        end = text.find("\n", sign.start())
        done = len(text) if end < 0 else end
        if begin < 0 or not _RULE.fullmatch(text, begin + 1, done):
            continue
        head = text.rfind("\n", max(0, begin - _HEAD), begin) + 1
        columns = _columns(text[head:begin]) if begin - head < _HEAD else {}
        if columns:
            done = yield from _rows(text, done + 1, columns)


def _columns(head: str) -> dict[int, Strength]:
    """Which columns hold secrets."""
    if "|" not in head:
        return {}
    names = head.strip(" \t\r>").strip("|").split("|")
    found: dict[int, Strength] = {}
    for number, name in enumerate(names):
        how = strength(name.strip(_EMPHASIS)) if name.strip() and len(name) <= _LONGEST_NAME else None
        if how is not None:
            found[number] = how
    return found


def _rows(text: str, at: int, columns: dict[int, Strength]) -> Generator[Span, None, int]:
    """The secrets of the rows that begin at `at`; returns where the table ends."""
    while at < len(text):
        row = _ROW.match(text, at)
        if row is None or "|" not in row[0]:
            break
        at = row.end()
        for number, cell in enumerate(_CELL.finditer(text, row.start("cells"), row.end("cells"))):
            how = columns.get(number)
            span = _value(cell["cell"], how) if how else None
            if how and span:
                yield KINDS[how], cell.start() + span[0], cell.start() + span[1]
    return at


def _value(cell: str, how: Strength) -> tuple[int, int] | None:
    at = len(cell) - len(cell.lstrip())
    between = quoted(cell, at)
    if between is not None:
        alone = not cell[between[1] :].strip("\"'`”’」』 \t\r")
        return between if alone and fits_quoted(how, cell[slice(*between)]) else None
    found = bare(cell, at)
    whole = found is not None and not cell[found.end :].strip(f"{TRAIL}*_<>！？（「『“‘ \t\r")
    return found.extent if found and whole and cell_fits(how, found) else None
