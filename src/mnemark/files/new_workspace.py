"""Make a folder a workspace, and the scope of a project, when something is first written there."""

import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from mnemark.errors import ReadOnlyError, UsageError
from mnemark.files import layout, links, names, platform, scopes
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.layout import CONFIG, PRIVATE
from mnemark.files.private import create, not_made, private_folder
from mnemark.files.projects import FILE, FOLDER, path_line, scope_of

_CONFIG_TEXT = """\
# mnemark keeps its defaults in the program; write here only what differs. All keys: docs/configuration.md
# recall_budget = 800        # tokens of recalled text in a prompt
# ignore = ["drafts/*"]      # files that are not memory
"""
MEMORY_TEXT = "# Memory\n"
_STIGNORE_TEXT = f"// mnemark's index is rebuilt on each machine.\n(?d){PRIVATE}\n"
_LOCK: Final = "projects.lock"
_SECONDS: Final = 5.0
_NAME_BYTES: Final = 60
_PROJECT_TEXT: Final = """\
---
# The git repository that this folder is the memory of. If it has moved, correct its path; a repository with
# several places has a line for each.
{path}
---
"""


def init(root: Path) -> list[str]:
    """Make `root` a minimal workspace and return the relative paths that were created.

    What exists is left as it is. A folder shared by Syncthing (it has `.stfolder`) also gets a `.stignore`;
    see `sync_warning`. Raises ReadOnlyError.
    """
    has_memory = any((root / name).exists() for name in ("MEMORY.md", "memory/MEMORY.md"))
    wanted = {CONFIG: _CONFIG_TEXT} | ({} if has_memory else {"MEMORY.md": MEMORY_TEXT})
    if (root / ".stfolder").exists():
        wanted[".stignore"] = _STIGNORE_TEXT
    try:
        platform.make_folder(root / "memory")
        made = [name for name, text in wanted.items() if create(root / name, text)]
    except (PermissionError, NotADirectoryError, FileExistsError) as error:
        raise ReadOnlyError(f"Cannot write to {root}: {error.strerror}. Choose another folder.") from error
    except OSError as error:
        raise not_made(error, root) from error
    private_folder(root)
    return made


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
        text = _PROJECT_TEXT.format(path=path_line(repository))
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
