"""Where modules import what: nothing inside functions but in a few places, and no registries of modules."""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
SOURCE: Final = ROOT / "src" / "mnemark"
ROOMS: Final = (
    "mnemark", "mnemark_adapters", "mnemark_agents", "mnemark_faces", "mnemark_interfaces", "mnemark_server",
)  # fmt: skip
LATE: Final[dict[str, tuple[int, str]]] = {
    "text/redaction/": (7, "a search finds no secrets"),
    "files/": (2, "a text needs no converter, and most folders are no vault"),
    "present/words.py": (2, "what a daemon answers needs no setting, and English no catalogue"),
    "facts/": (6, "who finds the fact files unchanged parses, judges and opens none"),
    "embed/__init__.py": (4, "the configured embedder alone"),
    "index/": (4, "what is new, and which vector engine is configured, says what is needed"),
    "retrieval/": (15, "a search loads the routes and readers that it needs, and scrubs nothing"),
    "memory/": (47, "a memory loads what is asked of it: most processes ask for one thing, and merge none"),
    "mnemark_agents/": (38, "a hook has milliseconds"),
    "mnemark_interfaces/": (27, "a process imports what it runs: a hook, a search, a server, or a command"),
    "mnemark_adapters/": (4, "an agent's start waits for no memory: the thread that opens it loads it"),
    "mnemark_server/commands/": (1, "who looks after keys needs no node"),
    "mnemark_faces/commands/tui.py": (2, "Textual may not be installed"),
}
"""Where functions import modules of ours: at most how many times, and why."""


@cache
def modules() -> list[tuple[str, ast.Module]]:
    return [
        (
            path.relative_to(SOURCE.parent).as_posix().removeprefix("mnemark/"),
            ast.parse(path.read_text("utf-8")),
        )
        for path in files()
    ]


def files() -> list[Path]:
    return [path for room in ROOMS for path in sorted((SOURCE.parent / room).rglob("*.py"))]


def late_imports(tree: ast.AST, *, within: bool = False) -> Iterator[str]:
    """Yield the modules of ours that functions import."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):  # an expression imports nothing
            if within and isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mnemark"):
                yield node.module or ""
            function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from late_imports(node, within=within or function)


def test_own_imports_stand_at_the_top() -> None:
    found = {name: late for name, tree in modules() if (late := [*late_imports(tree)])}
    assert {name: late for name, late in found.items() if not name.startswith(tuple(LATE))} == {}
    counts = {place: sum(len(found[name]) for name in found if name.startswith(place)) for place in LATE}
    assert {place: count for place, count in counts.items() if not 0 < count <= LATE[place][0]} == {}


def test_no_module_keeps_a_registry_of_objects() -> None:
    found = [
        name
        for name, tree in modules()
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        if node.value is not None and "WeakKeyDictionary" in ast.unparse(node.value)
    ]
    assert found == []


def test_only_the_facade_and_what_stands_above_knows_memory() -> None:
    below = ("text/", "files/", "facts/", "index/", "retrieval/", "memory/", "embed/", "llm/")
    found = [
        name
        for name, tree in modules()
        if name.startswith(below) and name != "memory/memory.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "mnemark.memory.memory"
    ]
    assert found == []


def test_files_are_not_too_long() -> None:
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in files()}
    assert {path.name: count for path, count in lines.items() if count > 600} == {}


def test_patterns_of_modules_are_compiled_when_they_are_used() -> None:
    found = []
    for name, tree in modules():
        at_import = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
        nodes = [node for part in at_import for node in ast.walk(part)]
        for call in (node for node in nodes if isinstance(node, ast.Call) and node.args):
            constants = [part.value for part in ast.walk(call.args[0]) if isinstance(part, ast.Constant)]
            is_text = not any(isinstance(value, bytes) for value in constants)
            if ast.unparse(call.func) == "re.compile" and is_text:
                found.append(f"{name}:{call.lineno}")
    assert found == [], "make them with lazy_pattern"


PAGES: Final = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "README.zh-CN.md"]


def printed() -> list[str]:
    """What pages print: `from mnemark.x import y`, and dotted names of functions."""
    found: set[str] = set()
    for page in PAGES:
        text = page.read_text("utf-8")
        for module, names in re.findall(r"from (mnemark[\w.]*) import ([\w, ]+)", text):
            found |= {f"{module}:{name.strip()}" for name in names.split(",")}
        for module, name in re.findall(r"`(mnemark(?:\.\w+)+)\.(\w+)[`(]", text):
            found.add(f"{module}:{name}")
    return sorted(found)


@pytest.mark.parametrize("name", printed())
def test_import_paths_that_are_printed_work(name: str) -> None:
    module, _, attribute = name.partition(":")
    try:
        found = importlib.import_module(module)
        assert hasattr(found, attribute) or find_spec(f"{module}.{attribute}") is not None
    except ModuleNotFoundError as error:  # of an optional host
        assert not (error.name or "").startswith("mnemark")  # noqa: PT017 - what is missing is the host
