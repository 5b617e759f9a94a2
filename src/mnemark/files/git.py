"""Search the git history of a workspace, and commit exactly the files that a run changed.

Searched words are never among git's arguments, where other users of the machine could read them.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.errors import MnemarkError
from mnemark.files.needles import BytePatterns

_LARGEST: Final = 1 << 29
"""Bytes of a repository that are searched at most."""
_SECONDS: Final = 120
_COMMIT_SECONDS: Final = 60


class History(NamedTuple):
    """Number of objects with some words. `objects` None: the repository is too large, or git is missing."""

    root: Path
    objects: int | None
    remotes: tuple[str, ...] = ()


def repository(folder: Path) -> Path | None:
    """Return the root of the repository that a folder lies in, or None."""
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)


def history(folder: Path, needles: BytePatterns) -> History | None:
    """Search the objects of a folder's repository, in commits or left over from them, for words."""
    root = repository(folder)
    if root is None:
        return None
    if shutil.which("git") is None or _size(root) > _LARGEST:
        return History(root, None)
    everything = ("cat-file", "--batch-all-objects", "--batch", "--unordered", "--buffer")
    holding = sum(1 for data in _objects(_git(root, *everything)) if needles.found_in(data))
    return History(root, holding, tuple(_text(_git(root, "remote")).split()))


def _size(root: Path) -> int:
    found = _text(_git(root, "count-objects", "-v")).split("\n")
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


def _git(root: Path, *arguments: str) -> bytes:
    """Run git in a repository and return its output. Raises MnemarkError with its message."""
    try:
        done = _run(root, arguments, _SECONDS, {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"})
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MnemarkError(f"git {arguments[0]} failed: {error}") from error
    if done.returncode:
        raise MnemarkError(f"git {arguments[0]} failed: {_text(done.stderr).strip()[:300]}")
    return done.stdout


def _run(
    root: Path, arguments: Sequence[str], seconds: int, environment: Mapping[str, str], said: bytes = b""
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        ["git", "-C", os.fspath(root), *arguments],
        input=said,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=seconds,
        check=False,
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def commit(root: Path, paths: Sequence[str], message: str, *, along: Sequence[str] = ()) -> str:
    """Commit these files of the workspace and no others, whatever else is staged.

    Files of `along` are committed with the others if one of these has changed. Returns why it could not be
    done; empty where it was, or where there was nothing to commit.
    """

    def run(*arguments: str, said: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        return _try(root, arguments, said)

    if shutil.which("git") is None:
        return "git is not installed"
    top = run("rev-parse", "--show-toplevel")
    if top.returncode or os.path.realpath(os.fsdecode(top.stdout.strip())) != os.path.realpath(root):
        return "the workspace is not the root of a git repository"
    kept = _committable(root, paths)
    if not kept or not run("status", "--porcelain", "--", *kept).stdout:
        return ""
    kept += [path for path in _committable(root, along) if path not in kept]
    done = run("add", "--all", "--", *kept)
    if not done.returncode:
        if not run("diff", "--cached", "--quiet", "--", *kept).returncode:
            return ""
        author = ("-c", "user.name=mnemark", "-c", "user.email=mnemark@localhost")
        known_author = run("config", "user.email").stdout.strip()
        done = run(
            *(() if known_author else author), "commit", "--quiet", "--only", "--file=-", "--", *kept,
            said=os.fsencode(message),  # other users read command lines
        )  # fmt: skip
    lines = _text(done.stderr or done.stdout).strip().splitlines()
    return (lines[-1] if lines else f"git ended with {done.returncode}") if done.returncode else ""


def _try(root: Path, arguments: Sequence[str], said: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """Run git with paths taken literally; one that takes too long has failed."""
    environment = {"GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1"}
    try:
        return _run(root, arguments, _COMMIT_SECONDS, environment, said)
    except subprocess.TimeoutExpired:
        late = b"git took longer than %d s" % _COMMIT_SECONDS
        return subprocess.CompletedProcess(arguments, 1, b"", late)


def _committable(root: Path, paths: Sequence[str]) -> list[str]:
    """Return the files that are there, or that git knows, without ignored ones."""
    asked = list(dict.fromkeys(paths))
    if not asked:
        return []
    known = _try(root, ("ls-files", "-z", "--", *asked)).stdout.split(b"\0")
    names = b"".join(os.fsencode(path) + b"\0" for path in asked)
    ignored = _try(root, ("check-ignore", "-z", "--stdin"), names).stdout.split(b"\0")
    there = (path for path in asked if (root / path).exists() or os.fsencode(path) in known)
    return [path for path in there if os.fsencode(path) not in ignored]


def last_commits(root: Path, paths: Sequence[str]) -> dict[str, str]:
    """Return the subject of the last commit of each file; none outside of a repository."""
    if not (root / ".git").exists() or shutil.which("git") is None:
        return {}
    found = {path: _try(root, ("log", "-1", "--format=%s", "--", path)) for path in dict.fromkeys(paths)}
    return {path: _text(done.stdout).strip() for path, done in found.items() if not done.returncode}
