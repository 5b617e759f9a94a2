"""Parse Markdown as an outline: a tree of headings, list items and paragraphs.

The parent of a list is the item, the paragraph ending in a colon, or the heading above it, so that part of an
outline can be shown without changing its meaning: an item of "Never:" is only shown below "Never:".
"""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.frontmatter import front_matter

ItemKind = Literal["heading", "item", "paragraph", "quote", "code", "table"]


class OutlineItem(NamedTuple):
    """One node of an outline. Wrapped lines are joined, except in code and tables."""

    kind: ItemKind
    text: str  # without its marker
    mark: str  # `-`, `3.`, `>`; of a heading its `#`s; empty for paragraphs
    parent: int  # index of the parent; -1 at the top level
    depth: int  # number of list items around it


_FENCE: Final = lazy_pattern(r"[ \t]*(`{3,}|~{3,})")
_HEADING: Final = lazy_pattern(r"[ ]{0,3}(#{1,6})[ \t]+(.*)$")
_SETEXT: Final = lazy_pattern(r"[ ]{0,3}(=+|-{2,})[ \t]*$")
_RULE: Final = lazy_pattern(r"[ ]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_ITEM: Final = lazy_pattern(
    r"(?P<indent>[ \t]*)(?P<mark>[-*+•](?=[ \t])|\d{1,3}[.)](?=[ \t])|\d{1,3}、|[（(]\d{1,3}[）)]|"
    r"[一二三四五六七八九十]{1,3}、)[ \t]*(?P<text>.*)$"
)
_QUOTE: Final = lazy_pattern(r"[ ]{0,3}>[ ]?(?P<text>.*)$")
_COMMENT: Final = ("<!--", "-->")
_TAIL_LENGTH: Final = 4  # characters that tell how an item ends
_MAX_LEADS: Final = 20  # maximum nesting of paragraphs that end in a colon; the next is at the top level
_CJK: Final = lazy_pattern(r"[\u2e80-\u9fff\u3000-\u303f\uff00-\uffef]")


def without_comments(text: str) -> str:
    """Remove HTML comments outside fenced code, and the lines they empty; an open one extends to the end."""
    kept: list[str] = []
    fence = ""
    inside = False
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            kept.append(line)
            if mark and mark[1].startswith(fence) and not line.strip(" \t`~"):
                fence = ""
        elif mark and not inside:
            fence = mark[1]
            kept.append(line)
        else:
            shown, open_after = _without_comment(line, inside=inside)
            if shown.strip() or (not inside and not line.strip()):
                kept.append(shown.rstrip())
            inside = open_after
    return "\n".join(kept)


def _without_comment(line: str, *, inside: bool) -> tuple[str, bool]:
    """Return a line without its comments, and whether a comment is open at its end."""
    shown: list[str] = []
    at = 0
    while (end := line.find(_COMMENT[inside], at)) >= 0:
        if not inside:
            shown.append(line[at:end])
        at = end + len(_COMMENT[inside])
        inside = not inside
    if not inside:
        shown.append(line[at:])
    return "".join(shown), inside


def outline(text: str) -> list[OutlineItem]:
    """Parse the outline of a Markdown text, without front matter and comments."""
    body = text[front_matter(text).end :]
    reader = _OutlineReader(without_comments(body.removeprefix("\ufeff")))
    return [item._replace(text="".join(text)) for item, text in zip(reader.items, reader.texts, strict=True)]


