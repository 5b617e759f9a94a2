"""Refuse links that would lead mnemark's own reading and writing out of a workspace.

A folder that was cloned, synced or unpacked may hold links to any place. `.mnemark` may contain none, and the
folders that mnemark writes memory to may be links to places inside only. Other links are left alone: scans
report them and follow nothing.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from mnemark.errors import UsageError
from mnemark.files import layout, platform
from mnemark.files.private import check_private, own_link

_OF_A_SCOPE = ("sessions", "sessions/archive", "journal", "memory", *layout.UNDER_MEMORY, "personas")
_READ_EACH_TIME = ("sessions", "journal", "memory", "memory/facts")


def check(root: Path) -> None:
    """Raise UsageError for a workspace in which a folder that mnemark uses is a link out."""
    check_private(root)
    base = os.fspath(root)
    for link in _links_below(f"{base}/{layout.PRIVATE}"):
        raise own_link(root, os.path.relpath(link, base))
    for place in _places(base):
        _refuse_if_out(root, place)


def check_again(root: Path) -> None:
    """Check the folders that each question reads again, in some 20 µs: a sync may bring a link."""
    check_private(root)
    for name in _READ_EACH_TIME:
        if platform.is_link(f"{os.fspath(root)}/{name}"):
            _refuse_if_out(root, name)


def _places(base: str) -> Iterator[str]:
    """Yield the links among the folders that mnemark uses, relative to the workspace."""
    yield from _of_scope(base, "")
    yield from (f"journal/{name}" for name in _links_in(f"{base}/journal"))
    for kind in layout.SCOPES:
        if platform.is_link(f"{base}/{kind}"):
            yield kind
        yield from (f"{kind}/{name}" for name in _links_in(f"{base}/{kind}"))
        for entry in _entries(f"{base}/{kind}"):
            if entry.is_dir(follow_symlinks=False):
                yield from _of_scope(base, f"{kind}/{entry.name}/")


def _of_scope(base: str, scope: str) -> Iterator[str]:
    return (scope + name for name in _OF_A_SCOPE if platform.is_link(f"{base}/{scope}{name}"))


def _links_in(folder: str) -> list[str]:
    return [entry.name for entry in _entries(folder) if entry.is_symlink() or platform.is_junction(entry)]


def _links_below(folder: str) -> Iterator[str]:
    """Yield the links at any depth: all files of `.mnemark` are opened by name, through links too."""
    for entry in _entries(folder):
        if entry.is_symlink() or platform.is_junction(entry):
            yield entry.path
        elif entry.is_dir(follow_symlinks=False):
            yield from _links_below(entry.path)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:  # missing or unreadable: nothing can be reached through it
        return []


def _refuse_if_out(root: Path, place: str) -> None:
    real = Path(os.path.realpath(root / place))
    if not real.is_relative_to(os.path.realpath(root)):
        raise UsageError(
            f"{layout.shown(str(root / place))} is a link that leads out of the workspace, to "
            f"{layout.shown(str(real))}: mnemark would read and write there. Put a folder in its place; to "
            "search that other folder, too, mount it (`mounts` in mnemark.toml)"
        )
