"""Keep what a person has just said until it is recorded: an agent's transcript has a prompt after its answer.

So a model that corrects memory while it answers can be told from one that does so unasked. What is kept is
redacted, private to the user, and gone once the turn is recorded, after half an hour, or with an erasure.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from mnemark.errors import MnemarkError
from mnemark.files import layout, off_record, platform
from mnemark.files.private import private, session_note, write_session_note
from mnemark.text.redaction.redact import Rules, redact

FRESH: Final = timedelta(minutes=30)
"""How long something was said just now."""
_MOST: Final = 20_000
"""Maximum characters of a prompt that are kept."""


def note(root: Path, session: str, text: str, rules: Callable[[], Rules]) -> None:
    """Keep what was said in a session, but not off the record.

    Where it cannot be written, it is known once the turn is recorded.

    Args:
        root: the workspace.
        session: the path of its log in its scope.
        text: what was said.
        rules: returns the rules for redacting it.
    """
    with suppress(OSError, MnemarkError):
        _drop(root, datetime.now(UTC) - FRESH)
        if text.strip() and off_record.load(root).current() is None:
            kept = redact(text[:_MOST], rules()).text
            write_session_note(root, session, layout.SAID, kept.encode("utf-8", "replace"))


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
