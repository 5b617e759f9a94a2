"""The `Session` for the OpenAI Agents SDK beside the SDK's own SQLiteSession, on sequences of any calls."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark import Memory
from mnemark_adapters.openai_agents import MemorySession
from sampled import examples

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    ["我们决定用向量", "", "a\nb", "🙂"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | TEXTS | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ITEMS = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system"]), "content": TEXTS}),
    st.fixed_dictionaries(
        {
            "type": st.just("function_call"),
            "call_id": st.just("c1"),
            "name": st.just("find"),
            "arguments": TEXTS,
        }
    ),
    st.fixed_dictionaries(
        {"type": st.just("function_call_output"), "call_id": st.just("c1"), "output": TEXTS}
    ),
    st.fixed_dictionaries({"type": st.just("x"), "value": VALUES}),
)
CALLS = st.one_of(
    st.tuples(st.just("add_items"), st.lists(ITEMS, max_size=4)),
    st.tuples(st.just("get_items"), st.none() | st.integers(-2, 6)),
    st.tuples(st.just("pop_item")),
    st.tuples(st.just("clear_session")),
)


def run(call: Any) -> Any:
    return asyncio.run(call)


@settings(max_examples=examples(40))
@given(st.lists(CALLS, max_size=10))
def test_answers_what_the_sdks_own_session_answers(calls: list[tuple[Any, ...]]) -> None:
    agents = pytest.importorskip("agents", reason="run `make adapters`")

    async def both() -> None:
        theirs = agents.SQLiteSession("s")
        with TemporaryDirectory() as folder, Memory.open(folder) as memory:
            ours = MemorySession(memory, "s")
            for name, *arguments in [*calls, ("get_items", None)]:
                want = await getattr(theirs, name)(*arguments)
                assert await getattr(ours, name)(*arguments) == want, name
            again = MemorySession(memory, "s")
            assert await again.get_items() == await theirs.get_items()
        theirs.close()

    run(both())


def test_is_a_session_by_the_sdks_protocol(tmp_path: Path) -> None:
    agents = pytest.importorskip("agents", reason="run `make adapters`")
    with Memory.open(tmp_path) as memory:
        assert isinstance(MemorySession(memory, "s"), agents.memory.Session)


def test_what_was_said_is_found_read_and_kept_apart(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        session, other = MemorySession(memory, "a", user="ann"), MemorySession(memory, "a", user="bob")
        run(session.add_items([{"role": "user", "content": "发布日期改到四月十五号"}]))
        assert run(other.get_items()) == []
        (hit,) = memory.search("发布日期", scope="users/ann").hits
        assert (hit.origin, hit.text) == ("owner", "发布日期改到四月十五号")
        assert not memory.search("发布日期", scope="users/bob").hits
        (file,) = (tmp_path / "users/ann/sessions").glob("*.jsonl")
        line = json.loads(file.read_text().splitlines()[1])
        assert line["content"] == "发布日期改到四月十五号"
        assert line["meta"] == {"item": {"role": "user"}, "text": "content"}


def test_what_is_popped_is_hidden_and_can_be_taken_back(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        session = MemorySession(memory, "a")
        run(session.add_items([{"role": "user", "content": "keep walnuts"}]))
        assert run(session.pop_item()) == {"role": "user", "content": "keep walnuts"}
        assert run(session.pop_item()) is None
        assert not memory.search("walnuts").hits
        memory.undo()
        assert run(session.get_items()) == [{"role": "user", "content": "keep walnuts"}]


def test_secrets_are_not_kept_but_what_a_provider_sealed_is(tmp_path: Path) -> None:
    sealed = "gAAAAABo" + "xK3v9Qz7Lm2Pw5Rt8Yb1" * 8
    secret = "sk-proj-" + "Zx9Kq2Lm7Vb4Nc8Wp3Rt6Yh1" * 2
    with Memory.open(tmp_path) as memory:
        session = MemorySession(memory, "a")
        items = [
            {"type": "reasoning", "encrypted_content": sealed},
            {"role": "user", "content": f"key {secret}"},
        ]
        run(session.add_items(items))
        kept = run(session.get_items())
    assert kept[0] == items[0]
    assert "[redacted" in kept[1]["content"]
    assert not any(
        secret in path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()
    )


def test_two_processes_add_and_pop_without_losing_or_sharing_an_item(tmp_path: Path) -> None:
    code = """
import asyncio, json, sys
from mnemark import Memory
from mnemark_adapters.openai_agents import MemorySession
async def main():
    with Memory.open(sys.argv[1]) as memory:
        session = MemorySession(memory, "s")
        for n in range(10):
            await session.add_items([{"role": "user", "content": f"{sys.argv[2]}{n}"}])
        print(json.dumps([(await session.pop_item())["content"] for _ in range(5)]))
asyncio.run(main())
"""
    run_one = [sys.executable, "-c", code, str(tmp_path)]
    both = [subprocess.Popen([*run_one, name], stdout=subprocess.PIPE, text=True) for name in "ab"]
    popped = [text for one in both for text in json.loads(one.communicate(timeout=60)[0])]
    assert len(set(popped)) == 10
    with Memory.open(tmp_path) as memory:
        left = [item["content"] for item in run(MemorySession(memory, "s").get_items())]
    assert sorted([*left, *popped]) == sorted(f"{name}{n}" for name in "ab" for n in range(10))


def test_a_huge_item_comes_back_whole(tmp_path: Path) -> None:
    item = {"role": "user", "content": "语言" * 500_000}
    with Memory.open(tmp_path) as memory:
        session = MemorySession(memory, "s")
        run(session.add_items([item, {"type": "x", "n": 1}]))
        assert run(session.get_items(2)) == [item, {"type": "x", "n": 1}]


def test_it_takes_what_the_sdks_own_sessions_take(tmp_path: Path) -> None:
    class Settings:
        limit = 1

    with Memory.open(tmp_path) as memory:
        session = MemorySession(memory, "s", session_settings=Settings())
        run(session.add_items([{"role": "user", "content": text} for text in ("one", "two")]))
        assert [item["content"] for item in run(session.get_items())] == ["two"]
        assert len(run(session.get_items(5))) == 2
        session.close()
        assert len(run(MemorySession(memory, "s").get_items())) == 2
