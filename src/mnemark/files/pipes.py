"""Pass messages through the pipes to a process that this one started."""

import struct
import sys
from pathlib import PurePath
from typing import Any, BinaryIO, Final

import msgspec

NO_WINDOW: Final = 0x0800_0000 if sys.platform == "win32" else 0
"""For `creationflags`: Windows opens no console."""
_LENGTH: Final = struct.Struct("<Q")


class LostError(Exception):
    """The other side ended before its message did."""


def send(pipe: BinaryIO, value: object) -> None:
    """Send a message."""
    data = msgspec.msgpack.encode(value)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:
    """Receive a message.

    Raises:
        LostError: the other side has ended.
    """
    return msgspec.msgpack.decode(_exactly(pipe, _LENGTH.unpack(_exactly(pipe, _LENGTH.size))[0]))


def _exactly(pipe: BinaryIO, size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise LostError
    return data


def program(module: str) -> list[str] | None:
    """Return the command that runs `main` of a module of ours; None where `sys.executable` is not Python.

    It imports what this process can, but not the main module of the user's program.
    """
    if getattr(sys, "frozen", False) or not PurePath(sys.executable or "").name.lower().startswith("py"):
        return None
    start = f"import sys; sys.path[:] = sys.argv[1:]; from {module} import main; main()"
    return [sys.executable, "-I", "-c", start, *map(str, sys.path)]
