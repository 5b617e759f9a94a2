"""Where modules import what: nothing inside functions but in a few places, and no registries of modules."""

import ast
import importlib
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
SOURCE: Final = ROOT / "src" / "mnemark"
ROOMS: Final = ("mnemark", "mnemark_adapters", "mnemark_faces")
LATE: Final[dict[str, str]] = {
    "memory/memory.py": "each method imports what it hands over to",
    "memory/sessions/session.py": "as `memory.py`",
    "text/redaction/redact.py": "a search finds no secrets",
    "files/secrets.py": "as `redact.py`",
    "files/hosts.py": "httpx's side, where a folder or the user names a server",
    "memory/maintenance.py": "where nothing is pending, a sync loads none of what completes it",
    "memory/open_workspace.py": "models, what they cost, pins and episodes are asked for by few",
    "memory/curation/identity.py": "a hook asks no model, and most sections are kept compiled",
    "memory/prompt/briefing.py": "a hook reads no facts, unless a fact file changed",
    "files/sessions.py": "most ids are too short for a key, or a UUID",
    "files/trust.py": "a folder that was made here is known by its entry: a hook reads no configuration",
    "facts/files.py": "who finds the files unchanged parses none",
    "facts/visible.py": "as `files.py`",
    "facts/plain_workspace.py": "as `files.py`",
    "facts/groups.py": "only states that are saved are judged",
    "facts/states.py": "a hook reads no facts, unless a fact file changed",
    "retrieval/search.py": "a workspace without facts needs no route of facts, a search no rules",
    "retrieval/searcher.py": "a search packs no block, and reads files where the index is damaged only",
    "retrieval/fact_index.py": "facts without a past have no entries to leave out",
    "retrieval/embeddings.py": "only what was erased is scrubbed",
    "retrieval/cross_language.py": "words that passages have need no dictionary",
    "embed/__init__.py": "the configured embedder alone",
    "index/sync.py": "a sync that finds nothing new writes nothing",
    "index/vectors/__init__.py": "the configured vector engine alone",
    "index/reader.py": "most searches find every turn indexed",
    "interfaces/": "a process imports what it runs: a hook, a search, a server, or a command",
    "agent/hook/": "a hook has milliseconds",
    "agent/upkeep.py": "only the daily upkeep checks the index",
    "mnemark_adapters/": "an agent's start waits for no memory: it is loaded by the thread that opens it",
    "mnemark_faces/commands/tui.py": "Textual may not be installed",
}


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


def late_imports(tree: ast.Module) -> list[str]:
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    inside = (node for function in functions for node in ast.walk(function))
    return [
        node.module or ""
        for node in inside
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mnemark")
    ]


def test_own_imports_stand_at_the_top() -> None:
    found = {name: late for name, tree in modules() if (late := late_imports(tree))}
    assert {name: late for name, late in found.items() if not name.startswith(tuple(LATE))} == {}
    unused = [place for place in LATE if not any(name.startswith(place) for name in found)]
    assert unused == []


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
