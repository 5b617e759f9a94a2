"""Rewrite the links in a note, and make text that anybody may have written safe to stand in a quotation.

Both leave code as it is. In text of anybody, which lines are code is what a parser of CommonMark says of the
finished quotation; of code within lines only what no viewer could read as anything else is left as it is.
"""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import lines as lines_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FENCE: Final = lazy_pattern(r"[ \t]*+(?P<run>`{3,}|~{3,})(?P<info>.*)$")
_CLOSE: Final = lazy_pattern(r"[ \t]*+(?P<run>`{3,}|~{3,})[ \t]*+$")
_RUN: Final = lazy_pattern(r"`++")
_DESTINATION: Final = (
    r"(?:<(?P<angled{0}>[^<>\n]{{0,999}})>"
    r"|(?P<bare{0}>[^\s()<>]{{1,999}}(?:\([^\s()<>]{{0,99}}\)[^\s()<>]{{0,99}})?))"
)
_LINK: Final = lazy_pattern(
    r"(?P<embed>!?)(?:\[\[(?P<wiki>[^\[\]\n]{1,500})\]\]"
    rf"|\[(?P<label>[^\[\]\n]{{0,500}})\]\({_DESTINATION.format(1)}"
    r"(?P<title>[ \t]{1,9}\"[^\"\n]{0,300}\")?\))"
    rf"|\]\({_DESTINATION.format(2)}\)"
    r"|(?<![^\s,，(（：:])(?P<ref>[^\s()\[\]<>\"'`,，（）|*]{1,300}\.jsonl#L\d{1,9}(?:-L\d{1,9})?)"
)
_MARKER: Final = lazy_pattern(r"<!-- mnemark:(?:begin|end) [^\n]{1,20000}-->")
_OBSERVED: Final = lazy_pattern(r" ?<!-- observed: \w{1,40} -->")


class Link(NamedTuple):
    """A link in a text as written."""

    kind: Literal["wiki", "inline", "nested", "ref"]
    """`nested`: only the destination of a link whose label holds brackets."""
    text: str
    target: str
    label: str = ""
    embed: bool = False


def rewrite(text: str, change: Callable[[Link], str | None]) -> str:
    """Return a text with each link that `change` has a new text for replaced by it; code is kept."""

    def changed(match: re.Match[str]) -> str:
        new = change(_link_in(match))
        return match[0] if new is None else new

    found = []
    for line, is_code in _lines(text):
        if is_code or not ("](" in line or "[[" in line or ".jsonl#L" in line):
            found.append(line)
        else:
            spans = (span if code else _LINK.sub(changed, span) for span, code in _spans(line))
            found.append("".join(spans))
    return "".join(found)


def _link_in(match: re.Match[str]) -> Link:
    embed = bool(match["embed"])
    if match["wiki"]:
        target, _, label = match["wiki"].partition("|")
        return Link("wiki", match[0], target.strip(), label.strip(), embed)
    if match["ref"]:
        return Link("ref", match[0], match["ref"])
    if match["label"] is not None:
        return Link("inline", match[0], match["angled1"] or match["bare1"] or "", match["label"], embed)
    return Link("nested", match[0], match["angled2"] or match["bare2"] or "")


def without_marks(text: str) -> str:
    """Return a note without the comments by which mnemark knows its own lines again."""
    if "<!-- " not in text:
        return text
    lines = (line for line in lines_of(text) if not _MARKER.fullmatch(line.strip()))
    return _OBSERVED.sub("", "".join(lines))


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a text with their ends, and whether each is code for sure."""
    fence = ""
    for line in lines_of(text):
        body = line.rstrip("\r\n")
        if fence:
            closing = _CLOSE.match(body)
            if closing and closing["run"].startswith(fence):
                fence = ""
                yield line, True
                continue
            yield line, True
            continue
        opening = _FENCE.match(body)
        if opening and not (opening["run"][0] == "`" and "`" in opening["info"]):
            fence = opening["run"]
            yield line, True
        else:
            yield line, False


def _spans(line: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a line, and whether each is a code span."""
    runs = [match.span() for match in _RUN.finditer(line)]
    ends: defaultdict[int, deque[int]] = defaultdict(deque)
    for at, (first, last) in enumerate(runs):
        ends[last - first].append(at)
    start = at = 0
    while at < len(runs):
        first, last = runs[at]
        same = ends[last - first]
        while same and same[0] <= at:
            same.popleft()
        if not same or _is_escaped(line, first):
            at += 1
            continue
        if first > start:
            yield line[start:first], False
        start = runs[same[0]][1]
        yield line[first:start], True
        at = same[0] + 1
    if start < len(line):
        yield line[start:], False


