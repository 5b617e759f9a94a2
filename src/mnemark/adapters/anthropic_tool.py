"""Implement Anthropic's memory tool on a folder of the workspace.

    tool = memory_tool(memory)
    client.beta.messages.tool_runner(model=…, max_tokens=…, messages=[…], tools=[tool]).until_done()

`MemoryFiles` has the same commands for those who dispatch tool calls themselves.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mnemark.adapters.memory_files import MemoryFiles
from mnemark.errors import MnemarkError

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory


def memory_tool(  # noqa: C901 - a class of eight one-line methods
    memory: "Memory", folder: str = "memories", *, scope: str = ""
) -> Any:
    """Return a `BetaAbstractMemoryTool` whose `/memories` is `folder` of the workspace or a scope of it.

    Errors are raised as `ToolError`, which the SDK shows to the model.

    Raises:
        MnemarkError: the package `anthropic` is not installed, or has no memory tool.
    """
    try:
        from anthropic.lib.tools import (  # type: ignore[import-not-found]
            BetaAbstractMemoryTool,
            ToolError,
        )
    except ImportError as error:
        raise MnemarkError(
            f"the memory tool needs Anthropic's SDK ({error}); run: pip install -U anthropic"
        ) from error
    files = MemoryFiles(memory, folder, scope=scope)

    def guarded(call: Callable[[], str]) -> str:
        try:
            return call()
        except (MnemarkError, OSError, ValueError) as error:  # ValueError: NUL in a path
            raise ToolError(str(error)) from error

    class MnemarkMemoryTool(BetaAbstractMemoryTool):  # type: ignore[misc] # the SDK is optional
        """Delegates to `MemoryFiles`."""

        def view(self, command: Any) -> str:
            return guarded(lambda: files.view(command.path, command.view_range))

        def create(self, command: Any) -> str:
            return guarded(lambda: files.create(command.path, command.file_text))

        def str_replace(self, command: Any) -> str:
            return guarded(lambda: files.str_replace(command.path, command.old_str, command.new_str))

        def insert(self, command: Any) -> str:
            return guarded(lambda: files.insert(command.path, command.insert_line, command.insert_text))

        def delete(self, command: Any) -> str:
            return guarded(lambda: files.delete(command.path))

        def rename(self, command: Any) -> str:
            return guarded(lambda: files.rename(command.old_path, command.new_path))

        def clear_all_memory(self) -> str:
            return guarded(files.clear)

    return MnemarkMemoryTool()
