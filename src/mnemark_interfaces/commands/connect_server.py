"""Implement the part of `connect` that is about servers: ask for a key, keep it, tell what waits."""

import os
import sys
from pathlib import Path

from mnemark.errors import UsageError
from mnemark.files import server_keys
from mnemark_agents.connect import keys
from mnemark_agents.connect.caller import Server
from mnemark_agents.connect.keys import Opened
from mnemark_agents.hook.remote import send_waiting
from mnemark_interfaces import output, speech
from mnemark_interfaces.output import hint, out_json, say, spoken


def prepare(url: str, *, asks: bool) -> Server:
    """Return a server whose key is kept from now on.

    Args:
        url: its address.
        asks: get a key and try it; else nothing is asked, sent or written.

    Raises:
        UsageError: it is no address; or there is no key, or none that the server knows.
        MnemarkError: the server does not answer.
    """
    found = Server(server_keys.address(url))
    if not asks:
        return found
    if server_keys.is_readable_on_its_way(found.url):
        say("Without https, others on the way to {url} can read the key and the memory.", url=found.url)
    key, opened = _opened(found.url)
    keys.keep(found.url, key, opened)
    say("The key opens the memory {name} on {url}.", name=opened.memory, url=found.url)
    if not opened.writes:
        say("It may only read: nothing that is said will be recorded.")
    return found


def _opened(url: str) -> tuple[str, Opened]:
    """Return a key that opens a memory, and which: of the environment, as kept, or as somebody gives it."""
    if given := os.environ.get(server_keys.VARIABLE, ""):
        key = server_keys.checked(given)
        return key, keys.opened(url, key)
    if (known := server_keys.kept(url)) is not None:
        try:
            return known.key, keys.opened(url, known.key)
        except UsageError as error:  # taken back since
            hint(spoken(str(error)))
    key = server_keys.checked(_asked(url))
    return key, keys.opened(url, key)


def _asked(url: str) -> str:
    """Return a key that a person types, which is not shown, or that stands on stdin."""
    if output.can_ask():
        import typer

        question = speech.words()("Key for {url} (it is not shown)", url=url)
        return str(typer.prompt(question, hide_input=True, err=True))
    given = sys.stdin.readline(1_000) if sys.stdin is not None and not sys.stdin.isatty() else ""
    if not given.strip():
        raise UsageError(f"a server needs a key; set {server_keys.VARIABLE}, or give it on stdin")
    return given


def drop_unused(before: set[str], project: Path | None) -> None:
    """Remove the keys of servers that no agent uses any more, and say so."""
    for state in keys.drop_unused(before, project):
        if state.waiting:
            say(
                "{count} events wait for {url}, and its key is kept until then: `mnemark connect --send`.",
                count=state.waiting, url=state.url,
            )  # fmt: skip
        else:
            say("The key for {url} is removed from this machine.", url=state.url)


def tell_waiting() -> None:
    """Say what waits for servers, and what is wrong with their keys."""
    for state in keys.states():
        if state.problem:
            hint(spoken(state.problem))
        if state.waiting:
            say(
                "{count} events wait for {url}; the next hook sends them, or `mnemark connect --send`.",
                count=state.waiting, url=state.url,
            )  # fmt: skip
        if state.refused:
            say(
                "{count} events were refused by {url}; they are kept in {folder}.",
                count=state.refused, url=state.url, folder=state.folder,
            )  # fmt: skip


def send(*, json: bool) -> bool:
    """Send what waits for servers that did not answer; return whether nothing waits any more."""
    results = []
    for state in keys.states():
        if state.problem:
            results.append((state.url, 0, state.problem))
            continue
        done = send_waiting(state.url)
        results.append((state.url, done.events, done.problem))
    if json:
        out_json({"sent": [{"url": url, "events": events, "problem": why} for url, events, why in results]})
        return not any(why for _, _, why in results)
    for url, events, why in results:
        say("{count} events were sent to {url}.", count=events, url=url)
        if why:
            hint(spoken(why))
    if not results:
        say("No agent uses a memory on a server.")
    return not any(why for _, _, why in results)
