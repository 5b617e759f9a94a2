"""Convert documents of Word to Markdown, with mammoth."""

from io import BytesIO
from typing import Any, Final

from mnemark.text.documents import UnreadableDocumentError
from mnemark.text.documents.archives import Archive
from mnemark.text.documents.html import markdown

_STYLES: Final = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => h2:fresh
"""
_LOCKED: Final = bytes.fromhex("d0cf11e0a1b11ae1")
"""How files begin that Word has encrypted, or that an older Word wrote."""


def docx(data: bytes) -> str:
    """Return a document of Word as Markdown: headings, lists, tables and notes, but no pictures."""
    import mammoth

    if data.startswith(_LOCKED):
        raise UnreadableDocumentError("is encrypted, or of an old Word: save it as .docx without a password")
    archive = Archive(data)
    archive.check(".xml", ".rels")
    if "word/document.xml" not in archive.members and "_rels/.rels" not in archive.members:
        raise UnreadableDocumentError("is damaged, or not what its name says")
    found = mammoth.convert_to_html(
        BytesIO(data), style_map=_STYLES, convert_image=mammoth.images.img_element(_no_image)
    )
    return markdown(found.value)


def _no_image(_: Any) -> dict[str, str]:
    return {}
