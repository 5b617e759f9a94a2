"""Programs use a memory on a server through adapters, by its address and key."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.errors import UsageError
from mnemark.files import platform, server_keys
from mnemark.files.server_keys import Known
from mnemark_adapters.bridge import RecallRequest, Where
from mnemark_adapters.frameworks.agent_memory import AgentMemory, place_of
from mnemark_adapters.nanobot_bridge import RemoteNanobotBridge
from mnemark_adapters.openakita import OpenAkitaMemory
from server.processes import NodeProcess

QUESTION = "What is the code word of the harbour gate?"


@pytest.fixture
def at(node: NodeProcess, key: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a server whose memory knows the code word."""
    monkeypatch.delenv("MNEMARK_KEY", raising=False)
    where = f"http://127.0.0.1:{node.port}"
    with Memory.connect(where, key) as memory:
        session = memory.session("chat:1")
        session.add("user", "The code word of the harbour gate is pelican.")
        session.end()
    return where


def said(at: str, key: str) -> list[tuple[str, str]]:
    with Memory.connect(at, key) as memory:
        found = memory.client.call("said", {})["turns"]
    return [(one["turn"]["role"], one["turn"]["content"]) for one in found][1:]


def test_an_agent_of_a_framework(at: str, key: str) -> None:
    with AgentMemory(server=at, key=key, session="chat:2", deadline=5.0) as memory:
        assert "pelican" in memory.before(QUESTION)
        memory.after("It is pelican.")
        tools = {tool.name: tool for tool in memory.tools}
        assert "pelican" in tools["memory_search"].run(query="code word")
        tools["memory_remember"].run(predicate="city", value="Lisbon")
        assert memory.flush()
        assert memory.counts["kept"] == 2
    assert said(at, key) == [("user", QUESTION), ("assistant", "It is pelican.")]
    with Memory.connect(at, key) as server:
        assert [fact.value for fact in server.facts()] == ["Lisbon"]


def test_the_key_is_found_where_connect_keeps_it(at: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="no key"):
        Memory.connect(at)
    server_keys.keep(at, Known(key, "ann"))
    with Memory.connect(f"{at}/") as memory:
        assert memory.search("pelican").hits
    with AgentMemory(server=at, deadline=5.0) as agent:
        assert "pelican" in agent.before(QUESTION)
    monkeypatch.setenv("MNEMARK_KEY", "mnk_wrong")  # which wins
    with Memory.connect(at) as memory, pytest.raises(UsageError, match="opens no memory"):
        memory.search("pelican")
    assert key not in repr(server_keys.kept(at))


def test_openakita(at: str, key: str) -> None:
    async def talk(memory: OpenAkitaMemory) -> None:
        assert "pelican" in await memory.before_agent_run(conversation_id="2", message=QUESTION)
        await memory.after_agent_run(conversation_id="2", response="It is pelican.")
        fact = await memory.store({"content": "Tea without sugar", "id": "7", "importance_score": 0.5})
        assert fact
        assert fact == await memory.store({"content": "Tea without sugar", "id": "7"})
        assert (await memory.search("pelican"))[0]["relevance"] > 0
        assert await memory.delete("7")
        assert "pelican" in await memory.handle_tool("search_memory", {"query": "code word"})
        assert "on a server" in await memory.handle_tool("get_memory_stats", {})
        assert memory.counts.get("failed", 0) == 0, memory.counts

    memory = OpenAkitaMemory(server=at, key=key)
    asyncio.run(talk(memory))
    memory.close()
    assert said(at, key) == [("user", QUESTION), ("assistant", "It is pelican.")]


def test_nanobot(at: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMARK_KEY", key)
    bridge = RemoteNanobotBridge(at, limit=5.0)
    assert bridge.ready()
    assert "pelican" in asyncio.run(bridge.recall(RecallRequest(Where("cli:a"), QUESTION)))
    call = {"id": "1", "function": {"name": "exec", "arguments": '{"command": "make gate"}'}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": QUESTION, "timestamp": "2026-11-28T10:00:00"},
        {"role": "assistant", "content": "", "tool_calls": [call], "timestamp": "2026-11-28T10:00:01"},
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
        {"role": "assistant", "content": "It is pelican.", "timestamp": "2026-11-28T10:00:02"},
    ]
    for _ in range(2):
        bridge.record("cli:a", messages)
        assert bridge.flush()
    assert not bridge.call("memory_search", {"query": "code word"})["isError"]
    assert bridge.counts.get("failed", 0) == 0
    bridge.close()
    with Memory.connect(at) as memory:
        found = memory.client.call("said", {"session": "cli:a"})["turns"]
        assert memory.context().count("make gate") == 1
    assert [one["turn"]["content"] for one in found] == [QUESTION, "It is pelican."]


def test_what_a_server_cannot_answer_is_refused_by_name(at: str, key: str, tmp_path: Path) -> None:
    with Memory.connect(at, key) as memory:
        with pytest.raises(UsageError, match="a memory on a server has no"):
            memory_files(memory)
        with pytest.raises(UsageError, match="a session on a server has no 'compact'"):
            memory.session("chat:2").compact([], 100)
        assert not hasattr(memory, "sync")
    with pytest.raises(UsageError, match="one person's"):
        AgentMemory(server=at, key=key, user="bob")
    for folder, server in (("", ""), (tmp_path, at)):
        with pytest.raises(UsageError, match="give the folder"):
            place_of(folder, server, key)
        with pytest.raises(UsageError, match="give the folder"):
            OpenAkitaMemory(folder, server=server, key=key)
    assert key not in repr(place_of("", at, key))


def memory_files(memory: Any) -> None:
    """Use a memory on a server where one in a folder is wanted."""
    from mnemark_adapters.memory_files import MemoryFiles

    MemoryFiles(memory)


def test_a_server_that_is_away_ends_no_turn(node: NodeProcess, at: str, key: str) -> None:
    with AgentMemory(server=at, key=key, session="chat:2", deadline=0.5) as memory:
        node.kill()
        assert memory.before(QUESTION) == ""
        memory.after("It is pelican.")
        assert memory.flush()
        node.start()
        assert said(at, key) == []  # it answers
        for silent in platform.state_folder().rglob("silent"):
            silent.unlink()  # as if ten seconds had passed
    assert said(at, key) == [("user", QUESTION), ("assistant", "It is pelican.")]
