"""Make the bundles by which agents install mnemark: plug-ins, extensions, an entry of the MCP registry.

Hooks, servers and commands are those that `mnemark connect` writes (`hosts`), with another caller: the
program is looked for on the PATH, and the memory is the person's own.

Sources, as of autumn 2026: code.claude.com/docs/en/plugins-reference;
developers.openai.com/codex/plugins/build, codex-rs/core-plugins;
geminicli.com/docs/extensions/reference; docs.openclaw.ai/plugins/manifest;
modelcontextprotocol/registry, docs/reference/server-json (schema of 2025-12-11).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark._version import __version__
from mnemark.errors import ReadOnlyError, UsageError
from mnemark.files import platform
from mnemark_agents import homes
from mnemark_agents.connect import commands, plugins
from mnemark_agents.connect.caller import Caller, Memory, here, hook_line, memory_in
from mnemark_agents.connect.hosts import SERVER, host_named

_ABOUT: Final = "Memory in a folder of plain text: briefing, recall and capture in every session."
_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
PLUGIN: Final = Caller(("mnemark",), ("--plugin",), "~/mnemark", mark="part of the plug-in mnemark")
"""The caller of a plug-in that is installed without this installation knowing of it."""
_VARIABLES: Final = (
    "MNEMARK_WORKSPACE", "MNEMARK_SERVER", "MNEMARK_KEY", "MNEMARK_CONFIG", "XDG_STATE_HOME",
)  # fmt: skip
"""What hooks and tools have to find alike, where an agent passes on few variables."""

_PAGE: Final = """\
# mnemark for {title}
{about} It needs the program `mnemark` on the PATH (`mnemark self-check` tries it), and keeps the memory in \
`~/mnemark`, which is made in the first session{named}. On Windows use `{line}` instead: this was made for \
systems with a POSIX shell.

In this folder:
```sh
{install}
```
{note}

`{line}` does the same without a plug-in. {beside} To remove it; the memory stays:
```sh
{remove}
```
"""
_NAMED: Final = "; `MNEMARK_WORKSPACE` names another folder, `MNEMARK_SERVER` a server"
_BESIDE: Final = "Where both are there, the plug-in leaves the hooks to that."
_ALONE: Final = "Take that out first (`--remove`) where it is there: both use one folder."

Files = dict[str, str]
"""Contents by path."""


class Bundle(NamedTuple):
    """What one agent installs."""

    agent: str
    title: str
    folder: str
    """Of the plug-in, in the bundle."""
    files: Callable[[Caller], Files]
    """Returns the files of the plug-in for a caller."""
    manifest: str
    """The file by which the agent knows a plug-in."""
    install: Sequence[str]
    """What to type in the bundle's folder."""
    remove: Sequence[str]
    sign: Callable[[], tuple[Path, str]]
    """Returns the file that says that it is installed, and what stands there then."""
    trial: str
    """The command that takes a plug-in's folder without a list of plug-ins; empty where there is none."""
    note: str
    """What there is to know or to do beside that."""
    catalogue: Mapping[str, Any] | None = None
    """The list of plug-ins around it, by its path; None where the agent needs none."""
    named: bool = True
    """Whether the memory can be named by a variable: the agent passes it on to hooks and servers alike."""
    apart: bool = True
    """Whether it lies elsewhere than what `mnemark connect` writes."""

    def workspace(self) -> Path:
        """Return the memory that it uses where it is installed from a release."""
        return homes.workspace_of_plugins("" if self.named else PLUGIN.workspace)

    def is_installed(self) -> bool:
        """Tell whether the agent has it."""
        path, text = self.sign()
        try:
            return text in path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):  # none, or not ours to read
            return False


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _about(**more: Any) -> dict[str, Any]:
    return {"name": SERVER, "version": __version__, "description": _ABOUT, **more}


_OWNED: Final = {"author": {"name": "mnemark"}, "license": "MIT", "keywords": ["memory", "mcp"]}


def _hooks(agent: str, caller: Caller) -> str:
    """Return the file with the hooks of an agent."""
    hooks: dict[str, list[Any]] = {}
    for target in _targets(agent, caller):
        for entry in target.entries if target.what == "hooks" else ():
            hooks.setdefault(entry.keys[-1], []).append(entry.value)
    return _json({"description": "mnemark: briefing, recall and capture", "hooks": hooks})


