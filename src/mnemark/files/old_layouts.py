"""Recognize folders of other memories, and tell what of them was brought over.

Most old layouts open as they are. What is migrated (`mnemark_adapters.importers.old_layouts`) is noted in
`memory/migrated-from.json`, so that notes edited or removed since do not come back.
"""

import json
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from mnemark.files import layout, platform
from mnemark.files.reading import digest
from mnemark.types import Problem

Kind = Literal["nanobot", "nanobot-data", "openakita", "openclaw"]
Action = Literal["copy", "session", "facts", "same", "left"]

MARKER = "memory/migrated-from.json"
FACTS = "memory/facts/imported.md"

MEMORY_FOLDERS = ("", "memory/", "data/memory/")
_IDENTITY = ("SOUL.md", "AGENT.md", "USER.md", "MEMORY.md")


class OldLayout(msgspec.Struct, frozen=True):
    """An old memory in a folder, or in its `workspace/`."""

    kind: Kind
    folder: Path
    opens_as_is: bool
    """Nothing in it needs migrating to be found."""


class OldFile(msgspec.Struct, frozen=True):
    """One file of a migration, paths relative to source and target."""

    action: Action
    """`same`: was migrated before, or is there already. `left`: stays where it is, for `reason`."""
    source: str
    target: str = ""
    reason: str = ""
    count: int = 1
    """Files, session lines or facts that are new."""


def detect(folder: Path) -> OldLayout | None:
    """Return the old layout in `folder`; None for others, and for mnemark's own without old files."""
    for base in (folder, folder / "workspace"):
        convertible = bool(memories(base) or histories(base))
        if convertible or any((base / "identity" / name).is_file() for name in _IDENTITY):
            return OldLayout("openakita", base, opens_as_is=False)
        if (base / layout.CONFIG).exists() or any((base / "journal").glob("*.jsonl")):
            continue  # made a memory of mnemark's; an index beside it only says that it was searched
        memory = (base / "MEMORY.md").is_file()
        if (base / "notes").is_dir() and (memory or (base / "memory.db").is_file()):
            return OldLayout("nanobot-data", base, opens_as_is=True)
        if (base / "memory").is_dir() and any((base / "memory").glob("*.md")):
            kind: Kind = "nanobot" if (base / "memory/MEMORY.md").is_file() and not memory else "openclaw"
            return OldLayout(kind, base, opens_as_is=True)
    return None


def unread(root: Path) -> Problem | None:
    """Return the problem that memory in a workspace is not searched until it is imported."""
    known = noted(root, root)
    left = []
    for path in (*memories(root), *histories(root)):
        with suppress(OSError):  # reported by the import
            if known.get(path) != digest(platform.content(root / path)):
                left.append(path)
    if not left:
        return None
    more = f" and {len(left) - 1} more" if len(left) > 1 else ""
    fix = f"import with `mnemark import openakita {root}`"
    return Problem(left[0], f"memory in a form that is not searched{more}: {fix}", skipped=False)


def memories(base: Path) -> list[str]:
    """Return the files with OpenAkita's memories."""
    wanted = (f"{folder}memories.json" for folder in MEMORY_FOLDERS)
    return [path for path in wanted if (base / path).is_file()]


def histories(base: Path) -> list[str]:
    """Return the files with OpenAkita's conversations."""
    return sorted(
        path.relative_to(base).as_posix()
        for folder in MEMORY_FOLDERS
        for path in (base / folder / "conversation_history").glob("*.jsonl")
        if path.is_file() and not path.is_symlink()
    )


def notes_of(target: Path) -> list[dict[str, object]]:
    """Return what is noted of each folder that was brought over."""
    try:
        found = json.loads(platform.content(target / MARKER))["sources"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        # Without the note everything is compared by content: slower, and edited notes come a second time.
        return []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def noted(target: Path, source: Path) -> dict[str, str]:
    """Return the digests by path of what was migrated from `source` before."""
    for entry in notes_of(target):
        files = entry.get("files")
        if entry.get("source") == str(source.resolve()) and isinstance(files, dict):
            return {str(path): str(mark) for path, mark in files.items()}
    return {}
