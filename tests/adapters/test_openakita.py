"""OpenAkita's real memory manager and plug-in interface with our backend.

The backend alone is tested everywhere; the manager where OpenAkita is installed:
`pip install openakita==1.27.42`, then `pytest tests/adapters/test_openakita.py`. It is under the AGPL and
large, so `make adapters` does not fetch it.
"""

import asyncio
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.text.quoting.fence import all_fenced, check_fenced, fence
from mnemark.text.words.tokens import estimate_tokens
from mnemark_adapters.openakita import TOOLS, OpenAkitaMemory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "memory"
    made.mkdir()
    return made


@pytest.fixture
def backend(root: Path) -> Iterator[OpenAkitaMemory]:
    made = OpenAkitaMemory(root)
    yield made
    made.close()


def turns(root: Path, session: str) -> list[tuple[str, str]]:
    with Memory.open(root, readonly=True) as memory:
        one = memory.session(session)
        return [(t.role, t.content) for t in one.last(50)] if one.log.path.exists() else []


def test_a_memory_is_stored_found_and_deleted(backend: OpenAkitaMemory) -> None:
    async def run() -> None:
        given = {
            "id": "ab12",
            "content": "Helix",
            "type": "preference",
            "subject": "user",
            "predicate": "editor",
        }
        first = await backend.store(given)
        assert first
        assert await backend.store(given) == first, "told twice, kept once"
        rows = await backend.search("which editor", 5)
        assert [set(row) for row in rows] == [{"id", "content", "relevance", "source", "created_at"}]
        assert "Helix" in rows[0]["content"]
        assert await backend.delete("ab12") is True
        assert await backend.search("which editor", 5) == []
        assert await backend.delete("ab12") is False
        assert await backend.delete("never") is False

    asyncio.run(run())
    assert backend.counts.get("failed", 0) == 0


@pytest.mark.parametrize("own", ["id", "ref"])
def test_a_memory_is_deleted_by_our_id_and_by_the_id_of_a_row(backend: OpenAkitaMemory, own: str) -> None:
    async def run() -> list[dict[str, Any]]:
        identifier = await backend.store({"content": "红隼", "predicate": "测试服务器"})
        rows = await backend.search("测试服务器")
        assert await backend.delete(identifier if own == "id" else rows[0]["id"]) is True
        return await backend.search("测试服务器")

    assert not [row for row in asyncio.run(run()) if "红隼" in row["content"]]


def test_what_cannot_be_kept_is_counted_and_raises_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    broken = OpenAkitaMemory(tmp_path / "file")

    async def run() -> list[Any]:
        await broken.start_session("s")
        await broken.record_turn("user", "Hello.")
        await broken.end_session()
        return [
            await broken.store({"content": "x"}), await broken.search("x"), await broken.delete("x"),
            await broken.get_injection_context("x", 100),
            await broken.handle_tool("search_memory", {"query": "x"}),
        ]  # fmt: skip

    *empty, told = asyncio.run(run())
    assert empty == ["", [], False, ""]
    assert told.startswith("Error: ")
    assert broken.counts == {"failed": 6}


def test_a_session_is_kept_and_the_next_one_is_told(backend: OpenAkitaMemory, root: Path) -> None:
    async def run() -> tuple[str, str]:
        await backend.start_session("s1")
        await backend.record_turn("user", f"我们的测试服务器叫做红隼。\n{fence('old', label='memory')}")
        await backend.record_turn("assistant", "好的。")
        same = await backend.get_injection_context("测试服务器叫什么？", 700)
        await backend.end_session()
        await backend.start_session("s2")
        return same, await backend.get_injection_context("测试服务器叫什么？", 200)

    same, given = asyncio.run(run())
    assert "红隼" not in same, "the model has it before it"
    assert "红隼" in given
    assert check_fenced(given)
    assert turns(root, "s1") == [("user", "我们的测试服务器叫做红隼。"), ("assistant", "好的。")]


def test_a_prompt_knows_the_person_within_its_tokens(backend: OpenAkitaMemory, root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / "USER.md").write_text("Always answer in British English.\n" + "- likes tea\n" * 400, "utf-8")

    async def run() -> list[str]:
        await backend.record_turn("user", "The staging server is called Kestrel.")
        await backend.start_session("s2")
        return [
            await backend.get_injection_context("What is the staging server called?", n) for n in (900, 200)
        ]

    roomy, narrow = asyncio.run(run())
    assert "British English" in roomy
    assert "Kestrel" in roomy
    assert all_fenced(roomy)
    assert "Kestrel" in narrow
    assert estimate_tokens(roomy) <= 900
    assert estimate_tokens(narrow) <= 200


