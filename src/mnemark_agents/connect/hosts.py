"""Define the agents to connect: their settings files, what `mnemark connect` writes there, what is ours.

Sources, as of autumn 2026: the settings and MCP pages of Claude Code, Codex, Gemini CLI, Cursor and OpenClaw
(docs.openclaw.ai/plugins/hooks, /plugins/bundles); Qwen Code (docs/users/features/hooks.md, mcp.md);
docs.github.com/copilot/reference/copilot-cli-reference; opencode.ai/docs/plugins, /mcp-servers, /commands;
code.visualstudio.com/docs/agents/reference/mcp-configuration; docs.windsurf.com/windsurf/cascade/mcp;
docs.cline.bot/mcp; zed.dev/docs/ai/mcp; modelcontextprotocol.io/quickstart/user (Claude Desktop);
antigravity.google/docs/mcp; @earendil-works/pi-coding-agent (docs/extensions.md, docs/mcp.md).
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PureWindowsPath
from typing import Any, Final, Literal, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_agents import homes
from mnemark_agents.connect import commands, plugins
from mnemark_agents.connect.caller import NAMING, Caller, Memory, here, hook_line
from mnemark_agents.hook import agents
from mnemark_agents.hook.agents import Event

SERVER: Final = "mnemark"
"""The name of our MCP server in an agent's settings."""
_OURS: Final = lazy_pattern(
    r"""(?:"[^"]*mnemark(?:\.exe)?"|'[^']*mnemark(?:\.exe)?'|\S*mnemark(?:\.exe)?|.*\s-m\s+mnemark)\s+hook(?:\s|$)""",
    re.IGNORECASE,
)
"""Pattern of our hooks' command lines: the program mnemark, then `hook`."""
_SECONDS: Final = 10
_CODEX_END: Final = 3
"""Seconds that Codex allows a session's end; it warns of more at each start."""
_GONE: Final = (
    '\'{"systemMessage": "mnemark could not be started, so nothing is remembered or recalled. Install it '
    "again, or put it on the PATH; then run: mnemark self-check\"}'"
)
"""What an agent shows where its hooks do not find the program, quoted for a shell."""
_NOTHING: Final = "'{}'"
_VERSION: Final = '{\n  "version": 1\n}\n'
_STATE: Final = "XDG_STATE_HOME"
"""The environment variable that sets the daemon's state folder."""
_CLAUDE_TOOLS: Final = "Bash|Edit|MultiEdit|Write|NotebookEdit|WebFetch|Task|mcp__.*"
"""Pattern of tools that run the hook; a process for each read or search would be wasted."""


class Setting(NamedTuple):
    """A value in a settings file: set at `keys`, or appended to the list there (`many`)."""

    keys: tuple[str, ...]
    value: Any
    many: bool = False


class Target(NamedTuple):
    """A settings file of an agent, and our entries in it; or a file that is ours as a whole."""

    what: Literal["hooks", "tools", "commands"]
    path: Path
    entries: tuple[Setting, ...] = ()
    form: Literal["json", "toml", "text"] = "json"
    base: str = "{}\n"
    """The content of a new file before our entries; of a file of ours (`text`) all of it."""


class Host(NamedTuple):
    """An agent that can be connected."""

    name: str
    title: str
    programs: tuple[str, ...]
    """Its commands, one of which shows that it is installed."""
    home: Callable[[], Path]
    """Returns its settings folder, or a file there that it writes itself."""
    entries: Callable[[Caller, "Path | None"], tuple[Target, ...]]
    """Returns its settings files for a caller, in a project if given; none where a project has none."""
    note: str = ""
    """What the user has to do after connecting."""

    def targets(self, memory: Memory, project: Path | None) -> tuple[Target, ...]:
        """Return the settings files for a memory and this installation of mnemark."""
        return self.entries(here(memory), project)


def _hooks(agent: str, caller: Caller) -> Iterator[tuple[str, Event, str]]:
    """Yield the events of an agent: its name, mnemark's, and our command as a line for a shell."""
    known = agents.agent_named(agent)
    for native, event in known.events.items() if known else ():
        yield native, event, hook_line(caller.line("hook", event, "--agent", agent))


def _ours_whole(what: Literal["hooks", "commands"], path: Path, text: str) -> Target:
    return Target(what, path, form="text", base=text)


