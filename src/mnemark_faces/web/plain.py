"""Show Markdown as lines of a page."""

from typing import Final

from markupsafe import Markup, escape

from mnemark.present.plain import plain
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import revealed

_ITEM: Final = lazy_pattern(r"^([ \t]{0,20})[-*+] ")
_BOXES: Final = ("☐", "☑")


def page(text: str) -> Markup:
    """Return Markdown as lines of text: headings are bold, items have a dot, and links are their words."""
    return Markup("\n").join(_line(line) for line in revealed(text).split("\n"))


def _line(line: str) -> Markup:
    said = plain(line)
    if line.startswith("#"):
        return Markup("<b>{}</b>").format(said)
    marked = _ITEM.match(line)
    return escape(
        f"{marked[1]}• {said}" if marked is not None and said[:1] not in _BOXES else said if marked else line
    )