def test_sessions_side_by_side_keep_their_turns_apart(backend: OpenAkitaMemory, root: Path) -> None:
    async def talk(session: str) -> None:
        await backend.start_session(session)
        for number in range(5):
            await backend.record_turn("user", f"{session} {number}")
            await asyncio.sleep(0)

    async def both() -> None:
        await asyncio.gather(talk("left"), talk("right"))

    asyncio.run(both())
    for session in ("left", "right"):
        assert turns(root, session) == [("user", f"{session} {number}") for number in range(5)]


def test_its_tools(backend: OpenAkitaMemory) -> None:
    assert [tool["function"]["name"] for tool in TOOLS] == ["add_memory", "search_memory", "get_memory_stats"]

    async def run() -> list[str]:
        return [
            await backend.handle_tool(
                "add_memory", {"content": "喜欢乌龙茶", "type": "preference", "importance": 0.8}
            ),
            await backend.handle_tool("search_memory", {"query": "喝什么茶"}),
            await backend.handle_tool("get_memory_stats", {}),
            await backend.handle_tool("add_memory", {}),
            await backend.handle_tool("drop_table", {}),
        ]

    added, found, stats, empty, unknown = asyncio.run(run())
    assert json.loads(added)["status"] == "remembered"
    assert "乌龙茶" in found
    assert check_fenced(found)
    assert json.loads(stats)["kinds"]["fact"] == 1
    assert empty == "Error: a memory needs a content"
    assert unknown.startswith("Error: there is no tool 'drop_table'")


def test_turns_handed_over_at_once_keep_their_order(backend: OpenAkitaMemory, root: Path) -> None:
    async def run() -> None:
        await backend.start_session("s")
        await asyncio.gather(*[asyncio.create_task(backend.record_turn("user", str(n))) for n in range(40)])

    asyncio.run(run())
    assert turns(root, "s") == [("user", str(number)) for number in range(40)]


def test_hooks_keep_a_run_and_tell_the_next_one(backend: OpenAkitaMemory, root: Path) -> None:
    async def run(conversation: str, message: str, response: str) -> str:
        given = await backend.before_agent_run(conversation_id=conversation, message=message)
        await backend.after_agent_run(conversation_id=conversation, message=message, response=response)
        return given

    async def both() -> str:
        await run("one", "我们的测试服务器叫做红隼。", "好的。")
        return await run("two", "测试服务器叫什么？", "")

    given = asyncio.run(both())
    assert "红隼" in given
    assert all_fenced(given)
    assert turns(root, "one") == [("user", "我们的测试服务器叫做红隼。"), ("assistant", "好的。")]
    assert turns(root, "two") == [("user", "测试服务器叫什么？")]


def test_what_the_manager_hands_over_is_neither_kept_nor_told_twice(
    backend: OpenAkitaMemory, root: Path
) -> None:
    async def run() -> tuple[str, str, str]:
        await backend.store({"content": "Helix", "predicate": "editor"})
        await backend.start_session("s")
        question = "Which editor do I use?"
        await backend.record_turn("user", question)
        told = await backend.before_agent_run(conversation_id="s", message=question)
        again = await backend.get_injection_context(question, 700)
        await backend.record_turn("assistant", "Helix.")
        await backend.end_session()
        await backend.after_agent_run(conversation_id="s", message=question, response="Helix.")
        return told, again, await backend.get_injection_context(question, 700)

    told, again, later = asyncio.run(run())
    assert "Helix" in told
    assert again == ""
    assert "Helix" in later
    assert turns(root, "s") == [("user", "Which editor do I use?"), ("assistant", "Helix.")]


def test_what_an_agent_tells_another_is_not_kept(backend: OpenAkitaMemory, root: Path) -> None:
    class Helper:
        _is_sub_agent_call = True

    async def run() -> None:
        given = {"conversation_id": "s", "message": "Look at the files.", "agent": Helper()}
        await backend.before_agent_run(**given)
        await backend.after_agent_run(**given, response="Done.")

    asyncio.run(run())
    assert turns(root, "s") == []


