"""Find what a vault of Obsidian or a graph of Logseq keeps that is no note: templates, old versions."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final

import msgspec

from mnemark.files import layout, platform

_LOGSEQ: Final = frozenset({"logseq", "journals"})
"""Folders of each graph."""
_VERSIONS: Final = ("bak", "logseq/bak", "logseq/version-files")
"""Folders of old versions of pages."""
_OBSIDIAN: Final = ".obsidian"
_LARGEST: Final = 1 << 20
_TEMPLATES: Final = (
    ("templates.json", "folder", "templates"),
    ("plugins/templater-obsidian/data.json", "templates_folder", ""),
)
"""Settings of plug-ins for templates: the file, its field, and the name of a plug-in of Obsidian's own."""
_OURS: Final = frozenset({"memory", *layout.LOGS, *layout.SCOPES})
"""Folders that the settings of a vault, which may be anybody's, cannot hide."""


def no_notes(root: Path, prefix: str, names: AbstractSet[str]) -> frozenset[str]:
    """Return the folders without notes in a vault or graph, relative to `root`.

    Args:
        root: the workspace.
        prefix: of the folder that may be one: empty, or with a slash at its end.
        names: what is in it.
    """
    found = {f"{prefix}{folder}" for folder in _VERSIONS} if names >= _LOGSEQ else set[str]()
    if _OBSIDIAN in names:
        found.update(f"{prefix}{folder}" for folder in _templates(root / f"{prefix}{_OBSIDIAN}"))
    return frozenset(found)


def _templates(settings: Path) -> Iterator[str]:
    enabled = _json(settings / "core-plugins.json")
    for file, field, plugin in _TEMPLATES:
        found = _json(settings / file)
        folder = found.get(field) if isinstance(found, dict) else None
        if plugin and isinstance(enabled, dict) and enabled.get(plugin) is False:
            continue
        if isinstance(folder, str) and (folder := folder.strip("/ ")) and _may_be(folder):
            yield folder


def _may_be(folder: str) -> bool:
    return layout.is_inside(folder) and folder.partition("/")[0].casefold() not in _OURS


def _json(path: Path) -> Any:
    try:
        with platform.opened(path) as file:
            return msgspec.json.decode(file.read(_LARGEST).removeprefix(b"\xef\xbb\xbf"))
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):  # there is none, or none to read
        return None
