"""`mnemark connect`: show and make a change in an agent's settings, hooks and tools, and undo it.

What is there stays byte for byte: our entries are put into the text, and cut out of it. Before the first
change of a file a copy is kept beside it (`NAME.before-mnemark`); where taking our entries out leaves what
that copy says, the copy is put back, to the last blank. A server of that name that a person had set up by
themselves gives way to ours, and comes back with the removal.
"""

import contextlib
import difflib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath
from typing import Any, Final, Literal, NamedTuple

from mnemark.agent.connect import json_edit, toml_edit
from mnemark.agent.connect.hosts import HOSTS, SERVER, Entry, Host, Target, host_named, is_installed, is_ours
from mnemark.errors import BusyError, MnemarkError, NotFoundError, ReadOnlyError, UsageError
from mnemark.files import platform

BACKUP: Final = ".before-mnemark"
State = Literal["connected", "partly connected", "not connected", "unreadable"]


class Change(NamedTuple):
    """What happens to one file; None stands for no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """As a unified diff; empty where nothing changes."""
        old, new = self.before or "", self.after or ""
        lines = difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True),
            str(self.path) if self.before is not None else os.devnull,
            str(self.path) if self.after is not None else os.devnull,
        )  # fmt: skip
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


class Connection(NamedTuple):
    """One agent on this machine."""

    agent: str
    title: str
    installed: bool
    state: State
    files: tuple[str, ...]
    workspace: str
    """The folder its hooks or tools name; empty where it is not connected."""
    problem: str = ""


def host_of(name: str) -> Host:
    """The agent of that name.

    Raises:
        UsageError: it is none we can connect.
    """
    found = host_named(name)
    if found is None:
        known = ", ".join(host.name for host in HOSTS)
        raise UsageError(f"{name!r} is not an agent that can be connected; choose one of {known}")
    return found


def plan(host: Host, workspace: Path, *, project: Path | None = None, remove: bool = False) -> list[Change]:
    """What connecting, or taking it back, would do; files that stay as they are, are left out.

    Args:
        host: the agent.
        workspace: absolute path of the folder that is to be its memory.
        project: a project's folder, to connect only there.
        remove: take our entries out.

    Raises:
        UsageError: a file has comments or is no JSON; the message holds what to paste.
        ReadOnlyError: a file cannot be read.
    """
    texts: dict[Path, tuple[str | None, str | None]] = {}
    for target in host.targets(workspace, project):
        path = Path(os.path.realpath(target.path))
        before, now = texts.get(path) or (_read(path),) * 2
        texts[path] = before, _edited(target, path, now, remove=remove)
    changes = [Change(path, before, after) for path, (before, after) in texts.items()]
    if remove:
        changes = [_restored(change) for change in changes]
    return [change for change in changes if change.before != change.after]


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise ReadOnlyError(f"cannot read {path}: {error.strerror}") from error


def _edited(target: Target, path: Path, text: str | None, *, remove: bool) -> str | None:
    if text is None and remove:
        return None
    base = target.base if text is None or not text.strip() else text
    edit = _toml if target.form == "toml" else _json
    try:
        if not remove and _has_all(base, target):
            return text
        done = edit(base, target, remove=remove)
        return _own_again(base, done, path, target) if remove else done
    except json_edit.NotJsonError as error:
        how = "removed from it by hand" if remove else "pasted into it"
        raise UsageError(f"{path} was not changed: {error}. This can be {how}:\n{snippet(target)}") from None


def _own_again(before: str, after: str, path: Path, target: Target) -> str:
    """With the server of a person's own that ours took the place of, as the copy has it."""
    if target.what != "tools" or target.form != "json":
        return after
    keys = target.entries[0].keys
    copy = _read(_backup(path)) if _is_server(_value(before, keys)) else None
    own = _value(copy, keys) if copy is not None and copy.strip() else None
    return after if own is None else json_edit.put(after, keys, own)


def snippet(target: Target) -> str:
    """What a target holds of ours, to be pasted."""
    if target.form == "toml":
        return "\n".join(toml_edit.lines(entry.keys, entry.value) for entry in target.entries)
    whole = "{}"
    for entry in target.entries:
        whole = (json_edit.append if entry.many else json_edit.put)(whole, entry.keys, entry.value)
    return whole


