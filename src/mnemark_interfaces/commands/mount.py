"""Implement `mount`: choose which other memories searches of a workspace read."""

from collections.abc import Mapping
from contextlib import suppress
from glob import escape
from pathlib import Path
from typing import Annotated, Any

import typer

from mnemark.errors import MnemarkError, NotFoundError, UsageError
from mnemark.files import mounts, user_config
from mnemark.files.config import load
from mnemark.files.mounts import Mounted, mounts_of
from mnemark.files.user_config import MountConfig
from mnemark_agents.connect.places import OtherMemory, places
from mnemark_agents.homes import workspace_for
from mnemark_interfaces import options, output, render, workspace
from mnemark_interfaces.output import out, out_json, safe, safe_line, say

_SHOWN = 5
_ABOUT = """
Other memories on this machine. Searches can read them beside yours: they are not copied or changed, and
sent to no embedding API or language model of mnemark; what is found is shown to the agents that you
connected. `mnemark mount` shows and changes this."""


_Folder = Annotated[
    str,
    typer.Argument(
        metavar="[FOLDER|FILE|NAME]",
        help="A folder, a file, or the name of a memory that was found; without it: list them.",
    ),
]
_Name = Annotated[str, typer.Option(metavar="NAME", help="The name in refs. Default: that of the folder.")]
_Files = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help='Read only these files: "*.md", "notes/**/*.md" (repeatable).'),
]
_Found = Annotated[
    bool, typer.Option("--found", help="Ask for each memory that was found and not asked for yet.")
]
_Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="With --found: accept all in your own settings, unasked.")
]


