"""Keep what is sent to a memory on a server until it is there. Imports stay light: hooks need this.

What is sent at a time, an event, is a file of its own, with mode 0600, which its process holds locked until
the server has it: what is not locked was left by a process that ended, or by a server that did not answer,
and waits. Events are sent in the order of their names, which begin with the time. Sent twice, an event is
there once: its turns and tool calls have ids.
"""

import json
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.errors import BusyError
from mnemark.files import platform
from mnemark.files.server_keys import Known
from mnemark.hashes import blake2b
from mnemark_agents import server
from mnemark_agents.daemon import DaemonRefusedError, UnreachableError

FOLDER: Final = "outbox"
"""Folder in the user's state folder, with a folder for each server."""
_ENDING: Final = ".json"
_REFUSED: Final = ".refused"
"""Ending of an event that the server does not take; it is kept for a person to look at."""
_SILENT: Final = "silent"
"""File whose time says when the server did not answer."""
_SILENT_SECONDS: Final = 10.0
"""How long nobody waits for a server that did not answer."""
_SECONDS: Final = 30.0
"""Seconds that one event may take in the background."""
_TAKEN_LATER: Final = frozenset({401, 403, 408, 409, 425, 429})
"""Statuses of refusals that end by themselves, or once a person has seen to it: a key, a limit, a lock."""


class Waiting(NamedTuple):
    """What waits for a server."""

    events: int
    refused: int


class Sent(NamedTuple):
    """The result of sending what waits."""

    events: int
    problem: str = ""
    """Why the rest waits on; empty where there is none."""


class Sending:
    """An event that is on its way: a file that this process holds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held = ExitStack()
        with suppress(BusyError, FileNotFoundError):  # another process is sending it, or has
            self._held.enter_context(platform.locked(path, os.O_RDWR, timeout=0.0))

    def is_there(self) -> None:
        """Remove it: the server has it."""
        self.keep()
        platform.FS.unlink(self.path)

    def keep(self) -> None:
        """Leave it for whoever sends what waits."""
        self._held.close()


class Outbox:
    """What is on its way to a memory on a server.

    A key of the environment may open another memory next time, and what waits is for this one: so it has a
    folder of its own. Of a key that is kept, `mnemark connect` sees to that.
    """

    def __init__(self, url: str, known: Known) -> None:
        self.url = url
        self._key = known.key
        name = f"{url}\n{'' if known.memory else known.key}"
        self.folder = (
            platform.state_folder()
            / FOLDER
            / blake2b(name.encode("utf-8", "replace"), digest_size=8).hexdigest()
        )

    def put(self, path: str, body: Mapping[str, Any]) -> Sending:
        """Keep what is to be sent to a path until it is there. Raises OSError where it cannot be written."""
        self._make()
        file = self.folder / f"{time.time_ns():020d}-{os.getpid()}{_ENDING}"
        data = json.dumps({"path": path, "body": body}, ensure_ascii=False, separators=(",", ":"))
        platform.write_private(file, f"{data}\n".encode("utf-8", "replace"))
        return Sending(file)

    def waiting(self) -> Waiting:
        """Return how many events wait, and how many the server refused."""
        found = self._names()
        events = sum(name.endswith(_ENDING) and not self._is_held(name) for name in found)
        return Waiting(events, sum(name.endswith(_REFUSED) for name in found))

    def has(self) -> bool:
        """Tell whether an event waits."""
        return any(name.endswith(_ENDING) and not self._is_held(name) for name in self._names())

    def note_silence(self) -> None:
        """Note that the server did not answer: the next hooks need not wait for it."""
        with suppress(OSError):
            self._make()
            platform.write_private(self.folder / _SILENT, b"")

    def is_silent(self) -> bool:
        """Tell whether the server did not answer a moment ago."""
        try:
            return 0 <= time.time() - (self.folder / _SILENT).stat().st_mtime < _SILENT_SECONDS
        except OSError:
            return False

    def send(self) -> Sent:
        """Send what waits, in order, until the server does not answer."""
        count = 0
        for name in self._names():
            try:
                count += name.endswith(_ENDING) and self._send(self.folder / name)
            except (UnreachableError, DaemonRefusedError) as error:
                self.note_silence()
                return Sent(count, str(error))
        return Sent(count)

    def _send(self, path: Path) -> bool:
        """Send an event, unless another process does; tell whether it is there.

        Raises:
            UnreachableError: the server does not answer.
            DaemonRefusedError: it does not take the event now.
        """
        try:
            with platform.locked(path, os.O_RDWR, timeout=0.0):
                taken = self._is_taken(path)
        except (BusyError, FileNotFoundError):
            return False
        if taken:
            platform.FS.unlink(path)
        else:
            platform.FS.replace(path, path.with_name(path.name + _REFUSED))
        return taken

    def _is_taken(self, path: Path) -> bool:
        """Send an event; return False where the server will never take it."""
        try:
            kept = json.loads(platform.content(path))
            to, body = str(kept["path"]), dict(kept["body"])
        except (ValueError, LookupError, TypeError):
            return False
        try:
            self.ask(to, body, _SECONDS)
        except DaemonRefusedError as error:
            if error.status >= 500 or error.status in _TAKEN_LATER:
                raise
            return False
        return True

    def ask(self, path: str, body: Mapping[str, Any], seconds: float) -> Any:
        """Send something now, and return the answer.

        Raises:
            UnreachableError: the server does not answer in time.
            DaemonRefusedError: it does not take the event.
        """
        return server.post(self.url, self._key, path, body, seconds)

    def _names(self) -> list[str]:
        try:
            return sorted(path.name for path in self.folder.iterdir())
        except OSError:
            return []

    def _is_held(self, name: str) -> bool:
        return platform.is_locked(self.folder / name)

    def _make(self) -> None:
        platform.private_folder(self.folder)
