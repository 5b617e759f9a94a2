"""Split Markdown into top-level blocks, in one pass over its lines.

The CommonMark parsers in Python manage about one megabyte a second and build trees; here only the bounds of
headings, fences, tables, lists and quotes are needed. The scanner follows CommonMark 0.31 with tables
(https://spec.commonmark.org/0.31.2/) at the top level; the tests compare it with markdown-it-py's line maps.
Inside lists and quotes it tracks only what decides where they end. Linear in the lines.
"""

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, Literal, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import lines as split_lines

BlockKind = Literal[
    "front", "heading", "paragraph", "fence", "code", "html", "table", "list", "quote", "rule", "blank"
]


class MarkdownBlock(NamedTuple):
    """Lines `first <= line < end` (0-based), trailing blank lines included."""

    kind: BlockKind
    first: int
    end: int
    level: int = 0  # 1-6 for headings
    title: str = ""  # the heading's source text


_ATX: Final = lazy_pattern(r"(#{1,6})(?:[ \t]++(.*))?$", re.DOTALL)
_ATX_CLOSE: Final = lazy_pattern(r"(?:^|(?<=[ \t]))#+$")
_FENCE: Final = lazy_pattern(r"(`{3,})[^`]*$|(~{3,})", re.DOTALL)
_RULE: Final = lazy_pattern(r"(?:(?:-[ \t]*+){3,}|(?:\*[ \t]*+){3,}|(?:_[ \t]*+){3,})$")
_SETEXT: Final = lazy_pattern(r"(?:=+|-+)[ \t]*+$")
_ITEM: Final = lazy_pattern(r"([-+*]|(\d{1,9})([.)]))(?:([ \t]++)(.)?|$)", re.DOTALL)
_DELIMITER: Final = lazy_pattern(r"[|:\-][|:\- \t]*+$")
_COLUMN: Final = lazy_pattern(r":?-+:?$")
_PIPE: Final = lazy_pattern(r"(?<!\\)\|")
_REFERENCE: Final = lazy_pattern(
    r"""\[[^\]]{1,999}\]:[ \t]*+(?:<[^<>]*>|\S++)(?:[ \t]++(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$"""
)
_QUOTE_MARKS: Final = lazy_pattern(r"(?:[ \t]{0,3}>[ \t]?)+")
_MARKS: Final = lazy_pattern(r"(?:[ \t]*(?:[-+*]|\d{1,9}[.)]|>)(?=[ \t]|$))+[ \t]*")

