"""Find or make the memory of a plug-in, which was installed without `mnemark connect`, or beside it."""

from pathlib import Path

from mnemark.files import trust
from mnemark.files.new_workspace import init
from mnemark_agents.homes import hook_settings, workspace_of_plugins


def memory(given: str = "") -> Path:
    """Return the memory of a plug-in, made and trusted where it is missing.

    Args:
        given: a folder; MNEMARK_WORKSPACE by default, else `~/mnemark`.

    Raises:
        MnemarkError: it cannot be made.
    """
    root = workspace_of_plugins(given)
    if not root.is_dir():
        init(root)
        trust.trust_new(root)
    return root


def is_connected(agent: str, event: str, folder: str) -> bool:
    """Tell whether `mnemark connect` has written a hook for an event: then a plug-in leaves it to that.

    Args:
        agent: its name.
        event: by mnemark's name.
        folder: where the agent works; empty if that is not known.
    """
    sign = f" hook {event} --agent {agent} --".encode()
    around = (Path(folder), *Path(folder).parents) if folder else ()
    try:
        return any(_holds(hook_settings(agent, place), sign) for place in (None, *around))
    except KeyError:  # its plug-in lies where `connect` writes one
        return False


def _holds(path: Path, sign: bytes) -> bool:
    try:
        return sign in path.read_bytes()
    except OSError:  # none, or not ours to read
        return False
