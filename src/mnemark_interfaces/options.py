"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, Any

import typer


def workspace(about: str) -> Any:
    """Return the option `--workspace` with this help."""
    return typer.Option(
        "--workspace", "-w", metavar="FOLDER", envvar="MNEMARK_WORKSPACE", show_envvar=True, help=about
    )


Workspace = Annotated[
    Path | None,
    workspace(
        "The workspace. Default: the one that contains the current folder; in a git repository that is none, "
        "the memory that your agents use there."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Server = Annotated[
    str,
    typer.Option(
        metavar="URL", help="Use a memory on this server instead; its key is kept, or in MNEMARK_KEY."
    ),
]
Count = Annotated[
    int | None,
    typer.Option("-k", "--count", metavar="N", help="Maximum number of results.", show_default="8"),
]
Since = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help='Only text dated since then: 2026-02-13, 2026-02-13T09:30, "last week", 上周五.'
    ),
]
Until = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only text dated up to then (a day is included).")
]
AsOf = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Search what was known at that time; text without a date is included."),
]
Scope = Annotated[
    list[str] | None,
    typer.Option(metavar="SCOPE", help='Also search users/NAME, agents/NAME, projects/NAME, or "*" for all.'),
]
OneScope = Annotated[
    str,
    typer.Option(
        metavar="SCOPE",
        help="Memory of users/NAME, agents/NAME or projects/NAME. Default: the shared memory.",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 4 if a part of the search failed or was too slow.")
]
