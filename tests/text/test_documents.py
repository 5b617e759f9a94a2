"""Views of documents: the same text each time, whatever the bytes, and a reason where there is none."""

import json
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_documents import docx, epub, notebook, pdf, zipped
from mnemark.text.documents import FORMATS, UnreadableDocumentError, convert, format_of
from mnemark.text.documents.archives import MOST
from mnemark.text.documents.pdf import plain
from mnemark.text.markdown.other_texts import passages_of

SAMPLES = {
    ".pdf": pdf(["The boiler was serviced."], ["锅炉三月份检修过"]),
    ".docx": docx([("Heading1", "Boiler"), ("", "The valve was replaced.")]),
    ".epub": epub("House", {"one.xhtml": "<h1>Boiler</h1><p>Check the valve.</p>"}),
    ".html": b"<title>House</title><p>Check the valve.",
    ".ipynb": notebook({"cell_type": "markdown", "source": "Check the valve."}),
    ".canvas": b'{"nodes": [{"id": "a", "type": "text", "text": "Check the valve."}]}',
}


ENCRYPTED = (
    f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >> /ID [<4141> <4141>] "
)
OUTSIDE = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'


def why_not(name: str, data: bytes) -> str:
    with pytest.raises(UnreadableDocumentError) as raised:
        convert(name, data)
    return str(raised.value)


def test_each_page_of_a_pdf_has_a_heading() -> None:
    view = convert("a.PDF", pdf(["The boiler", "was serviced."], [], ["锅炉三月份检修过"]))
    assert view == "## Page 1\n\nThe boiler\nwas serviced.\n\n## Page 2\n\n## Page 3\n\n锅炉三月份检修过\n"


def test_chinese_broken_at_the_end_of_a_line_is_one_word_again() -> None:
    assert (
        plain("师傅换了阀\r\n门和水泵，\r\n并写下说明。\r\n另一句")
        == "师傅换了阀门和水泵，并写下说明。\n另一句"
    )
    assert plain("a hand\ufffe\r\nbook and more\r\nwords") == "a handbook and more\nwords"


@pytest.mark.parametrize(
    "line", ["# no heading", "```", "~~~", "<!-- hidden", "<div>", "----", "===", "    code"]
)
def test_no_line_of_a_page_hides_the_pages_after_it(line: str) -> None:
    view = convert("a.pdf", pdf(["before", line], ["after"]))
    titles = [passage.title for passage in passages_of("a.pdf", view, limit=256)]
    assert titles == ["Page 1", "Page 2"]


def test_word_gives_headings_and_text_but_no_pictures() -> None:
    given = docx(
        [("Title", "Report"), ("Heading1", "Boiler"), ("", "The valve was replaced. 阀门换了。")],
        {"word/media/image1.png": random.Random(1).randbytes(1000)},
    )
    assert convert("a.docx", given) == "# Report\n\n# Boiler\n\nThe valve was replaced. 阀门换了。\n"


def test_a_book_is_read_in_its_order_whatever_its_files_are_called() -> None:
    book = epub("House", {"z 1.xhtml": "<h2>First</h2><p>锅炉</p>", "a.xhtml": "<h2>Second</h2>"})
    assert convert("a.epub", book) == "# House\n\n## First\n\n锅炉\n\n## Second\n"


def test_menus_and_scripts_of_a_page_are_left_out_and_short_lists_are_not() -> None:
    page = (
        b"<html><head><title>Shopping &amp; more</title><script>var x = 1</script></head><body>"
        b"<nav><a href='/'>Home</a></nav><h2>List</h2><ul><li>Milk</li></ul>"
        b"<img src='data:image/png;base64,AAAA'><p>Key <b>under</b> the mat.</p></body></html>"
    )
    assert convert("a.html", page) == "# Shopping & more\n\n## List\n\n- Milk\n\nKey **under** the mat.\n"


@pytest.mark.parametrize("encoding", ["gb18030", "big5", "utf-8"])
def test_a_page_is_read_in_the_encoding_that_it_names(encoding: str) -> None:
    page = f'<meta charset="{encoding}"><p>中文</p>'.encode(encoding)
    assert convert("a.htm", page) == "中文\n"