def _has_all(text: str, target: Target) -> bool:
    """Whether the file says already what is to be said, once."""
    if target.form == "toml":
        return all(toml_edit.holds(text, entry.keys, entry.value) for entry in target.entries)
    return all(_ours(text, entry) == [entry.value] for entry in target.entries) and not _stray(text, target)


def _value(text: str, keys: Sequence[str]) -> Any:
    node = json_edit.at(text, keys)
    return None if node is None else json.loads(text[node.start : node.end])


def _ours(text: str, entry: Entry) -> list[Any]:
    found = _value(text, entry.keys)
    if not entry.many:
        return [found] if _is_server(found) else []
    return [one for one in found if is_ours(one)] if isinstance(found, list) else []


def _stray(text: str, target: Target) -> bool:
    """Whether hooks of ours stand at events where an earlier version put them."""
    known = {entry.keys[-1] for entry in target.entries}
    hooks = _value(text, ("hooks",)) if target.what == "hooks" else None
    if not isinstance(hooks, dict):
        return False
    lists = (groups for name, groups in hooks.items() if name not in known and isinstance(groups, list))
    return any(is_ours(group) for groups in lists for group in groups)


def _json(text: str, target: Target, *, remove: bool) -> str:
    text = _without(text, target, remove=remove)
    for entry in () if remove else target.entries:
        text = (json_edit.append if entry.many else json_edit.put)(text, entry.keys, entry.value)
    return text


def _without(text: str, target: Target, *, remove: bool) -> str:
    """The text without what is ours, and without the objects and lists that held nothing else."""
    if target.what == "tools":
        keys = target.entries[0].keys
        return text if remove and not _is_server(_value(text, keys)) else _cut(text, keys)
    hooks = json_edit.at(text, ("hooks",))
    for event in hooks.keys if hooks is not None else ():
        node = json_edit.at(text, ("hooks", event))
        if node is None or node.kind != "[":
            continue
        values = json.loads(text[node.start : node.end])
        for index in reversed([i for i, value in enumerate(values) if is_ours(value)]):
            node = json_edit.at(text, ("hooks", event))
            if node is not None:
                text = json_edit.cut(text, node, index)
        if any(is_ours(value) for value in values) and not _value(text, ("hooks", event)):
            text = _cut(text, ("hooks", event))
    return text


def _cut(text: str, keys: Sequence[str]) -> str:
    """Without the value at these keys, and without the objects around it that held nothing else."""
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


def _restored(change: Change) -> Change:
    """Where what is left is what was there before the first change: that, byte for byte."""
    if change.after is None:
        return change
    copy = _read(_backup(change.path))
    if copy is not None:
        same = _meaning(change.path, copy) == _meaning(change.path, change.after)
        return change._replace(after=copy) if same else change
    empty = _meaning(change.path, change.after) in ({}, {"version": 1})
    return change._replace(after=None) if empty and change.before != change.after else change


def _meaning(path: Path, text: str) -> Any:
    if path.suffix == ".toml":
        return toml_edit.meaning(text)
    found = _loaded(text)
    return text if found is None else _pruned(found)


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        found = {key: _pruned(one) for key, one in value.items()}
        return {key: one for key, one in found.items() if one not in ({}, [])}
    return value


