"""Implement `connect`: change agents' settings for hooks and tools, or write a plug-in."""

import os
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from mnemark.errors import MnemarkError, UsageError
from mnemark.files import trust, user_config
from mnemark.files.config import load
from mnemark.files.layout import CONFIG
from mnemark.files.new_workspace import init
from mnemark.files.projects import folders
from mnemark_agents.connect import connect as work
from mnemark_agents.connect import git
from mnemark_agents.connect.bundles import BUNDLES, bundle_named, plugin_files, write_plugin
from mnemark_agents.connect.check import check
from mnemark_agents.connect.choices import LINE, keep_answer, keep_one_memory, offer_for
from mnemark_agents.connect.connect import SettingsChange, host_of, own_commands
from mnemark_agents.connect.connections import Connection, connections
from mnemark_agents.connect.hosts import HOSTS, Host, is_installed
from mnemark_agents.homes import workspace_for
from mnemark_interfaces import options, output, render
from mnemark_interfaces.commands.mount import offer
from mnemark_interfaces.output import out, out_json, safe, say
from mnemark_interfaces.trusting import check_trust, what_trust_allows
from mnemark_interfaces.workspace import locate

_Dry = Annotated[bool, typer.Option("--dry-run", help="Show the changes without making them.")]


_Agent = Annotated[
    str,
    typer.Argument(help="git, or one that `mnemark connect` lists; without it: all that are installed."),
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
_Plugin = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Write a plug-in or extension there, do not change settings."),
]


