"""Run the `mnemark` command. Imports stay few, as every start pays for them."""

import gc
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from mnemark._version import __version__
from mnemark_interfaces.process import INTERRUPTED, abandon_stdout, debugging, holds_nothing

if TYPE_CHECKING:
    from pathlib import Path

_WAITED_FOR: Final = frozenset({"hook", "mcp", "read", "recall", "search"})
"""The commands whose end an agent waits for."""


def command() -> NoReturn:
    """Run `main` as a process of its own.

    Where somebody waits for the end, the process ends without freeing its modules and objects, which the
    system takes back as well: that takes 4 ms of a hook, 20 ms of a search.
    """
    try:
        main()
    except SystemExit as end:
        waited = not _WAITED_FOR.isdisjoint(sys.argv[1:2])
        if waited and isinstance(end.code, int) and holds_nothing():
            import atexit

            atexit._run_exitfuncs()  # noqa: SLF001 - as Python's own end does; there is no public name
            for stream in (sys.stdout, sys.stderr):
                with suppress(AttributeError, OSError, ValueError):  # none, or closed
                    stream.flush()
            os._exit(end.code)
        raise


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    # numpy would start a thread of OpenBLAS for each processor: 100 ms of CPU for what nothing here uses.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        code = _run(sys.argv[1:])
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = abandon_stdout()
    gc.freeze()  # the interpreter's end does not look through what is freed anyway: 30 ms
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        if sys.stdout is not None:
            sys.stdout.write(f"mnemark {__version__}\n")
        return 0
    for stream in (sys.stdout, sys.stderr):
        # A console escapes characters it cannot show; pipes get UTF-8 on every system.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace", encoding=None if stream.isatty() else "utf-8")
    try:
        if not _answered_at_once(arguments):
            from mnemark_interfaces.app import app

            app(arguments, prog_name="mnemark")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BrokenPipeError:
        raise
    except Exception as bug:
        if debugging():
            raise
        from mnemark_interfaces.output import report

        return report(bug)
    return 0


def _memory_used_in(folder: "Path") -> "Path | None":
    """Return the memory that agents use in a folder, as `memory_used_in` of their settings does."""
    from mnemark_agents.connect.used import memory_used_in

    return memory_used_in(folder)


def _answered_at_once(arguments: list[str]) -> bool:
    """Run a command that agents or people wait for without loading the command line."""
    if arguments[:1] in (["search"], ["recall"], ["read"]):
        from mnemark_interfaces.shortcut import run as run_query

        return run_query(arguments)
    if arguments[:1] == ["hook"]:
        gc.disable()  # it ends before there is anything to collect
        from mnemark_agents.hook.command import run

        return run(arguments[1:], _memory_used_in) is not None
    if arguments[:1] == ["mcp"]:
        from mnemark_interfaces.mcp.front import quick

        return quick(arguments[1:])
    return False
