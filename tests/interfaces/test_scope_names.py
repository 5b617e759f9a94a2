"""Whatever a user, agent or project is called, at each entrance: refused, or kept and found again.

And nobody's name locks out the others.
"""

import json
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from mnemark import Memory
from mnemark.errors import MnemarkError, NotFoundError, UsageError
from mnemark.files.layout import find_root
from mnemark.files.new_workspace import new_scope
from mnemark.memory.transfer.imports import import_from
from mnemark_adapters.memory_files import MemoryFiles
from mnemark_interfaces import tools_run
from mnemark_interfaces.http import bodies, calls
from sampled import sampled

from .conftest import Shell

NAMES: Final = [
    *(".mnemark", ".Mnemark", "mnemark.toml", "MNEMARK.TOML", "MEMORY.md", "memory.MD", "memory", "sessions"),
    *("journal", "users", "projects", "..", ".", "", " ", "a/b", "a\\b", "../up", "/etc", "C:", "C:x", "CON"),
    *("con.txt", "nul", "Aux ", "ann.", "ann ", " ann", "ann\0", "ann\n", "ann\u200b", "ann\u202e", "\ud800"),
    *(
        "x" * 100,
        "x" * 101,
        "安" * 33,
        "安" * 40,
        "node_modules",
        "Node_Modules",
        "__pycache__",
        ".git",
        ".hid",
    ),
    *(
        "José",
        unicodedata.normalize("NFD", "José"),
        "ann*",
        "a?",
        "<a>",
        "a|b",
        'a"b',
        "O'Hara",
        "Ann",
        "ann",
    ),
    *(
        "*",
        "a#L1",
        "a b",
        "cli:main",
        "ann@example.org",
        "１２",
        "ﬁ",
        "personas",
        "facts",
        "SOUL.md",
        "a.jsonl",
    ),
]
KINDS: Final = ("users", "agents", "projects")
WORD: Final = "kingfisher"


def _session(memory: Memory, kind: str, name: str) -> None:
    session = memory.session("cli:a", **{kind.removesuffix("s"): name})
    session.add("user", f"the {WORD} nests by the weir")


def _http(memory: Memory, kind: str, name: str, call: str, **body: Any) -> Any:
    class At:
        """As the pool holds a workspace."""

        def __init__(self) -> None:
            self.memory, self.session = memory, memory.session

    wanted = next(one for one in calls.CALLS if one.name == call)
    return calls.run(wanted, At(), wanted.body(workspace="/", **body))  # type: ignore[arg-type]


def _http_turns(memory: Memory, kind: str, name: str) -> None:
    turn = bodies.NewTurn(role="user", content=f"the {WORD} nests by the weir")
    _http(memory, kind, name, "turns", session="cli:a", turns=[turn], **{kind.removesuffix("s"): name})


def _mcp(memory: Memory, kind: str, name: str) -> None:
    result = tools_run.call(memory, "memory_write", {"text": f"{WORD} {kind}", "scope": f"{kind}/{name}"})
    if result["isError"]:
        raise UsageError(result["content"][0]["text"])


def _memory_files(memory: Memory, kind: str, name: str) -> None:
    files = MemoryFiles(memory, scope=f"{kind}/{name}")
    files.create(
        f"/memories/{len(name.encode(errors='replace'))}-{hash(name)}.md", f"The {WORD} nests here.\n"
    )


def _imported(memory: Memory, kind: str, name: str) -> None:
    record = {
        "type": "turn", "path": "", "session": "cli:a", "scope": f"{kind}/{name}", "origin": "owner",
        "id": "01J00000000000000000000000", "time": "2026-02-13T09:00:00+00:00", "role": "user",
        "content": f"the {WORD} nests",
    }  # fmt: skip
    file = memory.root.parent / "export.jsonl"
    file.write_text(json.dumps({"mnemark": "export"}) + "\n" + json.dumps(record) + "\n", "utf-8")
    try:
        import_from(memory.workspace, "jsonl", file)
    except UsageError:
        raise
    except MnemarkError as error:  # nothing was imported, for the reason that it tells
        raise UsageError(str(error)) from error
    memory.sync()