def _commands(folder: Path, form: commands.CommandForm, caller: Caller) -> tuple[Target, ...]:
    """Return the slash commands or skills of an agent."""
    found = commands.files(folder, form, caller.workspace, hook_line(caller.program), caller.mark)
    return tuple(_ours_whole("commands", path, text) for path, text in found)


def _or_told(line: str, event: Event) -> str:
    """Return a line for a shell that succeeds where the program cannot be started, and says so at the start.

    It may have moved since, or not be on the PATH. Gemini CLI would not answer any prompt then, Codex and
    Claude Code would name each event, and none what to do.
    """
    if sys.platform == "win32":  # PowerShell or others run it there
        return line
    return f"{line} || echo {_GONE if event == 'session-start' else _NOTHING}"


def _nested(
    agent: str, caller: Caller, timeout: int, *, at_end: int | None = None, **more: str
) -> tuple[Setting, ...]:
    """Return hooks in Claude Code's form `hooks.EVENT[].hooks[]`, which others share.

    Args:
        agent: its name.
        caller: how it runs mnemark.
        timeout: of a hook, in the agent's unit.
        at_end: that of a session's end, where the agent allows less for it.
        more: further fields of each.
    """
    entries = []
    for native, event, line in _hooks(agent, caller):
        limit = at_end if at_end and event == "session-end" else timeout
        run = {"type": "command", "command": _or_told(line, event), "timeout": limit, **more}
        group: dict[str, Any] = {"hooks": [run]}
        if event == "tool" and agent == "claude-code":
            group = {"matcher": _CLAUDE_TOOLS, **group}
        entries.append(Setting(("hooks", native), group, many=True))
    return tuple(entries)


def _server(caller: Caller, *keys: str, **more: Any) -> tuple[Setting, ...]:
    program, *words = caller.line("mcp")
    return (Setting((*keys, SERVER), {**more, "command": program, "args": words}),)


def _claude(caller: Caller, project: Path | None) -> tuple[Target, ...]:
    home = homes.claude()
    beside = home if os.environ.get("CLAUDE_CONFIG_DIR") else Path.home()
    settings = homes.hook_settings("claude-code", project)
    servers = project / ".mcp.json" if project else beside / ".claude.json"
    return (
        Target("hooks", settings, _nested("claude-code", caller, _SECONDS)),
        Target("tools", servers, _server(caller, "mcpServers", type="stdio")),
        *(() if project else _commands(home, commands.MARKDOWN, caller)),
    )


def _codex(caller: Caller, project: Path | None) -> tuple[Target, ...]:
    home = project / ".codex" if project else homes.codex()
    # Codex passes few variables to servers; without this one, hooks and tools would use two daemons.
    more = {"env_vars": [_STATE]} if os.environ.get(_STATE) else {}
    servers = _server(caller, "mcp_servers", **more)
    return (
        Target(
            "hooks",
            homes.hook_settings("codex", project),
            _nested("codex", caller, _SECONDS, at_end=_CODEX_END),
        ),
        Target("tools", home / "config.toml", servers, form="toml", base=""),
        *(() if project else _commands(home, commands.SKILLS, caller)),
    )


def _gemini(caller: Caller, project: Path | None) -> tuple[Target, ...]:
    home = (project or Path.home()) / ".gemini"
    return _like_gemini("gemini-cli", home, caller, None if project else commands.GEMINI)


def _qwen(caller: Caller, project: Path | None) -> tuple[Target, ...]:
    home = (project or Path.home()) / ".qwen"
    form = None if project else commands.QWEN
    # It hides the tools of other servers behind a search.
    return _like_gemini("qwen-code", home, caller, form, alwaysLoadTools=True)


def _like_gemini(
    agent: str, home: Path, caller: Caller, form: commands.CommandForm | None, **more: Any
) -> tuple[Target, ...]:
    path = home / "settings.json"
    hooks = _nested(agent, caller, _SECONDS * 1000, name="mnemark")
    servers = _server(caller, "mcpServers", **more)
    own = _commands(home, form, caller) if form is not None else ()
    return (Target("hooks", path, hooks), Target("tools", path, servers), *own)


