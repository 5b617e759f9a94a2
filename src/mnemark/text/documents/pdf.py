"""Convert PDFs to Markdown, a heading a page, with PDFium.

Of two libraries PDFium was chosen: pypdf gave Chinese of embedded fonts with a NUL before each character, and
took ten times as long.
"""

import re
from typing import Any, Final

from mnemark.text.documents import PAGE, UnreadableDocumentError
from mnemark.text.lazy_pattern import lazy_pattern

_HYPHEN: Final = lazy_pattern(r"[\ufffe\x02]\r?\n?")
"""What PDFium gives for the hyphen of a word that was broken at the end of a line."""
_CJK: Final = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_BROKEN: Final = lazy_pattern(rf"(?<=[{_CJK}，、；：])\n(?=[{_CJK}])")
"""The end of a line within a sentence of Chinese, which has no blanks that a line could be broken at."""
_MARKUP: Final = lazy_pattern(r"^(?=#{1,6}(?:[ \t]|$)|```|~~~|<[!?/A-Za-z]|[=-]++[ \t]*$)", re.MULTILINE)
"""Before what would be read as Markdown, and might hide the headings of the pages after it."""
_INDENT: Final = lazy_pattern(r"^[ \t]++", re.MULTILINE)


def pdf(data: bytes) -> str:
    """Return the text of a PDF as it would be copied, page by page."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise UnreadableDocumentError("is encrypted: save it without a password") from error
        raise UnreadableDocumentError("is damaged: open it and save it anew") from error
    try:
        pages = [_page(document, number) for number in range(len(document))]
    finally:
        document.close()
    if not any(pages):
        raise UnreadableDocumentError("holds no text: its pages may be pictures")
    return "\n\n".join(f"{PAGE}{number}\n\n{text}" for number, text in enumerate(pages, 1))


def _page(document: Any, number: int) -> str:
    import pypdfium2

    try:
        page = document[number]
    except pypdfium2.PdfiumError:  # one that is damaged: the others can be read
        return ""
    try:
        text = page.get_textpage().get_text_bounded()
    finally:
        page.close()
    return plain(text)


def plain(text: str) -> str:
    """Return the text of a page, in which nothing is Markdown, with words joined that a line end broke."""
    text = _HYPHEN.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    text = _INDENT.sub("", _BROKEN.sub("", text))
    return _MARKUP.sub(r"\\", text).strip()
