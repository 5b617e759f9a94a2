"""What narrows a list is read from the text of its field."""

import pytest

from mnemark_faces.tui.filters import filters_in

NAMES = {"kind", "since"}


@pytest.mark.parametrize(
    ("text", "words", "filters"),
    [
        ("deploy", "deploy", {}),
        ("deploy kind:note", "deploy", {"kind": "note"}),
        ("kind:note", "", {"kind": "note"}),
        ('since:"last week" why  not', "why not", {"since": "last week"}),
        ("http://x kindness:x other:y", "http://x kindness:x other:y", {}),
        ("a kind:note b kind:turn c", "a b c", {"kind": "turn"}),
        ("mankind:note", "mankind:note", {}),
        ("kind:", "kind:", {}),
        ("", "", {}),
    ],
)
def test_filters(text: str, words: str, filters: dict[str, str]) -> None:
    assert filters_in(text, NAMES) == (words, filters)
