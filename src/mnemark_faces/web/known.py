"""Remember the workspaces that a person has opened in a browser."""

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.files import platform
from mnemark.files.private import private

_NAME: Final = "workspaces.json"
_MOST: Final = 50


class KnownWorkspace(NamedTuple):
    """A workspace in the list."""

    id: str
    path: str
    name: str
    bytes: int
    """Of its index."""
    changed: datetime | None
    """When its index was last written."""


def folders() -> list[Path]:
    """Return the folders, the last opened first; none is looked at."""
    try:
        found = json.loads(platform.content(platform.state_folder() / _NAME))
    except (OSError, ValueError):
        return []
    return [Path(one) for one in found if isinstance(one, str)]


def add(root: Path) -> None:
    """Put a folder at the head of the list."""
    kept = [str(one) for one in dict.fromkeys([root, *folders()])][:_MOST]
    platform.private_folder(platform.state_folder())
    platform.write_private(platform.state_folder() / _NAME, json.dumps(kept).encode())


def rows(roots: Iterable[Path], identify: Callable[[Path], str]) -> list[KnownWorkspace]:
    """Return the list for people, of the folders that still exist."""
    return [_row(root, identify(root)) for root in roots if root.is_dir()]


def _row(root: Path, identifier: str) -> KnownWorkspace:
    index = private(root) / "index.db"
    try:
        state = index.stat()
    except OSError:
        return KnownWorkspace(identifier, str(root), root.name, 0, None)
    changed = datetime.fromtimestamp(state.st_mtime).astimezone()
    return KnownWorkspace(identifier, str(root), root.name, state.st_size, changed)
