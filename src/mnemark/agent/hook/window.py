"""Find which turns of a session the model still sees: those since its context was last compacted.

A recall leaves that part out. The line is kept in `.mnemark/`: losing it only means that less is recalled.
"""

import hashlib
from pathlib import Path
from typing import Final

from mnemark.files import layout, platform
from mnemark.files.jsonl import count_lines

_FOLDER: Final = "hooks"


def _place(root: Path, session: str) -> Path:
    name = hashlib.blake2b(session.encode(), digest_size=10).hexdigest()
    return root / layout.PRIVATE / _FOLDER / name


def note_compaction(root: Path, session: str) -> None:
    """The model's context is being condensed: what stands in the session's file now is not in it any more.

    Args:
        root: the workspace.
        session: path of the session's file in it.
    """
    path = root / session
    if not path.is_file():
        return
    place = _place(root, session)
    layout.private_folder(root)
    platform.make_folder(place.parent)
    lines = count_lines(path, path.stat().st_size)
    platform.write_private(place, b"%d\n" % lines)


def from_line(root: Path, session: str) -> int:
    """The first line of the session's file that the model still sees; 1 where nothing was condensed."""
    try:
        return int(platform.content(_place(root, session))) + 1
    except (OSError, ValueError):
        return 1