def test_a_notebook_gives_its_cells_and_what_they_printed() -> None:
    given = notebook(
        {"cell_type": "markdown", "source": ["# Boiler\n", "Pressure by month."]},
        {
            "cell_type": "code", "source": "print(`x`)",
            "outputs": [
                {"output_type": "stream", "text": ["1.5\n"]},
                {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}},
                {"output_type": "stream", "text": "\n".join(map(str, range(100)))},
            ],
        },
    )  # fmt: skip
    view = convert("a.ipynb", given)
    assert view.startswith("# Boiler\nPressure by month.\n\n```python\nprint(`x`)\n```\n\n```\n1.5\n```\n")
    assert "AAAA" not in view
    assert view.endswith("18\n19\n…\n```\n")


def test_a_canvas_is_read_from_top_to_bottom() -> None:
    nodes = [
        {"id": "b", "type": "text", "text": "Below", "y": 10},
        {"id": "a", "type": "text", "text": "## Above\nmore", "y": -5.5},
        {"id": "f", "type": "file", "file": "notes/roof.md", "y": 20},
        {"id": "g", "type": "group", "label": "屋顶", "y": -9},
    ]
    edges = [{"fromNode": "a", "toNode": "b", "label": "then"}, {"fromNode": "a", "toNode": "gone"}]
    view = convert("a.canvas", json.dumps({"nodes": nodes, "edges": edges}).encode())
    assert view == "## 屋顶\n\n## Above\nmore\n\nBelow\n\n[[notes/roof.md]]\n\n- Above → Below: then\n"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.pdf", b"", "is damaged"),
        ("a.pdf", pdf([]), "pictures"),
        ("a.pdf", SAMPLES[".pdf"][:200], "is damaged"),
        (
            "a.pdf",
            pdf(["x"], trailer=ENCRYPTED),
            "encrypted",
        ),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "without a password"),
        ("a.docx", b"PK\x03\x04", "is damaged"),
        ("a.docx", zipped({"word/document.xml": b" " * (MOST + 1)}), "MB of text"),
        ("a.epub", zipped({"META-INF/container.xml": b" " * (MOST + 1)}), "MB of text"),
        ("a.epub", zipped({"META-INF/container.xml": OUTSIDE}), "list of chapters"),
        ("a.epub", epub("x", {}, {"META-INF/rights.xml": "<a/>"}), "locked"),
        ("a.ipynb", b"[" * 100_000, "is no notebook"),
        ("a.canvas", b"[]", "is no canvas"),
        ("a.html", bytes(range(256)) * 4, "is binary"),
    ],
    ids=range(13),
)  # fmt: skip
def test_what_cannot_be_converted_has_a_reason(name: str, data: bytes, reason: str) -> None:
    assert reason in why_not(name, data)


def test_entities_that_grow_without_end_are_stopped() -> None:
    entities = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(12))
    bomb = f'<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">{entities}]><a>&m;</a>'
    assert why_not("a.epub", zipped({"META-INF/container.xml": bomb})).startswith("is damaged")
    assert why_not("a.docx", docx([], {"word/numbering.xml": bomb, "word/document.xml": bomb}))


@pytest.mark.parametrize("data", [b"", b"{}", b"\xef\xbb\xbf{}"])
@pytest.mark.parametrize("name", ["a.canvas", "a.ipynb"])
def test_a_new_canvas_or_notebook_is_empty(name: str, data: bytes) -> None:
    assert convert(name, data) == ""


def damaged(suffix: str) -> Callable[[list[tuple[int, int]]], bytes]:
    def damage(changes: list[tuple[int, int]]) -> bytes:
        data = bytearray(SAMPLES[suffix])
        for at, value in changes:
            data[at % len(data)] = value
        return bytes(data)

    return damage


def attempt(name: str, data: bytes) -> str:
    try:
        return convert(name, data)
    except UnreadableDocumentError as error:
        return str(error)


@pytest.mark.parametrize("suffix", SAMPLES)
@given(changes=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=20))
def test_a_damaged_document_gives_text_or_a_reason(suffix: str, changes: list[tuple[int, int]]) -> None:
    data = damaged(suffix)(changes)
    first, second = (attempt(f"a{suffix}", data) for _ in range(2))
    assert first == second
    assert first.encode().decode() == first
    assert "\0" not in first


def test_names_tell_the_format_and_all_else_is_text() -> None:
    assert set(FORMATS) >= SAMPLES.keys()
    assert format_of("a/B.Pdf") is FORMATS[".pdf"]
    assert [format_of(name) for name in ("a.md", "pdf", "a.pdf.md", "a.doc")] == [None] * 4
