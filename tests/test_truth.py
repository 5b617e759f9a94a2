"""The door to the files of a workspace: nobody writes around it, and it names all that was changed."""

import ast
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from faults.logical import LEXICAL
from memory.erasing import old
from mnemark import Memory
from mnemark.errors import UsageError
from mnemark.files.jsonl import TEMPORARY
from mnemark.files.truth import ChangedFiles, Folder
from mnemark.memory.sessions.session import Session
from test_reading import leave_undone, live, truth
from test_structure import modules

METHODS: Final = frozenset({
    "write_text", "write_bytes", "unlink", "rmdir", "mkdir", "symlink_to", "hardlink_to",
    "iterdir", "glob", "rglob",
})  # fmt: skip
"""Methods of paths that write, remove or list."""
FUNCTIONS: Final = {
    "os": frozenset({
        "open", "unlink", "remove", "rename", "replace", "mkdir", "makedirs", "scandir", "listdir", "walk",
    }),
    "shutil": frozenset({"rmtree", "copyfile", "copytree", "copy", "copy2", "move"}),
    "platform": frozenset({
        "FS", "write_private", "make_folder", "locked", "sweep_folder", "open_new", "open_appended",
    }),
    "jsonl": frozenset({"append", "rewrite", "replace_file", "write_new"}),
}  # fmt: skip
"""Functions that write, remove or list, by their module."""
OUTSIDE: Final[dict[str, str]] = {
    "demo/": "makes a folder that is no workspace yet",
    "mnemark_agents/connect/": "settings of agents and users; plug-ins; a folder to try; a line of settings",
    "mnemark_agents/daemon.py": "the state folder",
    "mnemark_agents/outbox.py": "the state folder",
    "mnemark_agents/hook/": "`.mnemark`, what missed hooks left in the state folder, and the log",
    "mnemark_agents/upkeep.py": "`.mnemark`",
    "embed/": "models in the cache of the user",
    "llm/": "a folder for a program that answers",
    "text/words/segment.py": "the dictionary of the program",
    "index/": "`.mnemark`; the sizes of logs at each search; a reader of the journal without a workspace",
    "facts/files.py": "a named reader: the fact files of a folder, with their states",
    "facts/known.py": "a named reader: as `files.py`",
    "facts/states.py": "`.mnemark`",
    "facts/visible.py": "a reader of the journal without a workspace",
    "retrieval/opened.py": "indexes of mounts, and temporary ones",
    "mnemark_interfaces/http/server.py": "the state folder",
    "mnemark_interfaces/process.py": "the null device",
    "mnemark_interfaces/trusting.py": "a named reader: what to say of a folder before it is trusted",
    "memory/memory.py": "makes a folder that is no workspace yet",
    "memory/maintenance.py": "temporary files of killed processes in `.mnemark`, and beside the workspace",
    "memory/browse/usage.py": "a named reader: what the parts of a folder take",
    "memory/forgetting/erase.py": "`.mnemark`",
    "memory/forgetting/names.py": "`.mnemark`",
    "memory/forgetting/remaining.py": "a named reader: backups beside the workspace",
    "memory/forgetting/sweep.py": "`.mnemark`",
    "memory/health/doctor.py": "a workspace whose settings cannot be read is repaired without being opened",
    "memory/journal/erasures.py": "`.mnemark`; whether a folder can be read",
    "memory/merging/bases.py": "`.mnemark`",
    "memory/merging/git.py": "a temporary file of git's",
    "memory/merging/merge.py": "a copy of the other side in `.mnemark`",
    "memory/merging/source.py": "a copy of the other side in `.mnemark`",
    "memory/merging/steps.py": "joined files and what they were in `.mnemark`; a log under its own lock",
    "memory/client.py": "an archive in a temporary folder",
    "memory/transfer/backup.py": "an archive beside the workspace",
    "memory/transfer/export/": "an export beside the workspace; a style sheet of the program",
    "memory/transfer/restore.py": "a folder that is no workspace yet",
    "memory/transfer/transfer.py": "an archive beside the workspace",
    "mnemark_adapters/chroma.py": "`.mnemark`",
    "mnemark_adapters/importers/": "what is imported",
    "mnemark_adapters/reranker.py": "a model's folder",
    "mnemark_adapters/memory_files.py": "folders, which have no bytes, listed for a model; an empty file",
    "mnemark_server/followed.py": "the door of a folder that follows rows",
    "mnemark_server/metrics.py": "how many files the process has open",
    "mnemark_server/commands/move.py": "a folder that is no workspace yet",
    "mnemark_server/migrations.py": "the steps of the program",
    "mnemark_server/moves.py": "what is sent, in a folder of the node until it is in the rows",
    "mnemark_server/rows.py": "the files of a new folder of a node",
    "mnemark_server/node.py": "the folder of a node, which it makes and empties",
    "mnemark_faces/commands/web.py": "a page that opens a browser, in the state folder",
    "mnemark_faces/tui/editor.py": "a copy for an editor, in a temporary folder",
    "mnemark_faces/web/known.py": "the state folder",
    "mnemark_faces/web/upload.py": "files that pages send, in the state folder until they are imported",
    "mnemark_interfaces/http/door_file.py": "the state folder",
}
"""Modules outside of `files` that use them, with the reason."""


