"""The `SessionStore` for the Claude Agent SDK: the SDK's own conformance suite, and what it does not ask."""

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark_adapters.claude_sdk import TranscriptStore

KEY = {"project_key": "-home-ann-app", "session_id": "3f2a"}


def run(call: Any) -> Any:
    return asyncio.run(call)


def entry(text: str, uuid: str, role: str = "user") -> dict[str, Any]:
    return {"type": role, "uuid": uuid, "message": {"role": role, "content": text}}


def test_passes_the_sdks_conformance_suite(tmp_path: Path) -> None:
    testing = pytest.importorskip("claude_agent_sdk.testing", reason="run `make adapters`")
    opened: list[Memory] = []
    numbers = itertools.count()

    def make() -> TranscriptStore:
        opened.append(Memory.open(tmp_path / str(next(numbers))))
        return TranscriptStore(opened[-1])

    try:
        run(testing.run_session_store_conformance(make))
    finally:
        for memory in opened:
            memory.close()
    assert len(opened) > 13


def test_a_batch_that_is_sent_again_is_not_kept_twice(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        store = TranscriptStore(memory)
        batch = [entry("one", "u1"), {"type": "tag", "tag": "x"}, entry("two", "u2")]
        run(store.append(KEY, batch))
        run(store.append(KEY, [batch[0], batch[2]]))
        assert run(store.load(KEY)) == batch
    with Memory.open(tmp_path) as memory:
        store = TranscriptStore(memory)
        run(store.append(KEY, [entry("one", "u1")]))
        assert run(store.load(KEY)) == batch


def test_ids_with_any_characters_never_share_a_transcript(tmp_path: Path) -> None:
    keys = [
        {"project_key": "a", "session_id": "b/c"},
        {"project_key": "a/b", "session_id": "c"},
        {"project_key": "a", "session_id": "b", "subpath": "c"},
        {"project_key": "a%2Fb", "session_id": "c"},
        {"project_key": "项目", "session_id": "会话"},
    ]
    with Memory.open(tmp_path) as memory:
        store = TranscriptStore(memory)
        for number, key in enumerate(keys):
            run(store.append(key, [{"type": "x", "n": number}]))
        assert [run(store.load(key)) for key in keys] == [[{"type": "x", "n": n}] for n in range(len(keys))]
        assert [one["session_id"] for one in run(store.list_sessions("项目"))] == ["会话"]
        assert run(store.list_subkeys(keys[2])) == ["c"]


def test_a_resumed_conversation_has_its_signatures_and_no_secret(tmp_path: Path) -> None:
    signature = "EqoBCkgIARABGAIiQ" + "L8vT2xWq9Zp4Rk7Nm1Hs" * 6
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    thought = {"type": "thinking", "thinking": "hm", "signature": signature}
    said: dict[str, Any] = {
        "type": "assistant",
        "uuid": "u1",
        "message": {"role": "assistant", "content": [thought]},
    }
    with Memory.open(tmp_path) as memory:
        store = TranscriptStore(memory)
        run(store.append(KEY, [said, entry(f"token {secret}", "u2")]))
        first, second = run(store.load(KEY))
    assert first == said
    assert secret not in str(second)


def test_what_was_said_is_found_and_tool_results_are_the_tools(tmp_path: Path) -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "walnut crates: 40"}
    with Memory.open(tmp_path) as memory:
        store = TranscriptStore(memory)
        told = {"type": "user", "uuid": "u2", "message": {"role": "user", "content": [result]}}
        run(store.append(KEY, [entry("数据库换成 PostgreSQL", "u1"), told]))
        assert memory.search("数据库").hits[0].origin == "owner"
        assert memory.search("walnut crates").hits[0].origin == "tool"
        run(store.delete(KEY))
        assert run(store.load(KEY)) is None
        assert not memory.search("数据库").hits
