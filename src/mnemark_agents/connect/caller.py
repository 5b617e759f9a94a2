"""Write and read the command lines by which agents run mnemark, each for one memory."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mnemark_agents.connect.commands import WRITTEN

_IN_FOLDER: Final = "--workspace"
_AT_SERVER: Final = "--server"
NAMING: Final = frozenset({_IN_FOLDER, _AT_SERVER})
"""The options that name a memory."""


class Server(NamedTuple):
    """A memory on a server; the key is not written into settings: see `server_keys`."""

    url: str

    def __str__(self) -> str:
        """Return the address, as a folder is shown by its path."""
        return self.url


Memory = Path | Server
"""What an agent is connected to: the folder of a workspace, or a memory on a server."""


class Caller(NamedTuple):
    """How an agent runs mnemark, and for which memory."""

    program: tuple[str, ...]
    memory: tuple[str, ...]
    """The words that name the memory, behind those of a hook or a server."""
    workspace: str
    """The memory's folder, as a shell takes it; empty for one on a server."""
    mark: str = WRITTEN
    """Says in files that are ours as a whole whose they are."""

    def line(self, *words: str) -> list[str]:
        """Return a command line for this memory."""
        return [*self.program, *words, *self.memory]


def command(*words: str) -> list[str]:
    """Return the command line of this installation of mnemark.

    It is the script beside the interpreter, or the interpreter with `-P`: hooks run in the user's project,
    whose modules must not be imported in place of ours.
    """
    name = "mnemark.exe" if sys.platform == "win32" else "mnemark"
    script = Path(sys.executable).with_name(name)
    if script.is_file():
        return [str(script), *words]
    return [sys.executable, "-P", "-m", "mnemark", *words]


def here(memory: Memory) -> Caller:
    """Return the caller of this installation for a memory."""
    if isinstance(memory, Server):
        return Caller(tuple(command()), (_AT_SERVER, memory.url), "")
    return Caller(tuple(command()), (_IN_FOLDER, str(memory)), shlex.quote(str(memory)))


def memory_in(words: Sequence[str]) -> str:
    """Return the memory that a command line names: a folder, or the address of a server; empty for none."""
    return next((words[at + 1] for at, word in enumerate(words[:-1]) if word in NAMING), "")


def is_server_in(words: Sequence[str]) -> bool:
    """Tell whether the memory that a command line names is on a server."""
    return _AT_SERVER in words[:-1]


def with_folder(words: Sequence[str], folder: Path) -> list[str]:
    """Return a command line with a folder in place of the memory that it names."""
    at = next(at for at, word in enumerate(words[:-1]) if word in NAMING)
    return [*words[:at], _IN_FOLDER, str(folder), *words[at + 2 :]]


def hook_line(words: Sequence[str]) -> str:
    """Return the command line of a hook for a shell."""
    if sys.platform == "win32":
        return subprocess.list2cmdline([words[0].replace("\\", "/"), *words[1:]])
    return shlex.join(words)