def connect(
    agent: _Agent = "",
    *,
    workspace_: _Workspace = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove hooks and tools again.")] = False,
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
    """
    here = Path.cwd() if project else None
    if check:
        _check(agent, here, json=json)
        return
    if agent == "git":
        _git(workspace_, remove=remove, dry_run=dry_run, json=json)
        return
    root = workspace_for(workspace_)
    if one_memory and not remove:
        _one_memory(root, dry_run=dry_run)
    if not agent:
        _connect_all(root, here, remove=remove, yes=yes, dry_run=dry_run, json=json)
        return
    host = work.host_of(agent)
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
    for one in changes:
        out(f"{safe(one.what)}: {safe(', '.join(one.after.splitlines()) or 'removed')}")
    if not changes:
        say("Git is not connected." if remove else "Git is connected already.")
    elif dry_run:
        say("Nothing was changed. Run it again without --dry-run to apply this.")
    elif remove:
        say("Git merges the memory's files as any others again.")
    else:
        say(
            f"A pull joins what both machines wrote from now on. Commit {git.ATTRIBUTES}, and run this on "
            "the other machine, too; `mnemark connect git --remove` undoes it."
        )


def _one_memory(root: Path, *, dry_run: bool) -> None:
    if dry_run:
        out(f"{safe(str(root / CONFIG))}: {LINE}")
        return
    _make(root)
    keep_one_memory(root)


def _tell_of_projects(root: Path, *, removed: bool) -> None:
    """Say in one line whether projects have memories of their own, and how to change that."""
    if removed:
        return
    if load(root).projects:
        say(
            "Each git repository has a memory of its own beside yours; --one-memory keeps one for everything."
        )
        return
    say("One memory for everything: projects = false in its mnemark.toml.")
    if kept := folders(root):
        say(
            f"What projects hold stays theirs: find it with --scope projects/{safe(kept[0])}, or --scope '*'."
        )


def _make(root: Path) -> None:
    """Make the memory where there is none, and trust it; one that others may have filled is asked for."""
    if not root.is_dir():
        init(root)
        say(f"Created {safe(str(root))}.")
    if trust.now(root).trusted:
        return
    if what_trust_allows(root):
        check_trust(root)
        return
    trust.trust(root)
    say(f"{safe(str(root))} is trusted on this machine from now on.")


def _apply(changes: list[SettingsChange], root: Path, *, remove: bool) -> None:
    if not remove:
        _make(root)
    work.apply(changes)


def _show_planned(changes: list[SettingsChange]) -> None:
    for one in changes:
        out(safe(one.diff), end="")
    if not changes:
        say("Nothing would change.")


def _connect_one(
    host: Host, root: Path, project: Path | None, *, remove: bool, dry_run: bool, json: bool
) -> None:
    changes = work.plan(host, root, project=project, remove=remove)
    if not dry_run:
        _apply(changes, root, remove=remove)
    if json:
        texts = {str(change.path): change.diff for change in changes}
        _out_changes(host, root, texts, dry_run=dry_run, removed=remove)
    elif dry_run:
        _show_planned(changes)
    else:
        _show_done(host, changes, root, remove=remove)
        _tell_of_projects(root, removed=remove)
        if not remove:
            _offer_model([host])
        _offer_mounts(root, remove=remove)


def _connect_all(
    root: Path, project: Path | None, *, remove: bool, yes: bool, dry_run: bool, json: bool
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
    say("")
    for host, own in planned.items():
        for path in _places(host, own, root, project):
            say(f"{host.title}: {safe(path)}")
    what = "mnemark is taken out of" if remove else f"Hooks and tools for {safe(str(root))} are put into"
    say(f"{what} these files; --dry-run shows each line.")
    if not yes and not typer.confirm("Go on?", default=True, err=True):
        say("Nothing was changed.")
        return
    for host, own in planned.items():
        _apply(own, root, remove=remove)
        if own:
            _show_done(host, [], root, remove=remove, changed=True)
    _tell_of_projects(root, removed=remove)
    if not (remove or yes):
        _offer_model(planned)
    _offer_mounts(root, remove=remove, yes=yes)


def _plan_all(root: Path, project: Path | None, *, remove: bool) -> dict[Host, list[SettingsChange]]:
    """Return what would change for each agent, but for those whose settings cannot be changed."""
    planned = {}
    for host in (one for one in HOSTS if remove or is_installed(one)):
        try:
            planned[host] = work.plan(host, root, project=project, remove=remove)
        except MnemarkError as error:  # the others can be connected
            say(f"{host.title}: {safe(str(error))}")
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
            say(f"{host.title}: {safe(str(error))}")
    if json:
        out_json({"checked": [one._asdict() for one in found]})
    else:
        rows = [
            (one.title, one.part, (one.problem and "no") or f"{one.seconds:.1f} s", safe(one.workspace))
            for one in found
        ]
        out("\n".join(render.table(rows))) if rows else say("No agent is connected; run `mnemark connect`.")
        for one in found:
            if one.problem:
                say(safe(one.problem))
    if not found or any(one.problem for one in found):
        raise typer.Exit(1)


def _list(project: Path | None, *, json: bool) -> None:
    found = connections(project)
    if json:
        out_json({"agents": [one._asdict() for one in found]})
        return
    near = [one for one in found if one.installed or one.state != "not connected"]
    rows = [(one.agent, _state(one), safe(render.from_home(one.workspace))) for one in near]
    if rows:
        out("\n".join(render.table(rows)))
    if rest := [one.agent for one in found if one not in near]:
        out(textwrap.fill(f"Not installed: {', '.join(rest)}.", 80, subsequent_indent="  "))
    for one in found:
        if one.problem:
            say(safe(one.problem))


def _state(found: Connection) -> str:
    both = found.plugin and found.state in {"connected", "partly connected"}
    return f"{found.state}, and by plug-in" if both else found.state


def _offer_model(hosts: Iterable[Host]) -> None:
    """Ask once, at a terminal, whether the model of the first agent with one may be used; keep the answer."""
    offer = next(filter(None, map(offer_for, hosts)), None)
    if offer is None or not output.can_ask():
        return
    say("")
    say(safe(offer.text))
    wanted = typer.confirm("Learn with it?", default=False, err=True)
    keep_answer(offer, wanted=wanted)
    say("mnemark will learn with it." if wanted else "It stays off.")


def _tell_of_mount(root: Path, host: Host) -> None:
    """Say that searches still read the notes of an agent that is disconnected, if they do."""
    if user_config.of_workspace(root, user_config.load()).get(host.name):
        say(f"Searches still read its own notes: `mnemark mount {host.name} --remove` ends that.")


def _offer_mounts(root: Path, *, remove: bool, yes: bool = False) -> None:
    """Ask once for each memory of another program on this machine; see `mnemark mount`."""
    if remove:
        return
    offer(root, None, asks=output.can_ask() and not yes, yes=False)


def _plugin(host: Host, folder: Path, root: Path, *, dry_run: bool, json: bool) -> None:
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
        say(f"Try it with: {bundle.trial} {safe(str(folder))}")


def _out_changes(host: Host, root: Path, texts: dict[str, str], *, dry_run: bool, removed: bool) -> None:
    out_json({
        "agent": host.name, "workspace": str(root), "dry_run": dry_run, "removed": removed,
        "changes": [{"path": path, "diff": text} for path, text in texts.items()],
    })  # fmt: skip


def _show_done(
    host: Host, changes: list[SettingsChange], root: Path, *, remove: bool, changed: bool = False
) -> None:
    for path in _places(host, changes, root, None):
        out(safe(path))
    if not (changes or changed):
        say(f"{host.title} is {'not connected' if remove else 'already connected'}; nothing was changed.")
    elif remove:
        say(f"Removed mnemark from {host.title}.")
        _tell_of_mount(root, host)
    else:
        say(f"{host.title} will use the memory in {safe(str(root))} from its next session.")
        for note in _notes(host, root):
            say(note)


def _places(host: Host, changes: list[SettingsChange], root: Path, project: Path | None) -> list[str]:
    """Return the changed files, with one line for all commands of an agent."""
    commands = [one.path for one in host.targets(root, project) if one.what == "commands"]
    names = [str(change.path) for change in changes if change.path not in commands]
    count = len(changes) - len(names)
    return [*names, f"{os.path.commonpath(commands)} ({count} commands)"] if count else names


def _notes(host: Host, root: Path) -> list[str]:
    """Return what there is to know after connecting."""
    kinds = {target.what for target in host.targets(root, None)}
    notes = [host.note] if host.note else []
    if "hooks" not in kinds:
        notes.append(f"{host.title} gets the memory tools only: nothing is recalled or recorded by itself.")
    bundle = bundle_named(host.name)
    if bundle is not None and bundle.is_installed():
        notes.append(
            f"{host.title} has mnemark's plug-in, too, which leaves the hooks to these settings. To have "
            f"tools and commands once, take it out: {bundle.remove[0]}"
        )
    notes += [f"{path} is your own and was left alone." for path in own_commands(host, root)]
    return notes
