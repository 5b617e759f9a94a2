"""Give commands a memory on a server, or a copy of it to work on, in the place of one in a folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemark.errors import UsageError
from mnemark.memory.memory import Memory
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.remote import RemoteMemory
from mnemark_interfaces import workspace

_WORKSPACE = "MNEMARK_WORKSPACE"


def remote_memory(url: str, folder: Path | None) -> RemoteMemory:
    """Return a memory on a server, by the key in the environment, or the one that `connect` keeps.

    Raises:
        UsageError: there is no key, the address is none, or a folder was named as well.
    """
    if folder is not None and str(folder) != os.environ.get(_WORKSPACE):
        raise UsageError("give a workspace or a server, not both: the key names the memory on a server")
    return Memory.connect(url)


@contextmanager
def subject(folder: Path | None, server: str, *, readonly: bool) -> Iterator[OpenWorkspace]:
    """Have the memory of a folder open; or, with a server, a copy of the one there, which is merged back."""
    if not server:
        with workspace.opened(workspace.locate(folder), readonly=readonly) as memory:
            yield memory.workspace
        return
    with remote_memory(server, folder) as remote, remote.copy() as copied:
        yield copied
        if not readonly:
            remote.merge(copied.root)