def _cursor(caller: Caller, project: Path | None) -> tuple[Target, ...]:
    home = (project or Path.home()) / ".cursor"
    entries = tuple(
        Setting(("hooks", native), {"command": line, "timeout": _SECONDS}, many=True)
        for native, _, line in _hooks("cursor", caller)
    )
    return (
        Target("hooks", home / "hooks.json", entries, base=_VERSION),
        Target("tools", home / "mcp.json", _server(caller, "mcpServers")),
    )


def _copilot(caller: Caller, project: Path | None) -> tuple[Target, ...]:
    if project:  # what it reads there is shared with others
        return ()
    home = homes.copilot()
    entries = tuple(
        Setting(("hooks", native), {"type": "command", "command": line, "timeoutSec": _SECONDS}, many=True)
        for native, _, line in _hooks("copilot", caller)
    )
    return (
        Target("hooks", home / "hooks/mnemark.json", entries, base=_VERSION),
        Target("tools", home / "mcp-config.json", _server(caller, "mcpServers", type="local", tools=["*"])),
        *_commands(home, commands.SKILLS, caller),
    )


def _opencode(caller: Caller, project: Path | None) -> tuple[Target, ...]:
    home = project / ".opencode" if project else homes.settings() / "opencode"
    settings = home / "opencode.jsonc"
    script = plugins.script("opencode", caller.line("hook", "--agent", "opencode"), caller.mark)
    server = {"type": "local", "command": caller.line("mcp"), "enabled": True}
    return (
        _ours_whole("hooks", home / "plugins/mnemark.js", script),
        Target(
            "tools", settings if settings.is_file() else home / "opencode.json",
            (Setting(("mcp", SERVER), server),),
        ),
        *(() if project else _commands(home, commands.MARKDOWN, caller)),
    )  # fmt: skip


def _openclaw(caller: Caller, project: Path | None) -> tuple[Target, ...]:
    if project:
        return ()
    home = homes.openclaw()
    words = caller.line("hook", "--agent", "openclaw")
    files = plugins.openclaw_files(home / "extensions/mnemark", words, caller.mark)
    # Without this access its plug-ins are not told what the agent answers.
    enabled = {"enabled": True, "hooks": {"allowConversationAccess": True}}
    return (
        *(_ours_whole("hooks", path, text) for path, text in files.items()),
        Target("hooks", home / "openclaw.json", (Setting(("plugins", "entries", "mnemark"), enabled),)),
        Target("tools", home / "openclaw.json", _server(caller, "mcp", "servers")),
        *_commands(home, commands.SKILLS, caller),
    )


def _pi(caller: Caller, project: Path | None) -> tuple[Target, ...]:
    home = project / ".pi" if project else homes.pi()
    script = plugins.script("pi", caller.line("hook", "--agent", "pi"), caller.mark)
    # It offers its model no tool of a server that does not say so.
    servers = _server(caller, "mcpServers", exposure="direct")
    return (
        _ours_whole("hooks", home / "extensions/mnemark.js", script),
        Target("tools", home / "mcp.json", servers),
        *(() if project else _commands(home, commands.PI, caller)),
    )


def _tools_only(
    path: Callable[[], Path], *keys: str, in_project: str = "", **more: Any
) -> Callable[[Caller, Path | None], tuple[Target, ...]]:
    """Return the builder of the targets of an agent that gets the tools alone.

    Args:
        path: returns the person's settings file.
        keys: where servers stand in it.
        in_project: the settings file in a project; empty if there is none.
        more: further fields of the server.
    """

    def targets(caller: Caller, project: Path | None) -> tuple[Target, ...]:
        if project and not in_project:
            return ()
        place = project / in_project if project else path()
        return (Target("tools", place, _server(caller, *keys, **more)),)

    return targets


