"""Implement `db limits` and `db people`: what a memory may use, and whom of an issuer it lets in."""

import os
from typing import Annotated

import typer

from mnemark.errors import UsageError
from mnemark_interfaces import options, output
from mnemark_interfaces.output import safe, tell
from mnemark_server import grants
from mnemark_server.commands.address import Name, Url, url_of
from mnemark_server.database import connect

ISSUER = "MNEMARK_ISSUER"


def limits(
    name: Name,
    changes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[LIMIT=N]…", help="What to change; LIMIT= takes a limit back."),
    ] = None,
    *,
    database: Url = "",
    json: options.Json = False,
) -> None:
    """Show the limits of a memory, or change some: requests, what its language model may cost, imports."""
    wanted = dict(map(_change, changes or ()))
    with connect(url_of(database)) as connection:
        if wanted:
            grants.set_limits(connection, name, wanted)
        found = grants.limits(connection, name)
    if json:
        output.out_json({"limits": found})
        return
    for limit, value in found.items():
        if value is None:
            tell("{limit}  as the node's settings say", limit=limit)
        else:
            output.out(f"{limit}  {value:,}")


def _change(text: str) -> tuple[str, int | None]:
    name, sign, value = text.partition("=")
    if not sign or (value and not value.isdecimal()):
        known = name if name in grants.LIMITS else next(iter(grants.LIMITS))
        raise UsageError(f"{text!r} changes no limit; write it as {known}=600")
    return name, int(value) if value else None


def people(
    name: Name,
    action: Annotated[
        str, typer.Argument(metavar="[add|remove]", help="Without it: list whom the memory lets in.")
    ] = "",
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help="The person, as `sub` of the issuer's tokens says.")
    ] = "",
    *,
    issuer: Annotated[
        str, typer.Option(metavar="URL", help="The server of identities. Default: MNEMARK_ISSUER.")
    ] = "",
    database: Url = "",
    json: options.Json = False,
) -> None:
    """List the people of an issuer whom a memory lets in without a key, add one, or remove one."""
    if action not in {"", "add", "remove"} or bool(action) != bool(subject):
        raise UsageError("give an action and a subject, such as `mnemark db people ann add 8f3c`")
    named = issuer or os.environ.get(ISSUER, "")
    if action and not named:
        raise UsageError(f"name the server of identities with `--issuer https://HOST`, or set {ISSUER}")
    with connect(url_of(database)) as connection:
        if action:
            change = grants.let_in if action == "add" else grants.keep_out
            change(connection, name, named, subject)
        found = grants.people(connection, name)
    if json:
        output.out_json({"people": [{"issuer": by, "subject": one} for by, one in found]})
        return
    for by, one in found:
        output.out(f"{safe(one)}  {safe(by)}")
    if not found:
        tell("{name} lets in whoever has one of its keys, and nobody else", name=name)
