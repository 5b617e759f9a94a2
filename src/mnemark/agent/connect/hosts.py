"""Define the agents to connect: their settings files, and the entries `mnemark connect` writes there.

Sources, as of autumn 2026: the settings and MCP pages of Claude Code, Codex, Gemini CLI, Cursor and OpenClaw.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from mnemark.agent.hook import agents
from mnemark.agent.hook.agents import Event
from mnemark.text.lazy_pattern import lazy_pattern

SERVER: Final = "mnemark"
"""The name of our MCP server in an agent's settings."""
_SECONDS: Final = 10
_STATE: Final = "XDG_STATE_HOME"
"""The environment variable that sets the daemon's state folder."""
_CLAUDE_TOOLS: Final = "Bash|Edit|MultiEdit|Write|NotebookEdit|WebFetch|Task|mcp__.*"
"""Pattern of tools that run the hook; a process for each read or search would be wasted."""
_OURS: Final = lazy_pattern(
    r"""(?:"[^"]*mnemark(?:\.exe)?"|'[^']*mnemark(?:\.exe)?'|\S*mnemark(?:\.exe)?|.*\s-m\s+mnemark)\s+hook(?:\s|$)""",
    re.IGNORECASE,
)
"""Pattern of our hooks' command lines: the program mnemark, then `hook`."""


class Entry(NamedTuple):
    """A value in a settings file: set at `keys`, or appended to the list there (`many`)."""

    keys: tuple[str, ...]
    value: Any
    many: bool = False


class Target(NamedTuple):
    """A settings file of an agent, and our entries in it."""

    what: Literal["hooks", "tools"]
    path: Path
    entries: tuple[Entry, ...]
    form: Literal["json", "toml"] = "json"
    base: str = "{}\n"
    """The content of a new file before our entries."""


class Host(NamedTuple):
    """An agent that can be connected."""

    name: str
    title: str
    program: str
    """Its command, whose presence shows that it is installed."""
    home: Callable[[], Path]
    """Returns its settings folder."""
    targets: Callable[[Path, "Path | None"], tuple[Target, ...]]
    """Returns the settings files for a workspace, in a project if given."""
    note: str = ""
    """What the user has to do after connecting."""


def command(*words: str) -> list[str]:
    """Return the command line of this installation of mnemark.

    It is the script beside the interpreter, or the interpreter with `-P`: hooks run in the user's project,
    whose modules must not be imported in place of ours.
    """
    name = "mnemark.exe" if sys.platform == "win32" else "mnemark"
    script = Path(sys.executable).with_name(name)
    if script.is_file():
        return [str(script), *words]
    return [sys.executable, "-P", "-m", "mnemark", *words]


def _hooks(agent: str, workspace: Path) -> Iterator[tuple[str, Event, str]]:
    """Yield the events of an agent: its name, mnemark's, and our command as a line for a shell."""
    known = agents.agent_named(agent)
    for native, event in known.events.items() if known else ():
        line = command("hook", event, "--agent", agent, "--workspace", str(workspace))
        if sys.platform == "win32":
            yield native, event, subprocess.list2cmdline([line[0].replace("\\", "/"), *line[1:]])
        else:
            yield native, event, shlex.join(line)


def claude_hooks(workspace: Path) -> tuple[Entry, ...]:
    """Return the hooks of Claude Code."""
    return _nested("claude-code", workspace, _SECONDS)


def _nested(agent: str, workspace: Path, timeout: int, **more: str) -> tuple[Entry, ...]:
    """Return hooks in Claude Code's form `hooks.EVENT[].hooks[]`, which others share."""
    entries = []
    for native, event, line in _hooks(agent, workspace):
        run = {"type": "command", "command": line, "timeout": timeout, **more}
        group: dict[str, Any] = {"hooks": [run]}
        if event == "tool" and agent == "claude-code":
            group = {"matcher": _CLAUDE_TOOLS, **group}
        entries.append(Entry(("hooks", native), group, many=True))
    return tuple(entries)


def _server(workspace: Path, *keys: str, **more: Any) -> tuple[Entry, ...]:
    program, *words = command("mcp", "--workspace", str(workspace))
    return (Entry((*keys, SERVER), {**more, "command": program, "args": words}),)


