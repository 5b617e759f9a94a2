"""Make small documents for tests: PDF, Word and EPUB, with what their formats need and no more."""

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_CONTAINER = "urn:oasis:names:tc:opendocument:xmlns:container"


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def pdf(*pages: Sequence[str], trailer: str = "") -> bytes:
    """Return a PDF with a page of lines each, in the fonts that every reader has, Chinese included."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        (
            f"<< /Type /Pages /Kids [{' '.join(f'{5 + 2 * n} 0 R' for n in range(len(pages)))}] "
            f"/Count {len(pages)} >>"
        ),
        (
            "<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H "
            "/DescendantFonts [4 0 R] >>"
        ),
        (
            "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light "
            "/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> >>"
        ),
    ]
    for number, lines in enumerate(pages):
        shown = " ".join(f"<{line.encode('utf-16-be').hex()}> Tj 0 -16 Td" for line in lines)
        content = f"BT /F1 12 Tf 72 720 Td {shown} ET"
        objects += [
            (
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
                f"/Contents {6 + 2 * number} 0 R >>"
            ),
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    out = "%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    out += f"xref\n0 {size}\n0000000000 65535 f \n{table}"
    out += f"trailer\n<< /Size {size} /Root 1 0 R {trailer}>>\nstartxref\n{out.index('xref')}\n%%EOF\n"
    return out.encode("ascii")


def docx(paragraphs: Iterable[tuple[str, str]], more: Mapping[str, str | bytes] | None = None) -> bytes:
    """Return a document of Word with paragraphs: the name of a style, or an empty text, and the words."""
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>'
        for style, words in paragraphs
    )
    names = {"Heading1": "heading 1", "Title": "Title", "": "Normal"}
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{style}"><w:name w:val="{name}"/></w:style>'
        for style, name in names.items()
    )
    return zipped({
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{_RELS}"><Relationship Id="a" Type="{_OFFICE}" '
        'Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}'
        '<w:style w:type="table" w:styleId="T"><w:name w:val="Grid"/></w:style></w:styles>',
        **(more or {}),
    })  # fmt: skip


def epub(title: str, chapters: Mapping[str, str], more: Mapping[str, str | bytes] | None = None) -> bytes:
    """Return a book with chapters: file names, and the HTML of each."""
    items = "".join(
        f'<item id="c{n}" href="{name.replace(" ", "%20")}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    return zipped({
        "META-INF/container.xml": f'<container xmlns="{_CONTAINER}"><rootfiles>'
        '<rootfile full-path="book/package.opf"/></rootfiles></container>',
        "book/package.opf": '<package xmlns="http://www.idpf.org/2007/opf" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>{title}</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
        **{f"book/{name}": f"<html><body>{body}</body></html>" for name, body in chapters.items()},
        **(more or {}),
    })  # fmt: skip


def notebook(*cells: Mapping[str, Any]) -> bytes:
    """Return a Jupyter notebook."""
    settings = {"language_info": {"name": "python"}}
    return json.dumps({"cells": list(cells), "metadata": settings, "nbformat": 4}).encode()