def mount(
    folder: _Folder = "",
    *,
    workspace_: options.Workspace = None,
    name: _Name = "",
    files: _Files = None,
    found: _Found = False,
    remove: Annotated[bool, typer.Option("--remove", help="No longer read it; it stays as it is.")] = False,
    yes: _Yes = False,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Search other memories beside your own, without copying or changing them.

    Without arguments, list those that searches read, and those that were found on this machine: notes of
    Claude Code, Codex, Gemini CLI, OpenClaw, nanobot and basic-memory, and what the project in the current
    folder keeps for agents. Their hits have refs like @claude-code/CLAUDE.md#L3. Your answers are kept in
    your own configuration, for this workspace alone.
    """
    root = _root(workspace_)
    if remove:
        _remove(root, folder)
    elif folder:
        _add(root, folder, name, tuple(files or ()))
    elif found:
        offer(root, Path.cwd(), asks=output.can_ask(), yes=yes, again=True)
    if json:
        out_json({"workspace": str(root), "mounts": _listed(root)})
    elif not (remove or folder or found):
        _show(root)


def offer(root: Path, project: Path | None, *, asks: bool, yes: bool, again: bool = False) -> None:
    """Ask once for each memory that was found and not answered for yet; keep the answers.

    Args:
        root: the workspace.
        project: a folder whose project is looked at, too.
        asks: whether there is a terminal to ask at; else they are only named.
        yes: accept those in the user's own settings unasked. What others may have written is never.
        again: say so where there is nothing to ask for.
    """
    new = _new(root, project)
    if not new:
        if again:
            say("Nothing new was found.")
        return
    if not (asks or yes):
        named = ", ".join(f"@{one.name} ({render.counted(len(one.found), 'note')})" for one in new)
        say(f"Found memories of other programs: {safe_line(named)}.")
        say(f"To search them, too: `mnemark mount --found -w {safe(str(root))}`.")
        return
    if asks:
        say(_ABOUT)
    for one in new:
        if not (asks or one.own):
            say(f"{_described(one)}: others may have written it; accept it with `mnemark mount {one.name}`.")
        elif (yes and one.own) or _asked(one):
            mounts.accept(root, one.name, one.folder, one.files)
            say(f"Searches read it as @{one.name}.")
        else:
            mounts.refuse(root, one.name)


def _asked(one: OtherMemory) -> bool:
    if one.own:
        return typer.confirm(f"{_described(one)}. Let searches read this, too?", default=False, err=True)
    for path in one.found[:_SHOWN]:
        say(f"  {safe(str(one.folder / path))}")
    question = f"{_described(one)}. Others may have written it. Trust it, and let searches read it?"
    return typer.confirm(question, default=False, err=True)


def _described(one: OtherMemory) -> str:
    kept = f"keeps {render.counted(len(one.found), 'note')} in {render.from_home(str(one.folder))}"
    return safe_line(f"{one.title} {kept}")


def _root(given: Path | None) -> Path:
    try:
        return workspace.locate(given)
    except NotFoundError:
        default = workspace_for(None)
        if given is not None or not default.is_dir():
            raise
        return default


def _answered(root: Path) -> Mapping[str, MountConfig | bool]:
    return user_config.of_workspace(root, user_config.load())


def _new(root: Path, project: Path | None) -> list[OtherMemory]:
    known = _answered(root)
    mounted = {one.folder.resolve() for one in _mounted(root).values()}
    return [
        one for one in places(root, project) if one.name not in known and one.folder.resolve() not in mounted
    ]


def _mounted(root: Path) -> dict[str, Mounted]:
    return mounts_of(root, load(root).mounts)


def _add(root: Path, given: str, name: str, files: tuple[str, ...]) -> None:
    place = next((one for one in places(root, Path.cwd()) if one.name == given), None)
    if place is not None:
        folder, name, files = place.folder, name or place.name, files or place.files
    else:
        folder = Path(given).expanduser().absolute()
        if folder.is_file() and not files:
            folder, name, files = folder.parent, name or folder.stem.lstrip("."), (escape(folder.name),)
        if not folder.is_dir():
            raise NotFoundError(
                f"there is no folder {given}, and no memory of that name was found; see `mnemark mount`"
            )
    name = name or folder.name.lstrip(".")
    if (wrong := mounts.why_wrong(name, files)) is not None:
        raise UsageError(wrong)
    there = _mounted(root).get(name)
    if there is not None and there.folder.resolve() != folder.resolve():
        raise UsageError(f"@{name} is {there.folder} already; choose another name with --name")
    mounts.accept(root, name, folder, files)
    say(f"Searches of {safe(str(root))} read {safe(str(folder))} as @{name}.")


def _remove(root: Path, name: str) -> None:
    listed = ", ".join(_answered(root)) or "none"
    if not name:
        raise UsageError(f"name what is to be removed: `mnemark mount NAME --remove`; there are: {listed}")
    if not isinstance(known := _answered(root).get(name), bool) and known is None:
        raise NotFoundError(f"you accepted no mount {name!r} here; accepted or refused: {listed}")
    mounts.forget(root, name)
    mounts.discard_index(root, name)
    say(f"Searches no longer read @{name}; its files were not touched.")


def _listed(root: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, one in _mounted(root).items():
        there = not one.why_not(name)
        files = 0
        if there:
            with suppress(MnemarkError, OSError):  # `mnemark status` says why
                files = len(one.entries())
        state = "mounted" if there else "missing"
        rows.append({"name": name, "folder": str(one.folder), "files": files, "state": state})
    for name, answer in _answered(root).items():
        rows += [{"name": name, "folder": "", "files": 0, "state": "refused"}] if answer is False else []
    rows += [
        {"name": one.name, "folder": str(one.folder), "files": len(one.found),
         "state": "found" if one.own else "untrusted"}
        for one in _new(root, Path.cwd())
    ]  # fmt: skip
    return rows


_STATES = {
    "mounted": "searched", "missing": "searched, but the folder is not there", "refused": "not wanted",
    "found": "found, not searched", "untrusted": "found in this project, not searched",
}  # fmt: skip


def _show(root: Path) -> None:
    rows = _listed(root)
    if not rows:
        say("No other memory is searched, and none was found.")
        return
    shown = [
        (safe_line(one["name"]), _STATES[one["state"]], f"{one['files']:,}", safe_line(one["folder"]))
        for one in rows
    ]
    out("\n".join(render.table(shown)))
    if any(one["state"] in {"found", "untrusted"} for one in rows):
        say("Accept one with `mnemark mount NAME`, or be asked for each with `mnemark mount --found`.")
