"""`mnemark connect`: plan, apply and undo changes of an agent's settings for hooks and tools; write plug-ins.

The rest of a file stays byte for byte: our entries are inserted into the text and cut out of it. Before the
first change the file is backed up beside it (`NAME.before-mnemark`); where the file without our entries has
the same meaning as the backup, the backup is restored. A server of our name that a person had set up is
replaced, and restored by the removal.
"""

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.errors import BusyError, ReadOnlyError, UsageError
from mnemark.files import jsonl, platform
from mnemark.files.disk_errors import translate_os_errors
from mnemark_agents.connect import json_edit, toml_edit
from mnemark_agents.connect.bundles import bundle_named
from mnemark_agents.connect.caller import Memory
from mnemark_agents.connect.commands import WRITTEN
from mnemark_agents.connect.hosts import (
    HOSTS,
    SERVER,
    Host,
    Setting,
    Target,
    contains_ours,
    has_own,
    host_named,
    is_ours,
    is_server,
)

BACKUP: Final = ".before-mnemark"
_MADE: Final = frozenset({"commands", "skills", "plugins", "extensions", "hooks"})
"""Folders of agents that hold one file or folder for each command, plug-in or set of hooks."""


class SettingsChange(NamedTuple):
    """The content of a file before and after; None where it does not exist."""

    path: Path
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """The unified diff."""
        old, new = self.before or "", self.after or ""
        lines = difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True),
            str(self.path) if self.before is not None else os.devnull,
            str(self.path) if self.after is not None else os.devnull,
        )  # fmt: skip
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def host_of(name: str) -> Host:
    """Return the agent of that name; raise UsageError for an unknown one."""
    found = host_named(name)
    if found is None:
        known = ", ".join(host.name for host in HOSTS)
        raise UsageError(f"{name!r} is not an agent that can be connected; choose one of {known}")
    return found


def plan(
    host: Host, memory: Memory, *, project: Path | None = None, remove: bool = False
) -> list[SettingsChange]:
    """Return the changes of files that connecting, or its removal, would make.

    Args:
        host: the agent.
        memory: absolute path of the workspace, or a server.
        project: a project's folder, to connect only there.
        remove: remove our entries.

    Raises:
        UsageError: a file cannot be edited, and the message holds what to paste; or a project is given, and
            the agent has no settings of projects; or its plug-in is in the way.
        ReadOnlyError: a file cannot be read.
    """
    bundle = bundle_named(host.name)
    if bundle is not None and not bundle.apart and bundle.is_installed():
        raise UsageError(
            f"{host.title} has mnemark as a plug-in; to connect it, run `{bundle.remove[0]}` first"
        )
    texts: dict[Path, tuple[str | None, str | None]] = {}
    targets = host.targets(memory, project)
    if not targets:
        raise UsageError(f"{host.title} has no settings for one project alone; connect it without --project")
    for target in targets:
        path = Path(os.path.realpath(target.path))
        before, now = texts.get(path) or (read(path),) * 2
        texts[path] = before, _edited(target, path, now, remove=remove)
    changes = [SettingsChange(path, before, after) for path, (before, after) in texts.items()]
    if remove:
        changes = [_restored(change) for change in changes]
    return [change for change in changes if change.before != change.after]


def read(path: Path) -> str | None:
    """Return the text of a settings file; None where there is none. Raises UsageError, ReadOnlyError."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise ReadOnlyError(f"cannot read {path}: {error.strerror}") from error


def _edited(target: Target, path: Path, text: str | None, *, remove: bool) -> str | None:
    if target.form == "text":
        return _whole(target, path, text, remove=remove)
    if text is None and remove:
        return None
    base = target.base if text is None or not text.strip() else text
    edit = _toml if target.form == "toml" else _json
    try:
        if not remove and _has_all(base, target):
            return text
        done = edit(base, target, remove=remove)
        return _with_own_server(base, done, path, target) if remove else done
    except json_edit.NotJsonError as error:
        how = "removed from it by hand" if remove else "pasted into it"
        raise UsageError(f"{path} was not changed: {error}. This can be {how}:\n{snippet(target)}") from None


def _whole(target: Target, path: Path, text: str | None, *, remove: bool) -> str | None:
    """Return a file that is ours as a whole; a person's own of that name is kept."""
    if text is not None and WRITTEN not in text:
        if target.what == "commands" or remove:
            return text
        raise UsageError(f"{path} was not changed: mnemark has not written it; move it away and try again")
    return None if remove else target.base or None


def own_commands(host: Host, memory: Memory) -> list[Path]:
    """Return the person's own files where commands of ours would be, which connecting leaves alone."""
    commands = (target.path for target in host.targets(memory, None) if target.what == "commands")
    return [path for path in commands if (text := read(path)) is not None and WRITTEN not in text]


def _with_own_server(before: str, after: str, path: Path, target: Target) -> str:
    """Restore the person's own server that ours had replaced, from the backup."""
    if target.what != "tools" or target.form != "json":
        return after
    keys = target.entries[0].keys
    copy = read(_backup(path)) if is_server(_value(before, keys)) else None
    own = _value(copy, keys) if copy is not None and copy.strip() else None
    return after if own is None else json_edit.put(after, keys, own)


def snippet(target: Target) -> str:
    """Return our entries of a target as text to paste."""
    if target.form == "toml":
        return "\n".join(toml_edit.lines(entry.keys, entry.value) for entry in target.entries)
    return _with_entries("{}", target)


def _with_entries(text: str, target: Target) -> str:
    for entry in target.entries:
        text = (json_edit.append if entry.many else json_edit.put)(text, entry.keys, entry.value)
    return text


