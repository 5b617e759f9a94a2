"""Send what a host's process says to a memory on a server; what does not get there waits on this machine."""

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mnemark.errors import BusyError
from mnemark.files.ids import new_id
from mnemark_agents.outbox import Outbox

if TYPE_CHECKING:
    from mnemark.memory.client import Client


def said_now(role: str, text: str) -> dict[str, Any]:
    """Return the body of the call `turns` for what was said at this moment."""
    turn = {"role": role, "content": text, "time": datetime.now(UTC).astimezone().isoformat()}
    return {"turns": [turn], "call": new_id()}


class Delivery:
    """Sends calls that record, in order, each until it is there. Thread-safe.

    Args:
        client: sends to the server.
    """

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._outbox = Outbox(client.url, client.known)
        self._order = threading.Lock()

    def send(self, name: str, body: Mapping[str, Any]) -> None:
        """Send a call, or keep it for later where the server does not answer.

        Args:
            name: of the call.
            body: plain JSON, with the id of the `call`: sent twice, it is there once.

        Raises:
            MnemarkError: the server refuses it.
            OSError: it cannot be kept.
        """
        with self._order:
            self._send_waiting()
            if not self._outbox.has():
                try:
                    self._client.call(name, body, repeats=False)
                except BusyError:
                    self._outbox.note_silence()
                else:
                    return
            self._outbox.put(f"/v1/{name}", body).keep()

    def send_waiting(self) -> None:
        """Send what waits, if anything does and the server may answer."""
        with self._order:
            self._send_waiting()

    def _send_waiting(self) -> None:
        if self._outbox.has() and not self._outbox.is_silent():
            self._outbox.send()
