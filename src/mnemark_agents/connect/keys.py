"""See to the keys of memories on servers that agents are connected to."""

from pathlib import Path
from typing import Final, NamedTuple

from mnemark.errors import BusyError, MnemarkError, UsageError
from mnemark.files import server_keys
from mnemark.files.server_keys import Known
from mnemark_agents import server
from mnemark_agents.connect.connections import servers
from mnemark_agents.daemon import DaemonRefusedError, UnreachableError
from mnemark_agents.outbox import Outbox

_SECONDS: Final = 10.0
"""How long a person waits for a server."""


class Opened(NamedTuple):
    """What a key opens."""

    memory: str
    """Its name on the server."""
    writes: bool


class ServerState(NamedTuple):
    """A server whose memory agents use."""

    url: str
    memory: str
    """The name that the server gave; empty for a key of the environment."""
    waiting: int
    refused: int
    folder: str
    """Where what waits lies."""
    problem: str = ""


def opened(url: str, key: str) -> Opened:
    """Ask a server what a key opens.

    Raises:
        UsageError: the server does not know the key, or is none of mnemark.
        BusyError: it does not answer.
        MnemarkError: it refuses.
    """
    try:
        found = server.post(url, key, server.WHO, {}, _SECONDS)
    except DaemonRefusedError as error:
        if error.status == 401:
            raise UsageError(
                f"{url} does not know this key; `mnemark db keys NAME add KEY` makes another there"
            ) from error
        if error.status in {404, 405}:
            raise UsageError(f"what answers at {url} is no server of mnemark") from error
        raise MnemarkError(f"{url} refuses the key: {error}") from error
    except UnreachableError as error:
        raise BusyError(str(error)) from error
    if not isinstance(found, dict) or not isinstance(found.get("memory"), str):
        raise UsageError(f"what answers at {url} is no server of mnemark")
    return Opened(found["memory"], "write" in found.get("scopes", ()))


def keep(url: str, key: str, found: Opened) -> None:
    """Keep a key that opens a memory.

    Raises:
        UsageError: something waits for another memory on this server.
        MnemarkError: the file cannot be written.
    """
    before = server_keys.kept(url)
    if before is not None and before.memory != found.memory:
        outbox = Outbox(url, before)
        if outbox.has():
            raise UsageError(
                f"{outbox.waiting().events} events wait for the memory {before.memory} on {url}; send them "
                f"with `mnemark connect --send`, or remove {outbox.folder}"
            )
    server_keys.keep(url, Known(key, found.memory))


def states() -> list[ServerState]:
    """Return the servers whose memories agents of this user use, or that something waits for."""
    return [_state(url) for url in sorted(servers() | server_keys.servers())]


def _state(url: str) -> ServerState:
    known, problem = server_keys.key_or_why(url)
    outbox = Outbox(url, known)
    memory = known.memory if known.key else ""
    return ServerState(url, memory, *outbox.waiting(), str(outbox.folder), problem)


def drop_unused(before: set[str], project: Path | None) -> list[ServerState]:
    """Remove the keys of servers that agents used before, and do not any more; return those servers.

    Where something waits for one, its key stays.
    """
    unused = [_state(url) for url in sorted(before - servers(project))]
    for one in unused:
        if not one.waiting:
            server_keys.drop(one.url)
    return unused
