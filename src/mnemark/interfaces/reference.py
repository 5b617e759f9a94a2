"""`docs/cli.md`, made from the commands: `python -m mnemark.interfaces.reference > docs/cli.md`."""

from typing import Any, Final

import typer.main

from mnemark.interfaces import output
from mnemark.interfaces.app import app

_INTRO: Final = """\
# Commands
Made from `mnemark --help` by `python -m mnemark.interfaces.reference`; a test checks that it is current.

Data goes to stdout, talk to stderr. `NO_COLOR` switches colour off, `MNEMARK_DEBUG=1` shows the trace of
an error, `MNEMARK_WORKSPACE` names the workspace where `-w` does not. Completion:
`mnemark --install-completion`.

| exit code | meaning |
|---|---|
| 0 | done; no hits included |
| 1 | an error |
| 2 | a wrong argument or configuration |
| 3 | no such ref, session, file or folder |
| 4 | `--strict`, and an optional part did not answer |
| 5 | another process holds the lock |
| 6 | the index or a log is damaged |
| 7 | the workspace cannot be written |
| 130 | interrupted with Ctrl-C |
| 141 | the reader of the output went away |

`--json` of `search` and `recall` is
`{"hits": [...], "text": ..., "mode": ..., "degraded": [...], "complete": ..., "believable": ...}`, with
`ref path start_line end_line kind title date origin scope score text snippet meta why` for each hit.
Other commands print the fields named in their sections, and later versions only add to them.
"""


def reference() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(app)
    context = typer.Context(group, info_name="mnemark")
    names = [name for name in group.list_commands(context) if name != "bench"]
    bench = "## bench\nMeasure mnemark, each figure beside a baseline. See `mnemark bench -h`.\n"
    return "\n".join([_INTRO, *(_section(name, group.get_command(context, name)) for name in names), bench])


def _section(name: str, command: Any) -> str:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option"]
    usage = " ".join(["mnemark", name, *(_argument(param) for param in arguments), "[OPTIONS]"])
    lines = [f"## {name}", " ".join((command.help or "").split()), "", f"`{usage}`", ""]
    rows = [(f"`{_argument(param)}`", _help(param)) for param in arguments]
    rows += [(f"`{_option(param)}`", _help(param)) for param in options if param.name != "help"]
    if rows:
        lines += ["| | |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows), ""]
    return "\n".join(lines)


def _argument(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _option(param: Any) -> str:
    names = ", ".join(sorted(param.opts, key=len))
    return names if param.is_flag else f"{names} {param.metavar or param.name.upper()}"


def _help(param: Any) -> str:
    text = " ".join((param.help or "").split()).replace("|", "\\|")
    shown = param.show_default if isinstance(param.show_default, str) else ""
    if (
        not shown
        and param.default is not None
        and not callable(param.default)
        and not getattr(param, "is_flag", 0)
    ):
        shown = str(param.default) if isinstance(param.default, str | int | float) else ""
    return f"{text} Default: {shown}." if shown and "Default" not in text else text


if __name__ == "__main__":
    output.out(reference(), end="")
