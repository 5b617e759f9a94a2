"""Search the git history of a workspace, and commit exactly the files that a run changed.

Searched words are never among git's arguments, where other users of the machine could read them.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.errors import MnemarkError
from mnemark.files.needles import BytePatterns
from mnemark.files.repository import Repository, is_installed, opened

_LARGEST: Final = 1 << 29
"""Bytes of a repository that are searched at most."""
_BARE: Final = ("HEAD", "config", "objects", "refs")
"""What a bare repository holds, the files of which may lie in any folder."""


class History(NamedTuple):
    """Number of objects with some words. `objects` None: the repository is too large, or git is missing."""

    root: Path
    objects: int | None
    remotes: tuple[str, ...] = ()


def repository(folder: Path) -> Path | None:
    """Return the root of the repository that a folder lies in, or None."""
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)


def history(folder: Path, needles: BytePatterns) -> History | None:
    """Search the objects of a folder's repository, in commits or left over from them, for words.

    Raises:
        MnemarkError: git is not run there, or failed.
    """
    root = repository(folder)
    if root is None:
        return None
    if not is_installed():
        return History(root, None)
    with opened(root) as repo:
        if _size(repo) > _LARGEST:
            return History(root, None)
        everything = ("cat-file", "--batch-all-objects", "--batch", "--unordered", "--buffer")
        holding = sum(1 for data in _objects(repo.output(*everything)) if needles.found_in(data))
        remotes = [key.removeprefix("remote.").removesuffix(".url") for key in repo.settings
                   if key.startswith("remote.") and key.endswith(".url")]  # fmt: skip
    return History(root, holding, tuple(remotes))


def _size(repo: Repository) -> int:
    found = _text(repo.output("count-objects", "-v")).split("\n")
    sizes = dict(line.split(": ", 1) for line in found if ": " in line)
    return 1024 * (int(sizes.get("size", "0")) + int(sizes.get("size-pack", "0")))


def _objects(data: bytes) -> list[bytes]:
    """Split the output of `cat-file --batch`: a line "<id> <type> <size>", the bytes, a newline."""
    found = []
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        size = int(data[at:end].rpartition(b" ")[2])
        found.append(data[end + 1 : end + 1 + size])
        at = end + 2 + size
    return found


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def commit(root: Path, paths: Sequence[str], message: str, *, along: Sequence[str] = ()) -> str:
    """Commit these files of the workspace and no others, whatever else is staged.

    Neither hooks nor filters are run, and nothing is signed: such programs are chosen by a repository. Files
    of `along` are committed with the others if one of these has changed. Returns why it could not be done;
    empty where it was, or where there was nothing to commit.
    """
    if not is_installed():
        return "git is not installed"
    if not os.path.lexists(root / ".git"):
        if all((root / name).exists() for name in _BARE):
            return "the workspace holds the files of a bare repository, which mnemark does not use"
        return "the workspace is not the root of a git repository"
    try:
        with opened(root, writes=True) as repo:
            return _commit(repo, paths, message, along)
    except MnemarkError as error:
        return str(error)


def _commit(repo: Repository, paths: Sequence[str], message: str, along: Sequence[str]) -> str:
    changed = ("status", "--porcelain", "--ignore-submodules=all", "--")
    kept = _committable(repo, paths)
    if not kept or not repo.output(*changed, *kept):
        return ""
    kept += [path for path in _committable(repo, along) if path not in kept]
    if problem := _filtered(repo, kept):
        return problem
    done = repo.run("update-index", "--add", "--remove", "-z", "--stdin", said=_lines(kept))
    if not done.returncode:
        if not repo.run("diff", "--cached", "--quiet", "--ignore-submodules=all", "--", *kept).returncode:
            return ""
        # Other users read command lines.
        done = repo.run("commit", "--quiet", "--only", "--file=-", "--", *kept, said=os.fsencode(message))
    lines = _text(done.stderr or done.stdout).strip().splitlines()
    return (lines[-1] if lines else f"git ended with {done.returncode}") if done.returncode else ""


def _filtered(repo: Repository, paths: Sequence[str]) -> str:
    """Say which file goes through a filter, such as one that encrypts: it must not be committed without."""
    found = repo.output("check-attr", "--stdin", "-z", "filter", said=_lines(paths)).split(b"\0")
    for path, name in zip(found[::3], found[2::3], strict=False):
        if os.fsdecode(name) in repo.filters:
            return f"{_text(path)} goes through git's filter {_text(name)}, which mnemark does not start"
    return ""


def _lines(paths: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _committable(repo: Repository, paths: Sequence[str]) -> list[str]:
    """Return the files that are there, or that git knows, without ignored ones."""
    asked = list(dict.fromkeys(paths))
    if not asked:
        return []
    known = repo.output("ls-files", "-z", "--", *asked).split(b"\0")
    ignored = repo.run("check-ignore", "-z", "--stdin", said=_lines(asked)).stdout.split(b"\0")
    there = (path for path in asked if (repo.root / path).exists() or os.fsencode(path) in known)
    return [path for path in there if os.fsencode(path) not in ignored]


def last_commits(root: Path, paths: Sequence[str]) -> dict[str, str]:
    """Return the subject of the last commit of each file; none where there is no repository to ask."""
    if not os.path.lexists(root / ".git") or not is_installed():
        return {}
    last = ("log", "-1", "--format=%s", "--no-mailmap", "--")
    try:
        with opened(root) as repo:
            found = {path: repo.run(*last, path) for path in dict.fromkeys(paths)}
    except MnemarkError:
        return {}
    return {path: _text(done.stdout).strip() for path, done in found.items() if not done.returncode}
