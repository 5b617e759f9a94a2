"""Render Markdown of anybody as HTML that runs nothing and loads nothing."""

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from mnemark.memory.transfer.export.targets import is_web
from mnemark.text.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore

_MARKED: Final = lazy_pattern(r"[\\`*_\[\]<>#|~&]|^(?: {4}|\t| {0,3}(?:[-+=]|\d{1,9}[.)]))", re.MULTILINE)
"""What a text that Markdown reads as more than paragraphs has."""
_DEEP: Final = lazy_pattern(r"^(?:[ \t]{0,9}(?:[>*+-]|\d{1,9}[.)])){30}", re.MULTILINE)
"""A line nested so deeply that a parser drops it."""
_BLANK: Final = lazy_pattern(r"\n[ \t]*+\n\s*")
_LONGEST: Final = 40_000
"""Characters from which on a text is shown as it is: nobody formats that much by hand."""
_MOST_BRACKETS: Final = 1_000
"""Brackets that may be links, from which on the parser takes seconds."""
_REL: Final = "noopener noreferrer nofollow"
_SMALLEST_HEADING: Final = 6


def rendered(text: str) -> str:
    """Return Markdown as HTML."""
    if not _MARKED.search(text):
        parts = (part.strip("\n") for part in _BLANK.split(text.strip()))
        return "".join(
            f"<p>{escape(part).replace(chr(10), '<br>' + chr(10))}</p>\n" for part in parts if part
        )
    if len(text) > _LONGEST or text.count("[") > _MOST_BRACKETS or _DEEP.search(text):
        return f'<pre class="plain">{escape(text)}</pre>\n'
    return str(_parser().render(text))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 100})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.push("harmless", _make_harmless)
    parser.add_render_rule("image", _image)
    return parser


def _make_harmless(state: "StateCore") -> None:
    """Make headings smaller than the page's, and keep only links to addresses of the web."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + 2, _SMALLEST_HEADING)}"
        kept: list[bool] = []
        for child in token.children or ():
            if child.type == "link_open":
                address = str(child.attrGet("href") or "")
                kept.append(is_web(address))
                child.attrs = {"href": address, "rel": _REL} if kept[-1] else {"title": address}
                child.tag = "a" if kept[-1] else "span"
            elif child.type == "link_close":
                child.tag = "a" if kept.pop() else "span"


def _image(_: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """Return a link to a picture instead of the picture, which would be fetched."""
    del options, env
    token = tokens[index]
    address = str(token.attrGet("src") or "")
    words = escape(f"[{token.content or address[:80]}]")
    return f'<a href="{escape(address)}" rel="{_REL}">{words}</a>' if is_web(address) else words
