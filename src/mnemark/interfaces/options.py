"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Workspace = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        metavar="FOLDER",
        envvar="MNEMARK_WORKSPACE",
        show_envvar=True,
        help="The workspace. Default: the one the current folder lies in.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Count = Annotated[
    int | None, typer.Option("-k", "--count", metavar="N", help="Hits at most.", show_default="8")
]
Since = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help='Only from then on: 2026-02-13, 2026-02-13T09:30, "last week", 上周五.'
    ),
]
Until = Annotated[str | None, typer.Option(metavar="TIME", help="Only up to the end of then.")]
AsOf = Annotated[str | None, typer.Option(metavar="TIME", help="What was known then; undated text stays.")]
Scope = Annotated[
    list[str] | None,
    typer.Option(metavar="SCOPE", help='Also search users/NAME, agents/NAME, projects/NAME, or "*" for all.'),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 4 where an optional part did not answer.")]
