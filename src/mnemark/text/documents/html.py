"""Convert HTML to Markdown: saved pages, and the parts of other documents.

Of three libraries html-to-markdown was chosen, which drops menus and scripts and keeps all else. Those that
look for the article (readability-lxml, trafilatura) lose short lists, which may be the note itself.
"""

import html as escapes
import re
from codecs import lookup
from typing import Final

from mnemark.text.decoding import decode
from mnemark.text.documents import UnreadableDocumentError, printable
from mnemark.text.lazy_pattern import lazy_pattern

_CHARSET: Final = re.compile(rb"""<meta[^>]{0,200}?charset=["']?([\w-]{2,20})""", re.IGNORECASE)
_TITLE: Final = lazy_pattern(r"<title[^>]{0,200}>([^<]{1,500})</title>", re.IGNORECASE)
_HEADING: Final = lazy_pattern(r"^# ", re.MULTILINE)
_HEAD: Final = 8_192
"""Bytes in which a page names its encoding, and characters in which its title stands."""
_DEEPEST: Final = 500
"""Elements inside of another that are read."""


def html(data: bytes) -> str:
    """Return a page as Markdown, with its title where it has no large heading."""
    text = _decoded(data)
    found = _TITLE.search(text[:_HEAD])
    title = " ".join(escapes.unescape(found[1]).split()) if found else ""
    body = markdown(text)
    return f"# {title}\n\n{body}" if title and body.strip() and not _HEADING.search(body) else body


def markdown(text: str) -> str:
    """Return HTML as Markdown, without pictures, menus, forms and scripts."""
    from html_to_markdown import ConversionOptions, convert

    options = ConversionOptions(
        extract_metadata=False, skip_images=True, compact_tables=True, max_depth=_DEEPEST, autolinks=False
    )
    return convert(printable(text), options).content or ""


def _decoded(data: bytes) -> str:
    named = _CHARSET.search(data[:_HEAD])
    try:
        encoding = lookup(named[1].decode("ascii")).name if named else "utf-8"
        return data.decode(encoding)
    except (LookupError, UnicodeDecodeError):  # none that Python knows, or not what it says
        found = decode(data)
        if found is None:
            raise UnreadableDocumentError("is binary, not a page") from None
        return found[0]