_RAW_TAGS: Final = "script|pre|style|textarea"
_BLOCK_TAGS: Final = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|"
    "div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|"
    "iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|"
    "table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_ATTRIBUTE: Final = r"""\s++[A-Za-z_:][\w:.\-]*+(?:\s*+=\s*+(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+"))?+"""
_HTML: Final = tuple(
    (lazy_pattern(start, re.IGNORECASE), lazy_pattern(end, re.IGNORECASE) if end else None)
    for start, end in (
        (rf"<(?:{_RAW_TAGS})(?=[\s>]|$)", rf"</(?:{_RAW_TAGS})>"),
        (r"<!--", r"-->"),
        (r"<\?", r"\?>"),
        (r"<![a-z]", r">"),
        (r"<!\[CDATA\[", r"\]\]>"),
        (rf"</?(?:{_BLOCK_TAGS})(?=[\s]|/?>|$)", ""),
    )
)
_LONE_TAG: Final = lazy_pattern(
    rf"(?:<[A-Za-z][\w\-]*+(?:{_ATTRIBUTE})*+\s*+/?>|</[A-Za-z][\w\-]*+\s*+>)\s*+$"
)


def line_starts(text: str) -> tuple[list[str], list[int]]:
    r"""Split into lines without their ends (`\n`, `\r\n`, `\r`), and the character where each starts.

    A text that ends in a line end has no empty last line.
    """
    if "\r" not in text:
        lines = text.split("\n")
        starts = [0, *accumulate(len(line) + 1 for line in lines[:-1])]
    else:
        whole = split_lines(text)
        lines = [line.rstrip("\r\n") for line in whole]
        starts = [0, *accumulate(map(len, whole[:-1]))]
    while starts and starts[-1] >= len(text):
        lines.pop()
        starts.pop()
    return lines, starts


def scan(lines: Sequence[str], first: int = 0) -> list[MarkdownBlock]:
    """Return the blocks of `lines[first:]`, without gaps; blank lines belong to the block before."""
    blocks: list[MarkdownBlock] = []
    at, count = first, len(lines)
    while at < count:
        if _blank(lines[at]):
            end = at + 1
            while end < count and _blank(lines[end]):
                end += 1
            if blocks:
                blocks[-1] = blocks[-1]._replace(end=end)
            else:
                blocks.append(MarkdownBlock("blank", at, end))
        else:
            blocks.append(_block(lines, at))
        at = blocks[-1].end
    return blocks


def _blank(line: str) -> bool:
    return not line or not line.strip(" \t")


def _indent(line: str) -> int:
    rest = line.lstrip(" \t")
    lead = line[: len(line) - len(rest)]
    return len(lead.expandtabs(4)) if "\t" in lead else len(lead)


def _block(lines: Sequence[str], at: int) -> MarkdownBlock:  # noqa: PLR0911 - one return for each kind of block
    line = lines[at]
    if line[0] in " \t" and _indent(line) >= 4:
        return MarkdownBlock("code", at, _code_end(lines, at))
    body = line.strip(" \t")
    mark = body[0]
    if mark == "#" and (match := _ATX.match(body)):
        title = _ATX_CLOSE.sub("", (match[2] or "")).strip(" \t")
        return MarkdownBlock("heading", at, at + 1, len(match[1]), title)
    if mark in "`~" and (match := _FENCE.match(body)):
        return MarkdownBlock("fence", at, _fence_end(lines, at, match[1] or match[2]))
    if mark == ">":
        return MarkdownBlock("quote", at, _quote_end(lines, at))
    if mark in "-*_" and _RULE.match(body):
        return MarkdownBlock("rule", at, at + 1)
    if (mark in "-+*" or mark.isdigit()) and _ITEM.match(body):
        return MarkdownBlock("list", at, _list_end(lines, at))
    if mark == "<" and (end := _html_end(lines, at)):
        return MarkdownBlock("html", at, end)
    if _table_at(lines, at):
        return MarkdownBlock("table", at, _table_end(lines, at))
    return _paragraph(lines, at)


def _code_end(lines: Sequence[str], at: int) -> int:
    end = at + 1
    for j in range(at + 1, len(lines)):
        if _blank(lines[j]):
            continue
        if _indent(lines[j]) < 4:
            break
        end = j + 1
    return end


def _fence_end(lines: Sequence[str], at: int, mark: str) -> int:
    for j in range(at + 1, len(lines)):
        if mark in lines[j] and _closes(lines[j], mark):
            return j + 1
    return len(lines)


def _closes(line: str, mark: str) -> bool:
    body = line.strip(" \t")
    return len(body) >= len(mark) and not body.strip(mark[0]) and _indent(line) < 4


def _html_end(lines: Sequence[str], at: int) -> int:
    """Return where the HTML block that starts at `at` ends; 0 if none starts."""
    body = lines[at].lstrip(" \t")
    ends = [stop for start, stop in _HTML if start.match(body)]
    if not ends and not _LONE_TAG.match(body):
        return 0
    stop = ends[0] if ends else None
    for j in range(at, len(lines)):
        if stop is None and _blank(lines[j]):
            return j
        if stop is not None and stop.search(lines[j]):
            return j + 1
    return len(lines)


def _interrupts(lines: Sequence[str], at: int, *, paragraph: bool) -> bool:  # noqa: PLR0911 - as above
    """Return whether a block starts at a line that would otherwise continue the text above."""
    line = lines[at]
    body = line.strip(" \t")
    mark = body[0]
    if mark not in "#`~>-*_+<0123456789" or (line[0] in " \t" and _indent(line) >= 4):
        return False
    if mark == "#":
        return _ATX.match(body) is not None
    if mark in "`~":
        return _FENCE.match(body) is not None
    if mark == ">":
        return True
    if mark == "<":
        return any(start.match(body) for start, _ in _HTML)
    if mark in "-*_" and _RULE.match(body):
        return True
    item = _ITEM.match(body)
    # A list may interrupt a paragraph only if it has text and, when numbered, starts at 1.
    return item is not None and (
        not paragraph or (item[5] is not None and (item[2] is None or int(item[2]) == 1))
    )


def _paragraph(lines: Sequence[str], at: int) -> MarkdownBlock:
    end = at + 1
    if lines[at].lstrip(" \t")[0] == "[" and _REFERENCE.match(lines[at].lstrip(" \t")):
        # A link reference definition does not continue: the next line starts a paragraph or heading.
        return MarkdownBlock("paragraph", at, end)
    while end < len(lines) and not _blank(lines[end]):
        line = lines[end]
        if not (line[0] in " \t" and _indent(line) >= 4):
            body = line.strip(" \t")
            if body[0] in "=-" and _SETEXT.match(body):
                title = " ".join(part.strip(" \t") for part in lines[at:end])
                return MarkdownBlock("heading", at, end + 1, 1 if body[0] == "=" else 2, title)
            if _interrupts(lines, end, paragraph=True) or _table_at(lines, end):
                break
        end += 1
    return MarkdownBlock("paragraph", at, end)


def _columns(line: str) -> list[str]:
    cells = _PIPE.split(line.strip(" \t"))
    if cells and not cells[0].strip():
        cells = cells[1:]
    if cells and not cells[-1].strip():
        cells = cells[:-1]
    return [cell.strip() for cell in cells]


def _table_at(lines: Sequence[str], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at]:
        return False
    below = lines[at + 1].strip(" \t")
    if not _DELIMITER.match(below) or "-" not in below or _indent(lines[at + 1]) >= 4 or below[:2] == "- ":
        return False
    columns = _columns(below)
    return all(_COLUMN.match(cell) for cell in columns) and len(_columns(lines[at])) == len(columns)


def _table_end(lines: Sequence[str], at: int) -> int:
    for j in range(at + 2, len(lines)):
        if _blank(lines[j]) or _indent(lines[j]) >= 4 or _interrupts(lines, j, paragraph=False):
            return j
    return len(lines)


class _OpenBlock:
    """The fence or paragraph still open after the last line inside a list or quote."""

    def __init__(self) -> None:
        self.fence = ""
        self.paragraph = False

    def feed(self, body: str) -> None:
        if self.fence:
            if _closes(body.lstrip(" \t"), self.fence):
                self.fence = ""
            return
        text = body.strip(" \t")
        if text[:1] in "#-*_`~" and text:
            if match := _FENCE.match(text):
                self.fence = match[1] or match[2]
            self.paragraph = not (match or _ATX.match(text) or _RULE.match(text))
        else:
            self.paragraph = bool(text) and (self.paragraph or _indent(body) < 4)


def _quote_end(lines: Sequence[str], at: int) -> int:
    inside = _OpenBlock()
    for j in range(at, len(lines)):
        line = lines[j]
        if _blank(line):
            return j
        if line.lstrip(" \t")[0] == ">" and _indent(line) < 4:
            marks = _QUOTE_MARKS.match(line)
            rest = line[marks.end() :] if marks else line
            item = _MARKS.match(rest)
            inside.feed(rest[item.end() :] if item else rest)
        elif inside.fence or not inside.paragraph or _interrupts(lines, j, paragraph=False):
            return j
    return len(lines)


def _item(line: str) -> tuple[str, int, str] | None:
    """Return marker type, width up to the content, and content of a list item's first line, or None."""
    body = line.lstrip(" \t")
    match = _ITEM.match(body)
    if match is None or (body[0] in "-*_" and _RULE.match(body.rstrip(" \t"))):
        return None
    lead = _indent(line)
    width = lead + len(match[1])
    gap = len((" " * width + (match[4] or "")).expandtabs(4)) - width
    width += gap if match[5] is not None and gap <= 4 else 1
    return match[3] or match[1], width, body[len(match[1]) :]


def _list_end(lines: Sequence[str], at: int) -> int:
    inside, end, width, kind, after_blank = _OpenBlock(), at, 0, "", False
    for j in range(at, len(lines)):
        line = lines[j]
        if _blank(line):
            after_blank = True
            inside.paragraph = False
            continue
        lead = _indent(line)
        if j > at and lead >= width:
            rest = line.lstrip(" \t")
        elif lead < 4 and (item := _item(line)) and kind in ("", item[0]):
            kind, width, rest = item
            inside = _OpenBlock()
        elif after_blank or inside.fence or not inside.paragraph or _interrupts(lines, j, paragraph=False):
            break
        else:
            rest = line
        marks = _MARKS.match(rest)
        inside.feed(rest[marks.end() :] if marks and not inside.fence else rest)
        after_blank = False
        end = j + 1
    return end


_MAX_TITLE: Final = 200
_MARKUP: Final = lazy_pattern(r"[<\[`*_~=\\]")
_INLINE: Final = (
    (lazy_pattern(r"<!--.*?-->"), ""),
    (lazy_pattern(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]"), r"\1"),
    (lazy_pattern(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])"), r"\1"),
    (lazy_pattern(r"(`{1,3}|\*\*|__|~~|==)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (lazy_pattern(r"(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\w*])"), r"\1"),
    (lazy_pattern(r"(?<![\w_])_(?=[^\s_])([^_]+?)(?<=\S)_(?![\w_])"), r"\1"),
    (lazy_pattern(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)


def heading_text(source: str) -> str:
    """Return the text of a heading without inline markup, shortened to 200 characters."""
    plain = source[: _MAX_TITLE * 3]
    if _MARKUP.search(plain):
        for pattern, kept in _INLINE:
            plain = pattern.sub(kept, plain)
    plain = " ".join(plain.split())
    return plain if len(plain) <= _MAX_TITLE else plain[: _MAX_TITLE - 1] + "…"
