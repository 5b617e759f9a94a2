"""Assemble the command line; turn errors into a message and an exit code."""

import io
from importlib import import_module
from typing import Annotated, Any, Final

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from mnemark._version import __version__
from mnemark.errors import MnemarkError, UsageError
from mnemark_interfaces import speech
from mnemark_interfaces.help import Formatter
from mnemark_interfaces.output import error, hint, out, say
from mnemark_interfaces.process import INTERRUPTED, abandon_stdout, debugging

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "init": ("care", "Turn a folder into a workspace."),
    "demo": ("demo", "Try mnemark on a sample workspace in English and Chinese."),
    "self-check": ("self_check", "Check that mnemark works on this machine, without touching a memory."),
    "sync": (
        "care",
        "Update the search index after files have changed, and finish what was left unfinished.",
    ),
    "watch": ("follow", "Keep the index up to date while files change."),
    "search": ("find", "Search notes, facts and conversations."),
    "recall": ("find", "Print what memory knows about a message, for a prompt."),
    "read": ("find", "Print a file, or some lines of it."),
    "add": ("write", "Add a line to today's note, or a message to a session."),
    "log": ("write", "List the latest notes, messages and changes."),
    "status": ("care", "Show counts, the state of the index, and what needs your attention."),
    "tui": (
        "mnemark_faces.commands.tui",
        "Look at memory, decide what waits, and take changes back, in a panel.",
    ),
    "doctor": ("repair", "Check a workspace and its settings; say what to fix."),
    "verify": ("repair", "Check the index for damage and compare it with the files."),
    "export": ("transfer", "Write a memory as pages for people, or its text to one file."),
    "backup": ("transfer", "Save the whole folder in one zip file, and verify it."),
    "restore": ("transfer", "Restore a backup to a new folder."),
    "consolidate": ("consolidate", "Merge duplicates, archive unused facts, update core memory."),
    "learn": ("learn", "Extract facts from conversations."),
    "sessions": ("sessions", "List the sessions, or end one: summarize it, save its facts."),
    "prompt": ("prompt", "Show the memory part of an agent's prompt, with its tokens."),
    "web": ("mnemark_faces.commands.web", "Open the memory in a browser."),
    "serve": ("serve", "Run the daemon, which answers all your agents quickly."),
    "mcp": ("serve", "Offer the memory tools over MCP, on stdin and stdout."),
    "hook": ("serve", "Handle an event of an agent; agents call this, not people."),
    "connect": ("connect", "Connect agents: add hooks and memory tools to their settings."),
    "trust": ("care", "Trust a memory that was copied, cloned or moved to this machine."),
    "mount": ("mount", "Search other memories beside your own, without copying or changing them."),
    "remember": ("facts", "Remember a fact."),
    "facts": ("facts", "List the facts in sentences, with who said each, since when, and its ref."),
    "correct": (
        "correct",
        "Correct a fact that is wrong: its value, date, property or subject, or say that it was never true.",
    ),
    "review": ("review", "Accept or reject proposed facts, conflicts and edits; look over what was learned."),
    "why": ("review", "Show where a fact or passage comes from."),
    "forget": ("forget", "Hide something from all searches, or erase it from all files."),
    "undo": ("undo", "Undo a change."),
    "revert": ("undo", "Undo everything that came from one session or source."),
    "pause": ("pause", "Go off the record: nothing is recorded or learned, until you end it."),
    "pin": ("undo", "Keep a fact, message or part of a note from being archived."),
    "import": ("transfer", "Import notes and conversations of other programs."),
    "merge": ("merge", "Bring everything of another memory of yours into this one."),
    "git-merge": ("merge", "Join two versions of a file; git calls this, not people."),
    "db": ("mnemark_server.commands.db", "Look after the database of a server: tables, memories and keys."),
    "bench": ("mnemark_bench.cli", "Benchmark search, speed and tokens against baselines."),
}
"""Of each command its module, in `interfaces.commands` or by its whole name, and the first sentence of its
help: a list of the commands, which is in this order, loads none of them."""
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "Begin": ("init", "demo", "self-check", "connect", "import", "web", "tui"),
    "Remember and find": (
        "remember", "add", "search", "read", "facts", "why", "log", "sessions", "status", "learn", "mount",
    ),
    "Decide and correct": ("correct", "review", "undo", "revert", "forget", "pin", "pause"),
    "Keep": (
        "consolidate", "sync", "watch", "backup", "restore", "export", "merge", "doctor", "verify", "trust",
    ),
    "For agents": ("recall", "prompt", "hook", "mcp", "serve", "db", "git-merge", "bench"),
}  # fmt: skip
"""The commands by what they are for, as `mnemark --help` shows them."""
SETTINGS: Final[dict[str, Any]] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}


