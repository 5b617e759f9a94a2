"""Find the memory files of a workspace: one pass over the folders, one `stat` a file.

Nothing is opened but the settings of a vault, and no link is followed. Hidden folders and files without text
are left out silently; what looks like memory but cannot be read is a `Problem`, and other formats that hold
text are counted. Workspaces inside this one are not looked into.
"""

import fnmatch
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from mnemark.files import layout, platform
from mnemark.files.listing import descend, odd
from mnemark.text.documents import RULES, is_too_much, suffix_of, unread_suffixes
from mnemark.types import Problem

Ignore = Callable[[str], bool]


class Chosen(Protocol):
    """Tells whether a relative path is wanted: of a file, or of a folder that may hold one."""

    def __call__(self, path: str, *, folder: bool) -> bool: ...  # noqa: D102


_OF_VAULTS: Final = frozenset({".obsidian", "logseq"})
_ONLY: Final = "!"
"""Begins a pattern made by `only`; no setting may."""


class FileEntry(msgspec.Struct, frozen=True):
    """A file's status. `inode` and `device` are 0 where the system does not say."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int


class Scan(msgspec.Struct, frozen=True):
    """The candidate files, each list sorted by path."""

    entries: list[FileEntry]
    """Texts and documents anywhere, `.jsonl` below `sessions/`; copies left by syncing tools included."""
    journals: list[FileEntry]
    problems: list[Problem]
    inner: list[str]
    """Folders that are workspaces of their own."""
    temporary: list[str]
    """Temporary files, most of them left by killed processes."""
    unread: dict[str, int]
    """Files that hold text and are not read, counted by suffix; see `unread.told`."""


def scan(root: Path, *, ignore: Sequence[str] = ()) -> Scan:
    """List the candidate files below `root`; one that vanishes meanwhile is left out.

    Args:
        root: the workspace; may itself be a link.
        ignore: shell patterns on relative paths; one without a slash matches a name at any depth, one
            that ends in a slash a folder. Those made by `only` name the only files to list.

    Raises:
        OSError: `root` itself cannot be listed.
    """
    walk = _Walk(root, _matcher(ignore), chosen(ignore))
    descend(
        walk.folder(""),
        walk.folder,
        lambda prefix, error: walk.problem(prefix, f"folder cannot be read: {error.strerror}"),
    )
    for found in (walk.found.entries, walk.found.journals, walk.found.problems):
        found.sort(key=_path_of)
    walk.found.inner.sort()
    return walk.found


def stat_entry(path: str, found: os.stat_result) -> FileEntry:
    """Return the `FileEntry` of a stat result."""
    return FileEntry(path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)


def only(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return patterns for `scan` that leave out all files but those that match one of these.

    They match part by part: `*` stands for no slash, `**` for any folders. Other folders are not looked into.
    """
    return tuple(f"{_ONLY}{pattern}" for pattern in patterns)


def chosen(patterns: Sequence[str]) -> Chosen | None:
    """Return a function that tells whether the patterns of `only` choose a file, or lead into a folder.

    None where there are none.
    """
    wanted = [one.removeprefix(_ONLY).casefold().split("/") for one in patterns if one.startswith(_ONLY)]
    if not wanted:
        return None

    def is_chosen(path: str, *, folder: bool) -> bool:
        parts = path.casefold().split("/")
        return any(_matches(parts, pattern, folder=folder) for pattern in wanted)

    return is_chosen


def _matches(parts: Sequence[str], pattern: Sequence[str], *, folder: bool) -> bool:
    # Which beginnings of the pattern the parts so far fit: with several `**`, trying one way after the other
    # would take as many tries as there are ways to share the parts out.
    fits = {0}
    for part in parts:
        fits = {
            place if pattern[place] == "**" else place + 1
            for place in _skipped(fits, pattern)
            if place < len(pattern) and (pattern[place] == "**" or fnmatch.fnmatchcase(part, pattern[place]))
        }
    return bool(fits) if folder else len(pattern) in fits


def _skipped(fits: Iterable[int], pattern: Sequence[str]) -> set[int]:
    """Return places in a pattern, with those behind a `**` that stands for no folder."""
    found: set[int] = set()
    for place in fits:
        behind = place
        while behind < len(pattern) and pattern[behind] == "**":
            found.add(behind)
            behind += 1
        found.add(behind)
    return found


def ignorer(patterns: Sequence[str]) -> Ignore:
    """Return a function that tells whether the patterns (see `scan`) leave out a file."""
    ignored, is_chosen = _matcher(patterns), chosen(patterns)
    return ignored if is_chosen is None else lambda path: ignored(path) or not is_chosen(path, folder=False)


def _matcher(patterns: Sequence[str]) -> Ignore:
    parts = []
    for pattern in (one for one in patterns if not one.startswith(_ONLY)):
        core = pattern.strip("/")
        anywhere = "" if "/" in core or pattern.startswith("/") else "(?:.*/)?"
        below = r"/.*" if pattern.endswith("/") else r"(?:/.*)?"
        glob = fnmatch.translate(core).removesuffix(r"\Z").removesuffix(r"\z")  # its end mark
        parts.append(f"{anywhere}{glob}{below}")
    if not parts:
        return _never
    found = re.compile("|".join(f"(?:{part})" for part in parts), re.DOTALL)
    return lambda path: found.fullmatch(path) is not None


