"""Google ADK's memory service and LlamaIndex's memory block, with the real classes of both."""

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.text.quoting.fence import fence, is_fenced
from mnemark_adapters.adk import memory_service
from mnemark_adapters.llama_index import memory_block

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


# The libraries' own: ADK's deprecated uses, LlamaIndex's store that closes no connection.
pytestmark = [pytest.mark.filterwarnings("default")]


def run(call: Any) -> Any:
    return asyncio.run(call)


def adk_session(user: str, app: str, *said: tuple[str, str]) -> Any:
    sessions = pytest.importorskip("google.adk.sessions", reason="run `make adapters`")
    event = pytest.importorskip("google.adk.events").Event
    types = pytest.importorskip("google.genai.types")
    events = [
        event(id=f"{user}{n}", author=author, content=types.Content(parts=[types.Part(text=text)]))
        for n, (author, text) in enumerate(said)
    ]
    return sessions.Session(id="s1", app_name=app, user_id=user, events=events)


def texts(found: Any) -> list[str]:
    return [one.content.parts[0].text for one in found.memories]


def test_adk_keeps_sessions_apart_by_user_and_app_and_adds_nothing_twice(tmp_path: Path) -> None:
    ann = adk_session("ann", "shop", ("user", "数据库换成 PostgreSQL"), ("helper", f"noted {SECRET}"))
    bob = adk_session("bob", "shop", ("user", "walnuts for bob"))
    with Memory.open(tmp_path) as memory:
        service = memory_service(memory)
        for session in (ann, bob, ann):
            run(service.add_session_to_memory(session))
        memory.remember("walnut supplier", "Ridge Farm")
    with Memory.open(tmp_path) as memory:
        service = memory_service(memory)
        found = run(service.search_memory(app_name="shop", user_id="ann", query="数据库"))
        assert texts(found)[0] == "数据库换成 PostgreSQL"
        assert (found.memories[0].id, found.memories[0].author) == ("ann0", "user")
        assert texts(found).count("数据库换成 PostgreSQL") == 1
        others = run(service.search_memory(app_name="shop", user_id="ann", query="walnuts"))
        assert "walnuts for bob" not in texts(others)
        assert any("Ridge Farm" in text for text in texts(others))
        assert "数据库换成 PostgreSQL" not in texts(
            run(service.search_memory(app_name="other", user_id="ann", query="数据库"))
        )
        assert run(service.search_memory(app_name="shop", user_id="ann", query=" ")).memories == []
    assert not any(
        SECRET in path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()
    )


def test_adk_what_was_deleted_does_not_come_back(tmp_path: Path) -> None:
    session = adk_session("ann", "shop", ("user", "likes hazelnut"))
    with Memory.open(tmp_path) as memory:
        service = memory_service(memory)
        run(service.add_session_to_memory(session))
        run(service.delete_memory(app_name="shop", user_id="ann", memory_id="ann0"))
        run(service.add_session_to_memory(session))
        assert run(service.search_memory(app_name="shop", user_id="ann", query="hazelnut")).memories == []


def test_llama_index_recalls_as_a_quotation_in_the_users_message(tmp_path: Path) -> None:
    core = pytest.importorskip("llama_index.core.memory", reason="run `make adapters`")
    message = pytest.importorskip("llama_index.core.llms").ChatMessage

    with Memory.open(tmp_path) as memory:
        memory.remember("database", "PostgreSQL", subject="project kestrel")
        memory.sync()
        block = memory_block(memory, "chat:1")
        chat = core.Memory.from_defaults(session_id="c", memory_blocks=[block], insert_method="user")

        async def exchange() -> Any:
            await chat.aput(message(role="user", content="Which database does project kestrel use?"))
            try:
                return await chat.aget()
            finally:
                await chat.sql_store._async_engine.dispose()

        (sent,) = run(exchange())
        assert str(sent.role.value) == "user"
        assert "PostgreSQL" in sent.content
        assert is_fenced(sent.content)
        assert run(block.aget([])) == ""
    gc.collect()  # what it leaves open is told here, not in another test


def test_llama_index_keeps_what_leaves_the_window_without_recalled_blocks(tmp_path: Path) -> None:
    message = pytest.importorskip("llama_index.core.llms", reason="run `make adapters`").ChatMessage

    with Memory.open(tmp_path) as memory:
        block = memory_block(memory, "chat:1", user="ann")
        said = f"我喜欢榛子 {SECRET}\n" + fence("an old walnut")
        run(block.aput([
            message(role="system", content="be kind"), message(role="user", content=said),
            message(role="assistant", content="noted"),
        ]))  # fmt: skip
        kept = [(one.turn.role, one.turn.origin, one.turn.content) for one in memory.turns(scope="users/ann")]
    assert [row[:2] for row in kept] == [("user", "owner"), ("assistant", "agent")]
    assert "榛子" in kept[0][2]
    assert "walnut" not in kept[0][2]
    assert SECRET not in kept[0][2]


def test_llama_index_knows_a_short_chat_in_the_next_one(tmp_path: Path) -> None:
    types = pytest.importorskip("llama_index.core.llms", reason="run `make adapters`")

    def said(role: str, text: str) -> Any:
        return types.ChatMessage(role=role, content=text)

    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        talk = [
            said("user", "The staging server is called Kestrel."), said("assistant", "Noted."),
            said("user", "yes"), said("assistant", "Noted."), said("user", "yes"),
        ]  # fmt: skip
        block = memory_block(memory, "chat:1")
        for number in range(1, len(talk) + 1):
            run(block.aget(talk[:number]))
        block = memory_block(memory, "chat:1")  # as in another process
        run(block.aget(talk))
        run(block.aput(talk[:2]))
        run(block.aget(talk[2:]))
        turns = [(turn.role, turn.content) for turn in memory.session("chat:1").log.last(20)]
        assert turns == [(one.role.value, one.content) for one in talk]
        other = memory_block(memory, "chat:2")
        assert "Kestrel" in run(other.aget([said("user", "What is the staging server called?")]))
