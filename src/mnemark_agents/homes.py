"""Name the folders in which agents keep settings and memories on this machine, and that of the memory."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final


def workspace_for(given: Path | None) -> Path:
    """Return the folder of the memory: as given, else `~/mnemark`."""
    return Path.home() / "mnemark" if given is None else given.expanduser().absolute()


def workspace_of_plugins(given: str = "") -> Path:
    """Return the folder of the memory of plug-ins: as given, else MNEMARK_WORKSPACE, else `~/mnemark`."""
    named = given or os.environ.get("MNEMARK_WORKSPACE", "")
    return workspace_for(Path(named) if named else None)


def folder_named(variable: str, default: str) -> Path:
    """Return the folder that an environment variable names, else the default in the home folder."""
    given = os.environ.get(variable, "")
    return Path(given).expanduser().absolute() if given else Path.home() / default


def claude() -> Path:
    """Return Claude Code's settings folder."""
    return folder_named("CLAUDE_CONFIG_DIR", ".claude")


def codex() -> Path:
    """Return Codex's settings folder."""
    return folder_named("CODEX_HOME", ".codex")


def copilot() -> Path:
    """Return Copilot CLI's settings folder."""
    return folder_named("COPILOT_HOME", ".copilot")


def openclaw() -> Path:
    """Return OpenClaw's settings folder; each of its profiles has one."""
    profile = os.environ.get("OPENCLAW_PROFILE", "default")
    return folder_named("OPENCLAW_STATE_DIR", ".openclaw" if profile == "default" else f".openclaw-{profile}")


def pi() -> Path:
    """Return Pi's settings folder."""
    return folder_named("PI_CODING_AGENT_DIR", ".pi/agent")


def settings() -> Path:
    """Return the folder of the user's settings (XDG)."""
    return folder_named("XDG_CONFIG_HOME", ".config")


def app_settings() -> Path:
    """Return the folder of the settings of programs with windows."""
    if sys.platform == "win32":
        return folder_named("APPDATA", "AppData/Roaming")
    return Path.home() / "Library/Application Support" if sys.platform == "darwin" else settings()


def vscode() -> Path:
    """Return the folder of a user's settings of VS Code."""
    return app_settings() / "Code/User"


def windsurf() -> Path:
    """Return Windsurf's settings folder."""
    return Path.home() / ".codeium/windsurf"


def cline() -> Path:
    """Return Cline's settings folder."""
    return folder_named("CLINE_DIR", ".cline")


def zed() -> Path:
    """Return Zed's settings folder."""
    return app_settings() / "Zed" if sys.platform == "win32" else settings() / "zed"


def claude_desktop() -> Path:
    """Return Claude Desktop's settings folder."""
    return app_settings() / "Claude"


def antigravity() -> Path:
    """Return Antigravity's settings folder."""
    return Path.home() / ".gemini/config"


_HOOKS: Final[Mapping[str, tuple[Callable[[], Path], str]]] = {
    # Of a project the settings that are not shared: our entries contain paths of this machine.
    "claude-code": (lambda: claude() / "settings.json", ".claude/settings.local.json"),
    "codex": (lambda: codex() / "hooks.json", ".codex/hooks.json"),
    "gemini-cli": (lambda: Path.home() / ".gemini/settings.json", ".gemini/settings.json"),
}
"""The settings with hooks, the user's and a project's, of agents that can have mnemark as a plug-in, too."""


def hook_settings(agent: str, project: Path | None = None) -> Path:
    """Return the file of an agent's settings that hooks are written into, in a project if given.

    Raises:
        KeyError: the agent has no such file, or no plug-ins beside it.
    """
    own, in_project = _HOOKS[agent]
    return project / in_project if project else own()