def _servers(agent: str, caller: Caller, **more: Any) -> dict[str, Any]:
    """Return the MCP servers of an agent."""
    tools = (target for target in _targets(agent, caller) if target.what == "tools")
    return {entry.keys[-1]: {**entry.value, **more} for target in tools for entry in target.entries}


def _targets(agent: str, caller: Caller) -> Any:
    host = host_named(agent)
    return host.entries(caller, None) if host is not None else ()


def _commands(form: commands.CommandForm, caller: Caller) -> Files:
    made = commands.files(Path(), form, caller.workspace, hook_line(caller.program), caller.mark)
    return {path.as_posix(): text for path, text in made if text}


def _claude(caller: Caller) -> Files:
    return {
        ".claude-plugin/plugin.json": _json(_about(**_OWNED)),
        "hooks/hooks.json": _hooks("claude-code", caller),
        ".mcp.json": _json({"mcpServers": _servers("claude-code", caller)}),
        **_commands(commands.MARKDOWN._replace(prefix=""), caller),
    }


def _codex(caller: Caller) -> Files:
    servers = _servers("codex", caller, env_vars=list(_VARIABLES))
    face = {"displayName": "mnemark", "shortDescription": _ABOUT, "category": "Productivity"}
    return {
        ".codex-plugin/plugin.json": _json(
            _about(**_OWNED, skills="./skills/", mcpServers="./.mcp.json", interface=face)
        ),
        "hooks/hooks.json": _hooks("codex", caller),
        ".mcp.json": _json({"mcpServers": servers}),
        **_commands(commands.SKILLS._replace(prefix=""), caller),
    }


def _gemini(caller: Caller) -> Files:
    return {
        "gemini-extension.json": _json(_about(mcpServers=_servers("gemini-cli", caller))),
        "hooks/hooks.json": _hooks("gemini-cli", caller),
        **_commands(commands.GEMINI, caller),
    }


def _openclaw(caller: Caller) -> Files:
    # It passes no variables on to servers: hooks and tools would use two memories where one is named so.
    if not memory_in(caller.memory):
        caller = caller._replace(memory=("--workspace", caller.workspace, *caller.memory))
    words = caller.line("hook", "--agent", "openclaw")
    more = {"mcpServers": _servers("openclaw", caller), "skills": ["./skills"]}
    made = plugins.openclaw_files(Path(), words, caller.mark, **more)
    return {path.as_posix(): text for path, text in made.items()} | _commands(commands.SKILLS, caller)


BUNDLES: Final = (
    Bundle(
        "claude-code", "Claude Code", "mnemark", _claude, ".claude-plugin/plugin.json",
        ("claude plugin marketplace add ./", "claude plugin install mnemark@mnemark"),
        ("claude plugin uninstall mnemark@mnemark", "claude plugin marketplace remove mnemark"),
        lambda: (homes.claude() / "plugins/installed_plugins.json", '"mnemark@'),
        "claude --plugin-dir",
        "Its commands are `/mnemark:remember` and so on.",
        {".claude-plugin/marketplace.json": {
            "name": "mnemark", "owner": {"name": "mnemark"}, "description": _ABOUT,
            "plugins": [{"name": "mnemark", "source": "./mnemark", "description": _ABOUT}],
        }},
    ),
    Bundle(
        "codex", "Codex", "plugins/mnemark", _codex, ".codex-plugin/plugin.json",
        ("codex plugin marketplace add ./", "codex plugin add mnemark@mnemark"),
        ("codex plugin remove mnemark@mnemark", "codex plugin marketplace remove mnemark"),
        lambda: (homes.codex() / "config.toml", '[plugins."mnemark@'),
        "",
        "Codex runs new hooks only when you trust them: start it once and accept them with `/hooks`.",
        {".agents/plugins/marketplace.json": {
            "name": "mnemark", "interface": {"displayName": "mnemark"},
            "plugins": [{
                "name": "mnemark", "source": {"source": "local", "path": "./plugins/mnemark"},
                "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                "category": "Productivity",
            }],
        }},
    ),
    Bundle(
        "gemini-cli", "Gemini CLI", "mnemark", _gemini, "gemini-extension.json",
        ("gemini extensions install ./mnemark --consent",),
        ("gemini extensions uninstall mnemark",),
        lambda: (Path.home() / ".gemini/extensions/mnemark/gemini-extension.json", SERVER),
        "gemini extensions link",
        "Its commands are `/mnemark:remember` and so on.",
    ),
    Bundle(
        "openclaw", "OpenClaw", "mnemark", _openclaw, "openclaw.plugin.json",
        (
            "openclaw plugins install --force --accept-capabilities ./mnemark",
            "openclaw config set plugins.entries.mnemark.hooks.allowConversationAccess true",
        ),
        ("openclaw plugins uninstall --force mnemark",),
        lambda: (homes.openclaw() / "extensions/mnemark/index.js", PLUGIN.mark),
        "openclaw plugins install --link",
        "Restart its gateway. Without the second line its plug-ins are not told what it answers.",
        named=False, apart=False,
    ),
)  # fmt: skip
"""The bundles, by agent."""


