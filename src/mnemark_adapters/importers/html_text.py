"""Convert the HTML of answers to text: paragraphs, lists, code and links, as Markdown has them."""

from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Final

_BLOCKS: Final = frozenset(
    ("p", "div", "section", "article", "blockquote", "ul", "ol", "table", "h1", "h2", "h3", "h4", "h5", "h6")
)
_UNSEEN: Final = frozenset({"script", "style", "head", "title", "svg"})
_MARKS: Final = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`"}


class TextWriter(HTMLParser):
    """Collects the text of the HTML that it is fed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._unseen = self._code = 0
        self._lists: list[int] = []
        """Of each list that is open, the number of its last item; -1 for bullets."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - theirs
        """Begin an element."""
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag == "br":
            self._parts.append("\n")
        elif tag == "pre":
            self._code += 1
            self._parts.append("\n\n```\n")
        elif tag == "li":
            self._item()
        elif tag in {"td", "th"}:
            self._parts.append(" | ")
        elif tag == "tr":
            self._parts.append("\n")
        elif tag in _BLOCKS:
            self._block(tag)
        elif tag in _MARKS and not self._code:
            self._parts.append(_MARKS[tag])

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag == "pre":
            self._code = max(0, self._code - 1)
            self._parts.append("\n```\n\n")
        elif tag in {"ul", "ol"} and self._lists:
            self._lists.pop()
            self._parts.append("\n" if self._lists else "\n\n")
        elif tag in _BLOCKS:
            self._parts.append("\n\n")
        elif tag in _MARKS and not self._code:
            self._parts.append(_MARKS[tag])

    def handle_data(self, data: str) -> None:
        """Take text."""
        if self._unseen:
            return
        self._parts.append(data if self._code else " ".join(data.split("\n")))

    def _block(self, tag: str) -> None:
        if tag in {"ul", "ol"}:
            self._lists.append(0 if tag == "ol" else -1)
            return
        self._parts.append("\n\n")
        if tag[0] == "h" and tag[1:].isdigit():
            self._parts.append("#" * int(tag[1:]) + " ")

    def _item(self) -> None:
        if self._lists and self._lists[-1] >= 0:
            self._lists[-1] += 1
            mark = f"{self._lists[-1]}. "
        else:
            mark = "- "
        self._parts.append("\n" + "  " * max(0, len(self._lists) - 1) + mark)

    def text(self) -> str:
        """Return the text so far."""
        return "\n".join(_spaced("".join(self._parts).replace("\xa0", " ").splitlines())).strip()


def _spaced(lines: Iterable[str]) -> Iterable[str]:
    blank = False
    for line in lines:
        if line.strip():
            yield line.rstrip()
        elif not blank:
            yield ""
        blank = not line.strip()


def html_text(html: str) -> str:
    """Return the text of HTML; never raises."""
    if "<" not in html and "&" not in html:
        return html.strip()
    writer = TextWriter()
    writer.feed(html)
    writer.close()
    return writer.text()
