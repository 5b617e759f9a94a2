"""Implement `connect`: change agents' settings for hooks and tools, or write a plug-in."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from mnemark.errors import MnemarkError, UsageError
from mnemark.files import trust
from mnemark.files.config import load
from mnemark.files.layout import CONFIG
from mnemark.files.new_workspace import init
from mnemark.files.projects import folders
from mnemark_agents.connect import connect as work
from mnemark_agents.connect import git
from mnemark_agents.connect.bundles import BUNDLES, bundle_named, plugin_files, write_plugin
from mnemark_agents.connect.caller import Memory, Server
from mnemark_agents.connect.check import Checked, check
from mnemark_agents.connect.choices import LINE, keep_one_memory
from mnemark_agents.connect.connect import SettingsChange, host_of, own_commands
from mnemark_agents.connect.connections import Connection, connections, servers
from mnemark_agents.connect.hosts import HOSTS, Host, is_installed
from mnemark_agents.connect.keys import states
from mnemark_agents.homes import workspace_for
from mnemark_interfaces import options, output, render, speech
from mnemark_interfaces.commands import connect_server
from mnemark_interfaces.commands.connect_offers import make_offers, tell_of_mount
from mnemark_interfaces.output import hint, out, out_json, safe, say, spoken
from mnemark_interfaces.trusting import check_trust, what_trust_allows
from mnemark_interfaces.workspace import locate

_Dry = Annotated[bool, typer.Option("--dry-run", help="Show the changes without making them.")]


_Agent = Annotated[
    str,
    typer.Argument(
        metavar="[AGENT]",
        help="git, or one that `mnemark connect` lists; without it: all that are installed.",
    ),
]
_Workspace = Annotated[
    Path | None,
    options.workspace("The workspace the agent will use, created if missing. Default: ~/mnemark."),
]
_Check = Annotated[
    bool, typer.Option("--check", help="Try whether hooks and tools answer, in a memory made for it alone.")
]
_Project = Annotated[bool, typer.Option("--project", help="Connect only the project in the current folder.")]
_OneMemory = Annotated[
    bool, typer.Option("--one-memory", help="One memory for everything, none of its own for a project.")
]
_Server = Annotated[
    str, typer.Option("--server", metavar="URL", help="Use a memory on this server; asks for its key once.")
]
_Send = Annotated[bool, typer.Option("--send", help="Send what waits for servers that did not answer.")]
_Plugin = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Write a plug-in or extension there, do not change settings."),
]


def connect(
    agent: _Agent = "",
    *,
    workspace_: _Workspace = None,
    server: _Server = "",
    remove: Annotated[bool, typer.Option("--remove", help="Remove hooks and tools again.")] = False,
    send: _Send = False,
    check: _Check = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Without an agent: do not ask.")] = False,
    dry_run: _Dry = False,
    project: _Project = False,
    one_memory: _OneMemory = False,
    plugin: _Plugin = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Connect agents: add hooks and memory tools to their settings.

    Without an agent, list those that are known, show what would change in the settings of those that are
    installed, ask once, and connect them all. Other settings are not changed, and each changed file is backed
    up beside the original. --remove takes hooks and tools out again. At a terminal it also asks once
    whether mnemark may learn with the agent's language model, and says what is sent and what it costs;
    without a yes, no model is asked. Memories that agents keep on this machine are offered once, to be
    searched beside yours: see `mnemark mount`.

    With --server, agents use a memory on a server. Its key is asked for, or read from MNEMARK_KEY or stdin,
    and kept in a file that only you can read; no agent's settings hold it.
    """
    here = Path.cwd() if project else None
    if send:
        raise typer.Exit(0 if connect_server.send(json=json) else 1)
    if check:
        _check(agent, here, json=json)
        return
    if agent == "git":
        _git(workspace_, remove=remove, dry_run=dry_run, json=json)
        return
    if server and (workspace_ is not None or one_memory):
        raise UsageError("--server goes without --workspace and --one-memory: no folder here is used")
    host = work.host_of(agent) if agent else None  # a wrong name is told before a key is asked for
    root: Memory = workspace_for(workspace_)
    if server:
        root = connect_server.prepare(server, asks=not (remove or dry_run))
    elif one_memory and not remove:
        _one_memory(workspace_for(workspace_), dry_run=dry_run)
    if host is None:
        _connect_all(root, here, remove=remove, yes=yes, dry_run=dry_run, json=json)
        return
    if plugin is not None:
        _plugin(host, plugin, root, dry_run=dry_run, json=json)
        return
    _connect_one(host, root, here, remove=remove, dry_run=dry_run, json=json)


