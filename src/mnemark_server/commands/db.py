"""Implement `db`: migrate a server's database, and look after its memories and their keys."""

from pathlib import Path
from typing import Annotated

import typer

from mnemark.errors import IncompleteError, UsageError
from mnemark_interfaces import options, output, speech
from mnemark_interfaces.app import SETTINGS
from mnemark_interfaces.output import safe, say, tell
from mnemark_server import check_installed

check_installed()
from mnemark_server import migrations, tenants  # noqa: E402 - needs what was checked
from mnemark_server.commands import grants  # noqa: E402
from mnemark_server.commands.address import Name, Url, url_of  # noqa: E402
from mnemark_server.database import Connection, connect, connect_each  # noqa: E402
from mnemark_server.scrubber import scrub as scrub_tables  # noqa: E402
from mnemark_server.scrubber import vacuum  # noqa: E402

_MOVES = ("export", "import")
app = typer.Typer(
    add_completion=False, no_args_is_help=True, **SETTINGS,
    help="Look after the database of a server: tables, memories and keys.",
)  # fmt: skip
app.command()(grants.limits)
app.command()(grants.people)


@app.command()
def migrate(*, database: Url = "", json: options.Json = False) -> None:
    """Make the tables, or bring them up to date."""
    with connect_each(url_of(database)) as connection:
        done = [f"{one.number} {one.name}" for one in migrations.migrate(connection)]
    words = speech.words()
    told = words("applied: {steps}", steps=", ".join(done)) if done else words("the database is up to date")
    output.out_result({"applied": done}, told, json=json)


@app.command()
def status(*, database: Url = "", json: options.Json = False) -> None:
    """Say whether the tables are up to date, and how many memories there are.

    Exits with 8 where steps are missing, with 6 where the database is of a newer version, and with 5 where it
    does not answer.
    """
    with connect(url_of(database)) as connection:
        lacking = [f"{one.number} {one.name}" for one in migrations.missing(connection)]
        count = 0 if lacking else len(tenants.listed(connection))
    words = speech.words()
    told = words("up to date, {n} memories", n=count)
    if lacking:
        told = words("missing steps: {steps}", steps=", ".join(lacking))
    output.out_result({"missing": lacking, "memories": count}, told, json=json)
    if lacking:
        raise IncompleteError("the database is not migrated; run `mnemark db migrate`")


