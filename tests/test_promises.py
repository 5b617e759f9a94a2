"""Each sentence of the READMEs that promises something is held by a test, in both languages."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]


class Promise(NamedTuple):
    """What both READMEs say, by words that stand in the sentence, and the tests that would fail without."""

    english: str
    chinese: str
    tests: str
    """`file::name` below `tests/`, separated by blanks; empty where nothing can be checked."""


PROMISES = [
    Promise(*row.split("\t")) for row in (ROOT / "tests/promises.tsv").read_text("utf-8").splitlines()[1:]
]
_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_NO_PROSE = re.compile(r"^(?:#.*|\|.*|!\[.*|\[(?:Commands|命令)\]\(docs/cli\.md\).*)$", re.MULTILINE)
_ENDS = re.compile(r"(?<=[.!?:;])\s+(?=\S)|(?<=[。；：！])(?=.)|\n")


def sentences(name: str) -> list[str]:
    """Return the sentences of a page without code, headings and the list of pages."""
    text = _NO_PROSE.sub("", _CODE.sub("", (ROOT / name).read_text("utf-8")))
    return [one for one in (part.strip(" -*") for part in _ENDS.split(text)) if re.search(r"\w", one)]


@pytest.mark.parametrize(("name", "side"), [("README.md", 0), ("README.zh-CN.md", 1)])
def test_no_sentence_is_without_its_tests(name: str, side: int) -> None:
    words = [promise[side] for promise in PROMISES]
    text = (ROOT / name).read_text("utf-8")
    assert [one for one in words if one not in text] == []
    bare = [one.strip("*") for one in words]
    held = sentences(name)
    assert [one for one in held if not any(word in one for word in bare)] == []


@cache
def _tests(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / "tests" / path).read_text("utf-8"))
    return frozenset(one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.english)
def test_the_tests_are_there(promise: Promise) -> None:
    for named in promise.tests.split():
        path, _, name = named.partition("::")
        assert (ROOT / "tests" / path).is_file(), named
        assert name in _tests(path), named


def test_the_help_lists_all_commands() -> None:
    import typer

    from mnemark_interfaces.app import COMMANDS, app

    command = typer.main.get_command(app)
    shown = command.get_help(command.make_context("mnemark", [], resilient_parsing=True))
    assert [name for name in COMMANDS if not re.search(rf"^  {name} ", shown, re.MULTILINE)] == []


def test_the_python_that_is_named_is_the_one_needed() -> None:
    import tomllib

    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    pages = [(ROOT / name).read_text("utf-8") for name in ("README.md", "README.zh-CN.md")]
    assert [re.findall(r"Python (3\.\d+)", page) for page in pages] == [[needed.removeprefix(">=")]] * 2