def _git(workspace_: Path | None, *, remove: bool, dry_run: bool, json: bool) -> None:
    """Set up the merge driver in the repository that the memory lies in."""
    root = locate(workspace_)
    changes = git.plan(root, remove=remove)
    if changes and not dry_run:
        git.apply(root, changes)
    if json:
        out_json({"workspace": str(root), "dry_run": dry_run, "removed": remove,
                  "changes": [{"what": one.what, "before": one.before, "after": one.after}
                              for one in changes]})  # fmt: skip
        return
    words = speech.words()
    for one in changes:
        after = safe(words.listed(one.after.splitlines())) or words("removed")
        out(words("{name}: {value}", name=safe(one.what), value=after))
    if not changes:
        say("Git is not connected." if remove else "Git is connected already.")
    elif dry_run:
        say("Nothing was changed. Run it again without --dry-run to apply this.")
    elif remove:
        say("Git merges the memory's files as any others again.")
    else:
        say(
            "A pull joins what both machines wrote from now on. Commit {file}, and run this on the other "
            "machine, too; `mnemark connect git --remove` undoes it.",
            file=git.ATTRIBUTES,
        )


def _one_memory(root: Path, *, dry_run: bool) -> None:
    if dry_run:
        out(f"{safe(str(root / CONFIG))}: {LINE}")
        return
    _make(root)
    keep_one_memory(root)


def _tell_of_projects(root: Memory, *, removed: bool) -> None:
    """Say in one line whether projects have memories of their own, and how to change that."""
    if removed or isinstance(root, Server):
        return
    if load(root).projects:
        say(
            "Each git repository has a memory of its own beside yours; --one-memory keeps one for everything."
        )
        return
    say("One memory for everything: projects = false in its mnemark.toml.")
    if kept := folders(root):
        say(
            "What projects hold stays theirs: find it with --scope {scope}, or --scope '*'.",
            scope=f"projects/{safe(kept[0])}",
        )


def _make(root: Memory) -> None:
    """Make the folder where there is none, and trust it; one that others may have filled is asked for."""
    if isinstance(root, Server):
        return
    if not root.is_dir():
        init(root)
        say("Created {path}.", path=safe(str(root)))
    if trust.now(root).trusted:
        return
    if what_trust_allows(root):
        check_trust(root)
        return
    trust.trust(root)
    say("{path} is trusted on this machine from now on.", path=safe(str(root)))


def _apply(changes: list[SettingsChange], root: Memory, project: Path | None, *, remove: bool) -> None:
    if not remove:
        _make(root)
    before = servers(project)
    work.apply(changes)
    connect_server.drop_unused(before, project)


def _show_planned(changes: list[SettingsChange]) -> None:
    for one in changes:
        out(safe(one.diff), end="")
    if not changes:
        say("Nothing would change.")


def _connect_one(
    host: Host, root: Memory, project: Path | None, *, remove: bool, dry_run: bool, json: bool
) -> None:
    changes = work.plan(host, root, project=project, remove=remove)
    if not dry_run:
        _apply(changes, root, project, remove=remove)
    if json:
        texts = {str(change.path): change.diff for change in changes}
        _out_changes(host, root, texts, dry_run=dry_run, removed=remove)
    elif dry_run:
        _show_planned(changes)
    else:
        _show_done(host, changes, root, remove=remove)
        _tell_of_projects(root, removed=remove)
        if not remove:
            make_offers(root, [host])


def _connect_all(
    root: Memory, project: Path | None, *, remove: bool, yes: bool, dry_run: bool, json: bool
) -> None:
    """Connect all installed agents, or disconnect all, after asking once; without a terminal only list."""
    _list(project, json=json)
    if json or not (output.can_ask() or yes or dry_run):
        _tell_how(remove=remove, json=json)
        return
    planned = _plan_all(root, project, remove=remove)
    changes = [change for one in planned.values() for change in one]
    if dry_run or not changes:
        _show_planned(changes)
        return
    hint("")
    for host, own in planned.items():
        for path in _places(host, own, root, project):
            say("{name}: {value}", name=host.title, value=safe(path))
    if remove:
        say("mnemark is taken out of these files; --dry-run shows each line.")
    else:
        say(
            "Hooks and tools for {path} are put into these files; --dry-run shows each line.",
            path=safe(str(root)),
        )
    if not yes and not output.confirm("Go on?", default=True):
        say("Nothing was changed.")
        return
    for host, own in planned.items():
        _apply(own, root, project, remove=remove)
        if own:
            _show_done(host, [], root, remove=remove, changed=True)
    _tell_of_projects(root, removed=remove)
    if not remove:
        make_offers(root, planned, yes=yes)


def _plan_all(root: Memory, project: Path | None, *, remove: bool) -> dict[Host, list[SettingsChange]]:
    """Return what would change for each agent, but for those whose settings cannot be changed."""
    planned = {}
    for host in (one for one in HOSTS if remove or is_installed(one)):
        try:
            planned[host] = work.plan(host, root, project=project, remove=remove)
        except MnemarkError as error:  # the others can be connected
            say("{name}: {value}", name=host.title, value=spoken(str(error)))
    return planned


def _tell_how(*, remove: bool, json: bool) -> None:
    """Say what to run where nobody can be asked."""
    if json:
        return
    if remove:
        say("To disconnect them all: `mnemark connect --remove --yes`.")
    elif any(map(is_installed, HOSTS)):
        say("To connect all that are installed: `mnemark connect --yes`; one: `mnemark connect AGENT`.")
    else:
        say("To connect one before it is installed: `mnemark connect AGENT`.")


