"""Folders that are searched with a workspace and never written: which they are, and what is read there.

Those inside of the workspace stand in its settings, others in the user's own configuration, for one workspace
each (see `user_config.trusted`):

    [mounts."/home/ann/mnemark"]
    claude-code = { folder = "/home/ann/.claude", files = ["CLAUDE.md", "projects/*/memory/**/*.md"] }
    codex = false
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mnemark.errors import ConfigError
from mnemark.files import layout, platform, user_config
from mnemark.files.config import load
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.private import private
from mnemark.files.scan import FileEntry, chosen, only, scan
from mnemark.files.user_config import NAMES, MountConfig, of_workspace
from mnemark.text import toml


class Mounted(msgspec.Struct, frozen=True):
    """A folder that is searched with a workspace."""

    folder: Path
    """Without links: a pull may put one in the place of a folder that was accepted."""
    files: tuple[str, ...] = ()
    """Patterns of the only files to read; none: all texts of the root's scope."""

    def ignored(self) -> tuple[str, ...]:
        """Return the patterns for a scan: of `files`, else those of the folder's own settings.

        Raises:
            ConfigError: these are wrong.
        """
        return only(self.files) or load(self.folder).ignore

    def holds(self, path: str) -> bool:
        """Tell whether a relative path is one of the files that are read."""
        place = layout.place(path)
        if place is None or not place.searchable:
            return False
        is_chosen = chosen(only(self.files))
        return not place.scope if is_chosen is None else is_chosen(path, folder=False)

    def why_not(self, name: str) -> str:
        """Say why the folder of a mount of that name cannot be read, and what to do; empty if it can."""
        real = os.path.realpath(self.folder)
        shown, remove = layout.shown(str(self.folder)), f"run `mnemark mount {name} --remove`"
        if real != os.fspath(self.folder):
            leads = f"{shown} is a link now, to {layout.shown(real)}, and is not followed"
            return f"{leads}: put the folder back, or {remove} and mount that one"
        if not self.folder.is_dir():
            return f"the folder {shown} does not exist, so nothing of it is found: bring it back, or {remove}"
        return ""

    def entries(self) -> list[FileEntry]:
        """Return the files that are read.

        Raises:
            ConfigError: the folder's own settings are wrong.
            OSError: it cannot be listed.
        """
        found = scan(self.folder, ignore=self.ignored()).entries
        return [entry for entry in found if self.holds(entry.path)]


def home_of(root: Path, name: str) -> Path:
    """Return the folder of a mount's index."""
    return private(root) / "mounts" / name


def mounts_of(root: Path, given: Mapping[str, str]) -> dict[str, Mounted]:
    """Return the mounts of a workspace by name, whether or not the folders exist.

    Args:
        root: the workspace.
        given: the setting `mounts`, of which `user_config.trusted` left out what nobody accepted.

    Raises:
        ConfigError: the user's own configuration is wrong.
    """
    found = {
        name: Mounted(Path(os.path.realpath(root / Path(path).expanduser()))) for name, path in given.items()
    }
    for name, one in of_workspace(root, user_config.load()).items():
        if isinstance(one, MountConfig):
            found[name] = Mounted(Path(one.folder).expanduser().absolute(), one.files)
    return found


def accept(root: Path, name: str, folder: Path, files: tuple[str, ...] = ()) -> None:
    """Let searches of a workspace read a folder, in the user's own configuration.

    Raises:
        ConfigError: that file cannot be changed without changing its meaning.
        MnemarkError: it cannot be written; see `translate_os_errors`.
    """
    parts = [f"folder = {_quoted(os.path.realpath(folder))}"]
    parts += [f"files = [{', '.join(map(_quoted, files))}]"] if files else []
    _change(root, name, f"{{ {', '.join(parts)} }}")


def refuse(root: Path, name: str) -> None:
    """Note that the user was asked for a mount and said no; raises as `accept`."""
    _change(root, name, "false")


def forget(root: Path, name: str) -> None:
    """Take a mount, or the note that it was refused, out of the user's configuration; raises as `accept`."""
    _change(root, name, None)


def why_wrong(name: str, files: tuple[str, ...]) -> str | None:
    """Say what is wrong with the name of a mount or the patterns of its files; None for valid ones."""
    if re.fullmatch(NAMES, name) is None:
        return f"{name!r} cannot be a mount's name: use letters, digits, '.', '-' and '_' (--name)"
    for one in files:
        if not layout.is_name(one) or one.endswith("/"):
            return f"{one!r} is no pattern of files in the folder: write for example notes/*.md"
    return None


def discard_index(root: Path, name: str) -> None:
    """Delete the index of a mount, which holds its text."""
    import shutil  # few need it

    shutil.rmtree(home_of(root, name), ignore_errors=True)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _change(root: Path, name: str, value: str | None) -> None:
    place = user_config.path()
    own = user_config.load()
    real = os.path.realpath(root)
    key = next((one for one in own.mounts if os.path.realpath(Path(one).expanduser()) == real), str(root))
    before = platform.content(place).decode("utf-8-sig") if place.exists() else ""
    wanted = toml.loads(before)
    table = wanted.setdefault("mounts", {}).setdefault(key, {})
    table.pop(name, None)
    if value is not None:
        table[name] = toml.loads(f"value = {value}")["value"]
    after = _with_line(before, key, name, None if value is None else f"{_quoted(name)} = {value}")
    if toml.without_empty_tables(_parsed(after)) != toml.without_empty_tables(wanted):
        raise ConfigError(
            f"{place} was not changed, as it is written in an unusual way: change [mounts] by hand"
        )
    with translate_os_errors(place):
        platform.make_folder(place.parent)
        platform.write_private(place, after.encode())


def _with_line(text: str, key: str, name: str, line: str | None) -> str:
    """Return a TOML text with the line of a name in a workspace's table, or without it; all else is kept."""
    lines = text.splitlines(keepends=True)
    ours: dict[str, Any] = {"mounts": {key: {}}}
    at = next((i for i, one in enumerate(lines) if one.startswith("[") and _parsed(one) == ours), None)
    if at is None:
        head = f"[mounts.{_quoted(key)}]\n"
        return text if line is None else f"{text.rstrip()}\n\n{head}{line}\n".lstrip()
    end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("[")), len(lines))
    kept = [one for one in lines[at + 1 : end] if name not in (_parsed(one) or ())]
    new = [] if line is None else [f"{line}\n"]
    last = max((i for i, one in enumerate(kept, 1) if one.strip()), default=0)
    top = [one.rstrip("\r\n") + "\n" for one in (lines[at], *kept[:last])]
    return "".join([*lines[:at], *top, *new, *kept[last:], *lines[end:]])


def _parsed(text: str) -> Any:
    try:
        return toml.loads(text)
    except ValueError:
        return None
