"""The panel is complete in Chinese."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("textual")

from mnemark.memory.journal.changes import KINDS as CHANGES
from mnemark.present.changes import NAMES
from mnemark.present.words import ROUTES, catalogue, language_of_locale, part
from mnemark.types import KINDS
from mnemark_faces.tui import help, panes_change, panes_read  # noqa: A004
from mnemark_faces.tui.words import PanelWords

_SOURCE = Path(help.__file__).parent
_ASKS = {"words", "_words", "heading", "note", "field", "_window"}
_NAMES = {"QMD", "{error}"}


def _in_code() -> Iterator[str]:
    for path in _SOURCE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            given = node.args[2:] if name == "count" else node.args if name in _ASKS else []
            given = [*given, *(word.value for word in node.keywords if word.arg == "asks")]
            if name == "shown_keys":
                keys = [pair for pair in ast.walk(node.args[0]) if isinstance(pair, ast.Tuple)]
                given = [*given, *(pair.elts[1] for pair in keys if len(pair.elts) == 2)]
            yield from (
                one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)
            )


def _in_tables() -> Iterator[str]:
    for title, keys in help.ALL:
        yield title
        yield from (text for _, text in keys)
    for pane in (
        panes_read.SearchPane, panes_read.TimelinePane, panes_read.FactsPane, panes_change.ReviewPane,
        panes_change.ChangesPane, panes_change.HealthPane,
        panes_read.TalksPane,
    ):  # fmt: skip
        yield from filter(None, (pane.name, pane.field, pane.empty))
    yield from ROUTES.values()
    yield from (many for _, many in panes_change._WAITS.values())
    yield from NAMES.values()
    yield from (
        panes_read._SUSPECT,
        "Nothing was found. Try other words.",
        "search",
        "narrow",
        "keys",
        "not true",
    )
    for node in ast.walk(ast.parse((_SOURCE / "help.py").read_text("utf-8"))):
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
            yield from (str(part.value) for part in node.value.elts[1:] if isinstance(part, ast.Constant))
    yield from (
        "accept",
        "reject",
        "pin",
        "forget",
        "erase it",
        "back",
        "scroll",
        "no",
        "ok",
        "warn",
        "error",
    )
    yield from (kind for kind in KINDS if kind != "turn")  # it goes by who said it
    yield from (*CHANGES, "user", "assistant", "system", "confirm", "proposal")
    yield from ("untrusted", "conflict", "removed", "added", "changed", "moved", "ended")


def test_every_text_has_a_chinese_one_and_every_chinese_one_is_used() -> None:
    asked = {text for text in (*_in_code(), *_in_tables()) if any(char.isalpha() for char in text)} - _NAMES
    assert sorted(asked - set(catalogue("panel"))) == []
    assert sorted(set(part("panel")) - asked) == []


def test_texts_name_the_same_values() -> None:
    import string

    def names(text: str) -> set[str | None]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    assert [text for text, shown in catalogue("panel").items() if names(text) != names(shown)] == []


def test_the_language_is_that_of_the_locale() -> None:
    assert language_of_locale({"LANG": "zh_CN.UTF-8"}) == "zh"
    assert language_of_locale({"LANG": "zh_TW.UTF-8", "LC_ALL": "C.UTF-8"}) == "en"
    assert language_of_locale({"LC_ALL": "", "LANG": "de_DE.UTF-8"}) == "en"
    assert language_of_locale({}) == "en"
    assert PanelWords("zh").day_name("2026-03-02") == "2026年3月2日 星期一"
    assert PanelWords("en").day_name("no date") == "no date"
