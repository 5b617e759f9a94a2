"""Committing exactly the files that a run changed, where the workspace is the root of a git repository."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_SECONDS: Final = 60
_NAME: Final = ("-c", "user.name=mnemark", "-c", "user.email=mnemark@localhost")
"""Who commits where the repository knows nobody."""


def commit(root: Path, paths: Sequence[str], message: str) -> str:
    """Commit these files of the workspace and no others, whatever else is staged.

    Returns why it could not be done; empty where it was, or where there was nothing to commit.
    """
    if shutil.which("git") is None:
        return "git is not installed"
    top = _git(root, "rev-parse", "--show-toplevel")
    if top.returncode or os.path.realpath(top.stdout.strip()) != os.path.realpath(root):
        return "the workspace is not the root of a git repository"
    known = [path for path in dict.fromkeys(paths) if (root / path).exists() or _is_tracked(root, path)]
    kept = [path for path in known if _git(root, "check-ignore", "-q", "--", path).returncode]
    if not kept:
        return ""
    added = _git(root, "add", "--all", "--", *kept)
    if added.returncode:
        return _reason(added)
    if not _git(root, "diff", "--cached", "--quiet", "--", *kept).returncode:
        return ""
    who = () if _git(root, "config", "user.email").stdout.strip() else _NAME
    done = _git(root, *who, "commit", "--quiet", "--only", "-m", message, "--", *kept)
    return _reason(done) if done.returncode else ""


def _is_tracked(root: Path, path: str) -> bool:
    return not _git(root, "ls-files", "--error-unmatch", "--", path).returncode


def _git(root: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1"}
    try:
        return subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True, text=True, encoding="utf-8", errors="replace", check=False,
            timeout=_SECONDS, env=environment, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 1, "", f"git took longer than {_SECONDS} s")


def _reason(done: "subprocess.CompletedProcess[str]") -> str:
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"git ended with {done.returncode}"