HOSTS: Final[tuple[Host, ...]] = (
    Host("claude-code", "Claude Code", ("claude",), homes.claude, _claude),
    Host(
        "codex", "Codex", ("codex",), homes.codex, _codex,
        "Codex runs new hooks only when you trust them: start it once and accept them with /hooks.",
    ),
    # Antigravity has folders in ~/.gemini, too.
    Host("gemini-cli", "Gemini CLI", ("gemini",), lambda: Path.home() / ".gemini/settings.json", _gemini),
    Host("qwen-code", "Qwen Code", ("qwen",), lambda: Path.home() / ".qwen", _qwen),
    Host("opencode", "OpenCode", ("opencode",), lambda: homes.settings() / "opencode", _opencode),
    # VS Code looks into ~/.copilot, too.
    Host("copilot", "Copilot CLI", ("copilot",), lambda: homes.copilot() / "config.json", _copilot),
    Host(
        "openclaw", "OpenClaw", ("openclaw",), homes.openclaw, _openclaw,
        'Restart its gateway. If you have a list plugins.allow, put "mnemark" into it.',
    ),
    Host("pi", "Pi", ("pi",), homes.pi, _pi),
    Host("cursor", "Cursor", ("cursor",), lambda: Path.home() / ".cursor", _cursor),
    Host(
        "vscode", "VS Code", ("code",), homes.vscode,
        _tools_only(
            lambda: homes.vscode() / "mcp.json", "servers", in_project=".vscode/mcp.json", type="stdio"
        ),
    ),
    Host(
        "windsurf", "Windsurf", ("windsurf",), homes.windsurf,
        _tools_only(lambda: homes.windsurf() / "mcp_config.json", "mcpServers"),
    ),
    Host(
        "cline", "Cline", ("cline",), homes.cline,
        _tools_only(lambda: homes.cline() / "data/settings/cline_mcp_settings.json", "mcpServers"),
    ),
    Host(
        "zed", "Zed", ("zed", "zeditor"), homes.zed,
        _tools_only(lambda: homes.zed() / "settings.json", "context_servers"),
    ),
    Host(
        "claude-desktop", "Claude Desktop", (), homes.claude_desktop,
        _tools_only(lambda: homes.claude_desktop() / "claude_desktop_config.json", "mcpServers"),
        "Quit it wholly, and start it again.",
    ),
    Host(
        "antigravity", "Antigravity", ("antigravity", "agy"), homes.antigravity,
        _tools_only(lambda: homes.antigravity() / "mcp_config.json", "mcpServers"),
    ),
)  # fmt: skip


def host_named(name: str) -> Host | None:
    """Return the agent of that name or alias."""
    known = agents.agent_named(name)
    wanted = known.name if known else name.casefold()
    return next((host for host in HOSTS if host.name == wanted), None)


def is_installed(host: Host) -> bool:
    """Tell whether one of its commands is there, or a file where it keeps its settings."""
    home = host.home()
    return (
        any(shutil.which(program) for program in host.programs)
        or home.is_file()
        or any(files for _, _, files in os.walk(home))
    )


def words_of(value: Any) -> list[str]:
    """Return the command line of an entry: of a server, of a hook, or of the first in a group of hooks."""
    if not isinstance(value, dict):
        return []
    inner, line, rest = value.get("hooks"), value.get("command"), value.get("args")
    if isinstance(inner, list):
        return words_of(inner[0]) if inner else []
    if isinstance(line, list):
        return list(map(str, line))
    if isinstance(rest, list):
        return [str(line), *map(str, rest)]
    try:
        return shlex.split(line.partition(" || ")[0]) if isinstance(line, str) else []
    except ValueError:
        return []


def is_ours(value: Any) -> bool:
    """Tell whether a value in an agent's configuration is a hook written by `mnemark connect`."""
    if not isinstance(value, dict):
        return False
    inner, line = value.get("hooks"), value.get("command")
    if isinstance(inner, list):
        return bool(inner) and all(map(is_ours, inner))
    return isinstance(line, str) and _OURS.match(line) is not None


def has_own(value: Any) -> bool:
    """Tell whether a value contains a server of our name that we did not write."""
    if not isinstance(value, dict):
        return False
    server = value.get(SERVER)
    return (isinstance(server, dict) and not is_server(server)) or any(map(has_own, value.values()))


def contains_ours(value: Any) -> bool:
    """Tell whether a value contains a hook or a server that we wrote."""
    if isinstance(value, list):
        return any(map(contains_ours, value))
    if not isinstance(value, dict):
        return False
    return is_ours(value) or is_server(value.get(SERVER)) or any(map(contains_ours, value.values()))


def is_server(value: Any) -> bool:
    """Tell whether a server was written by us: this program, `mcp`, and a memory."""
    words = words_of(value)
    if "mcp" not in words[1:]:
        return False
    at = words.index("mcp", 1)
    ours = PureWindowsPath(words[0]).stem == SERVER or words[:at][-2:] == ["-m", SERVER]
    return ours and not NAMING.isdisjoint(words[at + 1 : at + 2])
