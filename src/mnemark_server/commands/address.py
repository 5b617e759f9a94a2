"""What the commands of `db` have in common: the database, and the name of a memory."""

import os
from typing import Annotated

import typer

from mnemark.errors import UsageError

DATABASE = "MNEMARK_DATABASE"
Url = Annotated[
    str, typer.Option("--database", metavar="URL", help="Address of the database. Default: MNEMARK_DATABASE.")
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a memory.")]


def url_of(given: str) -> str:
    """Return the address of the database. Raises UsageError where nobody says."""
    url = given or os.environ.get(DATABASE, "")
    if not url:
        raise UsageError(
            f"name the database with `--database postgresql://USER@HOST/NAME`, or set {DATABASE}"
        )
    return url
