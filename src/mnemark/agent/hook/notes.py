"""Keep what hooks note of a session, a small file for each in `.mnemark/hooks`. Imports stay light."""

from pathlib import Path

from mnemark.files import layout, platform
from mnemark.files.private import private, private_folder
from mnemark.hashes import blake2b


def place_of(root: Path, session: str, ending: str) -> Path:
    """Return the path of a note of a session (the path of its log), whose file name has that ending."""
    name = blake2b(session.encode(), digest_size=10).hexdigest()
    return private(root) / layout.HOOKS / f"{name}{ending}"


def write(root: Path, session: str, ending: str, data: bytes) -> None:
    """Write a note; raise OSError or MnemarkError where it cannot be written."""
    place = place_of(root, session, ending)
    private_folder(root)
    platform.make_folder(place.parent)
    platform.write_private(place, data)
