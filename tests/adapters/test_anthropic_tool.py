"""Anthropic's memory tool beside the SDK's own file implementation, call by call.

Differences by design, each with a test of its own below: paths like `/memoriesx` and hidden names are
refused; a carriage return stays; what the reference answers with an exception of Python's is a ToolError;
a deletion can be undone; secrets are taken out. The reference deletes its own root when asked for
`/memories/`, and leaves empty folders behind where a rename is refused; ours does neither.
"""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark import Memory
from mnemark.errors import MnemarkError, UsageError
from mnemark_adapters.anthropic_tool import async_memory_tool, memory_tool
from mnemark_adapters.memory_files import MemoryFiles
from sampled import examples

WORDS = st.sampled_from(
    ["", "a", "ab", "我们", "\n", "a\n", "x\ny\nz", "a\n\n", "tab\there", "- 用户喜欢咖啡\n"]
)
TEXTS = st.lists(WORDS, max_size=4).map("".join)
PATHS = st.sampled_from(
    ["/memories", "/memories/", "/memories/a.md", "/memories/b.md", "/memories/d/a.md", "/memories/d",
     "/memories/d/e/f.md", "/memories/a.md/x", "/memories/d/../b.md", "/memories/../x", "/etc/passwd",
     "/memories/../../x", "/memories/笔记.md", "/memories//a.md", "memories/a.md", "/memories/%2e%2e/x"]
)  # fmt: skip
RANGES = st.none() | st.lists(st.integers(-2, 6), min_size=2, max_size=2) | st.just([1])
COMMANDS = st.one_of(
    st.fixed_dictionaries({"command": st.just("view"), "path": PATHS, "view_range": RANGES}),
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries(
        {"command": st.just("str_replace"), "path": PATHS, "old_str": WORDS, "new_str": TEXTS}
    ),
    st.fixed_dictionaries(
        {"command": st.just("insert"), "path": PATHS, "insert_line": st.integers(-1, 5), "insert_text": TEXTS}
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": PATHS}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": PATHS, "new_path": PATHS}),
)
ALL = {"command": "view", "path": "/memories", "view_range": None}


@pytest.fixture
def files(tmp_path: Path) -> Iterator[MemoryFiles]:
    with Memory.open(tmp_path) as memory:
        yield MemoryFiles(memory)


def answer(tool: Any, command: dict[str, Any], error: type[Exception]) -> tuple[str, str]:
    """("said", text), ("refused", message), or ("failed", "") where the reference breaks."""
    try:
        return "said", tool.call(command)
    except error as refused:
        return "refused", str(refused)
    except (OSError, ValueError):
        return "failed", ""


@settings(max_examples=examples(120))
@given(st.lists(COMMANDS, max_size=8))
def test_says_what_the_sdks_own_tool_says(commands: list[dict[str, Any]]) -> None:
    tools = pytest.importorskip("anthropic.lib.tools", reason="run `make adapters`")
    local = pytest.importorskip("anthropic.tools.memory").BetaLocalFilesystemMemoryTool
    with TemporaryDirectory() as one, TemporaryDirectory() as other, Memory.open(one) as memory:
        ours, theirs = memory_tool(memory), local(other)
        for command in commands:
            got = answer(ours, command, tools.ToolError)
            if command == {"command": "delete", "path": "/memories/"}:
                assert got == ("refused", "Cannot delete the /memories directory itself")
                continue
            before = folders(Path(other))
            want = answer(theirs, command, tools.ToolError)
            if want[0] != "said":
                for left in sorted(folders(Path(other)) - before, reverse=True):
                    left.rmdir()
            if want[0] == "failed":
                assert got[0] == "refused", command
            else:
                assert got == want, command
            assert answer(ours, ALL, tools.ToolError) == answer(theirs, ALL, tools.ToolError), command
        assert contents(Path(one) / "memories") == contents(Path(other) / "memories")


