"""`.mnemark/hook.log`: why a hook did nothing, in a redacted line each, with a limit to its size."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mnemark.files import platform

NAME: Final = "hook.log"
MAX_BYTES: Final = 256 * 1024
"""Beyond this the log is rotated to `hook.log.1`."""
_LINE: Final = 2_000


def log(root: Path | None, message: str) -> None:
    """Write a line to the workspace's log, or to the user's where there is none; never raise."""
    try:
        path = _path(root)
        line = _line(message)
        if path.exists() and path.stat().st_size > MAX_BYTES:
            path.replace(path.with_name(f"{NAME}.1"))
        with platform.open_appended(path) as file:
            file.write(line)
    except Exception:  # noqa: BLE001, S110 - there is nowhere left to say so, and the agent must go on
        pass


def _path(root: Path | None) -> Path:
    if root is not None and root.is_dir():
        from mnemark.errors import MnemarkError
        from mnemark.files.layout import private_folder

        with suppress(MnemarkError):  # read only, or a link: then the user's own log tells of it
            return private_folder(root) / NAME
    folder = platform.state_folder()
    platform.private_folder(folder)
    return folder / NAME


def _line(message: str) -> bytes:
    from mnemark.text.redaction.redact import redact

    clean = " ".join(redact(message).text.split())[:_LINE]
    return f"{datetime.now(UTC).astimezone().isoformat(timespec='seconds')} {clean}\n".encode(
        "utf-8", "replace"
    )
