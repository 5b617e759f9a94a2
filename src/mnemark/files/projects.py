"""Find the git repository that an agent works in, and the scope with its memory.

A project is known by the real path of its repository, never by a name or a URL, which whoever wrote a
repository could choose. Its scope `projects/<name>/` says in PROJECT.md which repository it belongs to, in
text that a person can correct. Imports stay light: hooks need this.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.files import layout, platform

FOLDER: Final = "projects"
FILE: Final = "PROJECT.md"
_PATH: Final = "path:"
_MOST_LINES: Final = 64
_MOST_BYTES: Final = 8_192
"""Read of a `.git` file and the like; git writes one short line."""


class Project(NamedTuple):
    """Whose memory a session is part of: the person's, without either of these, or a project's."""

    scope: str = ""
    repository: str = ""
    """The real path of a repository without a scope, which is made when something is first written there."""


PERSON: Final = Project()


def is_project(scope: str) -> bool:
    """Tell whether a scope is a project's."""
    return scope.startswith(f"{FOLDER}/")


def project_at(root: Path, folder: str | Path) -> Project:
    """Return the project that the folder, of an agent, is a part of; see `repository_at`."""
    repository = repository_at(root, folder)
    scope = scope_of(root, repository) if repository else ""
    return Project(scope) if scope else Project("", repository)


def repository_at(root: Path, folder: str | Path) -> str:
    """Return the real path of the git repository around a folder; empty where that is no project.

    A worktree belongs to its main repository. The home folder, what contains it, and what contains the
    workspace `root` or lies in it are no projects.
    """
    if not _is_path(os.fspath(folder)) or not Path(folder).is_absolute():
        return ""
    top = top_of(os.path.realpath(folder))
    if not top:
        return ""
    found = _main_of(top)
    home, workspace = os.path.realpath(os.path.expanduser("~")), os.path.realpath(root)  # noqa: PTH111
    for one in {top, found}:
        if _contains(one, home) or _contains(one, workspace) or _contains(workspace, one):
            return ""
    return found


def _is_path(text: str) -> bool:
    """Tell whether a text can be a path of this system: others raise ValueError where a path is looked up."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _contains(outer: str, inner: str) -> bool:
    outer, inner = os.path.normcase(outer), os.path.normcase(inner)
    return inner == outer or inner.startswith(outer.rstrip(os.sep) + os.sep)


def top_of(folder: str) -> str:
    """Return the nearest folder upwards with a `.git` that git would take for a repository; else ""."""
    while True:
        git = os.path.join(folder, ".git")  # noqa: PTH118 - each folder upwards, for each prompt
        if os.path.lexists(os.path.join(git, "HEAD")) or os.path.isfile(git):  # noqa: PTH113, PTH118
            return folder
        parent = os.path.dirname(folder)  # noqa: PTH120
        if parent == folder:
            return ""
        folder = parent


def _main_of(top: str) -> str:
    """Return the main repository of a worktree, else the folder itself.

    The file `.git` of a worktree names its entry in the main repository, `.git/worktrees/<name>`, and that
    entry names the worktree. Only where both do, it belongs there: a file alone could name any repository.
    """
    git = Path(top, ".git")
    if git.is_dir() or (entry := named_in(git, "gitdir:")) is None:
        return top
    common, back = named_in(entry / "commondir"), named_in(entry / "gitdir")
    if common is None or back is None:  # a submodule, or nothing of git's
        return top
    is_entry = os.path.realpath(entry.parent) == os.path.realpath(common / "worktrees")
    if not is_entry or os.path.realpath(back) != os.path.realpath(git):
        return top
    real = Path(os.path.realpath(common))
    return str(real.parent if real.name == ".git" else real)


def named_in(file: Path, prefix: str = "") -> Path | None:
    """Return the path that a file of git names, relative to the file's folder; None where there is none."""
    try:
        with platform.opened(file) as opened:
            line = os.fsdecode(opened.read(_MOST_BYTES)).partition("\n")[0].rstrip("\r")
    except OSError:
        return None
    if not line.startswith(prefix) or not (path := line.removeprefix(prefix).strip()) or "\0" in path:
        return None
    return Path(os.path.realpath(file.parent)) / path


def scope_of(root: Path, repository: str) -> str:
    """Return the scope whose PROJECT.md names a repository; empty where none does."""
    for name in folders(root):
        for path in paths_in(root, name):
            if path == repository or _is_same(path, repository):
                return f"{FOLDER}/{name}"
    return ""


def _is_same(path: str, repository: str) -> bool:
    try:
        return os.path.samefile(path, repository)  # noqa: PTH121 - of text
    except (OSError, ValueError):
        return False


def folders(root: Path) -> list[str]:
    """Return the names of the folders of projects, in order; none that is a workspace of its own."""
    base = f"{os.fspath(root)}/{FOLDER}"
    if layout.is_workspace(base):
        return []
    try:
        with os.scandir(base) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
    except OSError:
        return []
    return [name for name in names if not _is_of_others(f"{base}/{name}")]


def _is_of_others(folder: str) -> bool:
    """Tell whether a folder is a workspace of its own, or a repository, which others may write to."""
    return layout.is_workspace(folder) or os.path.lexists(f"{folder}/.git")


def paths_in(root: Path, name: str) -> Iterator[str]:
    """Yield the paths that the PROJECT.md of a project names, a line each: `path: ~/code/shop`."""
    try:
        with platform.opened(root / FOLDER / name / FILE) as file:
            text = file.read(_MOST_LINES * 1_024).decode("utf-8-sig", "replace")
    except OSError:
        return
    for line in text.splitlines()[:_MOST_LINES]:
        if line.startswith(_PATH):
            path = _unquoted(line.removeprefix(_PATH).strip())
            if _is_path(path) and Path(full := os.path.expanduser(path)).is_absolute():  # noqa: PTH111
                yield full  # a relative one would name whatever folder an agent works in


def path_line(repository: str) -> str:
    """Return the line of PROJECT.md that names a repository, in quotes where it would not be read back."""
    plain = repository.isprintable() and repository == repository.strip() and repository[:1] not in "\"'"
    return f"{_PATH} {repository if plain else json.dumps(repository)}"


def _unquoted(path: str) -> str:
    try:
        found = json.loads(path) if path.startswith('"') else path.strip("'")
    except ValueError:
        return path
    return found if isinstance(found, str) else path


def scope_of_session(root: Path, name: str) -> str | None:
    """Return the scope, the root's or a project's, that has a log of that name; None where none has.

    Args:
        root: the workspace.
        name: the name of the log in its scope, `sessions/….jsonl`.
    """
    base = os.fspath(root)
    if os.path.lexists(f"{base}/{name}"):
        return ""
    scopes = (f"{FOLDER}/{folder}" for folder in folders(root))
    return next((scope for scope in scopes if os.path.lexists(f"{base}/{scope}/{name}")), None)
