"""Join two versions of a file for git, as its merge driver."""

from contextlib import suppress
from pathlib import Path

from mnemark.errors import NotFoundError
from mnemark.facts.visible import PlainWorkspace
from mnemark.files import layout, platform
from mnemark.files.config import load
from mnemark.memory.merging.join import join_file


def join_for_git(top: Path, path: str, base: Path, ours: Path, theirs: Path) -> bool:
    """Write into `ours` what both versions have; return False where a person has to choose.

    Args:
        top: the work tree of the repository.
        path: of the file, relative to it.
        base: a file with the version before; empty where both added the file.
        ours: a file with one version; it is overwritten.
        theirs: a file with the other.
    """
    root = top
    with suppress(NotFoundError):
        root = layout.find_root((top / path).parent)
    name = (top / path).relative_to(root).as_posix()
    before, mine, yours = (platform.content(one.absolute()) for one in (base, ours, theirs))
    zone = PlainWorkspace(root, load(root), readonly=True).fact_store.zone
    joined = join_file(name, before or None, mine, yours, zone=zone)
    if joined.beside is not None:
        return False
    ours.write_bytes(joined.data)
    return True
