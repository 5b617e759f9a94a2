"""Assemble the commands, and turn errors into a line and an exit code."""

from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from mnemark._version import __version__
from mnemark.errors import MnemarkError
from mnemark.interfaces.commands.care import init, status, sync
from mnemark.interfaces.commands.connect import connect
from mnemark.interfaces.commands.consolidate import consolidate
from mnemark.interfaces.commands.demo import demo
from mnemark.interfaces.commands.facts import facts, remember
from mnemark.interfaces.commands.find import read, recall, search
from mnemark.interfaces.commands.follow import watch
from mnemark.interfaces.commands.forget import forget
from mnemark.interfaces.commands.learn import learn
from mnemark.interfaces.commands.prompt import prompt
from mnemark.interfaces.commands.repair import doctor, verify
from mnemark.interfaces.commands.review import review, why
from mnemark.interfaces.commands.serve import hook, mcp, serve
from mnemark.interfaces.commands.sessions import sessions
from mnemark.interfaces.commands.transfer import backup, export, import_, restore
from mnemark.interfaces.commands.undo import pin, revert, undo
from mnemark.interfaces.commands.write import add, log
from mnemark.interfaces.output import error, out
from mnemark.interfaces.process import INTERRUPTED, abandon_stdout, debugging


class Commands(TyperGroup):
    """The group of all commands; those of `bench` are loaded when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the order of the help."""
        return [*super().list_commands(ctx), "bench"]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name."""
        if cmd_name != "bench":
            return super().get_command(ctx, cmd_name)
        from mnemark_bench.cli import app as bench

        return typer.main.get_group(bench)  # as a part it has no completion of its own

    def invoke(self, ctx: Any) -> Any:
        """Run a command; errors raised on purpose end it with their own exit code."""
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
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
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


COMMANDS = (
    *(
        init,
        demo,
        sync,
        watch,
        search,
        recall,
        read,
        add,
        log,
        status,
        doctor,
        verify,
        export,
        backup,
        restore,
    ),
    consolidate,
    learn,
    sessions,
    prompt,
    serve,
    mcp,
    hook,
    connect,
    *(remember, facts, review, why),
    *(forget, undo, revert, pin),
)
for command in COMMANDS:
    app.command()(command)
app.command("import")(import_)