@app.command("tenants")
def tenants_(
    action: Annotated[
        str,
        typer.Argument(
            metavar="[create|suspend|resume|delete|export|import]", help="Without it: list all memories."
        ),
    ] = "",
    name: Name = "",
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="Of export: a new one. Of import: that of a memory."),
    ] = None,
    *,
    merging: Annotated[
        bool, typer.Option("--merge", help="Import into a memory that has files, too: merge them.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    database: Url = "",
    json: options.Json = False,
) -> None:
    """List the memories of a server, or create, suspend, resume, delete, export or import one.

    Export and import are by the byte, of the rows alone: no node is needed.
    """
    actions = {"create", "suspend", "resume", "delete", *_MOVES}
    if action and action not in actions:
        raise UsageError(f"unknown action {action!r}; `mnemark db tenants --help` lists them")
    if bool(action) != bool(name):
        raise UsageError("give an action and a name, such as `mnemark db tenants create ann`")
    if action == "delete":
        _delete(url_of(database), name, yes=yes, json=json)
        return
    if (action in _MOVES) != (folder is not None):
        raise UsageError("export and import need a folder, such as `mnemark db tenants export ann ./ann`")
    if folder is not None:
        _move(url_of(database), action, name, folder, merging=merging, json=json)
        return
    with connect(url_of(database)) as connection:
        if not action:
            _list(connection, json=json)
            return
        if action == "create":
            tenants.create(connection, name)
        else:
            tenants.set_state(connection, name, "suspended" if action == "suspend" else "active")
    said = {"create": "{name}: created", "suspend": "{name}: suspended", "resume": "{name}: active"}
    output.out_result({"name": name, "done": action}, speech.words()(said[action], name=name), json=json)


@app.command()
def keys(
    name: Name,
    action: Annotated[
        str, typer.Argument(metavar="[add|revoke]", help="Without it: list the keys of the memory.")
    ] = "",
    key: Annotated[str, typer.Argument(metavar="KEY", help="What the key is called in lists.")] = "",
    *,
    readonly: Annotated[bool, typer.Option("--read", help="A key that may only read.")] = False,
    days: Annotated[
        int, typer.Option(metavar="DAYS", help="After how many days it is over; 0: never.", min=0)
    ] = 0,
    database: Url = "",
    json: options.Json = False,
) -> None:
    """List the keys of a memory, add one, or take one back. A new key is shown once."""
    if action not in {"", "add", "revoke"} or bool(action) != bool(key):
        raise UsageError(
            "give an action and what the key is called, such as `mnemark db keys ann add laptop`"
        )
    with connect(url_of(database)) as connection:
        if action == "add":
            made = tenants.add_key(
                connection, name, key, scopes=("read",) if readonly else ("read", "write"), days=days
            )
        elif action == "revoke":
            tenants.revoke(connection, name, key)
        found = tenants.keys(connection, name)
    if action == "add":
        _show(made, json=json)
    elif json:
        output.out_json({"keys": found})
    else:
        _list_keys(name, found)


def _show(key: str, *, json: bool) -> None:
    if json:
        output.out_json({"key": key})
    else:
        output.out(key)
        say("This is shown once: keep it where the client reads it.")


def _list_keys(name: str, found: list[tenants.Key]) -> None:
    for one in found:
        scopes = ", ".join(one.scopes)
        if one.expires is None:
            output.out(f"{safe(one.name)}  {scopes}")
        else:
            tell(
                "{name}  {scopes}  until {day}",
                name=safe(one.name),
                scopes=scopes,
                day=f"{one.expires:%Y-%m-%d}",
            )
    if not found:
        tell("{name} has no keys; make one with `mnemark db keys {name} add laptop`", name=name)


@app.command()
def scrub(*, database: Url = "", json: options.Json = False) -> None:
    """Write the tables anew, so that no byte of what was erased stays in them; locks each meanwhile."""
    busy = scrub_tables(url_of(database))
    words = speech.words()
    told = words("all tables are clean")
    if busy:
        told = words("in use, and left as they are: {tables}; run it again", tables=", ".join(busy))
    output.out_result({"busy": busy}, told, json=json)


def _move(url: str, action: str, name: str, folder: Path, *, merging: bool, json: bool) -> None:
    from mnemark_server.commands import move  # with all of a node

    if action == "export":
        move.export_memory(url, name, folder, json=json)
    else:
        move.import_memory(url, name, folder, merging=merging, json=json)


def _list(connection: Connection, *, json: bool) -> None:
    found = tenants.listed(connection)
    if json:
        output.out_json({"memories": found})
        return
    for one in found:
        state = speech.words()("suspended" if one.state == "suspended" else "active")
        tell("{name}  {state}  {n} bytes", name=one.name, state=state, n=f"{one.bytes:,}")
    if not found:
        tell("no memories yet; make one with `mnemark db tenants create NAME`")


def _delete(url: str, name: str, *, yes: bool, json: bool) -> None:
    with connect(url) as connection:
        tenants.number_of(connection, name)
    refused = UsageError(f"nothing was deleted; to delete {name} without being asked, add --yes")
    if not yes and not output.confirm(
        "Delete the memory {name} and all its keys?", name=name, refusal=str(refused)
    ):
        raise refused
    with connect(url) as connection:
        receipt = tenants.delete(connection, name)
    with connect_each(url) as connection:
        vacuum(connection)
    if json:
        output.out_json(receipt)
    else:
        tell("{name}: deleted, {n} bytes", name=name, n=receipt.bytes)
        output.out(receipt.still)
