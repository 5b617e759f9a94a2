"""After any history of a folder, the index is what building it from nothing gives."""

import json
import os
import shutil
import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from faults.logical import LEXICAL, anew, answers, content
from mnemark.errors import MnemarkError
from mnemark.index import batch, sync_run
from mnemark.index.store import Index
from mnemark.index.sync import sync
from mnemark.memory.memory import Memory

NAMES = ("MEMORY.md", "memory/2026-02-13.md", "memory/facts/user.md", "notes/Plan.md", "notes/plan2.md",
         "notes/deep/a.txt", "users/ann/memory/2026-01-01.md", "users/bob/MEMORY.md", "memory/archive/old.md",
         "memory/x.sync-conflict-20260101-101010-ABCDEFG.md", "memory/review/q.md")  # fmt: skip
LOGS = ("sessions/a.jsonl", "sessions/sub/b.jsonl", "users/ann/sessions/c.jsonl", "sessions/D.JSONL")
WORDS = (
    "database",
    "vector",
    "数据库系统",
    "回归测试",
    "python 3.12",
    "camelCase",
    "deadline",
    "周报",
    "alpha",
    "beta",
)
QUERIES = ["database", "数据库", "python 3.12 deadline", "alpha beta", "回归", "camel"]

names = st.sampled_from(NAMES)
logs = st.sampled_from(LOGS)
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)


def note(said: list[str]) -> str:
    return (
        "# " + said[0] + "\n\n" + "\n\n".join(" ".join(said[i:] + said[:i]) for i in range(len(said))) + "\n"
    )


def turn(said: list[str], number: int) -> str:
    record = {"id": f"t{number}", "time": f"2026-02-{1 + number % 27:02}T10:00:00+08:00", "role": "user"}
    return json.dumps(record | {"content": " ".join(said)}, ensure_ascii=False)