def bundle_named(agent: str) -> Bundle | None:
    """Return the bundle of an agent."""
    return next((bundle for bundle in BUNDLES if bundle.agent == agent), None)


def whole(bundle: Bundle) -> Files:
    """Return all files of a bundle: the plug-in, the list of plug-ins around it, and what to type."""
    files = {f"{bundle.folder}/{path}": text for path, text in bundle.files(PLUGIN).items()}
    listed = {path: _json(value) for path, value in (bundle.catalogue or {}).items()}
    page = _readme(bundle)
    return {**listed, **files, f"{bundle.folder}/README.md": page, "README.md": page}


def registry_entry(namespace: str) -> Files:
    """Return an entry of the MCP registry for who publishes the package under a namespace of their own."""
    words = ({"type": "positional", "value": "mcp"}, {"type": "named", "name": "--plugin"})
    package = {
        "registryType": "pypi", "identifier": SERVER, "version": __version__, "runtimeHint": "uvx",
        "packageArguments": list(words), "transport": {"type": "stdio"},
        "environmentVariables": [{
            "name": "MNEMARK_WORKSPACE", "description": "The folder of the memory", "format": "filepath",
            "default": "~/mnemark",
        }],
    }  # fmt: skip
    entry = {
        "$schema": _SCHEMA, "name": f"{namespace}/{SERVER}", "title": "mnemark",
        "description": "Memory in a folder of plain text, searched offline, in Chinese and English.",
        "version": __version__, "packages": [package],
    }  # fmt: skip
    return {"server.json": _json(entry)}


def plugin_files(bundle: Bundle, memory: Memory) -> Files:
    """Return the files of a plug-in that names this installation and a memory."""
    mine = here(memory)
    return bundle.files(mine._replace(memory=(*mine.memory, *PLUGIN.memory), mark=PLUGIN.mark))


def write_plugin(bundle: Bundle, folder: Path, memory: Memory) -> list[Path]:
    """Write the plug-in into a new or empty folder, or over one of ours.

    Raises:
        UsageError: something else is in the folder.
        ReadOnlyError: it cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; choose a new folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / bundle.manifest).is_file():
        raise UsageError(f"{folder} contains other files; choose a new folder")
    written = []
    for name, text in plugin_files(bundle, memory).items():
        path = folder / name
        try:
            platform.make_folder(path.parent)
            platform.write_private(path, text.encode())
        except OSError as error:
            raise ReadOnlyError(f"cannot write {path}: {error.strerror}") from error
        written.append(path)
    return written


def _readme(bundle: Bundle) -> str:
    """Return the page of a bundle."""
    return _PAGE.format(
        title=bundle.title, about=_ABOUT, line=f"mnemark connect {bundle.agent}", note=bundle.note,
        named=_NAMED if bundle.named else "", beside=_BESIDE if bundle.apart else _ALONE,
        install="\n".join(bundle.install),
        remove="\n".join(bundle.remove),
    )  # fmt: skip
