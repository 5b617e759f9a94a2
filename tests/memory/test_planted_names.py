"""Names that lead out of the folder, planted in every file of it that names paths.

Beside the folder lies another with a secret, and all that follows names is run. The test hears of each file
that is opened, listed, moved or deleted: none lies outside, nothing there changes, no word of it comes in.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from mnemark import Memory
from mnemark.errors import MnemarkError, UsageError
from mnemark.files import edit as editing
from mnemark.files import platform
from mnemark.files.edit_records import FOLDER, EditRecord, EditRecords, Texts, _key, mark_of
from mnemark.files.ids import is_id, new_id
from mnemark.files.truth import Folder
from mnemark.memory.health.doctor import doctor
from mnemark.memory.transfer.backup import backup
from mnemark_agents.hook import missed
from sampled import sampled

SECRET = "canary-outside-0123456789"
BEFORE = f"# Outside\n\n- {SECRET} lies here.\n"
HEARD: list[str] = []
"""The folder that is listened for; empty while nobody listens."""
HITS: list[str] = []
_EVENTS = {"open", "os.remove", "os.rename", "os.link", "os.symlink", "os.mkdir", "os.rmdir", "os.scandir",
           "os.listdir", "os.truncate", "os.chmod", "os.utime", "shutil.rmtree"}  # fmt: skip


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if HEARD and event in _EVENTS:
        for one in arguments[:2]:
            if isinstance(one, (str, bytes, os.PathLike)):
                place = Path(os.fsdecode(one))
                with suppress(OSError, ValueError):
                    real = Path(os.path.realpath(place.parent), place.name)
                    if any(str(found).startswith(HEARD[0]) for found in (real, os.path.realpath(place))):
                        HITS.append(f"{event} {place}")


sys.addaudithook(_hear)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    (folder / "memory").mkdir(parents=True)
    for name in ("secret.md", "memory/user.md", "secret.jsonl"):
        write_old(folder / name)
    return folder


def write_old(place: Path) -> None:
    """Write a file that nobody is saving just now: it may be edited at once."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(BEFORE, "utf-8")
    os.utime(place, (1e9, 1e9))


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Path:
    folder = tmp_path / "cloned"
    (folder / "sessions").mkdir(parents=True)
    (folder / "memory/facts").mkdir(parents=True)
    (folder / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    (folder / "MEMORY.md").write_text("# Memory\n\n- The heron nests by the weir.\n", "utf-8")
    (folder / "link").symlink_to(outside)
    return folder


def hostile(root: Path, outside: Path, name: str = "secret.md") -> list[str]:
    """Return the forms in which a path can lead out."""
    return [
        f"../outside/{name}", f"{outside}/{name}", f"memory/../../outside/{name}", f"link/{name}",
        f"..\\outside\\{name}", f"./../outside/{name}", f"memory/facts/../../../outside/{name}",
    ]  # fmt: skip


# --- what can name a path


def record(root: Path, path: str, identifier: str, **more: Any) -> None:
    """Plant the record of an edit with its texts and the displaced file."""
    known: dict[str, Any] = {
        "time": 1.0, "keep": 1e12, "inode": 1, "mark": mark_of(b"new"), "applied": True,
        "old_state": platform.Identity(1, 1, 1, 1),
    }  # fmt: skip
    edit = EditRecord(id=identifier, path=path, **(known | more))
    records = EditRecords(root)
    folder = root / ".mnemark" / FOLDER / _key(path)
    folder.mkdir(parents=True, exist_ok=True)
    texts = Texts(base=BEFORE.encode(), new=b"overwritten\n", held=b"")
    file = folder / (identifier if is_id(identifier) else "x")
    file.with_suffix(".edit").write_bytes(msgspec.msgpack.encode(edit))
    file.with_suffix(".text").write_bytes(msgspec.msgpack.encode(texts))
    file.with_suffix(".old").write_bytes(b"overwritten\n")
    with suppress(OSError):  # where the record says that they are
        for extension, value in (("text", texts), ("edit", edit)):
            place = records._file(edit, extension)
            if place.resolve().is_relative_to(root.resolve()):
                place.write_bytes(msgspec.msgpack.encode(value))


def journal(root: Path, *lines: Mapping[str, Any]) -> None:
    place = root / "journal" / f"{platform.machine_name()}.jsonl"
    place.parent.mkdir(exist_ok=True)
    with place.open("a", encoding="utf-8") as file:
        for line in lines:
            full = {"id": new_id(), "time": "2026-01-02T03:04:05+00:00", "origin": "owner", **line}
            file.write(json.dumps(full) + "\n")


HUNK = {"at": 1, "old": [], "new": ["overwritten"], "before": [], "after": []}
LINES: dict[str, Callable[[str], dict[str, Any]]] = {
    "write": lambda at: {"step": "x", "path": at, "hunks": [HUNK], "created": True},
    "move": lambda at: {"step": "x", "path": "MEMORY.md", "to": at},
    "move from": lambda at: {"step": "x", "path": at, "to": "memory/in.md"},
    "remember": lambda at: {"subject": "user", "predicate": "lives in", "value": "Bonn", "path": at},
    "propose": lambda at: {"subject": "user", "predicate": "lives in", "value": "Köln", "path": at},
    "project": lambda at: {"path": at, "ids": ["x"]},
    "confirm": lambda at: {"fact": "x", "path": at, "fields": {"value": "Rom"}},
    "edit": lambda at: {"fact": "x", "path": at, "fields": {"value": "Rom"}},
    "tombstone": lambda at: {"fact": "x", "path": at},
    "pin": lambda at: {"fact": "x", "path": at, "before": {"importance": "1"}},
    "forget": lambda at: {
        "erase": True, "turns": {at: ["x"]}, "lines": {at: [["x"]]}, "files": [at], "ids": ["x"],
        "at": {"path": at, "start": 0, "length": 5, "id": "x"},
    },
    "noted": lambda at: {"path": at, "ids": ["x"]},
    "describe": lambda at: {"attachment": at.removesuffix(".md"), "description": "overwritten"},
    "import": lambda at: {"format": "zip", "source": at, "files": {at: "x"}},
    "end": lambda at: {"session": at, "size": 1},
    "observe": lambda at: {"session": at, "tool": "x", "title": "overwritten", "key": "k"},
    "attach": lambda at: {"ids": [at]},
    "consolidate": lambda at: {"group": at},
    "sitting": lambda at: {"session": at, "first": "a", "last": "b", "notes": [at]},
}  # fmt: skip
"""Payloads of the kinds of lines, by what they name."""


def plant_journal(root: Path, at: str) -> None:
    for kind, payload in LINES.items():
        journal(root, {"kind": kind.split()[0], "payload": payload(at)})
        journal(root, {"kind": kind.split()[0], "payload": payload("MEMORY.md"), "scope": at})
        journal(root, {"kind": kind.split()[0], "payload": payload(at), "id": at})


def plant_records(root: Path, at: str) -> None:
    for applied in (True, False):
        record(root, at, new_id(), applied=applied)
        record(root, "MEMORY.md", at.removesuffix(".md"), applied=applied)
        record(root, at, at, applied=applied, old_state=None)


def plant_bookkeeping(root: Path, at: str) -> None:
    with Memory.open(root) as memory:
        memory.sync()
        memory.session("a").add("user", "I live in Bonn.")
        forgotten = new_id()
    journal(root, {"kind": "forget", "id": forgotten, "payload": {"erase": True, "ids": ["x"]}})
    private = root / ".mnemark"
    (private / "renaming.json").write_text(json.dumps({forgotten: {at: f"{at}-file.md"}}), "utf-8")
    waits = [{"path": at, "reason": "x", "state": "x", "since": 1e12}]
    (private / "erasing.json").write_text(json.dumps({forgotten: waits}), "utf-8")
    note = {"agent": "claude-code", "session": at, "event": "prompt", "time": "x", "transcript": at,
            "folder": at}  # fmt: skip
    (private / missed.NAME).write_text(json.dumps(note) + "\n", "utf-8")
    with apsw.Connection(str(private / "index.db")) as index:
        index.execute("UPDATE documents SET path = ?", (at,))
    with apsw.Connection(str(private / "state.db")) as state:
        for (table,) in list(state.execute("SELECT name FROM sqlite_master WHERE type = 'table'")):
            columns = [row[1] for row in state.execute(f"PRAGMA table_info({table})")]
            for column in columns:
                if column in {"path", "ref", "name"}:
                    with suppress(apsw.ConstraintError):
                        state.execute(f"UPDATE {table} SET {column} = ?", (at,))


def plant_texts(root: Path, at: str) -> None:
    turn = {"id": new_id(), "role": "user", "content": f"See [it]({at}).",
            "time": "2026-01-02T03:04:05+00:00", "attachments": [{"path": at, "mime": "text/plain"}, at],
            "tool_calls": [{"tool": "send_file", "arguments": {"path": at, "caption": "x"}}]}  # fmt: skip
    (root / "sessions/a.jsonl").write_text(json.dumps(turn) + "\n", "utf-8")
    (root / "memory/facts/user.md").write_text(
        f"# user\n\n- lives in: Bonn <!-- id: {new_id()} · source: {at}#L1 · origin: owner -->\n"
        f"- born in: Rom <!-- source: {at}#L3, {at.removesuffix('.md')}.jsonl#L1 -->\n", "utf-8",
    )  # fmt: skip
    (root / "memory/episodes").mkdir(exist_ok=True)
    (root / "memory/episodes/2026-01-02-x.md").write_text(
        f"---\nfirst: {at}#L1\nsession: {at}\n---\n# X\n\n- said ([1]({at}#L1)) \u2014 {at}.jsonl#L1\n",
        "utf-8",
    )
    (root / "projects/shop").mkdir(parents=True, exist_ok=True)
    (root / "projects/shop/PROJECT.md").write_text(f"# Shop\npath: {at}\n", "utf-8")
    (root / "MEMORY.md").write_text(f"# Memory\n\n@{at}\n- ![x]({at}) [[{at}]]\n", "utf-8")


PLANTS = [plant_journal, plant_records, plant_bookkeeping, plant_texts]


# --- what follows them


def follow(root: Path, at: str) -> str:
    """Run what reads, finishes and undoes; return all that it shows."""
    said: list[object] = []
    editing.settle(Folder(root))
    with Memory.open(root) as memory:
        missed.take_in(root)
        steps: list[Callable[[], object]] = [
            memory.sync, lambda: memory.search("canary outside heron"), lambda: memory.recall("canary"),
            memory.learn, memory.consolidate, lambda: doctor(memory.workspace), memory.browse.changes,
            lambda: memory.read(at), lambda: memory.read(f"{at}#L3"), lambda: memory.forget(ref=f"{at}#L3"),
            lambda: memory.pin(f"{at}#L3"), lambda: [memory.why(one.id) for one in memory.facts()],
            lambda: memory.why(at), memory.undo, memory.undo, memory.prompt, memory.attention,
            lambda: memory.session("a").end(), lambda: memory.forget("heron", erase=True), memory.sync,
            lambda: backup(memory.workspace),
            memory.browse.sessions, memory.browse.attachments, memory.browse.recalled,
            lambda: memory.browse.turns(at), lambda: memory.describe(at, "overwritten"),
        ]  # fmt: skip
        for step in steps:
            try:
                said.append(step())
            except MnemarkError as error:
                said.append(error)
    editing.sweep(Folder(root))
    return "\n".join(map(str, said))


def state(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", sampled(range(7), 4))
@pytest.mark.parametrize("plant", PLANTS)
def test_no_planted_name_leads_out(
    root: Path, outside: Path, plant: Callable[[Path, str], None], form: int
) -> None:
    at = hostile(root, outside)[form]
    plant(root, at)
    before = state(outside)
    HITS.clear()
    HEARD[:] = [f"{outside.resolve()}{os.sep}"]
    try:
        said = follow(root, at)
    finally:
        HEARD.clear()
    assert HITS == []
    assert state(outside) == before
    assert SECRET not in said
    inside = {name: data for name, data in state(root).items() if not name.startswith("link/")}
    assert not [name for name, data in inside.items() if SECRET.encode() in data and "displaced" not in name]


def test_what_is_planted_is_followed_inside(root: Path) -> None:
    """The planted edits are alive: with names inside, they are done."""
    record(root, "kept.md", new_id(), mark=mark_of(b"overwritten\n"))
    write_old(root / "kept.md")
    journal(root, {"kind": "write", "payload": LINES["write"]("memory/new.md")})
    journal(root, {"kind": "move", "payload": {"step": "x", "path": "moved.md", "to": "memory/in.md"}})
    (root / "moved.md").write_text("moved\n", "utf-8")
    follow(root, "MEMORY.md")
    assert (root / "kept.md").read_text("utf-8") == "overwritten\n"
    assert (root / "memory/new.md").read_text("utf-8") == "overwritten\n"
    assert (root / "memory/in.md").exists()


@pytest.mark.parametrize("place", [".git/config", "sub/.GIT/hooks/post-commit", ".mnemark/salt", ".git./x"])
def test_nor_into_the_folders_of_git_and_of_mnemark(root: Path, place: str) -> None:
    """A file there can be a program, or say of one that it is to be started."""
    target = root / place
    write_old(target)
    record(root, place, new_id(), mark=mark_of(b"overwritten\n"))
    for kind in ("write", "move", "move from"):
        journal(root, {"kind": kind.split()[0], "payload": LINES[kind](place)})
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.sync()
    editing.settle(Folder(root))
    editing.sweep(Folder(root))
    assert target.read_text("utf-8") == BEFORE


FOLDERS = [
    "",
    "displaced",
    "displaced/0123456789abcdef",
    "hooks",
    "compiled",
    "vectors/x.chroma",
    "mounts/x/.mnemark",
]


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("target", ["secret.md", ""], ids=["file", "folder"])
def test_a_link_anywhere_in_its_own_folder_is_refused(
    root: Path, outside: Path, folder: str, target: str
) -> None:
    place = root / ".mnemark" / folder / "01ARZ3NDEKTSV4RRFFQ69G5FAV.old"
    place.parent.mkdir(parents=True)
    place.symlink_to(outside / target)
    before = state(outside)
    with pytest.raises(UsageError, match="is a link, to"):
        Memory.open(root)
    assert state(outside) == before
