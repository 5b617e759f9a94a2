"""Keep the door of the pages between two daemons: its port, its address, and which browsers are let in.

A tab and a bookmark outlive a daemon, which ends when it is idle. So the port is chosen once for each user
and kept, and so are the path that the pages are below, the name of the cookie and a hash of each cookie that
is valid: whoever reads the file cannot come in with it.
"""

import logging
import secrets
import zlib
from collections.abc import Iterator
from typing import Final

import msgspec

from mnemark.files import platform

NAME: Final = "door.json"
"""File in the user's state folder."""
_FIRST_PORT: Final = 21_000
_PORTS: Final = 10_000
"""How many ports a user's is chosen from: below those that systems give to outgoing connections."""
_TRIES: Final = 100
_log = logging.getLogger("mnemark.serve")


class DoorFile(msgspec.Struct):
    """What the file holds."""

    home: str = msgspec.field(default_factory=lambda: f"/ui/{secrets.token_hex(16)}")
    cookie: str = msgspec.field(default_factory=lambda: f"mnemark-{secrets.token_hex(8)}")
    form_key: str = msgspec.field(default_factory=lambda: secrets.token_urlsafe(32))
    port: int = 0
    """Of the last daemon; 0 before the first."""
    moved_from: int = 0
    """The port that another program had taken, until somebody is told."""
    sessions: dict[str, float] = {}
    """When each browser's session ends, in seconds since 1970, by a hash of its cookie; the oldest first."""

    def ports(self) -> Iterator[int]:
        """Yield the ports to try: the last one, the user's own, and those after it."""
        if self.port:
            yield self.port
        own = zlib.crc32(str(platform.state_folder()).encode("utf-8", "surrogateescape"))
        for step in range(_TRIES):
            if (port := _FIRST_PORT + (own + step) % _PORTS) != self.port:
                yield port

    def listens_at(self, port: int, *, asked: bool) -> None:
        """Note the port; `asked` is whether it was chosen by name.

        Where another program has the one that was, it may have been sent cookies: they end.
        """
        if self.port not in {0, port} and not asked:
            _log.warning("port %d is taken by another program; from now on it is %d", self.port, port)
            self.moved_from = self.port
            self.sign_out()
        self.port = port

    def sign_out(self) -> int:
        """Let no browser in that was; return how many sessions that ended."""
        ended = len(self.sessions)
        self.sessions = {}
        self.form_key = secrets.token_urlsafe(32)
        return ended


def load() -> DoorFile:
    """Return what is kept; a new door where nothing is, or what others could have written."""
    try:
        data, status = platform.read_file(platform.state_folder() / NAME)
    except FileNotFoundError:
        return DoorFile()
    except OSError as error:
        return _anew(str(error))
    if not platform.is_private(status):
        return _anew("others may read or write it")
    try:
        found = msgspec.json.decode(data, type=DoorFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _anew(str(error))
    sound = _is_word(found.home.removeprefix("/ui/")) and _is_word(found.cookie) and len(found.form_key) >= 32
    return found if sound and 0 <= found.port < 65_536 else _anew("it is damaged")


def _anew(why: str) -> DoorFile:
    _log.warning("%s is not used: %s; browsers have to be let in anew", NAME, why)
    return DoorFile()


def _is_word(text: str) -> bool:
    return len(text) >= 16 and text.replace("-", "").isalnum() and text.isascii()


def save(kept: DoorFile) -> None:
    """Write the file, which only its user can read."""
    platform.private_folder(platform.state_folder())
    platform.write_private(platform.state_folder() / NAME, msgspec.json.encode(kept))
