"""Split Org, AsciiDoc, reStructuredText and LaTeX at their headings, and tables by their rows.

Only headings are understood; all else is text, whose blocks end at blank lines.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from mnemark.text.documents import MARKDOWN
from mnemark.text.documents import SUFFIXES as DOCUMENTS
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import lines as whole_lines
from mnemark.text.markdown.blocks import line_starts
from mnemark.text.markdown.passages import Heading, passages, text_passages
from mnemark.text.words.tokens import estimate_tokens
from mnemark.types import Passage

_ORG: Final = lazy_pattern(r"(\*{1,20})[ \t]++([^\r\n]+)")
_ORG_TAGS: Final = lazy_pattern(r"(?<![ \t])[ \t]++:[\w@#%:]{1,200}:[ \t]*+$")
_ADOC: Final = lazy_pattern(r"(={1,6}|#{1,6})[ \t]++([^\r\n]+)")
_TEX: Final = lazy_pattern(
    r"[ \t]*+\\(part|chapter|(?:sub){0,2}section|paragraph)\*?+(?:\[[^\]]{0,200}\])?+\{([^{}]{1,500})\}"
)
_TEX_LEVELS: Final = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_RST: Final = lazy_pattern(r"([!-/:-@\[-`{-~])\1++[ \t]*+$")
"""A line that underlines a heading, or stands above one, too."""
_TITLES: Final[Mapping[str, re.Pattern[str] | None]] = {
    ".org": lazy_pattern(r"^#\+title:[ \t]*+([^\r\n]{1,500})", re.IGNORECASE | re.MULTILINE),
    ".tex": lazy_pattern(r"\\title(?:\[[^\]]{0,200}\])?+\{([^{}]{1,500})\}"),
}
"""How formats name the title of a document, where that is not its first heading."""
_HEAD: Final = 8_192
"""Characters in which a title stands."""
_DELIMITERS: Final = ",;\t|"
_LONGEST_ROW: Final = 50
"""Lines of a row at most: one of more has a quotation mark that nothing closes."""


class TextFormat(NamedTuple):
    """How a text is split."""

    split: Callable[[str, int], list[Passage]]
    """Of a text and the maximum number of tokens."""
    headings: Callable[[Sequence[str]], Mapping[int, Heading]] | None = None


def _org(lines: Sequence[str]) -> dict[int, Heading]:
    found = ((number, _ORG.match(line)) for number, line in enumerate(lines) if line.startswith("*"))
    return {
        number: Heading(number + 1, len(match[1]), _ORG_TAGS.sub("", match[2].strip()))
        for number, match in found
        if match
    }


def _adoc(lines: Sequence[str]) -> dict[int, Heading]:
    found = ((number, _ADOC.match(line)) for number, line in enumerate(lines) if line[:1] in ("=", "#"))
    return {number: Heading(number + 1, len(match[1]), match[2].strip()) for number, match in found if match}


def _tex(lines: Sequence[str]) -> dict[int, Heading]:
    found = ((number, _TEX.match(line)) for number, line in enumerate(lines) if "\\" in line[:40])
    return {
        number: Heading(number + 1, _TEX_LEVELS.index(match[1]) + 1, match[2].strip())
        for number, match in found
        if match
    }


def _rst(lines: Sequence[str]) -> dict[int, Heading]:
    """Find titles by the lines below, and above, them; their levels are in the order of first use."""
    found: dict[int, Heading] = {}
    levels: dict[tuple[str, bool], int] = {}
    for number in range(1, len(lines)):
        title, line = lines[number - 1], lines[number]
        if not line or line[0].isalnum() or not title.strip() or not _RST.match(line):
            continue
        if _RST.match(title) or len(line.rstrip()) < len(title.rstrip()):
            continue
        over = number > 1 and lines[number - 2].rstrip() == line.rstrip()
        if not over and (title[0] in " \t" or (number > 1 and lines[number - 2].strip())):
            continue  # the border of a table, or a line in a paragraph
        level = levels.setdefault((line[0], over), len(levels) + 1)
        found[number - 1 - over] = Heading(number + 1, level, title.strip())
    return found


def _rows(text: str, limit: int) -> list[Passage]:
    """Return the rows of a table as passages, each value with the name of its column."""
    starts = [*line_starts(text)[1], len(text)]
    rows = list(_records(text))
    names = rows[0][2] if len(rows) > 1 and _are_names(rows[0][2]) else ()
    found: list[Passage] = []
    for number, (first, last, cells) in enumerate(rows):
        start, end = starts[first - 1], starts[last]
        row = "; ".join(_named(cells, names if number else ()))
        if not row:
            continue
        if estimate_tokens(row) <= limit:
            found.append(Passage(len(found), first, last, start, end, f"{row}\n"))
            continue
        for part in text_passages(text[start:end], limit=limit):
            found.append(
                Passage(
                    len(found), part.start_line + first - 1, part.end_line + first - 1,
                    part.start + start, part.end + start, part.text,
                )
            )  # fmt: skip
    return found


def _records(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the rows of a table with their first and last line (from 1)."""
    lines = whole_lines(text)
    first = next((line for line in lines if line.strip()), "")
    delimiter = max(_DELIMITERS, key=lambda one: (first.count(one), one == ","))
    at = 0
    while at < len(lines):
        for used, cells in _parsed(lines[at : at + _LONGEST_ROW + 1], delimiter):
            yield at + 1, at + used, cells
            at += used
            break
        else:
            at += 1