def uses(tree: ast.Module) -> Iterator[str]:
    """Yield the names in a module that write, remove or list files, or open them to write."""
    nodes = list(ast.walk(tree))
    imported = {
        alias.asname or alias.name: alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in FUNCTIONS.get((node.module or "").rpartition(".")[2], ())
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in FUNCTIONS.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Name) and node.id in imported:
            yield node.id
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        modes = [str(part.value) for part in (*node.args, *(word.value for word in node.keywords))
                 if isinstance(part, ast.Constant)]  # fmt: skip
        if name in METHODS or name == "Folder":  # a door that nobody listens at
            yield name
        elif name == "open" and any(len(mode) < 4 and set(mode) & set("wax+") for mode in modes):
            yield "open to write"


def test_only_the_door_and_named_readers_touch_files() -> None:
    found = {name: sorted(set(uses(tree))) for name, tree in modules() if not name.startswith("files/")}
    found = {name: names for name, names in found.items() if names}
    assert {name: names for name, names in found.items() if not name.startswith(tuple(OUTSIDE))} == {}
    assert [place for place in OUTSIDE if not any(name.startswith(place) for name in found)] == []


# What changes is named


class Witness:
    """Collects what a door names."""

    def __init__(self, door: Folder) -> None:
        self.named: set[str] = set()
        appended, changed = door.appended, door.changed

        def on_append(path: str, size: int) -> None:
            self.named.add(path)
            appended(path, size)

        def on_change(files: ChangedFiles) -> None:
            self.named |= files.paths.keys()
            changed(files)

        door.appended, door.changed = on_append, on_change


def say(memory: Memory, said: str = "I live in Bergen now", **more: Any) -> Session:
    session = memory.session("chat:1")
    session.add("user", said, **more)
    return session


DEEDS: Final[dict[str, Callable[[Memory], object]]] = {
    "add a turn": say,
    "observe": lambda memory: memory.session("chat:1").observe("exec", {"command": "make all"}, "made"),
    "attach": lambda memory: say(memory, attachments=[{"path": "/tmp/plan.pdf"}]).end(),
    "remember": lambda memory: memory.remember("city", "Bergen"),
    "end": lambda memory: say(memory).end(),
    "sync": lambda memory: memory.sync(),
    "forget": lambda memory: memory.forget(query="boat"),
    "erase": lambda memory: memory.forget(query="boat", erase=True),
    "undo": lambda memory: (memory.remember("city", "Bergen"), memory.undo()),
    "revert": lambda memory: memory.revert(session="chat:1"),
    "accept": lambda memory: memory.accept(memory.review()[0].id),
    "reject": lambda memory: memory.reject(memory.review()[0].id),
    "pin": lambda memory: memory.pin("note.md#L3"),
    "learn": lambda memory: (say(memory), memory.learn()),
    "consolidate": lambda memory: memory.consolidate(force=True),
    "import": lambda memory: memory.import_("markdown", memory.root.parent / "notes"),
}


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("door") / "memory"
    live(root)
    leave_undone(root)
    return root


@pytest.mark.parametrize("deed", DEEDS)
def test_all_that_changed_was_named(lived: Path, tmp_path: Path, deed: str) -> None:
    """A door on another machine sends what is named; what is not would be lost there."""
    root = Path(shutil.copytree(lived, tmp_path / "memory"))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/tides.md").write_text("# Tides\n\nHigh at noon\n", "utf-8")
    for path in root.rglob("*.md"):
        old(path)
    with Memory.open(root, config=LEXICAL) as memory:
        witness, before = Witness(memory.workspace.truth), truth(root)
        DEEDS[deed](memory)
        after = truth(root)
    paths = {path for path, data in (before | after).items() if data is not None and TEMPORARY not in path}
    changed = {path for path in paths if before.get(path) != after.get(path)}
    assert changed
    assert changed - witness.named == set()


def test_what_another_machine_sent_is_found_by_the_next_search(tmp_path: Path) -> None:
    class Sent(Folder):
        def catch_up(self, seq: int | None = None) -> list[tuple[str, int]]:
            note = self.root / "deep/sent.md"
            if note.exists() or seq is not None:
                return []
            note.parent.mkdir()
            note.write_text("The pelican is booked\n", "utf-8")
            return [("deep/sent.md", note.stat().st_size)]

    (tmp_path / "note.md").write_text("A heron\n", "utf-8")
    with Memory.open(tmp_path, config=LEXICAL) as memory:
        memory.search("heron")
        memory.workspace.searcher.refresher._edits._truth = Sent(tmp_path)
        assert [hit.path for hit in memory.search("pelican").hits] == ["deep/sent.md"]


def test_a_change_within_a_change_joins_it(tmp_path: Path) -> None:
    door, told = Folder(tmp_path), list[ChangedFiles]()
    door.changed = told.append
    with door.change() as files, door.change() as inner:
        inner.wrote("a.md")
        inner.removed("a.md")
    assert inner is files
    with door.change():
        pass
    assert [one.paths for one in told] == [{"a.md": "removed"}]


def test_what_a_failed_change_named_is_told(tmp_path: Path) -> None:
    door, told = Folder(tmp_path), list[ChangedFiles]()
    door.changed = told.append
    with suppress(OSError), door.change() as files:
        files.wrote("a.md")
        raise OSError
    assert [one.paths for one in told] == [{"a.md": "written"}]


def test_lines_are_appended_inside_only(tmp_path: Path) -> None:
    door = Folder(tmp_path)
    told: list[tuple[str, int]] = []
    door.appended = lambda path, size: told.append((path, size))
    assert door.append("sessions/a.jsonl", [b"{}", b"{}"], header=b"{}") == [3, 6]
    assert told == [("sessions/a.jsonl", 9)]
    with pytest.raises(UsageError):
        door.append("../a.jsonl", [b"{}"])
