"""Remember the workspaces that a person has opened in a browser, each by a name for its address."""

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.files import platform
from mnemark.files.private import private
from mnemark.hashes import blake2b
from mnemark.text.lazy_pattern import lazy_pattern

_NAME: Final = "workspaces.json"
_MOST: Final = 50
_NOT_IN_NAMES: Final = lazy_pattern(r"[^a-z0-9_]+")
_TAKEN: Final = frozenset({"enter", "static"})
"""Names of other addresses of the pages."""
_LONGEST: Final = 24
"""Maximum characters of a name; the paths that nobody can guess are longer."""


class KnownWorkspace(NamedTuple):
    """A workspace in the list."""

    id: str
    path: str
    name: str
    bytes: int
    """Of its index."""
    changed: datetime | None
    """When its index was last written."""


def named() -> dict[str, Path]:
    """Return the folders by their names in addresses, the last opened first; none is looked at."""
    try:
        found = json.loads(platform.content(platform.state_folder() / _NAME))
    except (OSError, ValueError):
        return {}
    known: dict[str, Path] = {}
    for one in found if isinstance(found, list) else ():
        path, name = _entry(one)
        if path and path not in map(str, known.values()):
            known[name if name and name not in known else _name(Path(path), known)] = Path(path)
    return known


def _entry(one: Any) -> tuple[str, str]:
    if isinstance(one, Mapping):
        path, name = one.get("path"), one.get("name")
        return path if isinstance(path, str) else "", name if isinstance(name, str) else ""
    return one if isinstance(one, str) else "", ""  # as written before there were names


def add(root: Path) -> str:
    """Put a folder at the head of the list, and return its name, which it keeps."""
    known = named()
    name = next((name for name, path in known.items() if path == root), "") or _name(root, known)
    rows = {name: root} | {other: path for other, path in known.items() if other != name}
    kept = [{"path": str(path), "name": name} for name, path in list(rows.items())[:_MOST]]
    platform.private_folder(platform.state_folder())
    platform.write_private(platform.state_folder() / _NAME, json.dumps(kept).encode())
    return name


def long_name(root: Path) -> str:
    """Return a name that no other folder has: the folder's own, as far as it can stand there, and a hash."""
    made = blake2b(str(root).encode("utf-8", "surrogateescape"), digest_size=5)
    return f"{_plain(root) or 'memory'}-{base64.b32encode(made.digest()).decode().lower()}"


def _name(root: Path, known: Mapping[str, Path]) -> str:
    plain = _plain(root)
    return plain if plain and plain not in known and plain not in _TAKEN else long_name(root)


def _plain(root: Path) -> str:
    return _NOT_IN_NAMES.sub("-", root.name.lower()).strip("-")[:_LONGEST].strip("-")


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
