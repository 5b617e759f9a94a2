"""Each framework with a scripted model: one conversation, and what reached the model.

A function of `HOSTS` makes an agent with the lines of the page, says something to it, and returns its answer.
"""

import asyncio
import importlib
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import pytest

from adapters.chat_model import Call
from mnemark_adapters.frameworks import AgentMemory

Form = Literal["plain", "async", "stream", "async stream"]


def host(package: str, environment: str = ".frameworks") -> Any:
    """Import a framework, which has to be there where `make frameworks` runs."""
    if Path(sys.prefix).name == environment:
        return importlib.import_module(package)
    return pytest.importorskip(package, reason="run `make frameworks`")


class Request(NamedTuple):
    """What a model received: the words of each role, and the tools on offer."""

    messages: Sequence[tuple[str, str]]
    tools: Sequence[str]

    def said(self, *roles: str) -> str:
        return "\n".join(text for role, text in self.messages if role in roles)


class Script:
    """Answers in turn, the last again and again, and the requests."""

    def __init__(self, *answers: str | Call) -> None:
        self._answers = list(answers)
        self.requests: list[Request] = []

    def take(self, messages: Sequence[tuple[str, Any]], tools: Sequence[str]) -> str | Call:
        texts = [(role.casefold(), _text(content)) for role, content in messages]
        self.requests.append(Request(texts, tools))
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return "\n".join(map(_text, content.values()))
    return "\n".join(map(_text, content)) if isinstance(content, list | tuple) else str(content or "")


