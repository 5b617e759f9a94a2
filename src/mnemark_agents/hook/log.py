"""Append hook failures to `.mnemark/hook.log`, one redacted line each; rotate it by size."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mnemark.errors import MnemarkError
from mnemark.files import platform
from mnemark.files.private import private_folder
from mnemark.text.redaction.redact import redact

NAME: Final = "hook.log"
MAX_BYTES: Final = 256 * 1024
"""Size at which the log is rotated to `hook.log.1`."""
_MAX_LINE: Final = 2_000


def log(root: Path | None, message: str) -> None:
    """Append a line to the workspace's log, or the user's without a workspace; never raise."""
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
        with suppress(MnemarkError):  # read-only, or a link: use the user's log
            return private_folder(root) / NAME
    folder = platform.state_folder()
    platform.private_folder(folder)
    return folder / NAME


def _line(message: str) -> bytes:
    clean = " ".join(redact(message).text.split())[:_MAX_LINE]
    return f"{datetime.now(UTC).astimezone().isoformat(timespec='seconds')} {clean}\n".encode(
        "utf-8", "replace"
    )