def _parsed(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the first row, if it has any cells, with the number of its lines."""
    if '"' not in lines[0]:
        cells = lines[0].rstrip("\r\n").split(delimiter)
        used = 1
    else:
        import csv  # most tables have no quotation marks

        try:
            reader = csv.reader(lines, delimiter=delimiter)
            cells, used = next(reader), reader.line_num
        except (csv.Error, StopIteration):
            cells, used = [], _LONGEST_ROW + 1
        if used > _LONGEST_ROW:
            cells, used = lines[0].rstrip("\r\n").split(delimiter), 1
    if any(cell.strip() for cell in cells):
        yield used, cells


def _are_names(cells: Sequence[str]) -> bool:
    """Whether the cells of a first row name columns: all different words, and no numbers."""
    names = [cell.strip() for cell in cells]
    return len(set(names)) == len(names) > 1 and not any(name[:1].isdigit() or not name for name in names)


def _named(cells: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    for number, cell in enumerate(cells):
        value = " ".join(cell.split())
        if value:
            yield f"{names[number].strip()}: {value}" if number < len(names) else value


def _headed(headings: Callable[[Sequence[str]], Mapping[int, Heading]]) -> TextFormat:
    def split(text: str, limit: int) -> list[Passage]:
        return text_passages(text, limit=limit, headings=headings(line_starts(text)[0]))

    return TextFormat(split, headings)


_PLAIN: Final = TextFormat(lambda text, limit: text_passages(text, limit=limit))
_TABLE: Final = TextFormat(_rows)
_ASCIIDOC: Final = _headed(_adoc)
FORMATS: Final[Mapping[str, TextFormat]] = {
    ".org": _headed(_org), ".adoc": _ASCIIDOC, ".asciidoc": _ASCIIDOC, ".rst": _headed(_rst),
    ".tex": _headed(_tex), ".csv": _TABLE, ".tsv": _TABLE, ".yaml": _PLAIN, ".yml": _PLAIN,
    ".pdf": TextFormat(lambda text, limit: passages(text, limit=limit, front=0, join=False)),
}  # fmt: skip
"""The formats by suffix. The pages of a PDF are Markdown, of which none is joined with the next."""


def text_format(path: str) -> TextFormat | None:
    """Return how a file is split by its name; None for Markdown, plain text and all else."""
    return FORMATS.get(PurePosixPath(path).suffix.lower())


def passages_of(path: str, text: str, *, limit: int, front: int | None = None) -> list[Passage]:
    """Split a text, or the view of a document, as its name says; see `passages` for the other arguments."""
    if how := text_format(path):
        return how.split(text, limit)
    if path.lower().endswith((*MARKDOWN, *DOCUMENTS)):
        return passages(text, limit=limit, front=front)
    return text_passages(text, limit=limit)


def own_title(path: str, text: str) -> str:
    """Return the title that a text gives itself; empty if it has none, or is Markdown or plain text."""
    suffix = PurePosixPath(path).suffix.lower()
    how, named = FORMATS.get(suffix), _TITLES.get(suffix)
    if named is not None:
        found = named.search(text[:_HEAD])
        return " ".join(found[1].split()) if found else ""
    if how is None or how.headings is None:
        return ""
    first = min(how.headings(line_starts(text[:_HEAD])[0]).items(), default=None)
    return first[1].title if first is not None and first[1].level == 1 else ""
