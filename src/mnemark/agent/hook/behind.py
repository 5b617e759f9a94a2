"""Wait for a transcript that is written behind an agent's hooks, as Copilot CLI does. Imports stay light."""

import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

_SECONDS: Final = 0.5
"""The longest wait; what comes later is read by the session's next hook."""
_PAUSE: Final = 0.02
_TAIL: Final = 65_536
"""Bytes at a transcript's end in which the event is looked for."""


def wait_for(data: Mapping[str, Any]) -> None:
    """Wait until the transcript holds the start of this hook: what it tells of stands before that."""
    path, given = data.get("transcript_path"), data.get("timestamp")
    try:
        mark = b":%d" % round(datetime.fromisoformat(str(given)).timestamp() * 1000)
    except ValueError:
        return
    deadline = time.monotonic() + _SECONDS
    while mark not in _tail(Path(str(path))) and time.monotonic() < deadline:
        time.sleep(_PAUSE)


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            return file.read()
    except OSError:  # not there yet
        return b""
