"""Each framework with a scripted model: an agent as the page makes it.

A function of `HOSTS` says something to it, and returns its answer.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from frameworks import models
from frameworks.models import Script, host
from mnemark_adapters.frameworks import AgentMemory

Form = Literal["plain", "async", "stream", "async stream"]


def pydantic_ai(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("pydantic_ai")
    from pydantic_ai import Agent

    from mnemark_adapters.frameworks.pydantic_ai import capability

    agent = Agent(models.pydantic_ai(script), capabilities=[capability(memory)])

    async def streamed() -> str:
        async with agent.run_stream(said) as run:
            return str(await run.get_output())

    async def whole() -> str:
        return str((await agent.run(said)).output)

    if form == "plain":
        found = agent.run_sync(said)
        parts = [part for message in found.all_messages() for part in message.parts]
        kept = [part.content for part in parts if part.part_kind == "user-prompt"]
        assert kept == [said], "its history keeps no recall"
        return str(found.output)
    return asyncio.run(whole() if form == "async" else streamed())


def langchain(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("langchain")
    from langchain.agents import create_agent

    from mnemark_adapters.frameworks.langchain import middleware

    agent = create_agent(models.langchain(script), middleware=[middleware(memory)])
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
    from crewai import Agent, Crew, Task

    from mnemark_adapters.frameworks.crewai import connect

    agent = Agent(role="{place} helper", goal="help", backstory="You help.", llm=models.crewai(script))
    connect(memory, agent)
    if form == "async":
        return str(asyncio.run(agent.kickoff_async(said)).raw)
    task = Task(description=said, expected_output="an answer", agent=agent)
    return str(Crew(agents=[agent], tasks=[task]).kickoff(inputs={"place": "port"}))


def agno(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("agno.agent")
    from agno.agent import Agent
    from agno.db.in_memory import InMemoryDb

    from mnemark_adapters.frameworks.agno import options

    database, session = InMemoryDb(), f"session {said}"
    wanted = options(memory, asynchronous=form.startswith("async"))
    agent = Agent(
        model=models.agno(script), db=database, session_id=session, telemetry=False,
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

    from mnemark_adapters.frameworks.strands import plugin

    agent = Agent(model=models.strands(script), plugins=[plugin(memory)], callback_handler=None)

    async def whole() -> Any:
        return await agent.invoke_async(said)

    async def streamed() -> Any:
        return [one async for one in agent.stream_async(said)][-1]["result"]

    found = agent(said) if form == "plain" else asyncio.run(whole() if form == "async" else streamed())
    assert agent.messages[0]["content"] == [{"text": said}], "its messages keep no recall"
    return str(found).strip()


def agent_framework(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("agent_framework")
    from agent_framework import Agent

    from mnemark_adapters.frameworks.agent_framework import provider

    agent = Agent(models.agent_framework(script), context_providers=[provider(memory)])

    async def whole() -> str:
        session = agent.create_session()
        answer = await agent.run(said, session=session)
        messages = session.to_dict()["state"]["in_memory"]["messages"]
        kept = [part["text"] for one in messages if one["role"] == "user" for part in one["contents"]]
        assert kept == [said], "its session keeps no recall"
        return str(answer.text)

    async def streamed() -> str:
        return "".join([one.text async for one in agent.run(said, stream=True)])

    return asyncio.run(whole() if form == "async" else streamed())


def smolagents(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("smolagents")
    from smolagents import FinalAnswerStep, ToolCallingAgent

    from mnemark_adapters.frameworks.smolagents import connect

    agent = connect(memory, ToolCallingAgent(tools=[], model=models.smolagents(script), verbosity_level=0))
    if form == "plain":
        answer = str(agent.run(said))
        assert agent.memory.steps[0].task == said, "its memory keeps no recall"
        return answer
    return str(next(one.output for one in agent.run(said, stream=True) if isinstance(one, FinalAnswerStep)))


def haystack(memory: AgentMemory, script: Script, said: str, form: Form) -> str:
    host("haystack.components.agents")
    from haystack.components.agents import Agent
    from haystack.dataclasses import ChatMessage

    from mnemark_adapters.frameworks.haystack import options

    agent = Agent(chat_generator=models.haystack(script), **options(memory, system_prompt="You help."))
    asked = {"messages": [ChatMessage.from_user(said)]}
    found = agent.run(**asked) if form == "plain" else asyncio.run(agent.run_async(**asked))
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
