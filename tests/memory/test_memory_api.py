"""`Memory` and `Session` at the edges where users touch them."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from faults.logical import LEXICAL
from mnemark.errors import ConfigError, MnemarkError, NotFoundError, ReadOnlyError, UsageError
from mnemark.memory.memory import Memory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("# Memory\n\nalpha of the memory\n")
    return folder


def opened(root: Path, **options: Any) -> Memory:
    return Memory.open(root, config=LEXICAL, **options)


def test_what_cannot_be_opened(root: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a file"):
        opened(root / "MEMORY.md")
    with pytest.raises(NotFoundError, match="does not exist"):
        opened(tmp_path / "missing", readonly=True)
    with pytest.raises((ReadOnlyError, UsageError)):
        opened(root / "MEMORY.md/below")
    (root / "mnemark.toml").write_text("recal_hits = 3\n")
    with pytest.raises(ConfigError, match="recal_hits"):
        Memory.open(root)


@pytest.mark.parametrize("config", [{"no_such_setting": 1}, {"recall_hits": "many"}, {"embedder": "wrong"}])
def test_settings_that_are_wrong(root: Path, config: dict[str, Any]) -> None:
    with pytest.raises(ConfigError), Memory.open(root, config=config) as memory:
        memory.search("alpha")


def test_a_folder_is_made(tmp_path: Path) -> None:
    with opened(tmp_path / "a/b") as memory:
        assert not memory.search("anything").hits
        assert memory.recall("anything", deadline=2.0).text == ""
        assert memory.search("anything").believable == 0
        assert memory.stats().passages == 0
        assert memory.stats().stale is None


def test_only_empty_files(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"")
    (tmp_path / "b.md").write_bytes(b"\n \t\n")
    (tmp_path / "c.md").write_bytes(b"\xef\xbb\xbf")
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions/a.jsonl").write_bytes(b"")
    with opened(tmp_path) as memory:
        assert memory.sync().files == 4
        assert not memory.sync().touched
        assert not memory.search("a").hits


@pytest.mark.parametrize(
    "arguments",
    [
        {"k": 0}, {"k": -1}, {"k": 10**9}, {"kinds": ["none"]}, {"origins": "x"}, {"scope": "x"},
        {"preset": "x"},
        {"since": "notatime"}, {"until": "13 o'clock in the kitchen"}, {"as_of": ""},
    ],
)  # fmt: skip
def test_wrong_arguments_name_a_right_one(root: Path, arguments: dict[str, Any]) -> None:
    with opened(root) as memory, pytest.raises(UsageError):
        memory.search("alpha", **arguments)


@pytest.mark.parametrize("query", [None, 3, b"alpha", ["alpha"]])
def test_a_query_is_text(root: Path, query: Any) -> None:
    with opened(root) as memory:
        for ask in (memory.search, memory.recall, memory.session("s").recall):
            with pytest.raises(UsageError, match="text"):
                ask(query)


@pytest.mark.parametrize(
    "ref",
    [
        "",
        "missing.md",
        "../x.md",
        "/etc/passwd",
        "MEMORY.md#L9",
        "MEMORY.md#L0",
        "a\0b",
        "MEMORY.md#L3-L2",
        ".",
    ],
)
def test_refs_that_name_nothing(root: Path, ref: str) -> None:
    with opened(root) as memory, pytest.raises((NotFoundError, UsageError)):
        memory.read(ref)


def test_reading(root: Path) -> None:
    with opened(root) as memory:
        assert memory.read("MEMORY.md") == "# Memory\n\nalpha of the memory\n"
        assert memory.read("MEMORY.md#L3") == "alpha of the memory\n"
        assert memory.read("MEMORY.md#L1-L3") == memory.read("MEMORY.md")


IDS: tuple[str, ...] = (
    "cli:main",
    "CLI:main",
    "a/b\\c",
    "..",
    ".",
    "con",
    "nul.txt",
    " ",
    "数据",
    "é",
    "e\u0301",
    "😀" * 200,
)
IDS += ("x" * 5000, "a\nb", "a\0b", "\u202e", "-rf", "%2e%2e")


def word(number: int) -> str:
    return chr(97 + number) * 7


def test_sessions_of_odd_ids_stay_apart(root: Path) -> None:
    with opened(root) as memory:
        for number, name in enumerate(IDS):
            memory.session(name).add("user", word(number))
        for number, name in enumerate(IDS):
            assert [turn.content for turn in memory.session(name).last()] == [word(number)], name
            assert len(memory.search(word(number)).hits) == 1
        assert len(list((root / "sessions").iterdir())) == len(IDS)
        with pytest.raises(UsageError):
            memory.session("")
        for user in ("", "..", "a/b", "a\\b", ".", "x" * 300, "a\0"):
            with pytest.raises(UsageError):
                memory.session("s", user=user)
        with pytest.raises(UsageError):
            memory.session("s", user="a", agent="b")


def test_turns_that_are_wrong(root: Path) -> None:
    wrong: Any = object()
    with opened(root) as memory:
        session = memory.session("s")
        for arguments in ({"role": "", "content": "x"}, {"role": "user", "content": "x", "origin": "nobody"},
                          {"role": "user", "content": "x", "meta": {"k": wrong}}):  # fmt: skip
            with pytest.raises(UsageError):
                session.add(**arguments)
        assert session.last() == []


def test_a_session_leaves_out_what_its_model_sees(root: Path) -> None:
    with opened(root) as memory:
        mine, other = memory.session("mine"), memory.session("other")
        other.add("user", "alpha in the other one")
        for number in range(30):
            mine.add("user", f"alpha {number} in mine")
        for _ in range(2):
            found = mine.recall("alpha", deadline=2.0, k=50)
            texts = {hit.text for hit in found.hits}
            assert "alpha in the other one" in texts
            assert "alpha 3 in mine" in texts  # said before its window
            assert not any(f"alpha {number} in mine" in texts for number in range(10, 30))
            assert len(other.recall("alpha", deadline=2.0, k=50).hits) > 25
            memory.sync()


def test_recall_for_event_loops(root: Path) -> None:
    async def ask() -> list[int]:
        with opened(root) as memory:
            session = memory.session("s")
            found = await asyncio.gather(*(session.arecall("alpha", deadline=3.0) for _ in range(3)))
            return [len(answer.hits) for answer in found]

    assert asyncio.run(ask()) == [1, 1, 1]


def test_what_was_said_is_found_at_once_by_everyone(root: Path) -> None:
    with opened(root) as one, opened(root) as two:
        one.sync()
        one.session("s").add("user", "gamma")
        assert one.search("gamma").hits
        assert two.search("gamma").hits
        assert one.session("t").recall("gamma", deadline=2.0).hits


def test_readonly_writes_nothing(root: Path) -> None:
    with opened(root) as memory:
        memory.sync()
    before = files(root)
    with opened(root, readonly=True) as memory:
        assert memory.search("alpha").hits
        assert memory.recall("alpha", deadline=2.0).hits
        memory.stats()
        with pytest.raises(MnemarkError):
            memory.session("s").add("user", "x")
        with pytest.raises(MnemarkError):
            memory.sync()
    assert files(root) == before


def files(root: Path) -> dict[Path, tuple[int, bytes]]:
    found = [path for path in root.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in found}


def test_searching_while_another_thread_syncs(root: Path) -> None:
    errors: list[BaseException] = []
    done = threading.Event()
    with opened(root) as memory:
        memory.sync()

        def ask() -> None:
            try:
                while not done.is_set():
                    assert memory.search("alpha").hits
                    memory.recall("beta alpha", deadline=1.0)
            except BaseException as error:  # noqa: BLE001 - told in the main thread
                errors.append(error)

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(40):
            (root / f"n{number % 7}.md").write_text(f"# N\n\nbeta {number}\n")
            memory.session("s").add("user", f"beta {number}")
            memory.sync()
        done.set()
        for thread in threads:
            thread.join()
    assert not errors


def test_closing_while_others_ask(root: Path) -> None:
    """Closing never hangs; what is asked afterwards is told that the memory is closed."""
    for _ in range(5):
        memory = opened(root)
        memory.sync()
        problems: list[BaseException] = []

        def ask(memory: Memory = memory, problems: list[BaseException] = problems) -> None:
            try:
                for _ in range(200):
                    memory.search("alpha")
            except BaseException as error:  # noqa: BLE001 - told in the main thread
                problems.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        memory.close()
        thread.join(10)
        assert not thread.is_alive()
        assert all(isinstance(problem, MnemarkError) for problem in problems), problems
        with pytest.raises(UsageError, match="closed"):
            memory.search("alpha")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="Linux tells which files are open")
def test_a_closed_memory_holds_no_file_open(root: Path) -> None:
    with opened(root) as memory:
        memory.session("cli:main").add("user", "The heron stands in the river.")
        memory.remember("bird", "heron")
        memory.sync()
        memory.recall("heron", deadline=2.0)
        memory.consolidate(force=True)
    links = [path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    assert [link for link in links if link.is_relative_to(root)] == []


def test_many_recalls_leave_no_threads_or_connections(root: Path) -> None:
    others = threading.active_count()  # late work of other tests
    with opened(root) as memory:
        memory.sync()
        for _ in range(100):
            memory.recall("alpha", deadline=2.0)
        assert memory.workspace.index._connections.open <= 4
        assert threading.active_count() < others + 9