def _check(agent: str, project: Path | None, *, json: bool) -> None:
    hosts = (host_of(agent),) if agent else HOSTS
    found = []
    for host in hosts:
        try:
            found += check(host, project)
        except MnemarkError as error:
            if agent:
                raise
            say("{name}: {value}", name=host.title, value=spoken(str(error)))
    if json:
        out_json({"checked": [one._asdict() for one in found]})
    else:
        words = speech.words()
        rows = [
            (one.title, words(one.part), words("no") if one.problem else f"{one.seconds:.1f} s",
             safe(one.workspace))
            for one in found
        ]  # fmt: skip
        out("\n".join(render.table(rows))) if rows else say("No agent is connected; run `mnemark connect`.")
        _say_problems(found)
    if not found or any(one.problem for one in found):
        raise typer.Exit(1)


def _list(project: Path | None, *, json: bool) -> None:
    found = connections(project)
    if json:
        out_json({
            "agents": [one._asdict() for one in found], "servers": [one._asdict() for one in states()],
        })  # fmt: skip
        return
    words = speech.words()
    near = [one for one in found if one.installed or one.state != "not connected"]
    rows = [(one.agent, _state(one, words), safe(render.from_home(one.workspace))) for one in near]
    if rows:
        out("\n".join(render.table(rows)))
    if rest := [one.agent for one in found if one not in near]:
        out("\n  ".join(render.wrapped(words("Not installed: {names}.", names=words.listed(rest)), 78)))
    _say_problems(found)
    connect_server.tell_waiting()


def _say_problems(found: Iterable[Checked | Connection]) -> None:
    for one in found:
        if one.problem:
            hint(spoken(one.problem))


def _state(found: Connection, words: speech.CommandWords) -> str:
    both = found.plugin and found.state in {"connected", "partly connected"}
    state = words(found.state)
    return words("{state}, and by plug-in", state=state) if both else state


def _plugin(host: Host, folder: Path, root: Memory, *, dry_run: bool, json: bool) -> None:
    bundle = bundle_named(host.name)
    if bundle is None or not bundle.trial:
        known = ", ".join(one.agent for one in BUNDLES if one.trial)
        raise UsageError(f"--plugin works only with {known}")
    base = folder.expanduser().absolute()
    texts = plugin_files(bundle, root)
    if not dry_run:
        _make(root)
        written = write_plugin(bundle, base, root)
    if json:
        full = {str(base / name): text for name, text in texts.items()}
        _out_changes(host, root, full, dry_run=dry_run, removed=False)
    elif dry_run:
        for name, text in texts.items():
            out(f"--- {safe(name)}\n{safe(text)}")
    else:
        for path in written:
            out(safe(str(path)))
        say("Try it with: {command}", command=f"{bundle.trial} {safe(str(folder))}")


def _out_changes(host: Host, root: Memory, texts: dict[str, str], *, dry_run: bool, removed: bool) -> None:
    out_json({
        "agent": host.name, "workspace": str(root), "dry_run": dry_run, "removed": removed,
        "changes": [{"path": path, "diff": text} for path, text in texts.items()],
    })  # fmt: skip


def _show_done(
    host: Host, changes: list[SettingsChange], root: Memory, *, remove: bool, changed: bool = False
) -> None:
    for path in _places(host, changes, root, None):
        out(safe(path))
    if not (changes or changed):
        text = "{title} is not connected; nothing was changed."
        say(text if remove else "{title} is already connected; nothing was changed.", title=host.title)
    elif remove:
        say("Removed mnemark from {title}.", title=host.title)
        tell_of_mount(root, host)
    else:
        say(
            "{title} will use the memory in {path} from its next session.",
            title=host.title, path=safe(str(root)),
        )  # fmt: skip
        for note in _notes(host, root):
            hint(safe(note))


def _places(host: Host, changes: list[SettingsChange], root: Memory, project: Path | None) -> list[str]:
    """Return the changed files, with one line for all commands of an agent."""
    commands = [one.path for one in host.targets(root, project) if one.what == "commands"]
    names = [str(change.path) for change in changes if change.path not in commands]
    count = len(changes) - len(names)
    if not count:
        return names
    more = render.counted(count, "command")
    return [*names, speech.words()("{value} ({more})", value=os.path.commonpath(commands), more=more)]


def _notes(host: Host, root: Memory) -> list[str]:
    """Return what there is to know after connecting."""
    kinds = {target.what for target in host.targets(root, None)}
    words = speech.words()
    notes = [words.line(host.note)] if host.note else []
    if "hooks" not in kinds:
        text = "{title} gets the memory tools only: nothing is recalled or recorded by itself."
        notes.append(words(text, title=host.title))
    bundle = bundle_named(host.name)
    if bundle is not None and bundle.is_installed():
        text = (
            "{title} has mnemark's plug-in, too, which leaves the hooks to these settings. To have tools and "
            "commands once, take it out: {command}"
        )
        notes.append(words(text, title=host.title, command=bundle.remove[0]))
    return notes + [words("{path} is your own and was left alone.", path=path)
                    for path in map(str, own_commands(host, root))]  # fmt: skip