def _env_folder(name: str, default: str) -> Path:
    given = os.environ.get(name, "")
    return Path(given).expanduser() if given else Path.home() / default


def _claude(workspace: Path, project: Path | None) -> tuple[Target, ...]:
    home = _claude_home()
    beside = home if os.environ.get("CLAUDE_CONFIG_DIR") else Path.home()
    # Of a project the settings that are not shared: our entries contain paths of this machine.
    settings = project / ".claude/settings.local.json" if project else home / "settings.json"
    servers = project / ".mcp.json" if project else beside / ".claude.json"
    return (
        Target("hooks", settings, claude_hooks(workspace)),
        Target("tools", servers, _server(workspace, "mcpServers", type="stdio")),
    )


def _codex(workspace: Path, project: Path | None) -> tuple[Target, ...]:
    home = project / ".codex" if project else _codex_home()
    # Codex passes few variables to servers; without this one, hooks and tools would use two daemons.
    more = {"env_vars": [_STATE]} if os.environ.get(_STATE) else {}
    servers = _server(workspace, "mcp_servers", **more)
    return (
        Target("hooks", home / "hooks.json", _nested("codex", workspace, _SECONDS)),
        Target("tools", home / "config.toml", servers, form="toml", base=""),
    )


def _gemini(workspace: Path, project: Path | None) -> tuple[Target, ...]:
    path = (project or Path.home()) / ".gemini/settings.json"
    hooks = _nested("gemini-cli", workspace, _SECONDS * 1000, name="mnemark")
    return (Target("hooks", path, hooks), Target("tools", path, _server(workspace, "mcpServers")))


def _cursor(workspace: Path, project: Path | None) -> tuple[Target, ...]:
    home = (project or Path.home()) / ".cursor"
    entries = tuple(
        Entry(("hooks", native), {"command": line, "timeout": _SECONDS}, many=True)
        for native, _, line in _hooks("cursor", workspace)
    )
    return (
        Target("hooks", home / "hooks.json", entries, base='{\n  "version": 1\n}\n'),
        Target("tools", home / "mcp.json", _server(workspace, "mcpServers")),
    )


def _openclaw(workspace: Path, _: Path | None) -> tuple[Target, ...]:
    path = Path.home() / ".openclaw/openclaw.json"
    return (Target("tools", path, _server(workspace, "mcp", "servers")),)


def _claude_home() -> Path:
    return _env_folder("CLAUDE_CONFIG_DIR", ".claude")


def _codex_home() -> Path:
    return _env_folder("CODEX_HOME", ".codex")


HOSTS: Final[tuple[Host, ...]] = (
    Host("claude-code", "Claude Code", "claude", _claude_home, _claude),
    Host(
        "codex", "Codex", "codex", _codex_home, _codex,
        "Codex runs new hooks only when you trust them: start it once and accept them with /hooks.",
    ),
    Host("gemini-cli", "Gemini CLI", "gemini", lambda: Path.home() / ".gemini", _gemini),
    Host("cursor", "Cursor", "cursor", lambda: Path.home() / ".cursor", _cursor),
    Host(
        "openclaw", "OpenClaw", "openclaw", lambda: Path.home() / ".openclaw", _openclaw,
        "OpenClaw has no hooks for this: it gets the memory tools only. Its own workspace can be the memory.",
    ),
)  # fmt: skip


def host_named(name: str) -> Host | None:
    """Return the agent of that name or alias."""
    known = agents.agent_named(name)
    wanted = known.name if known else name.casefold()
    return next((host for host in HOSTS if host.name == wanted), None)


def is_installed(host: Host) -> bool:
    """Tell whether its command or its folder exists."""
    return shutil.which(host.program) is not None or host.home().is_dir()


def is_ours(value: Any) -> bool:
    """Tell whether a value in an agent's configuration is a hook written by `mnemark connect`."""
    if not isinstance(value, dict):
        return False
    inner, line = value.get("hooks"), value.get("command")
    if isinstance(inner, list):
        return bool(inner) and all(map(is_ours, inner))
    return isinstance(line, str) and _OURS.match(line) is not None
