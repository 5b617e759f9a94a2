"""Table of agents: where each keeps its settings, and what `mnemark connect` writes there.

Sources, as of autumn 2026: the settings and MCP pages of Claude Code, Codex, Gemini CLI, Cursor and OpenClaw.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from mnemark.agent.hook import agents

SERVER: Final = "mnemark"
"""Our name among an agent's MCP servers."""
_SECONDS: Final = 10
_STATE: Final = "XDG_STATE_HOME"
"""Where the user's daemons are found, where this is set."""
_CLAUDE_TOOLS: Final = "Bash|Edit|MultiEdit|Write|NotebookEdit|WebFetch|Task|mcp__.*"
"""Whose executions Claude Code tells: a process for each read or search would be for nothing."""


_OURS: Final = re.compile(
    r"""(?:"[^"]*mnemark(?:\.exe)?"|'[^']*mnemark(?:\.exe)?'|\S*mnemark(?:\.exe)?|.*\s-m\s+mnemark)\s+hook(?:\s|$)""",
    re.IGNORECASE,
)
"""A command of ours: the program is mnemark, and the word after it is hook."""


class Entry(NamedTuple):
    """One value in a file: set at `keys`, or added to the list there."""

    keys: tuple[str, ...]
    value: Any
    many: bool = False


class Target(NamedTuple):
    """One file of an agent, and what goes into it."""

    what: Literal["hooks", "tools"]
    path: Path
    entries: tuple[Entry, ...]
    form: Literal["json", "toml"] = "json"
    base: str = "{}\n"
    """What the file holds besides, where it is made anew."""


class Host(NamedTuple):
    """An agent that can be connected."""

    name: str
    title: str
    program: str
    """Its command, by which it is known to be installed."""
    home: Callable[[], Path]
    """Its folder of settings."""
    targets: Callable[[Path, "Path | None"], tuple[Target, ...]]
    """Files for a workspace; in a project, where one is given."""
    note: str = ""
    """What the user has to do besides."""


def command(*words: str) -> list[str]:
    """The command line of this very mnemark, wherever the agent looks for programs.

    The script beside the interpreter, or the interpreter with `-P`: an agent runs hooks in the user's
    project, and modules that lie there must not be imported in place of ours.
    """
    name = "mnemark.exe" if sys.platform == "win32" else "mnemark"
    script = Path(sys.executable).with_name(name)
    if script.is_file():
        return [str(script), *words]
    return [sys.executable, "-P", "-m", "mnemark", *words]


def _line(*words: str) -> str:
    """A command as agents write it: one line for a shell."""
    line = command(*words)
    if sys.platform == "win32":
        return subprocess.list2cmdline([line[0].replace("\\", "/"), *line[1:]])
    import shlex

    return shlex.join(line)


def _hook(agent: str, event: str, workspace: Path) -> str:
    return _line("hook", event, "--agent", agent, "--workspace", str(workspace))


def _mcp(workspace: Path) -> tuple[str, list[str]]:
    program, *rest = command("mcp", "--workspace", str(workspace))
    return program, rest


def claude_hooks(workspace: Path) -> tuple[Entry, ...]:
    """Hooks in the form of Claude Code, which Codex shares."""
    return _nested("claude-code", workspace, _SECONDS)


def _nested(agent: str, workspace: Path, timeout: int, **more: str) -> tuple[Entry, ...]:
    """`hooks.EVENT[].hooks[]`; a matcher where the agent's tools are named as in Claude Code."""
    found = agents.agent_named(agent)
    entries = []
    for native, event in found.events.items() if found else ():
        run = {"type": "command", "command": _hook(agent, event, workspace), "timeout": timeout, **more}
        group: dict[str, Any] = {"hooks": [run]}
        if event == "tool" and agent == "claude-code":
            group = {"matcher": _CLAUDE_TOOLS, **group}
        entries.append(Entry(("hooks", native), group, many=True))
    return tuple(entries)


def _server(workspace: Path, *keys: str, **more: Any) -> tuple[Entry, ...]:
    program, words = _mcp(workspace)
    return (Entry((*keys, SERVER), {**more, "command": program, "args": words}),)


def _env_folder(name: str, default: str) -> Path:
    given = os.environ.get(name, "")
    return Path(given).expanduser() if given else Path.home() / default


def _claude_home() -> Path:
    return _env_folder("CLAUDE_CONFIG_DIR", ".claude")


def _claude(workspace: Path, project: Path | None) -> tuple[Target, ...]:
    home = _claude_home()
    beside = home if os.environ.get("CLAUDE_CONFIG_DIR") else Path.home()
    # The settings of a project that are not shared: the paths in them are this machine's.
    settings = project / ".claude/settings.local.json" if project else home / "settings.json"
    servers = project / ".mcp.json" if project else beside / ".claude.json"
    return (
        Target("hooks", settings, claude_hooks(workspace)),
        Target("tools", servers, _server(workspace, "mcpServers", type="stdio")),
    )


def _codex_home() -> Path:
    return _env_folder("CODEX_HOME", ".codex")


def _codex(workspace: Path, project: Path | None) -> tuple[Target, ...]:
    home = project / ".codex" if project else _codex_home()
    # Servers see few variables there; without this one, hooks and tools would find two daemons.
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
    found = agents.agent_named("cursor")
    entries = tuple(
        Entry(
            ("hooks", native), {"command": _hook("cursor", event, workspace), "timeout": _SECONDS}, many=True
        )
        for native, event in (found.events.items() if found else ())
    )
    return (
        Target("hooks", home / "hooks.json", entries, base='{\n  "version": 1\n}\n'),
        Target("tools", home / "mcp.json", _server(workspace, "mcpServers")),
    )


def _openclaw(workspace: Path, _: Path | None) -> tuple[Target, ...]:
    path = Path.home() / ".openclaw/openclaw.json"
    return (Target("tools", path, _server(workspace, "mcp", "servers")),)


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
    """The agent of that name, or of a shorter one."""
    known = agents.agent_named(name)
    wanted = known.name if known else name.casefold()
    return next((host for host in HOSTS if host.name == wanted), None)


def is_installed(host: Host) -> bool:
    """Whether its command or its folder is there."""
    return shutil.which(host.program) is not None or host.home().is_dir()


def is_ours(value: Any) -> bool:
    """Whether a value in an agent's configuration was written by `mnemark connect`: a hook of ours."""
    if isinstance(value, dict):
        inner = value.get("hooks")
        if isinstance(inner, list):
            return bool(inner) and all(is_ours(one) for one in inner)
        line = value.get("command")
        return isinstance(line, str) and _OURS.match(line) is not None
    return False
