"""Implement `connect`: change agents' settings for hooks and tools, or write a plug-in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemark.errors import UsageError
from mnemark.interfaces import options, output, render
from mnemark.interfaces.output import out, out_json, safe, say

if TYPE_CHECKING:
    from mnemark.agent.connect.connect import Change
    from mnemark.agent.connect.hosts import Host

_Dry = Annotated[bool, typer.Option("--dry-run", help="Show the changes without making them.")]


def connect(
    agent: Annotated[
        str, typer.Argument(help="claude-code, codex, gemini-cli, cursor or openclaw; without it: list them.")
    ] = "",
    *,
    workspace_: Annotated[
        Path | None,
        typer.Option("--workspace", "-w", metavar="FOLDER", envvar="MNEMARK_WORKSPACE", show_envvar=True,
                     help="The workspace the agent will use. Default: ~/mnemark, created if missing."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove hooks and tools again.")] = False,
    dry_run: _Dry = False,
    project: Annotated[
        bool, typer.Option("--project", help="Connect only the project in the current folder.")
    ] = False,
    plugin: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Claude Code: write a plug-in there, do not change settings."),
    ] = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Connect an agent: add hooks and memory tools to its settings.

    Other settings are not changed, and each changed file is backed up beside the original. --remove takes
    hooks and tools out again. At a terminal it asks once whether mnemark may also learn with the agent's
    language model, and says what is sent and what it costs; without a yes, no model is asked.
    """
    from mnemark.agent.connect import connect as work

    here = Path.cwd() if project else None
    if not agent:
        _list(here, json=json)
        return
    host = work.host_of(agent)
    root = work.workspace_for(workspace_)
    if plugin is not None:
        _plugin(host, plugin, root, dry_run=dry_run, json=json)
        return
    changes = work.plan(host, root, project=here, remove=remove)
    if not dry_run:
        if not remove and not root.is_dir():
            from mnemark.files import layout

            layout.init(root)
            say(f"Created {safe(str(root))}.")
        work.apply(changes)
    if json:
        texts = {str(one.path): one.diff for one in changes}
        _out_changes(host, root, texts, dry_run=dry_run, removed=remove)
    elif dry_run:
        for one in changes:
            out(safe(one.diff), end="")
        if not changes:
            say("Nothing would change.")
    else:
        _show_done(host, changes, root, remove=remove)
        if not remove:
            _offer_model(host)


def _list(project: Path | None, *, json: bool) -> None:
    from mnemark.agent.connect.connect import connections

    found = connections(project)
    if json:
        out_json({"agents": [one._asdict() for one in found]})
        return
    rows = [
        (one.agent, "installed" if one.installed else "not installed", one.state, safe(one.workspace))
        for one in found
    ]
    out("\n".join(render.table(rows)))
    for one in found:
        if one.problem:
            say(safe(one.problem))


def _offer_model(host: "Host") -> None:
    """Ask once, at a terminal, whether the agent's model may be used; its answer is kept."""
    import sys

    from mnemark.agent.connect.offer import keep_answer, offer_for

    offer = offer_for(host)
    if offer is None or not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
        return
    say("")
    say(safe(offer.text))
    wanted = typer.confirm("Learn with it?", default=False, err=True)
    keep_answer(offer, wanted=wanted)
    say("mnemark will learn with it." if wanted else "It stays off.")


def _plugin(host: "Host", folder: Path, root: Path, *, dry_run: bool, json: bool) -> None:
    from mnemark.agent.plugin import plugin_files, write_plugin

    if host.name != "claude-code":
        raise UsageError("--plugin works only with claude-code")
    base = folder.expanduser().absolute()
    texts = plugin_files(root)
    if not dry_run:
        if not root.is_dir():
            from mnemark.files import layout

            layout.init(root)
        written = write_plugin(base, root)
    if json:
        full = {str(base / name): text for name, text in texts.items()}
        _out_changes(host, root, full, dry_run=dry_run, removed=False)
    elif dry_run:
        for name, text in texts.items():
            out(f"--- {safe(name)}\n{safe(text)}")
    else:
        for path in written:
            out(safe(str(path)))
        say(f"Try it with: claude --plugin-dir {safe(str(folder))}")


def _out_changes(host: "Host", root: Path, texts: dict[str, str], *, dry_run: bool, removed: bool) -> None:
    out_json({
        "agent": host.name, "workspace": str(root), "dry_run": dry_run, "removed": removed,
        "changes": [{"path": path, "diff": text} for path, text in texts.items()],
    })  # fmt: skip


def _show_done(host: "Host", changes: "list[Change]", root: Path, *, remove: bool) -> None:
    for one in changes:
        out(safe(str(one.path)))
    if not changes:
        say(f"{host.title} is {'not connected' if remove else 'already connected'}; nothing was changed.")
    elif remove:
        say(f"Removed mnemark from {host.title}.")
    else:
        say(f"{host.title} will use the memory in {safe(str(root))} from its next session.")
        if host.note:
            say(host.note)