class Unloaded(TyperCommand):
    """A command that is imported when it is to run, or to say what options it has."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Load the command, and parse its arguments."""
        return loaded(str(self.name)).make_context(info_name, args, parent, **extra)


def loaded(name: str) -> Any:
    """Import a command."""
    place = COMMANDS[name][0]
    module = import_module(place if "." in place else f"mnemark_interfaces.commands.{place}")
    if hasattr(module, "app"):
        return _speaking(typer.main.get_group(module.app))  # as a part it has no completion of its own
    single = typer.Typer(add_completion=False, **SETTINGS)
    single.command(name)(getattr(module, "import_" if name == "import" else name.replace("-", "_")))
    return _speaking(typer.main.get_command(single))


def _speaking(command: Any) -> Any:
    """Return a command that says its help, and that of its parts, in the reader's language."""
    for one in (command, *getattr(command, "commands", {}).values()):
        one.context_class = Speaking
        one.short_help = one.help.partition("\n\n")[0]  # whole, as a cut one has no translation
    return command


class Speaking(typer.Context):
    """The context of a command, whose help speaks the reader's language."""

    formatter_class = Formatter


class Commands(TyperGroup):
    """The group of all commands, each imported on first use."""

    context_class = Speaking

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = {name: Unloaded(name, help=sentence) for name, (_, sentence) in COMMANDS.items()}

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the names in the order of the help."""
        return list(self.commands)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments before the command; a workspace there is a common mistake."""
        try:
            args, language = speech.taken(args)
        except UsageError as problem:
            speech.use("")
            error(str(problem))
            raise SystemExit(problem.exit_code) from None
        speech.use(language)
        if args and args[0].partition("=")[0] in {"-w", "--workspace"}:
            error("put -w FOLDER behind the command: `mnemark search -w FOLDER …`")
            raise SystemExit(UsageError.exit_code)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as click calls it
        """Write the commands by what they are for."""
        width = max(map(len, COMMANDS))
        for group, names in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:{width}}", COMMANDS[name][1]) for name in names])

    def main(self, args: Any = None, *more: Any, standalone_mode: bool = True, **given: Any) -> Any:
        """Run the command line; say what is wrong with it in the reader's language."""
        given["standalone_mode"] = False
        if not standalone_mode:
            return super().main(args, *more, **given)
        try:
            code = super().main(args, *more, **given)
        except TyperException as problem:
            _say_wrong(problem)
            raise SystemExit(problem.exit_code) from None
        except typer.Abort:
            say("Aborted!")
            raise SystemExit(1) from None
        raise SystemExit(code if isinstance(code, int) else 0)

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


def _say_wrong(problem: Any) -> None:
    """Print what the parser says of a wrong command line: its usage, which is translated, and the error."""
    said = io.StringIO()
    problem.show(said)
    words = speech.words()
    for line in said.getvalue().splitlines():
        hint(words.line(line))


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
    language: Annotated[  # noqa: ARG001 - taken before, as it may stand behind the command, too
        str,
        typer.Option(
            speech.OPTION,
            metavar="en|zh",
            help="The language of what is printed, before or behind the command. Default: the setting, "
            "else that of the locale.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Memory for LLM agents, kept as plain text files in a folder and searched in milliseconds."""
    if context.invoked_subcommand is None:
        out(context.get_help())
