"""Agents: which are connected and were seen, what connecting one would write, and doing it."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemark.errors import UsageError
from mnemark_agents.connect import connect as work
from mnemark_agents.connect.connections import connections
from mnemark_faces.web.at import At, Go, PageContent
from mnemark_faces.web.telling import programs

if TYPE_CHECKING:
    from mnemark_agents.connect.connect import SettingsChange


def connect(at: At) -> PageContent:
    """Show the agents of this machine, and what connecting or disconnecting one would write."""
    name, remove = at.asked("agent"), bool(at.asked("remove"))
    if name:  # a change shows what stands around it in the agent's settings
        check_free(at, "read the settings of agents")
    changes = _plan(at, name, remove=remove) if name else []
    return _shown(at, name, changes, remove=remove)


def apply(at: At) -> Go | PageContent:
    """Write into an agent's settings what was shown, if it is still the same.

    Raises:
        UsageError: the daemon may only open some folders, or the agent is unknown.
    """
    check_free(at, "write the settings of agents")
    at.memory.workspace.check_writable("connect agents")
    name, remove = at.sent("agent"), bool(at.sent("remove"))
    changes = _plan(at, name, remove=remove)
    if at.sent("digest") != _digest(changes):
        shown = _shown(at, name, changes, remove=remove)
        return PageContent(shown.template, {**shown.values, "problem": True, "status": 409})
    work.apply(changes)
    host = work.host_of(name)
    if remove:
        at.tell("{agent} is disconnected.", agent=host.title)
    else:
        at.tell("{agent} will use this memory from its next session.", agent=host.title)
    return Go(at.link("connect"))


def check_free(at: At, action: str) -> None:
    """Refuse what reaches beyond workspaces where the daemon may only open some folders.

    Raises:
        UsageError: it is so.
    """
    if at.confined:
        raise UsageError(f"this daemon may only open some folders (`mnemark serve --allow`), not {action}")


def _plan(at: At, name: str, *, remove: bool) -> "list[SettingsChange]":
    return work.plan(work.host_of(name), at.root, remove=remove)


def _digest(changes: "Sequence[SettingsChange]") -> str:
    """Return a hash of what would be written, and over what."""
    said = repr([(str(one.path), one.before, one.after) for one in changes])
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def _shown(at: At, name: str, changes: "Sequence[SettingsChange]", *, remove: bool) -> PageContent:
    found = connections()
    values = {
        "found": found, "agent": name, "remove": remove, "changes": changes, "digest": _digest(changes),
        "ours": [one.agent for one in found if str(at.root) in one.workspace.split(", ")],
        "title": next((one.title for one in found if one.agent == name), name), "problem": False,
        "note": work.host_of(name).note if name and not remove else "",
        "seen": at.memory.browse.agents(), "titles": programs(),
    }  # fmt: skip
    return PageContent("connect.html", values, {"agents": [one._asdict() for one in found]})