def folders(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_dir()}


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_the_async_twin_does_the_same(tmp_path: Path) -> None:
    tools = pytest.importorskip("anthropic.lib.tools", reason="run `make adapters`")
    with Memory.open(tmp_path) as memory:
        tool = async_memory_tool(memory)
        assert isinstance(tool, tools.BetaAsyncAbstractMemoryTool)
        note = {"command": "create", "path": "/memories/likes.md", "file_text": "Likes hazelnut coffee.\n"}

        async def both() -> str:
            await tool.call(note)
            with pytest.raises(tools.ToolError):
                await tool.call({"command": "view", "path": "/memories/none.md"})
            return str(await tool.call({"command": "view", "path": "/memories/likes.md"}))

        assert "hazelnut" in asyncio.run(both())
        assert "hazelnut" in str(memory_tool(memory).call({"command": "view", "path": "/memories/likes.md"}))


def test_is_sent_as_the_memory_tool(tmp_path: Path) -> None:
    pytest.importorskip("anthropic", reason="run `make adapters`")
    with Memory.open(tmp_path) as memory:
        assert memory_tool(memory).to_dict() == {"type": "memory_20250818", "name": "memory"}


@pytest.mark.parametrize(
    "path", ["/memoriesx", "/memories/.mnemark/index.db", "/memories/a/.b.md", "/memories/\0"]
)
def test_hidden_and_odd_paths_are_refused(files: MemoryFiles, path: str) -> None:
    with pytest.raises((UsageError, ValueError)):
        files.create(path, "x")


def test_a_link_out_of_the_folder_is_refused(files: MemoryFiles, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("mine\n")
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories/out").symlink_to(tmp_path)
    for call in (
        partial(files.view, "/memories/out/MEMORY.md"),
        partial(files.delete, "/memories/out/MEMORY.md"),
    ):
        with pytest.raises(UsageError, match="escape"):
            call()
    assert "out" not in files.view("/memories").replace("without", "")


@pytest.mark.parametrize("folder", ["", ".mnemark", "sessions", "journal/x", "../x", "users"])
def test_the_folders_of_the_workspace_itself_are_not_the_tools(tmp_path: Path, folder: str) -> None:
    with Memory.open(tmp_path) as memory, pytest.raises(UsageError):
        MemoryFiles(memory, folder)


def test_what_was_deleted_can_be_brought_back(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        files = MemoryFiles(memory)
        files.create("/memories/d/a.md", "walnuts\n")
        files.create("/memories/d/b.md", "hazelnuts\n")
        files.delete("/memories/d")
        memory.sync()
        assert not (tmp_path / "memories/d").exists()
        (group,) = {one.group for one in _edits(memory) if one.group}
        memory.undo(group)
        assert (tmp_path / "memories/d/a.md").read_text() == "walnuts\n"
        assert (tmp_path / "memories/d/b.md").read_text() == "hazelnuts\n"


def _edits(memory: Memory) -> list[Any]:
    return memory.workspace.edits.entries()


def test_what_was_written_is_found_without_its_secret(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with Memory.open(tmp_path) as memory:
        files = MemoryFiles(memory, scope="users/ann")
        files.create("/memories/a.md", f"# 部署\n\n用户喜欢核桃咖啡，令牌是 {secret}\n")
        assert memory.search("核桃咖啡", scope="users/ann").hits[0].path == "users/ann/memories/a.md"
    assert not any(
        secret in path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()
    )


def test_line_ends_of_windows_stay(files: MemoryFiles, tmp_path: Path) -> None:
    files.create("/memories/a.md", "a\r\nb\r\n")
    files.insert("/memories/a.md", 1, "x")
    assert (tmp_path / "memories/a.md").read_bytes() == b"a\r\nx\nb\r\n"


def test_a_file_that_is_no_text_is_not_touched(files: MemoryFiles, tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories/a.bin").write_bytes(b"\xff\xfe\x00")
    for call in (partial(files.view, "/memories/a.bin"), partial(files.delete, "/memories/a.bin")):
        with pytest.raises(MnemarkError, match="UTF-8"):
            call()
    assert (tmp_path / "memories/a.bin").read_bytes() == b"\xff\xfe\x00"


def test_a_person_saving_meanwhile_loses_nothing(files: MemoryFiles, tmp_path: Path) -> None:
    files.create("/memories/a.md", "one\n")
    (tmp_path / "memories/a.md").write_text("one\ntwo by hand\n")
    files.str_replace("/memories/a.md", "one", "uno")
    assert (tmp_path / "memories/a.md").read_text() == "uno\ntwo by hand\n"
