"""Agents: which are connected, what connecting one would write, and doing it."""

from mnemark.interfaces.web.at import At, Shown


def connect(at: At) -> Shown:
    """Show the agents of this machine, and what connecting one would write."""
    from mnemark.agent.connect import connect as work

    name = at.asked("agent")
    found = work.connections()
    changes = work.plan(work.host_of(name), at.root) if name else []
    values = {"found": found, "agent": name, "changes": changes, "root": at.root}
    return Shown("connect.html", values, {"agents": [one._asdict() for one in found]})
