"""Write a plug-in folder for Claude Code with hooks and memory tools, instead of changing its settings."""

import json
from pathlib import Path
from typing import Final

from mnemark._version import __version__
from mnemark.agent.connect import json_edit
from mnemark.agent.connect.hosts import SERVER, claude_hooks, command
from mnemark.errors import ReadOnlyError, UsageError
from mnemark.files import platform

MANIFEST: Final = ".claude-plugin/plugin.json"


def plugin_files(workspace: Path) -> dict[str, str]:
    """Return the contents of the plug-in's files, by path in its folder."""
    manifest = {
        "name": "mnemark",
        "version": __version__,
        "description": "Memory in a folder of plain text: briefing, recall and capture in every session.",
        "author": {"name": "mnemark"},
        "license": "MIT",
        "keywords": ["memory"],
    }
    hooks = '{\n  "description": "mnemark: briefing, recall and capture",\n  "hooks": {}\n}'
    for entry in claude_hooks(workspace):
        hooks = json_edit.append(hooks, entry.keys, entry.value)
    program, *words = command("mcp", "--workspace", str(workspace))
    servers = {"mcpServers": {SERVER: {"type": "stdio", "command": program, "args": words}}}
    return {
        MANIFEST: json.dumps(manifest, indent=2) + "\n",
        "hooks/hooks.json": hooks + "\n",
        ".mcp.json": json.dumps(servers, indent=2, ensure_ascii=False) + "\n",
    }


def write_plugin(folder: Path, workspace: Path) -> list[Path]:
    """Write the plug-in into a new or empty folder, or over one of ours.

    Raises:
        UsageError: something else is in the folder.
        ReadOnlyError: it cannot be written.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MANIFEST).is_file():
        raise UsageError(f"{folder} contains other files; choose a new folder")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; choose a new folder")
    written = []
    for name, text in plugin_files(workspace).items():
        path = folder / name
        try:
            platform.make_folder(path.parent)
            platform.write_private(path, text.encode())
        except OSError as error:
            raise ReadOnlyError(f"cannot write {path}: {error.strerror}") from error
        written.append(path)
    return written
