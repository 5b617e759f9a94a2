"""A memory on a server is used as one in a folder: from Python, and by agents over MCP."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import running_pages
from mnemark import Memory
from mnemark.errors import BusyError, NotFoundError, UsageError
from server.processes import NodeProcess


def test_it_is_used_as_one_in_a_folder(node: NodeProcess, key: str) -> None:
    with Memory.connect(f"http://127.0.0.1:{node.port}/", key) as memory:
        fact = memory.remember("city", "Lisbon", since="2026-03-01")
        assert [(one.id, one.value) for one in memory.facts()] == [(fact.id, "Lisbon")]
        session = memory.session("chat:1")
        ids = session.add_many(
            [
                {"role": "user", "content": "My cat is called Nimbus.", "origin": "owner"},
                {"role": "assistant", "content": "Noted."},
            ]
        )
        assert session.add("user", "她现在住在里斯本。")
        assert len(set(ids)) == 2
        hit = memory.search("Nimbus").hits[0]
        assert "My cat is called Nimbus." in memory.read(hit.ref)
        assert "Nimbus" in memory.recall("what is my cat called?", deadline=2.0).text
        session.end()
        assert "Nimbus" in memory.context()
        memory.undo(fact.id)
        assert "Lisbon" not in {one.value for one in memory.facts()}
        receipt = memory.forget(query="Nimbus", erase=True)
        assert receipt.action == "erased"
        assert "Nimbus" not in memory.recall("what is my cat called?", deadline=2.0).text
        with pytest.raises(NotFoundError):
            memory.read("memory/nothing.md")
        with pytest.raises(UsageError, match="since"):
            memory.search("x", since="???")


def test_what_is_wrong_is_told_without_the_key(node: NodeProcess, key: str) -> None:
    with pytest.raises(UsageError, match="https://memory"):
        Memory.connect("memory.example.org", key)
    with pytest.raises(UsageError, match="there is no key"):
        Memory.connect("http://127.0.0.1:1", "")
    with Memory.connect("http://127.0.0.1:1", key) as memory, pytest.raises(BusyError) as nobody:
        memory.facts()
    with (
        Memory.connect(f"http://127.0.0.1:{node.port}", "mnk_wrong") as memory,
        pytest.raises(UsageError, match="opens no memory") as wrong,
    ):
        memory.facts()
    assert key not in f"{nobody.value}{wrong.value}"


@pytest.mark.parametrize(
    ("scheme", "port", "said"),
    [("https", 0, "begins with http://"), ("http", 1, "refused")],
)
def test_why_a_server_is_not_reached_is_told(
    node: NodeProcess, key: str, scheme: str, port: int, said: str
) -> None:
    with (
        Memory.connect(f"{scheme}://127.0.0.1:{port or node.port}", key) as memory,
        pytest.raises(BusyError, match=said),
    ):
        memory.facts()


def test_the_page_on_servers_runs(node: NodeProcess, key: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "server.md"
    (block,) = running_pages.python(page)
    known: dict[str, object] = {"key": key}
    exec(block.replace("https://memory.example.org", f"http://127.0.0.1:{node.port}"), known)
    assert "Lisbon" in str(known["block"])


def test_an_agent_uses_it_over_mcp(node: NodeProcess, key: str) -> None:
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "memory_remember", "arguments": {"predicate": "city", "value": "Lisbon"}}},
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "mnemark", "mcp", "--server", f"http://127.0.0.1:{node.port}"],
        input="".join(f"{json.dumps(one)}\n" for one in messages), text=True, capture_output=True, check=True,
        env={**os.environ, "MNEMARK_KEY": key},
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert not answers[1]["result"].get("isError"), answers
    with Memory.connect(f"http://127.0.0.1:{node.port}", key) as memory:
        assert [one.value for one in memory.facts()] == ["Lisbon"]
