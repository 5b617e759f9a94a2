"""Agents of ADK and LlamaIndex as their users run them: told in one session, used in the next.

The model is scripted; everything else is theirs. What counts is what reaches the model.
"""

import asyncio
import gc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.text.quoting.fence import is_fenced
from mnemark_adapters.adk import memory_service
from mnemark_adapters.llama_index import memory_block

TOLD = "Please note: the code word of the harbour gate is pelican."
ASKED = "What is the code word of the harbour gate?"
TOLD_ZH = "请记住：港口大门的暗号是鹈鹕。"
ASKED_ZH = "港口大门的暗号是什么？"
PAIRS = [(TOLD, ASKED, "pelican"), (TOLD_ZH, ASKED_ZH, "鹈鹕")]

pytestmark = [pytest.mark.filterwarnings("default", "ignore::DeprecationWarning")]  # the libraries' own


def adk_model(answers: list[Any], seen: list[list[Any]]) -> Any:
    """A model that gives these answers in turn, the last one again and again, and keeps what it received."""
    models = pytest.importorskip("google.adk.models", reason="run `make adapters`")
    capabilities = pytest.importorskip("google.adk.models._capabilities").LlmCapabilities

    class Scripted(models.BaseLlm):  # type: ignore[misc, name-defined, unused-ignore]
        @property
        def capabilities(self) -> Any:
            return capabilities(output_schema_and_tools=True)

        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:  # noqa: FBT001, FBT002 - theirs
            seen.append(list(llm_request.contents))
            yield models.LlmResponse(content=answers.pop(0) if len(answers) > 1 else answers[0])

    return Scripted(model="scripted")


def words(contents: Sequence[Any], role: str) -> str:
    """What a request says in one role, tools' results included."""
    parts = [part for content in contents if content.role == role for part in content.parts or ()]
    said = [part.text or str(part.function_response.response if part.function_response else "")
            for part in parts]  # fmt: skip
    return "\n".join(said)


@pytest.mark.parametrize(("told", "asked", "wanted"), PAIRS)
@pytest.mark.parametrize("how", ["before each turn", "by its tool"])
def test_an_adk_agent_uses_in_one_session_what_it_was_told_in_another(
    tmp_path: Path, told: str, asked: str, wanted: str, how: str
) -> None:
    runners = pytest.importorskip("google.adk.runners", reason="run `make adapters`")
    agents = pytest.importorskip("google.adk.agents")
    sessions = pytest.importorskip("google.adk.sessions")
    tools = pytest.importorskip("google.adk.tools")
    types = pytest.importorskip("google.genai.types")
    noted = types.Content(role="model", parts=[types.Part(text="Noted.")])
    call = types.FunctionCall(name="load_memory", args={"query": asked})
    calling = types.Content(role="model", parts=[types.Part(function_call=call)])
    tool = tools.preload_memory if how == "before each turn" else tools.load_memory
    answers = [noted, noted] if how == "before each turn" else [noted, calling, noted]
    seen: list[list[Any]] = []

    async def said(runner: Any, session: str, text: str) -> None:
        store = runner.session_service
        await store.create_session(app_name="port", user_id="ann", session_id=session)
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="ann", session_id=session, new_message=message):
            pass
        kept = await store.get_session(app_name="port", user_id="ann", session_id=session)
        await runner.memory_service.add_session_to_memory(kept)

    async def both(memory: Memory) -> None:
        agent = agents.LlmAgent(name="helper", model=adk_model(answers, seen), tools=[tool])
        runner = runners.Runner(
            agent=agent, app_name="port", session_service=sessions.InMemorySessionService(),
            memory_service=memory_service(memory),
        )  # fmt: skip
        await said(runner, "one", told)
        await said(runner, "two", asked)
        await runner.close()

    with Memory.open(tmp_path) as memory:
        asyncio.run(both(memory))
    assert wanted in words(seen[-1], "user")
    assert wanted not in words(seen[1], "user") or how == "before each turn"
    logs = sorted(path.read_text(encoding="utf-8") for path in tmp_path.rglob("sessions/*.jsonl"))
    assert sum(log.count(wanted) for log in logs) == 1  # what was recalled is not kept as said again


@pytest.mark.parametrize(("told", "asked", "wanted"), PAIRS)
def test_a_llama_index_agent_uses_in_one_session_what_it_was_told_in_another(
    tmp_path: Path, told: str, asked: str, wanted: str
) -> None:
    core = pytest.importorskip("llama_index.core.memory", reason="run `make adapters`")
    workflow = pytest.importorskip("llama_index.core.agent.workflow")
    mock = pytest.importorskip("llama_index.core.llms.mock")
    message = pytest.importorskip("llama_index.core.llms").ChatMessage
    seen: list[list[Any]] = []

    def answer(messages: Sequence[Any], **_: Any) -> Any:
        seen.append(list(messages))
        return message(role="assistant", content="Noted.")

    async def said(memory: Memory, session: str, *texts: str) -> None:
        block = memory_block(memory, f"port:{session}")
        chat = core.Memory.from_defaults(
            session_id=session, memory_blocks=[block], insert_method="user", token_limit=60,
            chat_history_token_ratio=0.3, token_flush_size=20,
        )  # fmt: skip
        llm = mock.MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)
        agent = workflow.FunctionAgent(name="helper", tools=[], llm=llm, system_prompt="You help.")
        try:
            for text in texts:
                await agent.run(text, memory=chat)
        finally:
            await chat.sql_store._async_engine.dispose()

    async def both(memory: Memory) -> None:
        # Only what leaves the short window is handed to a block, so the first session goes on for a while.
        await said(memory, "one", told, *["Thanks, and now let us look at something else for a while."] * 3)
        await said(memory, "two", asked)

    with Memory.open(tmp_path) as memory:
        asyncio.run(both(memory))
    roles = {str(one.role.value): str(one.content) for one in seen[-1]}
    assert wanted in roles["user"]
    assert is_fenced(roles["user"])
    assert wanted not in roles.get("system", "")
    gc.collect()  # what it leaves open is told here, not in another test
