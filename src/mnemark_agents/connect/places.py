"""Find the memories that agents keep on this machine, so that searches can read them through mounts.

Only Markdown that is memory is named: no transcripts, logs, settings or credentials. What lies in the user's
own settings is theirs; what lies in a project may be anybody's who wrote to that repository.

Sources, as of autumn 2026:
    Claude Code: https://code.claude.com/docs/en/memory
    Codex: https://developers.openai.com/codex/memories, https://developers.openai.com/codex/guides/agents-md
    Gemini CLI: https://geminicli.com/docs/tools/memory, https://geminicli.com/docs/cli/gemini-md
    Cursor: https://cursor.com/docs/rules (rules of a user are in its database, those of a project in files)
    Windsurf: https://docs.windsurf.com/windsurf/cascade/memories
    Copilot: https://docs.github.com/en/copilot/how-tos/configure-custom-instructions
    OpenClaw: https://docs.openclaw.ai/concepts/agent-workspace
    nanobot: https://github.com/HKUDS/nanobot/blob/main/docs/memory.md
    basic-memory: https://docs.basicmemory.com/reference/configuration
"""

import json
import os
import re
from collections.abc import Iterator
from glob import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.files import layout, platform
from mnemark.files.mounts import Mounted
from mnemark.files.projects import top_of
from mnemark.files.reading import read
from mnemark.files.scan import only, scan
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Problem
from mnemark_agents import homes

_CLAUDE: Final = ("CLAUDE.md", "rules/**/*.md", "projects/*/memory/**/*.md")
_CODEX: Final = (
    "AGENTS.md", "AGENTS.override.md", "memories/MEMORY.md", "memories/memory_summary.md",
    "memories/rollout_summaries/*.md",
)  # fmt: skip
_GEMINI: Final = ("GEMINI.md", "tmp/*/memory/*.md")
_OPENCLAW: Final = ("MEMORY.md", "USER.md", "TOOLS.md", "memory/**/*.md")
_NANOBOT: Final = ("USER.md", "memory/*.md")
_NOTES: Final = ("**/*.md",)
_PROJECT: Final = (
    (
        "", "",
        (
            "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", ".cursorrules",
            ".windsurfrules",
        ),
    ),
    (".claude", ".claude", ("CLAUDE.md", "rules/**/*.md")),
    (".cursor", ".cursor/rules", ("**/*.mdc",)),
    (".windsurf", ".windsurf/rules", ("**/*.md",)),
    (".github", ".github", ("copilot-instructions.md", "instructions/**/*.instructions.md")),
)  # fmt: skip
"""What is added to a project's name, the folder in it, and the files there."""
_NESTED: Final = ("**/CLAUDE.md", "**/AGENTS.md", "**/GEMINI.md")
"""Files of rules for a part of a project. They are looked for once, and then named one by one: a search does
not walk a repository."""
_MOST_NESTED: Final = 50
_IMPORTING: Final = frozenset({"CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"})
_HOPS: Final = 5
"""Imports of imports of … that Claude Code follows."""
_CODE: Final = lazy_pattern(r"^(?:```|~~~).*?^(?:```|~~~)[^\n]*$|`[^`\n]*+`", re.MULTILINE | re.DOTALL)
_IMPORT: Final = lazy_pattern(r"(?:^|(?<=[\s(]))@((?:\.{1,2}/|~/|/)?[\w][\w./-]*)")


class OtherMemory(NamedTuple):
    """A memory that was found."""

    name: str
    """The mount's name, which stands in refs."""
    title: str
    """Whose it is, in words."""
    folder: Path
    files: tuple[str, ...]
    """Patterns of its files, see `scan.only`."""
    own: bool
    """Whether it lies in the user's own settings; else in a project, whose files others may have written."""
    found: tuple[str, ...] = ()
    """The files, relative to the folder."""


def places(root: Path, project: Path | None = None) -> list[OtherMemory]:
    """Return the memories on this machine that hold a file, without those that overlap a workspace.

    Args:
        root: the workspace.
        project: a folder in a project whose files to look for, too.
    """
    known = [*_of_user(), *(() if project is None else _of_project(project))]
    return [one for place in known if (one := _filled(place, root)) is not None]


def _filled(place: OtherMemory, root: Path) -> OtherMemory | None:
    real, own = Path(os.path.realpath(place.folder)), Path(os.path.realpath(root))
    if real.is_relative_to(own) or own.is_relative_to(real):
        return None
    try:
        place = place._replace(files=(*place.files, *_imported(place)))
        found = tuple(entry.path for entry in Mounted(place.folder, place.files).entries() if entry.size)
    except OSError:  # not there, or not ours to read
        return None
    return place._replace(found=found) if found else None