def _never(_: str) -> bool:
    return False


def _path_of(item: FileEntry | Problem) -> str:
    return item.path


class _Walk:
    def __init__(self, root: Path, ignored: Ignore, is_chosen: Chosen | None) -> None:
        self.root = root
        self.base = f"{os.fspath(root)}{os.sep}"  # joining Path objects would double the time of a scan
        self.real_root = root.resolve()
        self.ignored = None if ignored is _never else ignored
        self.is_chosen = is_chosen
        self.found = Scan([], [], [], [], [], {})
        self.unread = unread_suffixes()
        self.no_notes: frozenset[str] = frozenset()
        """Folders of templates and old versions, of vaults that the walk came through."""

    def problem(self, path: str, reason: str) -> None:
        self.found.problems.append(Problem(layout.shown(path.rstrip("/")), reason))

    def folder(self, prefix: str) -> list[str]:
        """Read a folder and return those in it; `prefix` is empty or ends in a slash."""
        logs = layout.log_folder(prefix.rstrip("/"))
        suffixes = layout.suffixes(prefix.rstrip("/"))
        with os.scandir(f"{self.base}{prefix}") as listed:
            found = list(listed)
        names = {item.name for item in found}
        if not names.isdisjoint(_OF_VAULTS):
            from mnemark.files.vaults import no_notes

            self.no_notes |= no_notes(self.root, prefix, names)
        if prefix and layout.has_marks(names):
            self.found.inner.append(layout.shown(prefix.rstrip("/")))
            return []
        return [
            below
            for item in found
            if (below := self.item(item, prefix, suffixes, journals=logs == "journal"))
        ]

    def item(self, item: os.DirEntry[str], prefix: str, suffixes: tuple[str, ...], *, journals: bool) -> str:
        """Take what has a name in a folder; return the prefix of a folder to read, else an empty text."""
        name = item.name
        path = prefix + name
        if name[0] == "." and (self.is_chosen is None or name.lower() not in RULES):
            self.hidden(path, name)
            return ""
        if path in self.no_notes or self.leaves_out(path, item):
            return ""
        ending = f"/{name}".lower()
        is_text = ending.endswith(suffixes) and not ending.endswith(self.unread)
        if item.is_file(follow_symlinks=False):
            if is_text:
                journal = journals and ending.endswith(".jsonl")
                self.file(item, path, self.found.journals if journal else self.found.entries)
            elif ending.endswith(self.unread):
                self.not_read(path)
        elif item.is_dir(follow_symlinks=False):
            return "" if layout.skipped_folder(name) else path + "/"
        elif item.is_symlink():
            self.link(path, is_text=is_text)
        elif is_text and (problem := odd(path, item)):
            self.found.problems.append(problem)
        return ""

    def leaves_out(self, path: str, item: os.DirEntry[str]) -> bool:
        if self.ignored is not None and self.ignored(path):
            return True
        return self.is_chosen is not None and not self.is_chosen(
            path, folder=item.is_dir(follow_symlinks=False)
        )

    def hidden(self, path: str, name: str) -> None:
        if name.startswith(platform.TEMPORARY):
            self.found.temporary.append(path)

    def not_read(self, path: str) -> None:
        suffix = suffix_of(path)
        self.found.unread[suffix] = self.found.unread.get(suffix, 0) + 1

    def file(self, item: os.DirEntry[str], path: str, into: list[FileEntry]) -> None:
        if not path.isascii() and layout.shown(path) != path:
            # Such a name can be neither stored as text nor shown to a model as a ref.
            self.problem(path, "name is not valid UTF-8: rename the file")
            return
        if (":" in path or "\\" in path) and not layout.is_name(path):
            self.problem(path, "name means another place on other systems: rename the file")
            return
        try:
            entry = stat_entry(path, item.stat(follow_symlinks=False))
            if is_too_much(path, entry.size):
                self.not_read(path)
            else:
                into.append(entry)
        except FileNotFoundError:
            return
        except OSError as error:
            self.problem(path, f"cannot be examined: {error.strerror}")

    def link(self, path: str, *, is_text: bool) -> None:
        """Report a link, unless the scan finds its target under another name: it would hide memory."""
        try:
            real = (self.root / path).resolve()
            folder = real.is_dir()
        except PermissionError:
            self.problem(path, "link into a folder that cannot be read")
            return
        except (OSError, RuntimeError):
            self.problem(path, "link in a circle: remove it")
            return
        if not (folder or is_text):
            return
        if not real.is_relative_to(self.real_root):
            self.problem(path, "link out of the workspace, not followed: copy the file or mount the folder")
        elif not real.exists():
            self.problem(path, "link to nothing: remove it")
        elif not folder:
            inside = real.relative_to(self.real_root).as_posix()
            if inner := layout.border(self.real_root, inside):
                self.problem(path, f"link into the workspace {layout.shown(inner)}, not followed")
            elif layout.place(inside) is None:
                self.problem(path, f"link to {layout.shown(inside)}, which is no memory: copy the file")
