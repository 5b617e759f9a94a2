"""Implement Anthropic's memory tool on a folder of the workspace.

    tool = memory_tool(memory)
    client.beta.messages.tool_runner(model=…, max_tokens=…, messages=[…], tools=[tool]).until_done()

`async_memory_tool` is for `AsyncAnthropic`. `MemoryFiles` has the same commands for those who dispatch tool
calls themselves.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mnemark.errors import MnemarkError
from mnemark_adapters.memory_files import MemoryFiles
from mnemark_adapters.needs import needs

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory


def memory_tool(memory: "Memory", folder: str = "memories", *, scope: str = "") -> Any:
    """Return a `BetaAbstractMemoryTool` whose `/memories` is `folder` of the workspace or a scope of it.

    Errors are raised as `ToolError`, which the SDK shows to the model.

    Raises:
        MnemarkError: the package `anthropic` is not installed, or has no memory tool.
    """
    base, error = _sdk("BetaAbstractMemoryTool")
    calls = _calls(MemoryFiles(memory, folder, scope=scope))

    def method(name: str) -> Callable[..., str]:
        return lambda _, *command: _guarded(calls[name], command, error)

    return type("MnemarkMemoryTool", (base,), {name: method(name) for name in calls})()


def async_memory_tool(memory: "Memory", folder: str = "memories", *, scope: str = "") -> Any:
    """Return the same as a `BetaAsyncAbstractMemoryTool`, which works on a thread; see `memory_tool`."""
    base, error = _sdk("BetaAsyncAbstractMemoryTool")
    calls = _calls(MemoryFiles(memory, folder, scope=scope))

    def method(name: str) -> Callable[..., Any]:
        async def run(_: Any, *command: Any) -> str:
            return await asyncio.to_thread(_guarded, calls[name], command, error)

        return run

    return type("MnemarkAsyncMemoryTool", (base,), {name: method(name) for name in calls})()


def _sdk(name: str) -> tuple[Any, type[Exception]]:
    """Return a class of the SDK, and its error."""
    with needs("Anthropic's SDK", "anthropic"):
        from anthropic.lib import tools  # type: ignore[import-not-found]

        return getattr(tools, name), tools.ToolError


def _calls(files: MemoryFiles) -> Mapping[str, Callable[..., str]]:
    """Return what each method of the SDK's class does."""
    return {
        "view": lambda command: files.view(command.path, command.view_range),
        "create": lambda command: files.create(command.path, command.file_text),
        "str_replace": lambda command: files.str_replace(command.path, command.old_str, command.new_str),
        "insert": lambda command: files.insert(command.path, command.insert_line, command.insert_text),
        "delete": lambda command: files.delete(command.path),
        "rename": lambda command: files.rename(command.old_path, command.new_path),
        "clear_all_memory": files.clear,
    }


def _guarded(call: Callable[..., str], command: tuple[Any, ...], raised: type[Exception]) -> str:
    try:
        return call(*command)
    except (MnemarkError, OSError, ValueError) as error:  # ValueError: NUL in a path
        raise raised(str(error)) from error
