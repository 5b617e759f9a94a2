import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linear import within
from mnemark.text.redaction.private import PLACEHOLDER, private_spans
from sampled import examples


def hide_private(text: str) -> str:
    """Replace each private span with `[private]`. Idempotent."""
    spans = private_spans(text)
    begins, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return PLACEHOLDER.join(text[begin:end] for begin, end in zip(begins, ends, strict=True))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>b", "a [private]"),
        ("a <private>b</private> c <private>d", "a [private] c [private]"),
        ("a <PRIVATE>b</Private> c", "a [private] c"),
        ('a <private reason="x > y">b</private> c', "a [private] c"),
        ("a < private >b< / private > c", "a [private] c"),
        ("a <private\n>b</private\n> c", "a [private] c"),
        ("a &lt;private&gt;b&lt;/private&gt; c", "a [private] c"),
        ("a &amp;lt;private&amp;gt;b&amp;lt;/private&amp;gt; c", "a [private] c"),
        ("a &#60;private&#x3e;b&#x3C;/private&#62; c", "a [private] c"),
        (r"a \u003cprivate\u003eb\u003c/private\u003e c", "a [private] c"),
        ("a %3Cprivate%3Eb%3C/private%3E c", "a [private] c"),
        (r"a \<private\>b\</private\> c", "a \\[private] c"),
        (r"a <private>b<\/private> c", "a [private] c"),
        ("a ＜private＞b＜/private＞ c", "a [private] c"),
        ("a ＜ｐｒｉｖａｔｅ＞b＜／ＰＲＩＶＡＴＥ＞ c", "a [private] c"),
        ("a <pri\u200bvate>b</pri\u00advate> c", "a [private] c"),
        ("a <\u2060private>b</private> c", "a [private] c"),
        ("```\n<private>\nb\n</private>\n```", "```\n[private]\n```"),
        ("a `<private>` b", "a `[private]"),
        ("a <私密>b</私密> c", "a [private] c"),
        ("a ＜隐私＞b＜/隐私＞ c", "a [private] c"),
        ("a <private", "a [private]"),
        ("a <private/> b", "a [private]"),
    ],
)
def test_whatever_was_meant_as_a_mark_is_one(text: str, left: str) -> None:
    assert hide_private(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # The opening mark was lost or misspelt: what it protected lies before the closing one.
        ("a</private> b", "[private] b"),
        ("<privat>a</private> b", "[private] b"),
        ("<private>a</private> b </private> c", "[private] c"),
        # Neither an incomplete closing mark nor one in another spelling ends the span early.
        ("<private>a </private b", "[private]"),
        ("<private>a &lt;/private&gt; b</private> c", "[private] c"),
        ("&lt;private&gt;a </private> b", "[private]"),
        ("<private>a </privateer> b</private> c", "[private] c"),
    ],
)
def test_what_does_not_pair_hides_more_rather_than_less(text: str, left: str) -> None:
    assert hide_private(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "private",
        "a < b",
        "<privateer>",
        "<private-key>",
        "<b>private</b>",
        "List<String>",
        "《隐私政策》",
        "",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert hide_private(text) == text


_PARTS = st.sampled_from(
    ["<private>", "</private>", "&lt;private&gt;", "&lt;/private&gt;", "＜private＞", "＜/private＞", "<pri",
     "vate>", "<", ">", "/", "private", "a", " ", "\\", "\u200b", "[private]"]
)  # fmt: skip


@given(st.lists(_PARTS, max_size=30).map("".join))
@settings(max_examples=examples(300), deadline=None)
def test_twice_is_once_and_no_mark_is_left(text: str) -> None:
    once = hide_private(text)
    assert hide_private(once) == once
    assert private_spans(once) == []


@given(st.text(max_size=40), st.text(alphabet="abc <>/&;", max_size=40), st.text(max_size=40))
@settings(max_examples=examples(200), deadline=None)
def test_what_stands_inside_never_comes_out(before: str, inside: str, after: str) -> None:
    text = f"{before}<private>{inside}QQQQ{inside}</private>{after}"
    assert "QQQQ" not in hide_private(text)


@pytest.mark.timed
@pytest.mark.parametrize(
    "evil",
    ["<" * 10**6, "< " * 500_000, "<private " * 110_000, "&amp;" * 200_000, "<p r i v a t " * 80_000,
     "</" * 500_000, "<" + " " * 10**6, "<\\" * 500_000, "%25" * 330_000, "\u200b" * 10**6],
)  # fmt: skip
def test_a_text_made_to_be_slow_is_not(evil: str) -> None:
    assert within(1, lambda: hide_private(evil)), "seconds; what is quadratic takes minutes"
