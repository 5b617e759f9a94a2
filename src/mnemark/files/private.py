"""Find and make the `.mnemark` of a workspace: what mnemark derives and notes beside the texts."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from mnemark.errors import MnemarkError, ReadOnlyError, UsageError
from mnemark.files import jsonl, platform, trust
from mnemark.files.layout import HOOKS, PRIVATE, shown
from mnemark.hashes import blake2b

COMPILED: Final = "compiled"
"""Folder in `.mnemark` of texts compiled from others; they can be deleted at any time."""
_KEPT: Final = 6
"""Texts kept of each name: several budgets and scopes are in use side by side."""


def home(root: Path) -> Path:
    """Return the folder whose `.mnemark` is used for a workspace; see `trust`."""
    return root if PRIVATE in root.parts else trust.home(root)  # mounts have an index in one


def private(root: Path) -> Path:
    """Return the `.mnemark` of a workspace, which need not exist."""
    return home(root) / PRIVATE


def private_folder(root: Path, *, note: bool = True) -> Path:
    """Return the `.mnemark` of a workspace, made if missing, with a `.gitignore` that keeps it out of git.

    Args:
        root: the workspace.
        note: note that it was made here; not for temporary folders.

    Raises ReadOnlyError, UsageError where it is a link, or MnemarkError for a full or failing disk.
    """
    check_private(root)
    folder = private(root)
    if folder.is_dir():
        return folder
    own = note and PRIVATE not in root.parts
    if own:
        if not os.path.lexists(root / PRIVATE):  # another process may have made the folder anew
            trust.look_again(root)
        trust.note(root)
        folder = private(root)
    try:
        _make(folder, trust.mark_in(root) if own and folder.parent == root else "")
    except OSError as error:
        raise not_made(error, folder) from error
    return folder


def _make(folder: Path, mark: str) -> None:
    """Make a `.mnemark` with its mark at once: without it, another process would take it for foreign."""
    if os.path.lexists(folder):  # or let the system say why it cannot be a folder
        platform.make_folder(folder)
        return
    platform.make_folder(folder.parent)
    new = platform.temporary_beside(folder)
    platform.make_folder(new)
    try:
        create(new / ".gitignore", "*\n")
        if mark:
            create(new / mark, "")
        platform.FS.replace(new, folder)
    except OSError:
        import shutil  # few need it

        shutil.rmtree(new, ignore_errors=True)
        if not folder.is_dir():  # else another process was first
            raise


def not_made(error: OSError, path: Path) -> MnemarkError:
    """Return the error for a file or folder that could not be made."""
    if platform.is_of_disk(error):  # it may work again in a moment: nothing becomes read-only for good
        return MnemarkError(f"Cannot make {path}: {error.strerror}; free some space, or check its disk.")
    return ReadOnlyError(f"Cannot make {path}: {error.strerror}.")


def check_private(root: Path) -> None:
    """Raise UsageError for a `.mnemark` that is a link: index and locks could be written anywhere."""
    if platform.is_link(f"{os.fspath(root)}/{PRIVATE}"):
        raise own_link(root, PRIVATE)


def own_link(root: Path, path: str) -> UsageError:
    """Return the error for a link in a folder that only mnemark writes to."""
    to = shown(os.path.realpath(root / path))
    return UsageError(
        f"{shown(str(root / path))} is a link, to {to}: mnemark keeps its index and locks in a folder of the "
        "workspace itself and follows no link there. Remove the link; mnemark makes anew what it needs"
    )


def create(path: Path, text: str) -> bool:
    """Write a new file; False if there is one already, even a broken link."""
    try:
        fd = platform.FS.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        return False
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode())
    except OSError:  # half a file would be taken for a person's own
        with suppress(OSError):
            platform.FS.unlink(path)
        raise
    return True


def load_compiled(root: Path, name: str, key: str) -> str | None:
    """Return the text kept under a name and key, or None."""
    try:
        return platform.content(private(root) / COMPILED / f"{name}-{key}.md").decode()
    except (OSError, UnicodeDecodeError):  # made anew
        return None


def save_compiled(root: Path, name: str, key: str, text: str) -> None:
    """Keep a text, and the newest others of that name; a failure only means making it again."""
    with suppress(OSError):
        folder = private_folder(root) / COMPILED
        platform.make_folder(folder)
        jsonl.replace_file(folder / f"{name}-{key}.md", text.encode("utf-8", "replace"))
        files = sorted(folder.glob(f"{name}-*.md"), key=lambda path: path.stat().st_mtime_ns)
        for path in files[:-_KEPT]:
            platform.FS.unlink(path)


def session_note(root: Path, session: str, ending: str) -> Path:
    """Return the path of what hooks note of a session (the path of its log), a file with that ending."""
    name = blake2b(session.encode(), digest_size=10).hexdigest()
    return private(root) / HOOKS / f"{name}{ending}"


def write_session_note(root: Path, session: str, ending: str, data: bytes) -> None:
    """Write what hooks note of a session; raise OSError or MnemarkError where it cannot be written."""
    place = session_note(root, session, ending)
    private_folder(root)
    platform.make_folder(place.parent)
    platform.write_private(place, data)


def drop_session_note(root: Path, session: str, ending: str) -> None:
    """Delete what hooks noted of a session; where it cannot be, it stays."""
    with suppress(OSError):
        platform.FS.unlink(session_note(root, session, ending))
