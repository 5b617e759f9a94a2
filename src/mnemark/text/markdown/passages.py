"""Split documents into passages of a limited number of tokens.

A passage is a section, or as much of one as fits in the limit. Blocks (paragraphs, lists, fences, tables,
quotes) are not split if they fit; a larger one is split at the best point near the limit: between items, rows
or paragraphs, then after a sentence (English or Chinese), a clause, a word, a character. Very short sections
are joined with the next one below the same parent, and a heading stays with its text if both fit.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, takewhile
from types import MappingProxyType
from typing import Final, NamedTuple

from mnemark.errors import UsageError
from mnemark.text.markdown.blocks import BlockKind, MarkdownBlock, heading_text, line_starts, scan
from mnemark.text.markdown.cut import cut
from mnemark.text.markdown.frontmatter import front_matter
from mnemark.text.words.tokens import MOST_OF_CHARACTER, estimate_tokens
from mnemark.types import Passage

CHARACTERS_PER_TOKEN: Final = 16
"""Maximum characters of a passage per token of the limit, as white space has few tokens."""


class _Unit(NamedTuple):
    """A block with its cost in tokens and its heading path."""

    kind: BlockKind
    start: int
    end: int
    tokens: float
    path: tuple[str, ...]
    level: int = 0


class Heading(NamedTuple):
    """A heading in a text that is not Markdown."""

    end: int
    """The line after it (0-based)."""
    level: int
    title: str


class _Draft(NamedTuple):
    """A passage before short ones are joined."""

    start: int
    end: int
    tokens: float
    path: tuple[str, ...]
    level: int  # level of its outermost heading; 0 without one
    lone: bool  # whether it has only headings
    whole: bool  # whether it is all of one or more sections


def passages(text: str, *, limit: int = 256, front: int | None = None, join: bool = True) -> list[Passage]:
    """Split a Markdown text into passages of at most `limit` tokens.

    Their concatenation is the text, character for character. Only a passage of a single character may exceed
    the limit. Linear in the length of the text. `front` is the number of lines of its front matter, where it
    has been read and its marks are gone. `join`: join very short sections.

    Raises:
        UsageError: `limit` is below 1.
    """
    lines, starts = line_starts(text)
    first = front_matter(text).end_line if front is None else front
    blocks = [MarkdownBlock("front", 0, first)] if first else []
    blocks += scan(lines, first)
    return _passages(text, blocks, starts, limit, join=join)


def text_passages(
    text: str, *, limit: int = 256, headings: Mapping[int, Heading] = MappingProxyType({})
) -> list[Passage]:
    """Split plain text, where blocks end at blank lines and `headings` (by line, 0-based), as `passages`."""
    lines, starts = line_starts(text)
    blocks: list[MarkdownBlock] = []
    at = 0
    while at < len(lines):
        heading = headings.get(at)
        end = heading.end if heading else at
        while not heading and end < len(lines) and lines[end].strip() and (end == at or end not in headings):
            end += 1
        while end < len(lines) and not lines[end].strip():
            end += 1
        blocks.append(
            MarkdownBlock("heading", at, end, heading.level, heading.title)
            if heading
            else MarkdownBlock("paragraph", at, end)
        )
        at = end
    return _passages(text, blocks, starts, limit)


def _passages(
    text: str, blocks: list[MarkdownBlock], starts: list[int], limit: int, *, join: bool = True
) -> list[Passage]:
    if limit < 1:
        raise UsageError(f"limit is {limit}; it must be at least 1 token")
    sections = list(_sections(_units(text, blocks, starts)))
    if len(sections) == 1 and len(text) * MOST_OF_CHARACTER + 1 <= limit:
        pieces = [_piece(sections[0], 0, whole=True)]  # most turns: they need not be measured
    else:
        parts = _pieces(text, sections, limit)
        pieces = _join_short(parts, limit) if join else list(chain.from_iterable(parts))
    return [
        Passage(
            ordinal=ordinal,
            start_line=bisect_right(starts, piece.start),
            end_line=bisect_right(starts, piece.end - 1),
            start=piece.start,
            end=piece.end,
            text=text[piece.start : piece.end],
            title=" › ".join(name for name in piece.path if name),
        )
        for ordinal, piece in enumerate(pieces)
    ]


def _cost(part: str) -> float:
    """Return an additive upper bound of tokens."""
    # Half a token more, so that a sum of rounded estimates is never below the estimate of the whole.
    return max(estimate_tokens(part) + 0.5, len(part) / CHARACTERS_PER_TOKEN)


def _units(text: str, blocks: Iterable[MarkdownBlock], starts: list[int]) -> Iterator[_Unit]:
    """Yield blocks with offsets and heading paths; costs are 0."""
    path: list[tuple[int, str]] = []
    names: tuple[str, ...] = ()
    for block in blocks:
        start = starts[block.first]
        end = starts[block.end] if block.end < len(starts) else len(text)
        if block.kind == "heading":
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, heading_text(block.title)))
            names = tuple(name for _, name in path)
        yield _Unit(block.kind, start, end, 0, names, block.level)


def _sections(units: Iterable[_Unit]) -> Iterator[list[_Unit]]:
    """Yield headings with their own text. A heading without text belongs to the section that follows."""
    section: list[_Unit] = []
    lone = False
    for unit in units:
        if unit.kind == "heading":
            if section and not (lone and unit.level >= section[0].level):
                yield section
                section = []
            lone = True
        elif section:
            # Front matter and leading blank lines count like a heading: they belong to what follows.
            lone = False
        section.append(unit)
        if len(section) == 1 and unit.kind in ("front", "blank"):
            lone = True
    if section:
        yield section


def _pieces(text: str, sections: Iterable[list[_Unit]], limit: int) -> Iterator[list[_Draft]]:
    for section in sections:
        tokens = _cost(text[section[0].start : section[-1].end])
        if tokens <= limit:
            yield [_piece(section, tokens, whole=True)]
        else:
            alone = len(section) == 1
            costed = [
                unit._replace(tokens=tokens if alone else _cost(text[unit.start : unit.end]))
                for unit in section
            ]
            yield _packed(text, costed, limit)


def _piece(units: list[_Unit], tokens: float, *, whole: bool = False) -> _Draft:
    body = [unit for unit in units if unit.kind not in ("heading", "front", "blank")]
    levels = [unit.level for unit in units if unit.level]
    return _Draft(
        start=units[0].start,
        end=units[-1].end,
        tokens=tokens,
        path=(body or units)[-1].path,
        level=levels[0] if levels and units[0].kind in ("heading", "front", "blank") else 0,
        lone=not body,
        whole=whole,
    )


def _tokens(units: list[_Unit]) -> float:
    return sum(unit.tokens for unit in units)


def _packed(text: str, section: list[_Unit], limit: int) -> list[_Draft]:
    """Split a section larger than the limit into pieces, each filled with as many blocks as fit."""
    groups: list[list[_Unit]] = []
    current: list[_Unit] = []
    used = 0.0

    def close(keep: int = 0) -> None:
        nonlocal current, used
        if len(current) > keep:
            groups.append(current[: len(current) - keep])
        current = current[len(current) - keep :]
        used = _tokens(current)

    for unit in section:
        if used + unit.tokens > limit and current:
            opening = all(other.kind in ("heading", "front", "blank") for other in current)
            whole = unit.kind in ("fence", "table", "heading") and unit.tokens <= limit
            if not opening and len(current) > 1 and _introduces(text, current[-1], unit, limit):
                close(keep=1)
            elif not opening or whole or used > limit // 2:
                close()
        for part in _parts(text, unit, limit - used, limit):
            if current and used + part.tokens > limit:
                close()
            current.append(part)
            used += part.tokens
    close()
    return [_piece(group, _tokens(group)) for group in _fill_last(groups, limit)]


def _introduces(text: str, intro: _Unit, unit: _Unit, limit: int) -> bool:
    if intro.kind != "paragraph" or intro.tokens + unit.tokens > limit or intro.tokens > limit // 4:
        return False
    return text[max(intro.start, intro.end - 200) : intro.end].rstrip().endswith((":", "："))


def _parts(text: str, unit: _Unit, room: float, limit: int) -> Iterator[_Unit]:
    """Yield the unit if it fits in `room`, else its parts: the first fits in `room`, the rest in `limit`."""
    if unit.tokens <= room:
        yield unit
        return
    for start, end, tokens in cut(text, (unit.start, unit.end), unit.kind, (room, limit), _cost):
        yield unit._replace(start=start, end=end, tokens=tokens)


def _fill_last(groups: list[list[_Unit]], limit: int) -> list[list[_Unit]]:
    if len(groups) < 2:
        return groups
    before, last = groups[-2], groups[-1]
    size = _tokens(last)
    while size < limit // 8 and len(before) > 1 and before[-2].kind not in ("heading", "front", "blank"):
        if size + before[-1].tokens > limit:
            break
        size += before[-1].tokens
        last.insert(0, before.pop())
    return groups


def _join_short(sections: Iterable[list[_Draft]], limit: int) -> list[_Draft]:
    out: list[_Draft] = []
    for pieces in sections:
        if out and _may_join(out[-1], pieces[0], limit):
            pieces[0] = _join(out.pop(), pieces[0])
        else:
            _join_heading(out, limit)
        out.extend(pieces)
    _join_heading(out, limit)
    return out


def _join_heading(out: list[_Draft], limit: int) -> None:
    """Join a last piece without text, only headings, to the piece above it."""
    if len(out) > 1 and out[-1].lone and out[-2].tokens + out[-1].tokens <= limit:
        last = out.pop()
        out[-1] = _join(out[-1], last)


def _may_join(before: _Draft, after: _Draft, limit: int) -> bool:
    if before.tokens + after.tokens > limit or after.level < before.level:
        return False
    if before.lone or (before.whole and before.tokens < limit // 8):
        return True
    return before.whole and after.whole and after.level >= 3 and before.tokens < limit // 2


def _join(before: _Draft, after: _Draft) -> _Draft:
    if before.lone or after.lone:
        path = after.path if before.lone else before.path
    else:
        pairs = zip(before.path, after.path, strict=False)
        path = tuple(name for name, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return _Draft(
        start=before.start,
        end=after.end,
        tokens=before.tokens + after.tokens,
        path=path,
        level=before.level or (after.level if before.lone else 0),
        lone=before.lone and after.lone,
        whole=before.whole and after.whole,
    )
