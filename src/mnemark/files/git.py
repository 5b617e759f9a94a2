"""The git repository a workspace may lie in: what its history still holds, and rewriting what was not pushed.

Only the `git` program is used, and words that are looked for are never among its arguments, where other users
of the machine could read them.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.errors import MnemarkError, UsageError
from mnemark.files.needles import ERASED, Needles

_LARGEST: Final = 1 << 29
"""Bytes of a repository that are looked through."""
_SECONDS: Final = 120


class History(NamedTuple):
    """What a repository holds of some words. `objects` None: it is too large, or git is missing."""

    root: Path
    objects: int | None
    remotes: tuple[str, ...] = ()


def repository(folder: Path) -> Path | None:
    """The repository that a folder lies in; None where it lies in none."""
    for parent in (folder, *folder.parents):
        if (parent / ".git").exists():
            return parent
    return None


def history(folder: Path, needles: Needles) -> History | None:
    """What the repository of a folder holds of the words, in any commit, or left over from one."""
    root = repository(folder)
    if root is None:
        return None
    if shutil.which("git") is None or _size(root) > _LARGEST:
        return History(root, None)
    everything = ("cat-file", "--batch-all-objects", "--batch", "--unordered", "--buffer")
    holding = sum(1 for data in _objects(_git(root, *everything)) if needles.found_in(data))
    return History(root, holding, tuple(_git(root, "remote").decode("utf-8", "replace").split()))


def _size(root: Path) -> int:
    found = _git(root, "count-objects", "-v").decode("ascii", "replace").split("\n")
    sizes = dict(line.split(": ", 1) for line in found if ": " in line)
    return 1024 * (int(sizes.get("size", "0")) + int(sizes.get("size-pack", "0")))


def _objects(data: bytes) -> list[bytes]:
    """The contents in the output of `cat-file --batch`: a line "<id> <type> <size>", the bytes, a newline."""
    found = []
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        size = int(data[at:end].rpartition(b" ")[2])
        found.append(data[end + 1 : end + 1 + size])
        at = end + 2 + size
    return found


def _git(root: Path, *arguments: str, given: bytes = b"") -> bytes:
    """Run git in a repository; its output.

    Raises:
        MnemarkError: git failed; the message is what it said.
    """
    environment = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    command = ["git", "-C", os.fspath(root), *arguments]
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, env=environment, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MnemarkError(f"git {arguments[0]} failed: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise MnemarkError(f"git {arguments[0]} failed: {said[:300]}")
    return done.stdout


def check_rewritable(folder: Path, needles: Needles) -> None:
    """Refuse where rewriting history is not simple or not safe.

    Raises:
        UsageError: why not, and what to do instead.
    """
    root = repository(folder)
    instead = "rewrite it with `git filter-repo`, force-push, and have all clones made anew"
    if root is None:
        raise UsageError("the workspace is in no git repository; leave out --git")
    if root.resolve() != folder.resolve():
        raise UsageError(f"the repository {root} holds more than this workspace; {instead}")
    if shutil.which("git") is None or _size(root) > _LARGEST:
        raise UsageError(f"the repository is too large to rewrite here, or git is missing; {instead}")
    if not (root / ".git").is_dir() or (root / ".git/shallow").exists() or (root / ".git/modules").exists():
        raise UsageError(f"the repository is shallow, or has submodules or worktrees; {instead}")
    busy = [
        name for name in ("rebase-merge", "rebase-apply", "MERGE_HEAD") if (root / ".git" / name).exists()
    ]
    refs = _git(root, "for-each-ref", "--format=%(refname)").decode("utf-8", "replace").split()
    odd = [
        name for name in refs if name.startswith(("refs/stash", "refs/notes", "refs/replace", "refs/bisect"))
    ]
    if busy or odd or (root / ".git/worktrees").exists():
        raise UsageError(f"git is in the middle of something ({[*busy, *odd]}); end it first, then try again")
    if _pushed(root, refs, needles):
        raise UsageError(f"what is to go was pushed; {instead}")


def _pushed(root: Path, refs: Sequence[str], needles: Needles) -> bool:
    remote = [name for name in refs if name.startswith("refs/remotes/")]
    if not remote:
        return False
    ids = _git(root, "rev-list", "--objects", "--no-object-names", *remote)
    return any(needles.found_in(data) for data in _objects(_git(root, "cat-file", "--batch", given=ids)))


def rewrite(folder: Path, needles: Needles) -> int:
    """Put `ERASED` in the place of the words in every commit, and drop what no commit needs; objects changed.

    The files in the folder stay as they are; what was staged is no longer. Call `check_rewritable` before.

    Raises:
        MnemarkError: git failed; `.git` is then as far as git came, and nothing was dropped.
    """
    exported = _git(
        folder, "fast-export", "--all", "--reencode=no", "--signed-tags=strip", "--fake-missing-tagger"
    )
    changed, count = _filtered(exported, needles)
    if count:
        _git(folder, "fast-import", "--force", "--quiet", given=changed)
        _git(folder, "reset", "-q")
    _git(folder, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    _git(folder, "gc", "-q", "--prune=now")
    for name in ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG"):
        (folder / ".git" / name).unlink(missing_ok=True)
    return count


def _filtered(stream: bytes, needles: Needles) -> tuple[bytes, int]:
    """A stream of `fast-export` with the words replaced in every `data` block; how many blocks changed."""
    found: list[bytes] = []
    at = count = 0
    while at < len(stream):
        end = stream.index(b"\n", at)
        line = stream[at:end]
        at = end + 1
        if not line.startswith(b"data "):
            found.append(line + b"\n")
            continue
        size = int(line[5:])
        data = stream[at : at + size]
        at += size
        if needles.found_in(data):
            count += 1
            for form in needles.forms:
                data = data.replace(form, ERASED.encode())
        found.append(b"data %d\n" % len(data) + data)
    return b"".join(found), count
