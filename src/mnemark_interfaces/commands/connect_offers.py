"""Implement the part of `connect` that asks: for a language model to learn with, and for other memories."""

from collections.abc import Iterable
from pathlib import Path

from mnemark.files import user_config
from mnemark_agents.connect.caller import Memory, Server
from mnemark_agents.connect.choices import CALLS, TOKENS, Offer, keep_answer, offer_for
from mnemark_agents.connect.hosts import Host
from mnemark_interfaces import output
from mnemark_interfaces.commands.mount import offer
from mnemark_interfaces.output import hint, safe, say


def make_offers(root: Memory, hosts: Iterable[Host], *, yes: bool = False) -> None:
    """Ask once for a model to learn with, unless `yes`, and for each memory of another program here.

    See `mnemark mount` for the second. A memory on a server gets neither: both are of a folder.
    """
    if isinstance(root, Server):
        return
    if not yes:
        offer_model(hosts)
    offer(root, None, asks=output.can_ask() and not yes, yes=False)


def offer_model(hosts: Iterable[Host]) -> None:
    """Ask once, at a terminal, whether the model of the first agent with one may be used; keep the answer."""
    offer = next(filter(None, map(offer_for, hosts)), None)
    if offer is None or not output.can_ask():
        return
    hint("")
    _say_offer(offer)
    wanted = output.confirm("Learn with it?")
    keep_answer(offer, wanted=wanted)
    say("mnemark will learn with it." if wanted else "It stays off.")


def _say_offer(offer: Offer) -> None:
    """Say what is sent to a model, and what that costs."""
    say(
        "mnemark can also learn with the language model of {title}. Rules alone find less.", title=offer.title
    )
    say(
        "What is sent: when a session ends, what was said in it, without secrets and private passages, with "
        "the output of tools cut short, and facts that mnemark knows. It is given to `{program}`, which "
        "sends it to its provider under your account, as your sessions are.",
        program=offer.program,
    )
    say(
        "What it costs: usually one request a session, of up to about {most} tokens; at most {calls} "
        "requests and {tokens} tokens a day, which count against your plan or are billed.",
        most=offer.most, calls=CALLS, tokens=TOKENS,
    )  # fmt: skip
    say(
        "`{program}` is started without tools, hooks and MCP servers, in an empty folder.",
        program=offer.program,
    )
    say("You can change this in {path} at any time.", path=safe(str(user_config.path())))


def tell_of_mount(root: Memory, host: Host) -> None:
    """Say that searches still read the notes of an agent that is disconnected, if they do."""
    if isinstance(root, Path) and user_config.of_workspace(root, user_config.load()).get(host.name):
        say("Searches still read its own notes: `mnemark mount {name} --remove` ends that.", name=host.name)