class Folder(RuleBasedStateMachine):
    """A folder that people, editors, agents and syncing tools work on."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        self.root = self.base / "w"
        self.root.mkdir()
        self.patch = pytest.MonkeyPatch()
        self.turns = 0
        self.builds = 0

    def teardown(self) -> None:
        try:
            self.compare()
        finally:
            self.patch.undo()
        shutil.rmtree(self.base)

    @initialize(said=words, small=st.booleans())
    def begin(self, said: list[str], *, small: bool) -> None:
        if small:  # batches and segments of a few passages
            self.patch.setattr(batch, "FLUSH_AT", 3)
            self.patch.setattr(batch, "MAX_SIZE", 2)
            self.patch.setattr(sync_run, "_LOG_CHUNK", 1)
        for name in NAMES[:4]:
            self.write(name, note([*said, name]))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        if path.is_dir():
            shutil.rmtree(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    @rule(name=names, said=words)
    def save(self, name: str, said: list[str]) -> None:
        self.write(name, note(said))

    @rule(name=names, said=words)
    def save_by_rename(self, name: str, said: list[str]) -> None:
        path = self.root / name
        if path.is_file():
            draft = path.with_name(".draft")
            draft.write_text(note(said), encoding="utf-8")
            draft.replace(path)

    @rule(name=names)
    def save_same_bytes_by_rename(self, name: str) -> None:
        path = self.root / name
        if path.is_file():
            draft = path.with_name(".draft")
            draft.write_bytes(path.read_bytes())
            draft.replace(path)

    @rule(name=names, old=st.sampled_from("abeo"), new=st.sampled_from("uixz"))
    def edit_without_trace(self, name: str, old: str, new: str) -> None:
        """Equal size, equal times of change."""
        path = self.root / name
        if path.is_file():
            before = path.stat()
            data = path.read_bytes().replace(old.encode(), new.encode())
            with path.open("r+b") as file:
                file.write(data)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(name=names, other=names)
    def rename(self, name: str, other: str) -> None:
        path, target = self.root / name, self.root / other
        if path.is_file() and not target.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)

    @rule(name=names, other=names)
    def swap(self, name: str, other: str) -> None:
        path, target = self.root / name, self.root / other
        if path.is_file() and target.is_file() and path != target:
            path.rename(self.base / "aside")
            target.rename(path)
            (self.base / "aside").rename(target)

    @rule(name=names)
    def change_case(self, name: str) -> None:
        path = self.root / name
        if path.is_file():
            path.rename(path.with_name(path.name.swapcase()))

    @rule(name=st.sampled_from((*NAMES, *LOGS)))
    def delete(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True) if not (self.root / name).is_dir() else None

    @rule(name=names, said=words)
    def folder_instead(self, name: str, said: list[str]) -> None:
        path = self.root / name
        if path.is_file():
            path.unlink()
            path.mkdir()
            (path / "inner.md").write_text(note(said), encoding="utf-8")

    @rule(
        name=names,
        bad=st.sampled_from([b"", b"\0\0\0\0", b"\xff\xfe\xfa caf\xe9", b"---\nx: [\n---\nalpha\n"]),
    )
    def spoil(self, name: str, bad: bytes) -> None:
        path = self.root / name
        if path.is_file():
            path.write_bytes(bad)

    @rule(name=names)
    def twin_names(self, name: str) -> None:
        for form in ("NFC", "NFD"):
            self.write("notes/" + unicodedata.normalize(form, "café.md"), note([form, "alpha"]))

    def append(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)

    @rule(
        name=logs,
        said=words,
        count=st.integers(1, 3),
        end=st.sampled_from(["\n", "\n", "\n", "", "\r\n", "\n\n"]),
    )
    def say(self, name: str, said: list[str], count: int, end: str) -> None:
        lines = []
        for _ in range(count):
            self.turns += 1
            lines.append(turn(said, self.turns))
        self.append(name, "\n".join(lines) + end)

    @rule(name=logs, said=words, cut=st.integers(1, 40))
    def tear(self, name: str, said: list[str], cut: int) -> None:
        self.turns += 1
        self.append(name, turn(said, self.turns)[:-cut])

    @rule(name=logs, text=st.sampled_from(["\n", "}\n", "no json\n", '{"session": "cli:main"}\n', "[1]\n"]))
    def more(self, name: str, text: str) -> None:
        if (self.root / name).is_file():
            self.append(name, text)

    @rule(name=logs, said=words)
    def repeat_last(self, name: str, said: list[str]) -> None:
        """An append that was repeated after a failure: the same id on the next line."""
        path = self.root / name
        if path.is_file() and path.read_bytes().endswith(b"\n"):
            self.append(name, turn(said, self.turns) + "\n")

    @rule(name=logs, part=st.floats(0, 1))
    def truncate(self, name: str, part: float) -> None:
        path = self.root / name
        if path.is_file():
            os.truncate(path, int(path.stat().st_size * part))

    @rule(name=logs, new=st.sampled_from("uixz"))
    def rewrite_middle(self, name: str, new: str) -> None:
        path = self.root / name
        if path.is_file():
            data = path.read_bytes()
            half = len(data) // 2
            path.write_bytes(data[:half].replace(b"a", new.encode()) + data[half:])

    @rule()
    def sync(self) -> None:
        index = Index(self.root)
        try:
            sync(index)
        finally:
            index.close()

    @rule()
    def sync_believing_stats(self) -> None:
        """As if every file had been left alone for a while."""
        index = Index(self.root)
        try:
            sync(index)
            index.connection.execute(
                "UPDATE documents SET checked_ns = checked_ns + 4000000000 WHERE checked_ns"
            )
        finally:
            index.close()

    @rule()
    def delete_index(self) -> None:
        (self.root / ".mnemark/index.db").unlink(missing_ok=True)

    @rule()
    def compare(self) -> None:
        self.builds += 1
        index = Index(self.root)
        try:
            self.pending()
            sync(index)
            fresh = anew(self.root, self.base / f"anew{self.builds}")
            try:
                ours, theirs = content(index), content(fresh)
                assert ours["counted"]
                for part in theirs:
                    assert ours[part] == theirs[part], part
            finally:
                fresh.close()
        finally:
            index.close()
        expected = answers(self.base / f"anew{self.builds}", QUERIES, scope="*", archived=True)
        assert answers(self.root, QUERIES, scope="*", archived=True) == expected
        shutil.rmtree(self.base / f"anew{self.builds}")

    def pending(self) -> None:
        """Reading what is pending never fails, whatever the logs look like."""
        try:
            with Memory.open(self.root, config=LEXICAL, readonly=True) as memory:
                for query in QUERIES[:2]:
                    memory.search(query, scope="*")
        except MnemarkError:
            assert not (self.root / ".mnemark/index.db").exists()


SETTINGS = settings(
    max_examples=10, stateful_step_count=14, deadline=None, suppress_health_check=list(HealthCheck)
)
Folder.TestCase.settings = SETTINGS
TestFolder = Folder.TestCase


class LongFolder(Folder):
    """The same for longer."""


LongFolder.TestCase.settings = settings(SETTINGS, max_examples=300, stateful_step_count=40)
TestLongFolder = pytest.mark.slow(LongFolder.TestCase)