def _backup(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def apply(changes: Sequence[Change]) -> None:
    """Make the changes: each file at once, a copy of it kept before the first of ours.

    Raises:
        BusyError: a file was changed meanwhile; nothing of it was lost, try again.
        ReadOnlyError: a file cannot be written.
    """
    for change in changes:
        try:
            _apply(change)
        except OSError as error:
            raise ReadOnlyError(f"cannot write {change.path}: {error.strerror}") from error


def _apply(change: Change) -> None:
    path = change.path
    if _read(path) != change.before:
        raise BusyError(f"{path} has changed in the meantime; try again")
    backup = _backup(path)
    if change.after is None:
        path.unlink()
        return
    platform.make_folder(path.parent)
    mode = path.stat() if change.before is not None else None
    if change.before is not None and (not _is_connected(path, change.before) or _replaces_own(change)):
        _write(backup, change.before, mode)
    _write(path, change.after, mode)
    if not _is_connected(path, change.after):
        backup.unlink(missing_ok=True)


def _is_connected(path: Path, text: str) -> bool:
    """Whether something of ours is in a file's text."""
    if path.suffix == ".toml":
        return toml_edit.BEGIN in text
    return _holds_ours(_loaded(text))


def _replaces_own(change: Change) -> bool:
    """Whether a server that a person set up beside hooks of ours gives way: an earlier copy lacks it."""
    return _has_own(_loaded(change.before or "")) and not _has_own(_loaded(change.after or ""))


def _has_own(value: Any) -> bool:
    """Whether a server of our name stands there that we did not write."""
    if not isinstance(value, dict):
        return False
    server = value.get(SERVER)
    return (isinstance(server, dict) and not _is_server(server)) or any(map(_has_own, value.values()))


def _loaded(text: str) -> Any:
    try:
        return json.loads(text.removeprefix("\ufeff") or "{}")
    except ValueError:
        return None


def _holds_ours(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_holds_ours, value))
    if not isinstance(value, dict):
        return False
    return is_ours(value) or _is_server(value.get(SERVER)) or any(map(_holds_ours, value.values()))


def _is_server(value: Any) -> bool:
    """Whether a server was written by us: this program, `mcp`, and a workspace."""
    words = value.get("args") if isinstance(value, dict) else None
    if not isinstance(words, list) or "mcp" not in words:
        return False
    at = words.index("mcp")
    ours = PureWindowsPath(str(value.get("command"))).stem == SERVER or words[:at][-2:] == ["-m", SERVER]
    return ours and words[at + 1 : at + 2] == ["--workspace"]


def _write(path: Path, text: str, like: os.stat_result | None) -> None:
    fd, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            if like is not None:
                platform.keep_permissions(file.fileno(), like)
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def connections(project: Path | None = None) -> list[Connection]:
    """All agents we know, whether they are here, and whether they are connected."""
    return [_connection(host, project) for host in HOSTS]


def _connection(host: Host, project: Path | None) -> Connection:
    placeholder = Path.home() / "mnemark"
    targets = host.targets(placeholder, project)
    found: list[bool] = []
    folders: set[str] = set()
    problem = ""
    for target in targets:
        try:
            text = _read(Path(os.path.realpath(target.path)))
            values = _present(text, target) if text is not None and text.strip() else []
        except MnemarkError as error:
            problem = f"{target.path}: {error}"
            continue
        found.append(bool(values))
        folders.update(folder for value in values if (folder := _folder_in(value)))
    state: State = "unreadable" if problem else "not connected"
    if found and any(found):
        state = "connected" if all(found) and not problem else "partly connected"
    files = tuple(dict.fromkeys(str(target.path) for target in targets))
    return Connection(
        host.name, host.title, is_installed(host), state, files, ", ".join(sorted(folders)), problem
    )


def _present(text: str, target: Target) -> list[Any]:
    if target.form == "toml":
        return [one for entry in target.entries if (one := toml_edit.value(text, entry.keys))]
    return [value for entry in target.entries for value in _ours(text, entry)]


def _folder_in(value: Any) -> str:
    """The workspace that an entry names."""
    if isinstance(value, dict) and isinstance(value.get("args"), list):
        words = [str(word) for word in value["args"]]
    else:
        import shlex

        inner = value.get("hooks", [value])[0] if isinstance(value, dict) else {}
        try:
            words = shlex.split(str(inner.get("command", "")))
        except (ValueError, AttributeError):
            return ""
    return words[words.index("--workspace") + 1] if "--workspace" in words[:-1] else ""


def workspace_for(given: Path | None) -> Path:
    """The folder that is to be the memory: as given, else `~/mnemark`.

    Raises:
        NotFoundError: the one given does not exist.
    """
    if given is None:
        return Path.home() / "mnemark"
    root = given.expanduser().absolute()
    if not root.is_dir():
        raise NotFoundError(f"the folder {root} does not exist; create it with `mnemark init {root}`")
    return root
