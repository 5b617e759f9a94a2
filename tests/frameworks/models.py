"""What is said to agents, and scripted models of each framework, which keep what they received."""

import importlib
import json
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from adapters.chat_model import Call

TOLD = "Please note: the code word of the harbour gate is pelican."
ASKED = "What is the code word of the harbour gate?"
TOLD_ZH = "请记住：港口大门的暗号是鹈鹕。"
ASKED_ZH = "港口大门的暗号是什么？"


def turns(folder: Path) -> list[tuple[str, str]]:
    """What was recorded in a memory, in order of time."""
    lines = [json.loads(line) for log in folder.glob("sessions/*.jsonl")
             for line in log.read_text("utf-8").splitlines()]  # fmt: skip
    said = sorted((line["time"], line["role"], line["content"]) for line in lines if "role" in line)
    return [(role, content) for _, role, content in said]


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


_ROLES: Final = {"user-prompt": "user", "tool-return": "tool", "text": "assistant"}


def pydantic_ai(script: Script) -> Any:
    host("pydantic_ai")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel

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

    return FunctionModel(answer, stream_function=stream)


def langchain(script: Script) -> Any:
    host("langchain")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

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

    return Model(messages=iter(()))


def crewai(script: Script) -> Any:
    host("crewai")
    from crewai import BaseLLM

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

    return Model(model="scripted")


def agno(script: Script) -> Any:
    host("agno.agent")
    from agno.models.base import Model
    from agno.models.response import ModelResponse

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

    return Scripted(id="scripted")


def strands(script: Script) -> Any:
    host("strands")
    from strands.models import Model

    class Scripted(Model):
        def update_config(self, **_: Any) -> None: ...

        def get_config(self) -> Any:
            return {}

        async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
            yield {}

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

    return Scripted()


def agent_framework(script: Script) -> Any:
    host("agent_framework")
    from agent_framework import (
        BaseChatClient,
        ChatResponse,
        ChatResponseUpdate,
        Content,
        FunctionInvocationLayer,
        Message,
        ResponseStream,
    )

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

    return Client()


def smolagents(script: Script) -> Any:
    host("smolagents")
    from smolagents import Model
    from smolagents.models import (
        ChatMessage,
        ChatMessageToolCall,
        ChatMessageToolCallFunction,
        MessageRole,
    )

    class Scripted(Model):
        def generate(self, messages: Any, *_: Any, tools_to_call_from: Any = None, **__: Any) -> Any:
            kinds = {"tool-response": "tool"}
            found = [(kinds.get(m.role.value, m.role.value), m.content) for m in messages]
            one = script.take(found, [tool.name for tool in tools_to_call_from or ()])
            call = one if isinstance(one, Call) else Call("final_answer", {"answer": one})
            function = ChatMessageToolCallFunction(name=call.tool, arguments=call.arguments)
            calls = [ChatMessageToolCall(id="c1", type="function", function=function)]
            return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)

    return Scripted()


def haystack(script: Script) -> Any:
    host("haystack.components.agents")
    from haystack import component
    from haystack.dataclasses import ChatMessage, ToolCall

    @component
    class Generator:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools: Any = None, **_: Any) -> Any:
            found = [(m.role.value, [*m.texts, *(r.result for r in m.tool_call_results)]) for m in messages]
            one = script.take(found, [tool.name for tool in tools or ()])
            if isinstance(one, str):
                return {"replies": [ChatMessage.from_assistant(one)]}
            call = ToolCall(one.tool, one.arguments, id="c1")
            return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}

    return Generator()