def pydantic_ai(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel

    from mnemark_adapters.frameworks.pydantic_ai import capability

    def take(messages: Any, info: Any) -> str | Call:
        found = [("system", info.instructions)]
        found += [(_ROLES.get(part.part_kind, part.part_kind), getattr(part, "content", ""))
                  for message in messages for part in message.parts]  # fmt: skip
        return script.take(found, [tool.name for tool in info.function_tools])

    def answer(messages: Any, info: Any) -> Any:
        one = take(messages, info)
        return ModelResponse(
            [TextPart(one)] if isinstance(one, str) else [ToolCallPart(one.tool, one.arguments)]
        )

    async def stream(messages: Any, info: Any) -> AsyncIterator[Any]:
        one = take(messages, info)
        yield one if isinstance(one, str) else {0: DeltaToolCall(one.tool, json.dumps(one.arguments))}

    agent = Agent(FunctionModel(answer, stream_function=stream), capabilities=[capability(memory)])

    async def streamed() -> str:
        async with agent.run_stream(said) as run:
            return str(await run.get_output())

    async def whole() -> str:
        return str((await agent.run(said)).output)

    if form == "plain":
        return str(agent.run_sync(said).output)
    return asyncio.run(whole() if form == "async" else streamed())


_ROLES: Final = {"user-prompt": "user", "tool-return": "tool", "text": "assistant"}


def langchain(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    from mnemark_adapters.frameworks.langchain import middleware

    offered: list[str] = []

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            offered[:] = [tool.name for tool in tools]
            return self

        def _generate(self, messages: Any, *_: Any, **__: Any) -> Any:
            kinds = {"human": "user", "ai": "assistant"}
            one = script.take([(kinds.get(m.type, m.type), m.content) for m in messages], offered)
            call = [] if isinstance(one, str) else [{"name": one.tool, "args": one.arguments, "id": "c1"}]
            message = AIMessage(one if isinstance(one, str) else "", tool_calls=call)
            return ChatResult(generations=[ChatGeneration(message=message)])

        def _stream(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    agent = create_agent(Model(messages=iter(())), middleware=[middleware(memory)])
    asked: Any = {"messages": [{"role": "user", "content": said}]}

    async def streamed() -> Any:
        return [one async for one in agent.astream(asked, stream_mode="values")][-1]

    if form == "plain":
        found = agent.invoke(asked)
    elif form == "stream":
        found = list(agent.stream(asked, stream_mode="values"))[-1]
    else:
        found = asyncio.run(agent.ainvoke(asked) if form == "async" else streamed())
    kept = "".join(str(one.content) for one in found["messages"] if one.type == "human")
    assert kept == said, "the state keeps no recall"
    return str(found["messages"][-1].content)


def crewai(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("crewai")
    from crewai import Agent, BaseLLM, Crew, Task

    from mnemark_adapters.frameworks.crewai import connect

    class Model(BaseLLM):
        def call(self, messages: Any, tools: Any = None, *_: Any, **__: Any) -> Any:
            names = [tool["function"]["name"] for tool in tools or ()]
            one = script.take([(m["role"], m["content"]) for m in messages], names)
            if isinstance(one, str):
                return one
            function = {"name": one.tool, "arguments": json.dumps(one.arguments)}
            return [{"id": "c1", "type": "function", "function": function}]

        async def acall(self, *args: Any, **kwargs: Any) -> Any:
            return self.call(*args, **kwargs)

        def supports_function_calling(self) -> bool:
            return True

        def get_context_window_size(self) -> int:
            return 100_000

    agent = Agent(role="{place} helper", goal="help", backstory="You help.", llm=Model(model="scripted"))
    connect(memory, agent)
    if form == "async":
        return str(asyncio.run(agent.kickoff_async(said)).raw)
    task = Task(description=said, expected_output="an answer", agent=agent)
    return str(Crew(agents=[agent], tasks=[task]).kickoff(inputs={"place": "port"}))


def agno(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("agno.agent")
    from agno.agent import Agent
    from agno.db.in_memory import InMemoryDb
    from agno.models.base import Model
    from agno.models.response import ModelResponse

    from mnemark_adapters.frameworks.agno import options

    class Scripted(Model):
        def _answer(self, messages: Any, tools: Any) -> Any:
            names = [tool["function"]["name"] for tool in tools or ()]
            one = script.take([(m.role, m.content) for m in messages], names)
            if isinstance(one, str):
                return ModelResponse(role="assistant", content=one)
            function = {"name": one.tool, "arguments": json.dumps(one.arguments)}
            calls = [{"id": "c1", "type": "function", "function": function}]
            return ModelResponse(role="assistant", tool_calls=calls)

        def invoke(self, messages: Any, tools: Any = None, **_: Any) -> Any:
            return self._answer(messages, tools)

        async def ainvoke(self, messages: Any, tools: Any = None, **_: Any) -> Any:
            return self._answer(messages, tools)

        def invoke_stream(self, messages: Any, tools: Any = None, **_: Any) -> Iterator[Any]:
            yield self._answer(messages, tools)

        async def ainvoke_stream(self, messages: Any, tools: Any = None, **_: Any) -> AsyncIterator[Any]:
            yield self._answer(messages, tools)

        def _parse_provider_response(self, response: Any, **_: Any) -> Any:
            return response

        def _parse_provider_response_delta(self, response: Any) -> Any:
            return response

    database, session = InMemoryDb(), f"session {said}"
    wanted = options(memory, asynchronous=form.startswith("async"))
    agent = Agent(
        model=Scripted(id="scripted"), db=database, session_id=session, telemetry=False,
        add_history_to_context=True, **wanted,
    )  # fmt: skip

    async def streamed() -> Any:
        return [one async for one in agent.arun(said, stream=True)]

    if form == "plain":
        agent.run(said)
    elif form == "stream":
        list(agent.run(said, stream=True))
    else:
        asyncio.run(agent.arun(said) if form == "async" else streamed())  # type: ignore[arg-type, unused-ignore]
    (run,) = agent.get_session(session).runs
    assert [one.content for one in run.messages if one.role == "user"] == [said], "no recall is stored"
    assert run.input.input_content == said
    return str(run.content)


def strands(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("strands")
    from strands import Agent
    from strands.models import Model

    from mnemark_adapters.frameworks.strands import plugin

    class Scripted(Model):
        def update_config(self, **_: Any) -> None: ...

        def get_config(self) -> Any:
            return {}

        async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
            raise NotImplementedError
            yield

        async def stream(
            self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **_: Any
        ) -> AsyncIterator[Any]:
            found = [("system", system_prompt)]
            found += [("tool" if "toolResult" in part else m["role"], list(part.values()))
                      for m in messages for part in m["content"]]  # fmt: skip
            one = script.take(found, [tool["name"] for tool in tool_specs or ()])
            yield {"messageStart": {"role": "assistant"}}
            if isinstance(one, str):
                yield {"contentBlockStart": {"start": {}}}
                yield {"contentBlockDelta": {"delta": {"text": one}}}
            else:
                yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "t1", "name": one.tool}}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(one.arguments)}}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn" if isinstance(one, str) else "tool_use"}}

    agent = Agent(model=Scripted(), plugins=[plugin(memory)], callback_handler=None)

    async def whole() -> Any:
        return await agent.invoke_async(said)

    async def streamed() -> Any:
        return [one async for one in agent.stream_async(said)][-1]["result"]

    if form == "plain":
        found = agent(said)
    else:
        found = asyncio.run(whole() if form == "async" else streamed())
    assert agent.messages[0]["content"] == [{"text": said}], "its messages keep no recall"
    return str(found).strip()


def agent_framework(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("agent_framework")
    from agent_framework import (
        Agent,
        BaseChatClient,
        ChatResponse,
        ChatResponseUpdate,
        Content,
        FunctionInvocationLayer,
        Message,
        ResponseStream,
    )

    from mnemark_adapters.frameworks.agent_framework import provider

    class Client(FunctionInvocationLayer, BaseChatClient):  # type: ignore[misc, unused-ignore]
        def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
            found = [("system", options.get("instructions", ""))]
            found += [(str(m.role), [c.text or c.result or "" for c in m.contents]) for m in messages]
            one = script.take(found, [tool.name for tool in options.get("tools") or ()])
            part = (Content.from_text(one) if isinstance(one, str)
                    else Content.from_function_call("c1", one.tool, arguments=one.arguments))  # fmt: skip

            async def parts() -> AsyncIterator[Any]:
                yield ChatResponseUpdate(role="assistant", contents=[part])

            async def whole() -> Any:
                return ChatResponse(messages=[Message("assistant", [part])])

            return ResponseStream(parts(), finalizer=ChatResponse.from_updates) if stream else whole()

    agent = Agent(Client(), context_providers=[provider(memory)])

    async def whole() -> str:
        return str((await agent.run(said)).text)

    async def streamed() -> str:
        return "".join([one.text async for one in agent.run(said, stream=True)])

    return asyncio.run(whole() if form == "async" else streamed())


def smolagents(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("smolagents")
    from smolagents import FinalAnswerStep, Model, ToolCallingAgent
    from smolagents.models import (
        ChatMessage,
        ChatMessageToolCall,
        ChatMessageToolCallFunction,
        MessageRole,
    )

    from mnemark_adapters.frameworks.smolagents import connect

    class Scripted(Model):
        def generate(self, messages: Any, *_: Any, tools_to_call_from: Any = None, **__: Any) -> Any:
            kinds = {"tool-response": "tool"}
            found = [(kinds.get(m.role.value, m.role.value), m.content) for m in messages]
            one = script.take(found, [tool.name for tool in tools_to_call_from or ()])
            call = one if isinstance(one, Call) else Call("final_answer", {"answer": one})
            function = ChatMessageToolCallFunction(name=call.tool, arguments=call.arguments)
            calls = [ChatMessageToolCall(id="c1", type="function", function=function)]
            return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)

    agent = connect(memory, ToolCallingAgent(tools=[], model=Scripted(), verbosity_level=0))
    if form == "plain":
        return str(agent.run(said))
    return str(next(one.output for one in agent.run(said, stream=True) if isinstance(one, FinalAnswerStep)))


def haystack(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("haystack.components.agents")
    from haystack import component
    from haystack.components.agents import Agent
    from haystack.dataclasses import ChatMessage, ToolCall

    from mnemark_adapters.frameworks.haystack import options

    @component
    class Generator:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools: Any = None, **_: Any) -> Any:
            found = [(m.role.value, [*m.texts, *(one.result for one in m.tool_call_results)]) for m in messages]
            one = script.take(found, [tool.name for tool in tools or ()])
            call = [] if isinstance(one, str) else [ToolCall(one.tool, one.arguments, id="c1")]
            return {
                "replies": [ChatMessage.from_assistant(one if isinstance(one, str) else None, tool_calls=call)]
            }

    agent = Agent(chat_generator=Generator(), **options(memory, system_prompt="You help."))
    messages = [ChatMessage.from_user(said)]
    found = agent.run(messages=messages) if form == "plain" else asyncio.run(agent.run_async(messages=messages))
    assert [one.texts for one in found["messages"] if one.role == "user"] == [[said]], "no recall is returned"
    return str(found["messages"][-1].text)


Host = Callable[[AgentMemory, Script, str, Form], str]
HOSTS: Final[Mapping[Host, tuple[Form, ...]]] = {
    pydantic_ai: ("plain", "async", "async stream"),
    langchain: ("plain", "async", "stream", "async stream"),
    crewai: ("plain", "async"),
    agno: ("plain", "async", "stream", "async stream"),
    strands: ("plain", "async", "async stream"),
    agent_framework: ("async", "async stream"),
    smolagents: ("plain", "stream"),
    haystack: ("plain", "async"),
}
"""The frameworks, and the forms of a run that their users know."""
