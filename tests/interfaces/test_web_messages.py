"""Errors and findings are told in Chinese: the catalogue knows them by the shape that the code writes."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("jinja2")

from hypothesis import given
from hypothesis import strategies as st

import mnemark
from mnemark.present.messages import catalogue, in_chinese
from mnemark.present.words import Words
from mnemark_faces.web.refused import refusal_page

SOURCE = Path(mnemark.__file__).parents[1]
PLACE = re.compile(r"\{[^{}]*\}")
TOLD_ON_PAGES = (
    "mnemark/memory/review/review.py", "mnemark/memory/undo/undo.py", "mnemark/memory/browse",
    "mnemark/memory/health/doctor.py", "mnemark_faces/web", "mnemark_adapters/importers",
    "mnemark/memory/transfer/imports.py", "mnemark/memory/browse/check.py", "mnemark/errors.py",
)  # fmt: skip
"""Where errors and findings come from that a page shows."""
NOT_ON_PAGES = {
    "this memory is open for reading only; open it for writing to repair it",
    "the index was rebuilt: {} passages ({})",
    (
        "the last change was a revert, which cannot be undone as a whole: remember its facts again; to undo "
        "an earlier change, give its id from `mnemark log`"
    ),  # of an undo without an id
    (
        "the last change was an erasure, which cannot be undone; to undo an earlier change, give its id from "
        "`mnemark log`"
    ),
    (
        "the last change was an import, which cannot be undone as a whole: hide a conversation with `mnemark "
        "forget --session ID`, or delete its notes; to undo an earlier change, give its id from `mnemark log`"
    ),
    "{}: {}",
}


JOINED = {
    "1 part", "{} parts", "1 text", "{} fact", "{} facts",  # counts
    "; keep its address before (`{}`), as that drops the remote, and afterwards run `{}`",
    "{}: joined to {}{}; moved to {}",
    "{} (said by the owner)", "{} (said in {} sessions)", "{} (noted on {} days)", "{} (recalled {} times)",
}  # fmt: skip
"""Sentences that the code joins of parts that are no sentences."""


def shape(node: ast.expr) -> str:
    """A text of the code, with `{}` in the places of its values; empty for other expressions."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)  # type: ignore[misc]
    return ""


def nodes(*parts: str) -> Iterator[ast.AST]:
    for part in parts or ("",):
        path = SOURCE / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            yield from ast.walk(ast.parse(file.read_text("utf-8")))


@cache
def written() -> frozenset[str]:
    return frozenset(found for node in nodes() if isinstance(node, ast.expr) and (found := shape(node)))


def test_the_code_writes_every_sentence_of_the_catalogue() -> None:
    pieces = written()
    texts = {PLACE.sub("{}", english) for english in catalogue()}
    joined = {
        text for text in texts - pieces if not any(_made_of(text, one) for one in pieces if len(one) > 5)
    }
    assert sorted(joined) == sorted(JOINED)


def _made_of(text: str, piece: str) -> bool:
    """Whether a text ends in a piece that the code appends or puts behind a value."""
    return text.endswith(piece) or text.startswith(piece)


def test_errors_and_findings_of_pages_are_in_the_catalogue() -> None:
    known = {PLACE.sub("{}", english) for english in catalogue()}
    missing: set[str] = set()
    for node in nodes(*TOLD_ON_PAGES):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in {"left", "_left"}
        ):
            missing.update(filter(None, map(shape, node.args[:2])))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in {"UsageError", "NotFoundError", "BusyError", "IntegrityError", "Refusal"}:
                missing.update(filter(None, map(shape, node.args[:1])))
            elif node.func.id == "Finding":
                missing.update(text for one in node.args[1:3] if " " in (text := shape(one)))
    assert sorted(missing - known - NOT_ON_PAGES) == []


def test_a_translation_has_places_of_its_sentence_alone() -> None:
    for english, chinese in catalogue().items():
        assert set(PLACE.findall(chinese)) <= set(PLACE.findall(english)), english
        words = PLACE.sub("", english).replace("Python", "").replace("SQLite", "")
        assert re.search(r"[\u4e00-\u9fff]", chinese) or not re.search(r"[a-z]", words), english


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("there is no such page", "没有这个页面"),
        ("budget must be from 1 to 200000, not 0", "预算必须在 1 到 200000 之间，不能是 0"),
        (
            "notes/a b.md ends with line 3; there is no line 9",
            "notes/a b.md 到第 3 行为止，没有第 9 行",
        ),
        ("note.md: line 3: is too large", "note.md：第 3 行：太大"),
        ("a sentence that nobody translated", None),
        ("note.md: some reason that is not known", None),
        ("", None),
    ],
)
def test_a_sentence_is_known_by_its_shape(english: str, chinese: str | None) -> None:
    assert in_chinese(english) == chinese


@given(st.text(max_size=60), st.text(max_size=60))
def test_values_are_kept_whatever_they_are(one: str, other: str) -> None:
    told = in_chinese(f"{one} is not a file name. {other}")
    assert told is not None
    assert in_chinese(f"the folder {one} does not exist") == f"文件夹 {one} 不存在"
    in_chinese(one)


def test_what_is_not_translated_is_marked_as_english() -> None:
    zh, en = Words("zh"), Words("en")
    assert zh.told("there is no such page") == ("没有这个页面", "")
    assert zh.told("nobody translated this") == ("nobody translated this", "en")
    assert en.told("there is no such page") == ("there is no such page", "")
    assert 'lang="zh-Hans"' in refusal_page("forms are only taken from these pages", "zh")
    assert 'lang="en"' in refusal_page("nobody translated this", "zh")
