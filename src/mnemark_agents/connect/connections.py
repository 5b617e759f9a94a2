"""Tell which agents of this machine are connected, from what stands in their settings."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mnemark.errors import MnemarkError
from mnemark.files import trust
from mnemark.files.layout import is_workspace
from mnemark_agents.connect import plugins, toml_edit
from mnemark_agents.connect.bundles import BUNDLES, bundle_named
from mnemark_agents.connect.caller import is_server_in, memory_in
from mnemark_agents.connect.commands import WRITTEN
from mnemark_agents.connect.connect import our_values, read
from mnemark_agents.connect.hosts import HOSTS, Host, Target, is_installed, words_of
from mnemark_agents.homes import workspace_for
from mnemark_agents.hook.agents import EVENTS

State = Literal["connected", "partly connected", "connected by plug-in", "not connected", "unreadable"]


class Connection(NamedTuple):
    """The state of an agent on this machine."""

    agent: str
    title: str
    installed: bool
    state: State
    files: tuple[str, ...]
    workspace: str
    """The workspace, or the address of the server, that its hooks or tools name."""
    problem: str = ""
    plugin: bool = False
    """Whether mnemark's plug-in is installed there, beside the settings or alone."""


def connections(project: Path | None = None) -> list[Connection]:
    """Return the connection state of all known agents."""
    return [_connection(host, project) for host in HOSTS]


def _connection(host: Host, project: Path | None) -> Connection:
    targets = [one for one in host.targets(workspace_for(None), project) if one.what != "commands"]
    found: list[bool] = []
    folders: set[str] = set()
    problem = ""
    for target in targets:
        try:
            lines = lines_in(target)
            found.append(bool(lines or entries_in(target)))
        except MnemarkError as error:
            problem = f"{target.path}: {error}"
            continue
        folders.update(folder for words in lines if (folder := memory_in(words)))
    state: State = "unreadable" if problem else "not connected"
    if found and any(found):
        state = "connected" if all(found) and not problem else "partly connected"
    bundle = bundle_named(host.name)
    plugin = project is None and bundle is not None and bundle.is_installed()
    if bundle is not None and plugin and (state == "not connected" or not bundle.apart):
        state, folders = "connected by plug-in", {str(bundle.workspace())}
    files = tuple(dict.fromkeys(str(target.path) for target in targets))
    return Connection(
        host.name, host.title, is_installed(host), state, files, ", ".join(sorted(folders)), problem, plugin
    )


def memories(repository: Path | None) -> list[Path]:
    """Return the workspaces that agents use in a repository, in order.

    Connections of the user count before those that stand in the repository, which may be cloned: it cannot
    name a folder of its own, nor one that the user does not trust.
    """
    if found := set(_named(None)):
        return sorted(found)
    if repository is None:
        return []
    named = set(_named(repository))
    return sorted(one for one in named if not one.is_relative_to(repository) and trust.is_trusted(one))


def _named(project: Path | None) -> Iterator[Path]:
    """Yield the workspaces that settings name and that exist; settings that cannot be read name none."""
    for bundle in BUNDLES if project is None else ():
        if bundle.is_installed() and is_workspace(bundle.workspace()):
            yield Path(os.path.realpath(bundle.workspace()))
    for words in _readable_lines(project):
        folder = memory_in(words)
        if Path(folder).is_absolute() and is_workspace(folder):
            yield Path(os.path.realpath(folder))


def _readable_lines(project: Path | None) -> Iterator[list[str]]:
    """Yield the command lines in the settings of all agents; those that cannot be read have none."""
    for host in HOSTS:
        for target in host.targets(workspace_for(None), project):
            with suppress(MnemarkError, OSError):
                yield from lines_in(target) if target.what != "commands" else ()


def entries_in(target: Target) -> list[Any]:
    """Return our entries in a settings file as they stand there; of a file of ours, its text.

    Raises:
        MnemarkError: it cannot be read.
    """
    text = read(Path(os.path.realpath(target.path)))
    if text is None or not text.strip():
        return []
    if target.form == "text":
        return [text] if WRITTEN in text else []
    if target.form == "toml":
        return [one for entry in target.entries if (one := toml_edit.value(text, entry.keys))]
    return [value for entry in target.entries for value in our_values(text, entry)]


def lines_in(target: Target) -> list[list[str]]:
    """Return the command lines of our entries in a settings file, as words.

    Raises:
        MnemarkError: it cannot be read.
    """
    found = entries_in(target)
    if target.form == "text":
        return [words for text in found for words in plugins.commands_in(text, EVENTS)]
    return [words for value in found if (words := words_of(value))]


def servers(project: Path | None = None) -> set[str]:
    """Return the addresses of the servers whose memories agents use, of the user or of a project, too.

    Settings that cannot be read name none.
    """
    lines = (words for place in {None, project} for words in _readable_lines(place))
    return {memory_in(words) for words in lines if is_server_in(words)}
