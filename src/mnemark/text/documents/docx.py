"""Convert documents of Word to Markdown, with mammoth."""

import re
import zipfile
from io import BytesIO
from typing import Final

from mnemark.text.documents import UnreadableDocumentError
from mnemark.text.documents.archives import Archive
from mnemark.text.documents.html import markdown

_STYLES: Final = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => h2:fresh
"""
_PARTS: Final = (".xml", ".rels")
_END: Final = b"</w:style>"
_TABLE: Final = re.compile(rb"""<w:style [^>]{0,300}w:type=["']table["']""")
_LOCKED: Final = bytes.fromhex("d0cf11e0a1b11ae1")
"""How files begin that Word has encrypted, or that an older Word wrote."""


def docx(data: bytes) -> str:
    """Return a document of Word as Markdown: headings, lists, tables and notes, but no pictures."""
    import mammoth

    if data.startswith(_LOCKED):
        raise UnreadableDocumentError("is encrypted, or of an old Word: save it as .docx without a password")
    found = mammoth.convert_to_html(
        BytesIO(_texts(Archive(data))), style_map=_STYLES,
        convert_image=mammoth.images.img_element(lambda _: {}),
    )  # fmt: skip
    return markdown(found.value)


def _texts(archive: Archive) -> bytes:
    """Return a document without its pictures, and with a short list of styles."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as texts:
        for name in archive.members:
            if name.lower().endswith(_PARTS):
                part = archive.read(name)
                texts.writestr(name, _without_looks(part) if name.endswith("/styles.xml") else part)
    return out.getvalue()


def _without_looks(styles: bytes) -> bytes:
    """Return a list of styles without those of tables: most of it, of which mammoth reads each element."""
    *parts, rest = styles.split(_END)
    kept = (
        part[: found.start()] if (found := _TABLE.search(part)) is not None else part + _END for part in parts
    )
    return b"".join((*kept, rest))