class _OutlineReader:
    """Parser that builds the outline in one pass over the lines."""

    def __init__(self, text: str) -> None:
        self.items: list[OutlineItem] = []
        self.texts: list[list[str]] = []  # parts of each item's text, appended line by line
        self._headings: list[tuple[int, int]] = []  # levels and indexes of the open headings
        self._lists: list[tuple[int, int]] = []  # columns and indexes of the open list items
        self._lead = -1  # the paragraph ending in a colon that is the parent of what follows; -1 if none
        self._chain: dict[int, int] = {}  # nesting of such paragraphs by index
        self._open = -1  # the item that the next line may continue; -1 after a blank line
        lines = text.splitlines()
        at = 0
        while at < len(lines):
            at = self._read(lines, at)

    def _read(self, lines: list[str], at: int) -> int:
        line = lines[at].expandtabs(4)
        if not line.strip():
            self._open = -1
            return at + 1
        if mark := _FENCE.match(line):
            return self._code(lines, at, mark[1])
        if found := _HEADING.match(line):
            self._heading(len(found[1]), found[2].rstrip(" \t").rstrip("#").rstrip(" \t"))
        elif self._continues("paragraph") and _SETEXT.match(line) and not self._lists:
            self.items.pop()
            self._heading(1 if "=" in line else 2, "".join(self.texts.pop()))
        elif _RULE.match(line):
            self._open, self._lists, self._lead = -1, [], -1
        elif item := _ITEM.match(line):
            self._item(len(item["indent"]), item["mark"], item["text"])
        elif line.lstrip().startswith("|"):
            self._add_or_join("table", line.strip(), "", joint="\n")
        elif quote := _QUOTE.match(line):
            self._add_or_join("quote", quote["text"].strip(), ">")
        else:
            self._text_line(line)
        return at + 1

    def _continues(self, kind: ItemKind) -> bool:
        return self._open >= 0 and self.items[self._open].kind == kind

    def _code(self, lines: list[str], at: int, fence: str) -> int:
        end = at + 1
        while end < len(lines):
            stripped = lines[end].strip()
            if stripped.startswith(fence) and not stripped.strip("`~"):
                break
            end += 1
        self._close_lists(_indent(lines[at]))
        self._add("code", "\n".join(lines[at : end + 1]), "")
        self._open = -1
        return end + 1

    def _heading(self, level: int, text: str) -> None:
        self._lists, self._lead, self._open = [], -1, -1
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        if text:
            self._add("heading", text, "#" * level)
            self._headings.append((level, len(self.items) - 1))
        self._open = -1

    def _item(self, column: int, mark: str, text: str) -> None:
        self._close_lists(column)
        self._add("item", text.strip(), mark)
        self._lists.append((column, len(self.items) - 1))

    def _text_line(self, line: str) -> None:
        if self._open < 0:
            self._close_lists(_indent(line))
        if self._open >= 0 and self.items[self._open].kind in {"item", "paragraph", "quote"}:
            self._join(line.strip(), "")
        else:
            if not self._lists:
                self._lead = -1
            self._add("paragraph", line.strip(), "")

    def _close_lists(self, column: int) -> None:
        """Close the list items that text at `column` (a new item, or after a blank line) is not part of."""
        while self._lists and self._lists[-1][0] >= column:
            self._lists.pop()

    def _add_or_join(self, kind: ItemKind, text: str, mark: str, joint: str = "") -> None:
        if self._continues(kind):
            self._join(text, joint)
        else:
            if self._open < 0:
                self._close_lists(0)
            self._add(kind, text, mark)

    def _join(self, text: str, joint: str) -> None:
        end = self._tail(self._open)
        if not joint and end and text:
            joint = "" if _CJK.match(end[-1]) or _CJK.match(text) else " "
        self.texts[self._open] += [part for part in (joint, text) if part]

    def _tail(self, at: int) -> str:
        """Return the last few characters of an item's text so far; no part but the first is empty."""
        return "".join(part[-_TAIL_LENGTH:] for part in self.texts[at][-_TAIL_LENGTH:])

    def _add(self, kind: ItemKind, text: str, mark: str) -> None:
        last = len(self.items) - 1
        leads = last >= 0 and kind != "heading" and not self._lists and self.items[-1].kind == "paragraph"
        if leads and self._tail(last).endswith((":", "：", ":**", "：**")):
            self._chain[last] = self._chain.get(self.items[-1].parent, 0) + 1
            self._lead = last if self._chain[last] <= _MAX_LEADS else -1
        above = self._headings[-1][1] if self._headings else -1
        if kind != "heading":
            above = self._lists[-1][1] if self._lists else self._lead if self._lead >= 0 else above
        self.items.append(OutlineItem(kind, "", mark, above, len(self._lists)))
        self.texts.append([text])
        self._open = len(self.items) - 1


def _indent(line: str) -> int:
    line = line.expandtabs(4)
    return len(line) - len(line.lstrip())


def ancestors(items: list[OutlineItem], at: int) -> Iterator[int]:
    """Yield the indexes of an item's ancestors, the nearest first."""
    at = items[at].parent
    while at >= 0:
        yield at
        at = items[at].parent