def _of_user() -> Iterator[OtherMemory]:
    home = Path.home()
    yield OtherMemory("claude-code", "Claude Code", homes.claude(), _CLAUDE, own=True)
    yield OtherMemory("codex", "Codex", homes.codex(), _CODEX, own=True)
    gemini = homes.folder_named("GEMINI_CLI_HOME", "") / ".gemini"
    yield OtherMemory("gemini-cli", "Gemini CLI", gemini, _GEMINI, own=True)
    yield OtherMemory("openclaw", "OpenClaw", _openclaw(), _OPENCLAW, own=True)
    nanobot = _workspace_in(home / ".nanobot/config.json") or home / ".nanobot/workspace"
    yield OtherMemory("nanobot", "nanobot", nanobot, _NANOBOT, own=True)
    for name, folder in _basic_memory(home):
        more = "" if name == "main" else f"-{_plain(name)}"
        yield OtherMemory(f"basic-memory{more}", "basic-memory", folder, _NOTES, own=True)


def _of_project(start: Path) -> Iterator[OtherMemory]:
    """Yield what a project keeps for agents: that of the repository around a folder."""
    root = Path(top_of(os.path.realpath(start)) or start)
    if root in (Path.home(), *Path.home().parents):
        return
    for more, inside, files in _PROJECT:
        name = f"{_plain(root.name)}{more}"
        files = files if inside else (*files, *_nested(root))  # noqa: PLW2901
        yield OtherMemory(name, f"The project {root.name}", root / inside, files, own=False)


def _nested(root: Path) -> tuple[str, ...]:
    """Return patterns of the files of rules in folders of a project."""
    try:
        found = [entry.path for entry in scan(root, ignore=only(_NESTED)).entries if "/" in entry.path]
    except OSError:  # not ours to read
        return ()
    return tuple(map(escape, sorted(found, key=lambda path: (path.count("/"), path))[:_MOST_NESTED]))


def _imported(place: OtherMemory) -> tuple[str, ...]:
    """Return patterns of the texts in a folder that its files import with `@path`, and these again."""
    known = [entry.path for entry in Mounted(place.folder, place.files).entries()]
    waiting = [path for path in known if path.rpartition("/")[2] in _IMPORTING]
    found: dict[str, None] = {}
    for _ in range(_HOPS):
        named = dict.fromkeys(one for path in waiting for one in _imports(place.folder, path))
        waiting = [path for path in named if path not in found and path not in known]
        found |= dict.fromkeys(waiting)
    return tuple(map(escape, found))


def _imports(folder: Path, path: str) -> Iterator[str]:
    """Yield the paths of the texts in a folder that a file there imports."""
    text = read(folder, path)
    if isinstance(text, Problem):
        return
    for match in _IMPORT.finditer(_CODE.sub("", text.text)):
        target = os.path.normpath(folder / Path(path).parent / Path(match[1].rstrip(".")).expanduser())
        if not Path(target).is_relative_to(folder):
            continue
        inside = Path(target).relative_to(folder).as_posix()
        at = layout.place(inside)
        if at is not None and at.searchable and Path(target).is_file():
            yield inside


def _openclaw() -> Path:
    if given := os.environ.get("OPENCLAW_WORKSPACE_DIR"):
        return Path(given).expanduser().absolute()
    state = homes.openclaw()
    return _workspace_in(state / "openclaw.json") or state / "workspace"


def _workspace_in(settings: Path) -> Path | None:
    """Return the workspace that OpenClaw's or nanobot's settings name; None where they cannot be read."""
    found: Any = _json(settings)
    for key in ("agents", "defaults", "workspace"):
        found = found.get(key) if isinstance(found, dict) else None
    return Path(found).expanduser().absolute() if isinstance(found, str) and found else None


def _basic_memory(home: Path) -> Iterator[tuple[str, Path]]:
    main = os.environ.get("BASIC_MEMORY_HOME") or str(home / "basic-memory")
    settings = _json(home / ".basic-memory/config.json")
    listed = settings.get("projects") if isinstance(settings, dict) else None
    for name, value in (listed if isinstance(listed, dict) and listed else {"main": main}).items():
        path = value.get("path") if isinstance(value, dict) else value
        if isinstance(path, str) and path:
            yield str(name), Path(path).expanduser().absolute()


def _json(path: Path) -> Any:
    try:
        return json.loads(platform.content(path).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):  # absent, or JSON5: then the usual folder counts
        return None


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-") or "project"
