"""Search the git history of a workspace, and commit exactly the files that a run changed.

Only the `git` program is used, and words that are looked for are never among its arguments, where other users
of the machine could read them.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.errors import MnemarkError
from mnemark.files.needles import BytePatterns

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


def history(folder: Path, needles: BytePatterns) -> History | None:
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


_COMMIT_SECONDS: Final = 60
_NAME: Final = ("-c", "user.name=mnemark", "-c", "user.email=mnemark@localhost")
"""Who commits where the repository knows nobody."""


def commit(root: Path, paths: Sequence[str], message: str) -> str:
    """Commit these files of the workspace and no others, whatever else is staged.

    Returns why it could not be done; empty where it was, or where there was nothing to commit.
    """
    if shutil.which("git") is None:
        return "git is not installed"
    top = _run(root, "rev-parse", "--show-toplevel")
    if top.returncode or os.path.realpath(top.stdout.strip()) != os.path.realpath(root):
        return "the workspace is not the root of a git repository"
    known = [path for path in dict.fromkeys(paths) if (root / path).exists() or _is_tracked(root, path)]
    kept = [path for path in known if _run(root, "check-ignore", "-q", "--", path).returncode]
    if not kept:
        return ""
    added = _run(root, "add", "--all", "--", *kept)
    if added.returncode:
        return _reason(added)
    if not _run(root, "diff", "--cached", "--quiet", "--", *kept).returncode:
        return ""
    who = () if _run(root, "config", "user.email").stdout.strip() else _NAME
    done = _run(root, *who, "commit", "--quiet", "--only", "-m", message, "--", *kept)
    return _reason(done) if done.returncode else ""


def _is_tracked(root: Path, path: str) -> bool:
    return not _run(root, "ls-files", "--error-unmatch", "--", path).returncode


def _run(root: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1"}
    try:
        return subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True, text=True, encoding="utf-8", errors="replace", check=False,
            timeout=_COMMIT_SECONDS, env=environment, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 1, "", f"git took longer than {_COMMIT_SECONDS} s")


def _reason(done: "subprocess.CompletedProcess[str]") -> str:
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"git ended with {done.returncode}"