def _is_escaped(line: str, at: int) -> bool:
    first = at
    while first and line[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1


# Text of anybody

_TAG: Final = lazy_pattern(r"<(?!https?://[^\s<>`\"]{1,999}>)(?=[A-Za-z/!?])")
_HASHTAG: Final = lazy_pattern(r"(?<!\S)#(?=[^\s#\d])")
_BLOCK_ID: Final = lazy_pattern(r"(?<!\S)\^(?=[A-Za-z0-9-]{1,200}\s*$)")
_DEFINITION: Final = lazy_pattern(r"^([ \t>*+-]{0,99})\[(?=[^\]\n]{1,999}\]:)")
_LEFT: Final = lazy_pattern(r"\]\(|\[\[|\]\[")
_SPECIAL: Final = lazy_pattern(r"([\\`*_\[\]<>#|^$~])")
_LONG: Final = 200_000
"""Characters from which on a message is shown as it is, not as Markdown."""


def quoted(text: str, change: Callable[[Link], str | None], *, obsidian: bool) -> str:
    """Return Markdown of anybody in which nothing is HTML, loads anything or leads to no page.

    Its lines end in line feeds, and it is to stand in a quotation, so that it cannot go on after it. `change`
    gives what a link becomes; None: it stays.
    """
    if len(text) > _LONG:
        return fenced(text)

    def changed(match: re.Match[str]) -> str:
        link = _link_in(match)
        new = change(link)
        if new is not None:
            return new
        if link.kind == "inline":
            return f"[{_plain_text(link.label)}](<{link.target}>)"
        return _LEFT.sub(_escape, _plain_text(match[0]))

    code = _code_lines(text)
    rows = text.split("\n")
    for number, row in enumerate(rows):
        if number not in code:
            rows[number] = _quoted_line(row, changed, obsidian=obsidian)
    done = "\n".join(rows)
    return done if not code or _code_lines(done) == code else fenced(text)


def _quoted_line(row: str, changed: Callable[[re.Match[str]], str], *, obsidian: bool) -> str:
    spans = enumerate(_spans(row))
    return "".join(
        _code(span) if code else _quoted_span(span, changed, start=at == 0, obsidian=obsidian)
        for at, (span, code) in spans
    )


def _code_lines(text: str) -> AbstractSet[int]:
    """Return the numbers of the lines that are code where a text stands in a quotation, not its fences."""
    if not ("```" in text or "~~~" in text or "    " in text or "\t" in text):
        return frozenset()
    quotation = "\n".join(f"> {line}" for line in text.split("\n"))
    plain, with_tables = _parsers()
    code = _code_in(plain.parse(quotation))
    return code & _code_in(with_tables.parse(quotation)) if code and "|" in text else code


def _code_in(tokens: Iterable["Token"]) -> set[int]:
    found: set[int] = set()
    for token in tokens:
        if token.map and token.type == "fence":
            found.update(range(token.map[0] + 1, token.map[1]))
        elif token.map and token.type == "code_block":
            found.update(range(*token.map))
    return found


@cache
def _parsers() -> tuple["MarkdownIt", "MarkdownIt"]:
    """Return parsers of blocks, without tables and with; HTML and definitions, being escaped, are none."""
    from markdown_it import MarkdownIt

    plain, with_tables = (MarkdownIt("commonmark", {"maxNesting": 100}) for _ in range(2))
    with_tables.enable("table")
    for parser in (plain, with_tables):
        parser.disable(["html_block", "reference"]).core.ruler.enableOnly(["normalize", "block"])
    return plain, with_tables


def _quoted_span(span: str, changed: Callable[[re.Match[str]], str], *, start: bool, obsidian: bool) -> str:
    """Escape a part of a line outside of code; links in it are changed first, and kept."""
    pieces, at = [], 0
    for match in _LINK.finditer(span) if "](" in span or "[[" in span or ".jsonl#L" in span else ():
        pieces += [(span[at : match.start()], False), (changed(match), True)]
        at = match.end()
    pieces.append((span[at:], False))
    done = "".join(piece if is_link else _LEFT.sub(_escape, _plain_text(piece)) for piece, is_link in pieces)
    done = _DEFINITION.sub(r"\1&#91;", done) if start else done
    if obsidian:
        done = done.replace("%%", r"\%\%").replace("$$", r"\$\$")
        done = _HASHTAG.sub(r"\\#", done)
        done = _BLOCK_ID.sub(r"\\^", done)
    return done


def _plain_text(text: str) -> str:
    return _TAG.sub("&lt;", text) if "<" in text else text


def _escape(match: re.Match[str]) -> str:
    return "".join(f"&#{ord(char)};" for char in match[0])  # a backslash may stand before it


def _code(span: str) -> str:
    """Return a code span that no viewer can read as anything else, although it need not see it as code."""
    size = len(span) - len(span.lstrip("`"))
    inner = span[size:-size]
    if not ("<" in inner or "[[" in inner or "](" in inner or "%%" in inner or "|" in inner):
        return span
    return f"<code>{entities(inner)}</code>"


def entities(text: str) -> str:
    """Return a text with all that Markdown or HTML might read written as entities."""
    return "".join(
        char if char.isalnum() or char == " " or ord(char) > 127 else f"&#{ord(char)};" for char in text
    )


def label(text: str) -> str:
    """Return a text as the words of a link or a heading, on one line."""
    words = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return _SPECIAL.sub(r"\\\1", words)


def fenced(text: str) -> str:
    """Return a text as a block of code that it cannot end."""
    longest = max((len(run) for run in _RUN.findall(text)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}\n{text}\n{mark}"