class Host:
    """OpenAkita's manager with a backend registered as a plug-in registers it."""

    def __init__(self, folder: Path, backend: OpenAkitaMemory) -> None:
        from openakita.memory.manager import MemoryManager
        from openakita.plugins.api import PluginAPI
        from openakita.plugins.manifest import PluginManifest

        backends: dict[str, Any] = {}
        manifest = PluginManifest(id="mnemark", name="mnemark", version="1.0.0", type="python")
        refs = {"memory_backends": backends}
        granted = ["memory.write", "memory.replace"]
        api = PluginAPI("mnemark", manifest, granted, data_dir=folder / "plugin", host_refs=refs)
        api.register_memory_backend(backend)
        self.manager = MemoryManager(data_dir=folder / "data", memory_md_path=folder / "MEMORY.md")
        self.manager.set_plugin_backends(backends)

    async def settle(self) -> None:
        """Wait for what the manager began and waits for no longer."""
        own = {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}
        await asyncio.wait_for(asyncio.gather(*own, return_exceptions=True), 60)


@pytest.fixture
def host(tmp_path: Path, backend: OpenAkitaMemory, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("openakita", reason="needs openakita; pip install openakita==1.27.42")
    return Host(tmp_path, backend)


@pytest.mark.filterwarnings("default")
def test_under_the_real_memory_manager(host: Host, backend: OpenAkitaMemory, root: Path) -> None:
    from openakita.memory.types import Memory as Theirs
    from openakita.memory.types import MemoryType
    from openakita.plugins.protocols import MemoryBackendProtocol

    assert isinstance(backend, MemoryBackendProtocol)
    manager = host.manager

    async def run() -> list[str]:
        manager.start_session("desk-1", user_id="ann")
        await host.settle()
        manager.record_turn("user", "Our staging server is called Kestrel.")
        manager.record_turn("assistant", "Noted.")
        manager.add_memory(Theirs(content="prefers the editor Helix", type=MemoryType.PREFERENCE))
        await host.settle()
        manager.end_session("talk about servers")
        await host.settle()
        manager.start_session("desk-2", user_id="ann")
        await host.settle()
        asked = ["What is our staging server called?", "Which editor does the user prefer?"]
        given = [await manager.get_injection_context_async(question) for question in asked]
        return [*given, manager.get_injection_context(asked[0])]

    server, editor, again = asyncio.run(run())
    if folder := os.environ.get("MNEMARK_TRANSCRIPTS"):
        text = f"# get_injection_context_async, session desk-2\n{server}\n\n{editor}\n"
        Path(folder, "openakita.txt").write_text(text, encoding="utf-8")
    assert all(all_fenced(block) for block in (server, editor, again))
    assert "Kestrel" in server
    assert "Kestrel" in again
    assert "Helix" in editor
    spoken = [("user", "Our staging server is called Kestrel."), ("assistant", "Noted.")]
    assert turns(root, "desk-1") == spoken
    assert backend.counts.get("failed", 0) == 0


@pytest.mark.filterwarnings("default")
def test_the_managers_sessions_side_by_side_are_told_apart(host: Host, root: Path) -> None:
    async def talk(session: str) -> None:
        host.manager.start_session(session, user_id="ann")
        for number in range(3):
            host.manager.record_turn("user", f"{session} {number}")
            await asyncio.sleep(0.01)

    async def run() -> None:
        await asyncio.gather(asyncio.create_task(talk("left")), asyncio.create_task(talk("right")))
        await host.settle()

    asyncio.run(run())
    for session in ("left", "right"):
        assert turns(root, session) == [("user", f"{session} {number}") for number in range(3)]


@pytest.mark.filterwarnings("default")
def test_the_plug_in_of_the_page_works_once_it_is_granted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openakita", reason="needs openakita; pip install openakita==1.27.42")
    from openakita.plugins.manager import PluginManager

    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "mnemark").mkdir()
    folder = tmp_path / "data/plugins"
    page = (Path(__file__).parents[2] / "docs/agents/openakita.md").read_text("utf-8")
    manifest, program = re.findall(r"```(?:json|python)\n(.*?)```", page, re.DOTALL)[:2]
    (folder / "mnemark").mkdir(parents=True)
    (folder / "mnemark/plugin.json").write_text(manifest, "utf-8")
    (folder / "mnemark/plugin.py").write_text(program, "utf-8")

    async def load(*granted: str) -> dict[str, Any]:
        backends: dict[str, Any] = {}
        plugins = PluginManager(folder, host_refs={"memory_backends": backends})
        await plugins.load_all()
        if granted:
            plugins.approve_permissions("mnemark", list(granted))
            await plugins.reload_plugin("mnemark")
        found = {name: one["replace"] for name, one in backends.items()}
        await plugins.unload_plugin("mnemark")
        return found

    assert asyncio.run(load()) == {}
    assert asyncio.run(load("memory.write")) == {"mnemark": False}
    assert asyncio.run(load("memory.replace")) == {"mnemark": True}
    assert asyncio.run(load()) == {"mnemark": True}, "it is kept"
