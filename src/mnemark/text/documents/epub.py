"""Convert books in EPUB to Markdown: their chapters in the order of reading."""

import posixpath
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError

from mnemark.text.documents import UnreadableDocumentError
from mnemark.text.documents.archives import Archive
from mnemark.text.documents.html import html

_CONTAINER: Final = "META-INF/container.xml"
_LOCKS: Final = "META-INF/rights.xml"
_PAGES: Final = ("application/xhtml+xml", "text/html")


def epub(data: bytes) -> str:
    """Return a book as Markdown."""
    archive = Archive(data)
    if _LOCKS in archive.members:
        raise UnreadableDocumentError("is locked by its seller")
    root = next((one.get("full-path", "") for one in _all(_xml(archive, _CONTAINER), "rootfile")), "")
    package = _xml(archive, root)
    title = " ".join(next((one.text or "" for one in _all(package, "title")), "").split())
    chapters = [html(archive.read(path)).strip() for path in _spine(package, posixpath.dirname(root))]
    body = "\n\n".join(filter(None, chapters))
    return f"# {title}\n\n{body}" if title and body else body


def _spine(package: Element, folder: str) -> Iterator[str]:
    """Yield the paths of the chapters."""
    items = {one.get("id"): one for one in _all(package, "item") if one.get("media-type") in _PAGES}
    for ref in _all(package, "itemref"):
        item = items.get(ref.get("idref"))
        if item is not None:
            yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))


def _all(element: Element, name: str) -> Iterator[Element]:
    return (one for one in element.iter() if one.tag.rpartition("}")[2] == name)


def _xml(archive: Archive, name: str) -> Element:
    from xml.etree.ElementTree import fromstring

    try:
        # Expat reads no external entity, and stops where entities would grow without end.
        return fromstring(archive.read(name))  # noqa: S314
    except ParseError as error:
        raise UnreadableDocumentError("is damaged: its list of chapters cannot be read") from error