def _has_all(text: str, target: Target) -> bool:
    """Tell whether the file contains each of our entries exactly once."""
    if target.form == "toml":
        return all(toml_edit.value(text, entry.keys) == entry.value for entry in target.entries)
    return all(our_values(text, entry) == [entry.value] for entry in target.entries) and not _has_stray(
        text, target
    )


def _value(text: str, keys: Sequence[str]) -> Any:
    node = json_edit.at(text, keys)
    return None if node is None else node.value


def our_values(text: str, entry: Setting) -> list[Any]:
    """Return what stands in a JSON text of an entry of ours, of this or an earlier version."""
    found = _value(text, entry.keys)
    if not entry.many:
        return [found] if found == entry.value or is_server(found) else []
    return [one for one in found if is_ours(one)] if isinstance(found, list) else []


def _has_stray(text: str, target: Target) -> bool:
    """Tell whether the file has our hooks at other events, from an earlier version."""
    known = {entry.keys[-1] for entry in target.entries}
    hooks = _value(text, ("hooks",)) if target.what == "hooks" else None
    if not isinstance(hooks, dict):
        return False
    lists = (groups for name, groups in hooks.items() if name not in known and isinstance(groups, list))
    return any(is_ours(group) for groups in lists for group in groups)


def _json(text: str, target: Target, *, remove: bool) -> str:
    text = _without(text, target, remove=remove)
    text = text if remove else _with_entries(text, target)
    json_edit.parse(text)  # an agent must be able to read what we leave
    return text


def _without(text: str, target: Target, *, remove: bool) -> str:
    """Remove our entries, and the objects and lists that contained nothing else."""
    for entry in target.entries:
        if not entry.many and not (remove and not our_values(text, entry)):
            text = _cut(text, entry.keys)
    if target.what == "tools":
        return text
    hooks = json_edit.at(text, ("hooks",))
    for event in hooks.keys if hooks is not None else ():
        node = json_edit.at(text, ("hooks", event))
        if node is None or node.kind != "[":
            continue
        values = node.value
        for index in reversed([i for i, value in enumerate(values) if is_ours(value)]):
            node = json_edit.at(text, ("hooks", event))
            if node is not None:
                text = json_edit.cut(text, node, index)
        if any(is_ours(value) for value in values) and not _value(text, ("hooks", event)):
            text = _cut(text, ("hooks", event))
    return text


def _cut(text: str, keys: Sequence[str]) -> str:
    """Remove the value at a path of keys, and the objects around it that contained nothing else."""
    parent = json_edit.at(text, keys[:-1])
    if parent is None or keys[-1] not in parent.keys:
        return text
    text = json_edit.cut(text, parent, parent.keys.index(keys[-1]))
    return _cut(text, keys[:-1]) if len(parent.keys) == 1 and len(keys) > 1 else text


def _toml(text: str, target: Target, *, remove: bool) -> str:
    text = toml_edit.without(text)
    for entry in () if remove else target.entries:
        text = toml_edit.added(text, entry.keys, entry.value)
    return text


def _restored(change: SettingsChange) -> SettingsChange:
    """Restore the backup byte for byte where the remaining settings have the same meaning."""
    if change.after in {None, change.before}:
        return change
    copy = read(_backup(change.path))
    if copy is not None:
        same = _meaning(change.path, copy) == _meaning(change.path, change.after)
        return change._replace(after=copy) if same else change
    empty = _meaning(change.path, change.after) in ([], ({}, []), ({"version": 1}, []))
    return change._replace(after=None) if empty and change.before != change.after else change


def _meaning(path: Path, text: str) -> Any:
    """Return what a person wrote in a file: its settings and comments, whatever their layout."""
    if path.suffix == ".toml":
        return [line.strip() for line in text.splitlines() if line.strip()]
    found = _parsed(text)
    return text if found is None else (_pruned(found), json_edit.comments(text))


def _pruned(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: kept for key, one in value.items() if (kept := _pruned(one)) not in ({}, [])}


def _backup(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def apply(changes: Sequence[SettingsChange]) -> None:
    """Apply the changes, each file atomically, with a backup before our first change of it.

    Raises:
        BusyError: a file was changed meanwhile, and left as it is.
        MnemarkError: a file cannot be written; see `translate_os_errors`.
    """
    for change in changes:
        _apply(change)


def _apply(change: SettingsChange) -> None:
    path, there = change.path, read(change.path)
    if there == change.after:  # another process connected it at the same time
        return
    if there != change.before:
        raise BusyError(f"{path} has changed in the meantime; try again")
    with translate_os_errors(path):
        backup = _backup(path)
        if change.after is None:
            path.unlink()
            _tidy(path.parent)
            return
        platform.make_folder(path.parent)
        mode = path.stat() if change.before is not None else None
        if change.before is not None and (not _is_connected(change.before) or _replaces_own(change)):
            _write(backup, change.before, mode)
        _write(path, change.after, mode)
        if not _is_connected(change.after):
            backup.unlink(missing_ok=True)


def _tidy(folder: Path) -> None:
    """Remove the folders that were made for files of ours, where nothing else is in them."""
    while (folder.name.startswith(SERVER) or folder.name in _MADE) and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _is_connected(text: str) -> bool:
    return WRITTEN in text or contains_ours(_parsed(text))


def _replaces_own(change: SettingsChange) -> bool:
    """Tell whether a person's own server is replaced, which an earlier backup may lack."""
    return has_own(_parsed(change.before or "")) and not has_own(_parsed(change.after or ""))


def _parsed(text: str) -> Any:
    try:
        return json_edit.parse(text).value if text.strip("\ufeff \t\r\n") else {}
    except json_edit.NotJsonError:
        return None


def _write(path: Path, text: str, like: os.stat_result | None) -> None:
    platform.sweep_folder(path.parent)
    jsonl.replace_file(path, text.encode("utf-8"), like)
