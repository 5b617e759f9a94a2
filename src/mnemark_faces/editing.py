"""Load the files of a memory that people edit in a page or an editor, as they are, and save them unharmed.

Both show a person their own file, with what agents do not see; nothing that was redacted is ever saved.
"""

from typing import Final

from mnemark.errors import NotFoundError, UsageError
from mnemark.files import layout
from mnemark.files.edit import edit
from mnemark.files.reading import digest
from mnemark.memory.memory import Memory

CORE: Final = ("MEMORY.md", "USER.md", "SOUL.md", "SCRATCHPAD.md")
MOST: Final = 60_000
"""Maximum number of bytes of a file that can be edited."""
NOT_NOTES: Final = frozenset({"session", "journal", "copy", "review"})
"""Roles of files that people do not edit."""
_EDITABLE: Final = (".md", ".markdown", ".txt")


def content(memory: Memory, path: str) -> bytes:
    """Return the bytes of a file that may be edited; a core file that is missing is empty.

    Raises:
        NotFoundError: there is no such file.
        UsageError: it is no text of the memory, or too long.
    """
    place = layout.place(path)
    target = layout.safe_path(memory.root, path)
    if place is None or place.role in NOT_NOTES or not path.endswith(_EDITABLE):
        raise UsageError(f"{layout.shown(path)} cannot be edited here")
    if not target.is_file():
        if path in CORE:
            return b""
        raise NotFoundError(f"the file {layout.shown(path)} does not exist")
    data = target.read_bytes()
    if len(data) > MOST:
        raise UsageError(f"{path} is too long to edit here; open it in an editor")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text; open it in an editor") from error
    return data


def save(memory: Memory, path: str, new: bytes, known: str) -> bytes | None:
    """Save a file if it is still the one with the digest `known`; else return what it is now.

    Raises:
        ReadOnlyError: the memory is open for reading only.
        UsageError: another program is saving it.
    """
    memory.workspace.check_writable("edit files")
    clash: list[bytes] = []

    def change(now: bytes) -> bytes:
        clash[:] = [now] if digest(now) != known else []
        return now if clash else new

    result = edit(memory.workspace.truth, path, change)
    if clash:
        return clash[0]
    if result.status == "deferred":
        raise UsageError(f"{path} is being saved by another program; go back and save again")
    memory.sync(wait=2.0, embed=False)
    return None
