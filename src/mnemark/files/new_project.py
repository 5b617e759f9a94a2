"""Make the scope of a project, when something is first written there."""

import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from mnemark.errors import UsageError
from mnemark.files import layout, links, names, platform, scopes
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.private import private_folder
from mnemark.files.projects import FILE, FOLDER, path_line, scope_of

_LOCK: Final = "projects.lock"
_SECONDS: Final = 5.0
_NAME_BYTES: Final = 60
_TEXT: Final = """\
---
# The git repository that this folder is the memory of. If it has moved, correct its path; a repository with
# several places has a line for each.
{path}
---
"""


def new_scope(root: Path, repository: str) -> str:
    """Return the scope of a repository, made where it has none; two processes at once make one.

    Raises:
        BusyError: another process is making one for longer than five seconds.
        MnemarkError: the folder cannot be written; see `translate_os_errors`.
        UsageError: it is a link that leads out of the workspace, or a workspace of its own.
    """
    folder = private_folder(root)
    with platform.locked(folder / _LOCK, os.O_RDWR | os.O_CREAT, timeout=_SECONDS):
        if scope := scope_of(root, repository):
            return scope
        links.check(root)
        base = folder_name_of(repository)
        found = (base if number == 1 else f"{base}-{number}" for number in count(1))
        scope = f"{FOLDER}/{next(name for name in found if _is_free(root / FOLDER / name))}"
        layout.check_border(root, scope)
        text = _TEXT.format(path=path_line(repository))
        with translate_os_errors(root / scope / FILE):
            platform.make_folder(root / scope)
            platform.write_private(root / scope / FILE, text.encode("utf-8", "replace"))
        return scope


def folder_name_of(repository: str) -> str:
    """Return a folder name, safe on every system, that is readable as the name of a repository."""
    name = names.readable(Path(repository).name.removesuffix(".git"))
    name = name.encode()[:_NAME_BYTES].decode("utf-8", "ignore").strip("-. ")
    try:
        return scopes.folder_name(name or "project")
    except UsageError:  # such as `con`, `node_modules` or `mnemark.toml`
        return f"_{name}"


def _is_free(place: Path) -> bool:
    """Tell whether nothing has that name but an empty folder, which a killed process left."""
    if not os.path.lexists(place):
        return True
    if platform.is_link(os.fspath(place)):
        return False
    with suppress(OSError), os.scandir(place) as entries:
        return next(entries, None) is None
    return False