ENTRANCES: Final[dict[str, Callable[[Memory, str, str], object]]] = {
    "session": _session,
    "remember": lambda memory, kind, name: memory.remember("bird", WORD, scope=f"{kind}/{name}"),
    "http turns": _http_turns,
    "http remember": lambda memory, kind, name: _http(
        memory, kind, name, "remember", predicate="bird", value=WORD, scope=f"{kind}/{name}"
    ),
    "http write": lambda memory, kind, name: _http(
        memory, kind, name, "write", text=f"The {WORD} nests here.", scope=f"{kind}/{name}"
    ),
    "mcp write": _mcp,
    "memory tool": _memory_files,
    "import": _imported,
}


def _refused(call: Callable[[], object]) -> str | None:
    try:
        call()
    except UsageError as error:
        return str(error)
    return None


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    with Memory.open(tmp_path / "notes") as opened:
        for kind in KINDS:
            opened.remember("plant", "willow", scope=f"{kind}/bob")
        yield opened


@pytest.mark.parametrize(("kind", "entrance"), sampled(product(KINDS, ENTRANCES), 5))
def test_a_name_is_refused_or_what_was_kept_is_found(memory: Memory, entrance: str, kind: str) -> None:
    kept = 0
    for name in NAMES:
        scope = f"{kind}/{name}"
        if (refused := _refused(partial(ENTRANCES[entrance], memory, kind, name))) is not None:
            assert "cannot be used as a name" in refused or "scope must be" in refused, (name, refused)
            with pytest.raises(UsageError):
                memory.search(WORD, scope=scope)
            continue
        kept += 1
        hits = memory.search(WORD, scope=scope).hits
        assert {hit.scope for hit in hits} == {unicodedata.normalize("NFC", scope)}, name
    assert kept
    for other in KINDS:
        assert memory.search("willow", scope=f"{other}/bob").hits, "others are locked out"
    assert find_root(memory.root / kind) == memory.root


READS: Final[dict[str, Callable[[Memory, str], object]]] = {
    "search": lambda memory, scope: memory.search("x", scope=scope),
    "recall": lambda memory, scope: memory.recall("x", scope=[scope]),
    "facts": lambda memory, scope: list(memory.facts(scope=scope)),
    "context": lambda memory, scope: memory.context(scope=scope),
    "prompt": lambda memory, scope: memory.prompt(scope=scope),
    "turns": lambda memory, scope: memory.turns(scope=scope),
    "forget": lambda memory, scope: memory.forget(query="willow", scope=scope),
    "describe": lambda memory, scope: memory.describe("x", "y", scope=scope),
}


@pytest.mark.parametrize("read", READS)
def test_what_reads_refuses_the_same_names(memory: Memory, read: str) -> None:
    for scope in ("users/..", "users/.mnemark", "users/mnemark.toml", "users/CON", "memory/facts", "../x"):
        with pytest.raises(UsageError):
            READS[read](memory, scope)
    try:
        READS[read](memory, "users/bob")
    except NotFoundError:
        assert read == "describe"


@pytest.mark.parametrize("name", sampled(NAMES, 4))
def test_a_repository_of_any_name_has_a_scope_that_locks_out_nobody(memory: Memory, name: str) -> None:
    scope = new_scope(memory.root, f"/code/{name.replace(chr(0), '')}")
    memory.session("cli:a", project=scope.removeprefix("projects/")).add("user", f"the {WORD} nests")
    assert {hit.scope for hit in memory.search(WORD, scope=scope).hits} == {scope}
    assert memory.search("willow", scope="projects/bob").hits


@pytest.mark.parametrize("name", ["..", ".mnemark", "mnemark.toml", "nul", "MEMORY.md"])
@pytest.mark.parametrize(
    "command",
    [
        ("add", "tea"), ("add", "tea", "--session", "cli:a"), ("remember", "city", "Rome"), ("search", "tea"),
        ("facts",), ("forget", "--query", "tea"), ("prompt", "tea"), ("recall", "tea"), ("log",),
    ],
    ids="-".join,
)  # fmt: skip
def test_commands_refuse_them(shell: Shell, command: tuple[str, ...], name: str) -> None:
    shell("init")
    ran = shell(*command, "--scope", f"users/{name}")
    assert ran.code == 2
    assert "cannot be used as a name" in ran.err
    assert not (shell.folder / "users").exists()
