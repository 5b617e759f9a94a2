"""Give Agno's agents a memory: tools and hooks.

agent = Agent(model=model, **options(memory))
"""

from typing import Any

from mnemark.text.quoting.fence import strip_fences
from mnemark_adapters.frameworks.agent_memory import AgentMemory
from mnemark_adapters.needs import needs
from mnemark_agents.hook.event import with_block


def options(memory: AgentMemory, *, asynchronous: bool = False) -> dict[str, Any]:
    """Return options of `Agent`: the tools, how to use them, hooks for a recall in the person's message.

    A session (`session_id`) is one of its own, unless `memory` names one. What Agno stores of a run does not
    have the recall.

    Args:
        memory: of the agent.
        asynchronous: whether the agent is run by `arun`, whose event loop must not wait; `run` needs False.

    Raises:
        MnemarkError: Agno is not installed.
    """
    with needs("Agno", "agno"):
        from agno.tools.function import Function

    def asked(run_input: Any, run_context: Any, session: Any, agent: Any) -> tuple[str, dict[str, Any]]:
        runs = len(session.runs or ()) if agent.add_history_to_context else 0
        earlier = min(runs, runs if agent.num_history_runs is None else agent.num_history_runs)
        return _words(run_input.input_content), {"session": _session(run_context), "earlier": earlier}

    def before(run_input: Any, run_context: Any, session: Any, agent: Any) -> None:
        said, about = asked(run_input, run_context, session, agent)
        run_input.input_content = _with_block(memory.before(said, **about), run_input.input_content)

    async def abefore(run_input: Any, run_context: Any, session: Any, agent: Any) -> None:
        said, about = asked(run_input, run_context, session, agent)
        run_input.input_content = _with_block(await memory.abefore(said, **about), run_input.input_content)

    def after(run_output: Any, run_context: Any) -> None:
        for message in run_output.messages or ():
            if message.role == "user" and isinstance(message.content, str):
                message.content = strip_fences(message.content).lstrip()
        if isinstance(run_output.input.input_content, str):
            run_output.input.input_content = strip_fences(run_output.input.input_content).lstrip()
        memory.after(run_output.get_content_as_string(), session=_session(run_context))

    tools = [
        Function(
            name=one.name, description=one.description, parameters=one.schema, entrypoint=one.run,
            skip_entrypoint_processing=True,
        )
        for one in memory.tools
    ]  # fmt: skip
    return {
        "tools": tools, "instructions": [memory.instructions], "post_hooks": [after],
        "pre_hooks": [abefore if asynchronous else before],
    }  # fmt: skip


def _session(run_context: Any) -> str:
    return f"agno:{run_context.session_id}"


def _words(content: Any) -> str:
    """Return what a person says in an input; data that is no message says nothing."""
    last = content[-1] if isinstance(content, list) and content else content
    text = getattr(last, "content", last)
    return text if isinstance(text, str) else ""


def _with_block(block: str, content: Any) -> Any:
    if not block or isinstance(content, str):
        return with_block(block, content)
    if isinstance(content, list):
        return [*content[:-1], _with_block(block, content[-1])]
    return content.model_copy(update={"content": with_block(block, content.content)})
