"""Assemble the command line; turn errors into a message and an exit code."""

from importlib import import_module
from typing import Annotated, Any, Final

import typer
import typer.main
from typer.core import TyperGroup

from mnemark._version import __version__
from mnemark.errors import MnemarkError, UsageError
from mnemark.interfaces.output import error, out
from mnemark.interfaces.process import INTERRUPTED, abandon_stdout, debugging

COMMANDS: Final[dict[str, str]] = {
    "init": "care",
    "demo": "demo",
    "sync": "care",
    "watch": "follow",
    "search": "find",
    "recall": "find",
    "read": "find",
    "add": "write",
    "log": "write",
    "status": "care",
    "tui": "mnemark_faces.commands.tui",
    "doctor": "repair",
    "verify": "repair",
    "export": "transfer",
    "backup": "transfer",
    "restore": "transfer",
    "consolidate": "consolidate",
    "learn": "learn",
    "sessions": "sessions",
    "prompt": "prompt",
    "web": "mnemark_faces.commands.web",
    "serve": "serve",
    "mcp": "serve",
    "hook": "serve",
    "connect": "connect",
    "trust": "trust",
    "mount": "mount",
    "remember": "facts",
    "facts": "facts",
    "review": "review",
    "why": "review",
    "forget": "forget",
    "undo": "undo",
    "revert": "undo",
    "pin": "undo",
    "import": "transfer",
}
"""The module of each command, in `interfaces.commands` or by its whole name, in the order of the help."""
SETTINGS: Final[dict[str, Any]] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}


class Commands(TyperGroup):
    """The group of all commands, each imported on first use."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        unloaded: Any = None
        # For lists of names, and for suggestions after a typing error; `get_command` loads one.
        self.commands = dict.fromkeys([*COMMANDS, "bench"], unloaded)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the names in the order of the help."""
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - as click calls it
        """Return the command of that name, or None."""
        if cmd_name == "bench":
            bench = import_module("mnemark_bench.cli").app
            return typer.main.get_group(bench)  # as a part it has no completion of its own
        if cmd_name not in COMMANDS:
            return None
        name = COMMANDS[cmd_name]
        module = import_module(name if "." in name else f"mnemark.interfaces.commands.{name}")
        single = typer.Typer(add_completion=False, **SETTINGS)
        single.command(cmd_name)(getattr(module, "import_" if cmd_name == "import" else cmd_name))
        return typer.main.get_command(single)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments before the command; a workspace there is a common mistake."""
        if args and args[0].partition("=")[0] in {"-w", "--workspace"}:
            error("put -w FOLDER behind the command: `mnemark search -w FOLDER …`")
            raise SystemExit(UsageError.exit_code)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; exit with the code of a `MnemarkError`."""
        try:
            return super().invoke(ctx)
        except MnemarkError as problem:
            if debugging():
                raise
            error(str(problem))
            raise SystemExit(problem.exit_code) from None
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None
        except BrokenPipeError:
            raise SystemExit(abandon_stdout()) from None


app = typer.Typer(
    name="mnemark",
    cls=Commands,
    help="Memory for LLM agents, kept as plain text files in a folder and searched in milliseconds.",
    no_args_is_help=False,
    **SETTINGS,
)


def _version(value: bool) -> None:  # noqa: FBT001 - typer calls it so
    if value:
        out(f"mnemark {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 - typer hands it to its callback
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Memory for LLM agents, kept as plain text files in a folder and searched in milliseconds."""
    if context.invoked_subcommand is None:
        out(context.get_help())
