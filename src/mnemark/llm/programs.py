"""Ready settings of programs that answer one prompt: which options they take, what they need from outside.

The options were tried with the programs themselves, against a scripted server (`docs/llm.md` says what was
seen): no tools, none of the user's hooks, no MCP servers, no session recorded where there is an option.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

_SYSTEM: Final = "Answer what the text asks for, from the text alone. You have no tools."
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class Program(NamedTuple):
    """A program that reads a prompt on stdin and prints the answer."""

    command: tuple[str, ...]
    model_option: str = ""
    """Option that names the model; without one, the model is the last argument, and needed."""
    last: tuple[str, ...] = ()
    """Arguments behind the model's."""
    passes: tuple[str, ...] = ()
    """Variables of the environment that it needs to log in, beside `program.PASSED`; `*` ends a prefix."""
    sets: Mapping[str, str] = _NONE
    files: Mapping[str, str] = _NONE
    """Files to write to its folder first, by relative path."""
    leaves: tuple[str, ...] = ()
    """Folders in the home folder that it makes for its folder `{name}`, to be removed behind it."""
    home: str = ""
    """Variable that names its home folder instead of the user's."""
    overhead: int = 0
    """Tokens that it adds to a prompt, measured; they count against the budget."""


CODEX_OFF: Final = (
    "apps", "browser_use", "code_mode_host", "computer_use", "goals", "hooks", "image_generation",
    "memories", "multi_agent", "plugins", "shell_tool", "skill_mcp_dependency_install", "tool_suggest",
    "unified_exec", "workspace_dependencies",
)  # fmt: skip
_GEMINI_SETTINGS: Final = (
    '{"tools": {"core": ["none"]}, "mcp": {"allowed": ["none"]}, "hooksConfig": {"enabled": false}, '
    '"privacy": {"usageStatisticsEnabled": false}}'
)

PROGRAMS: Final[Mapping[str, Program]] = MappingProxyType({
    "claude-code": Program(
        ("claude", "-p", "--output-format", "text", "--safe-mode", "--tools", "",
         "--no-session-persistence", "--strict-mcp-config", "--disable-slash-commands",
         "--system-prompt", _SYSTEM),
        model_option="--model",
        passes=("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_*", "AWS_*",
                "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS"),
        sets={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1"},
        overhead=300,
    ),
    "codex": Program(
        ("codex", "exec", "--ephemeral", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check",
         "--sandbox", "read-only", "--color", "never",
         *(part for name in CODEX_OFF for part in ("-c", f"features.{name}=false")),
         "-c", 'web_search="disabled"', "-c", "project_doc_max_bytes=0", "-c", f'instructions="{_SYSTEM}"'),
        model_option="--model",
        last=("-",),
        passes=("CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY"),
        overhead=6_500,
    ),
    "gemini": Program(
        ("gemini", "--skip-trust", "--approval-mode", "default", "--extensions", "none",
         "--allowed-mcp-server-names", "none", "--output-format", "text"),
        model_option="--model",
        passes=("GEMINI_API_KEY", "GEMINI_CLI_HOME", "GOOGLE_*"),
        sets={"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_SYSTEM_MD": "system.md"},
        files={".gemini/settings.json": _GEMINI_SETTINGS, "system.md": _SYSTEM},
        leaves=(".gemini/tmp/{name}", ".gemini/history/{name}"),
        home="GEMINI_CLI_HOME",
        overhead=1_500,
    ),
    "ollama": Program(
        ("ollama", "run", "--nowordwrap", "--hidethinking"),
        passes=("OLLAMA_*",),
        sets={"OLLAMA_NOHISTORY": "1"},
        overhead=50,
    ),
})  # fmt: skip


def command_of(program: Program, model: str) -> tuple[str, ...]:
    """Return the arguments for a model; raise ValueError where the program needs one named."""
    if not program.model_option and not model:
        raise ValueError(f"{program.command[0]} needs the name of a model: set model under [llm]")
    option = (program.model_option,) if program.model_option and model else ()
    return (*program.command, *option, *((model,) if model else ()), *program.last)
