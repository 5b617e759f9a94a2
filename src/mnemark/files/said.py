"""Keep what a person has just said until it is recorded: an agent's transcript has a prompt after its answer.

So a model that corrects memory while it answers can be told from one that does so unasked. What is kept is
redacted, private to the user, and gone once the turn is recorded, after half an hour, or with an erasure.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from mnemark.errors import MnemarkError
from mnemark.files import layout, off_record, platform
from mnemark.files.config import load
from mnemark.files.private import private, session_note, write_session_note
from mnemark.files.workspace import Workspace
from mnemark.types import Turn

FRESH: Final = timedelta(minutes=30)
"""How long something was said just now."""
_MOST: Final = 20_000
"""Maximum characters of a prompt that are kept."""


def note(ws: Workspace, session: str, text: str) -> None:
    """Keep what was said in a session (the path of its log), but not off the record.

    Where it cannot be written, it is known once the turn is recorded.
    """
    with suppress(OSError, MnemarkError):
        _drop(ws.root, datetime.now(UTC) - FRESH)
        if text.strip() and off_record.load(ws.root).current() is None:
            now = datetime.now(UTC)
            turn = ws.redact(Turn(id="", time=now, role="user", content=text[:_MOST], origin="owner"))
            write_session_note(ws.root, session, layout.SAID, turn.content.encode("utf-8", "replace"))


def note_alone(root: Path, session: str, text: str) -> None:
    """Keep what was said in a session, as `note` does, in a process that has not opened the workspace."""
    with suppress(MnemarkError):
        note(Workspace(root, load(root)), session, text)


def just_now(root: Path, since: datetime) -> Iterator[str]:
    """Yield what was said since a time and is not recorded yet."""
    for path in _notes(root):
        with suppress(OSError, UnicodeDecodeError):
            if _time(path) >= since:
                yield platform.content(path).decode()


def waits(root: Path, session: str) -> bool:
    """Return whether something was said in a session that is not recorded yet."""
    return session_note(root, session, layout.SAID).exists()


def _drop(root: Path, until: datetime) -> None:
    for path in _notes(root):
        if _time(path) < until:
            platform.FS.unlink(path)


def _notes(root: Path) -> list[Path]:
    return list((private(root) / layout.HOOKS).glob(f"*{layout.SAID}"))


def _time(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
