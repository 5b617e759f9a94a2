"""Read the text that a ref names."""

from pathlib import Path
from typing import Final

from mnemark.errors import NotFoundError, UsageError
from mnemark.facts.visible import Visible
from mnemark.files import layout
from mnemark.files.names import split_ref
from mnemark.files.reading import read
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Problem

_LINE: Final = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def read_ref(visible: Visible, ref: str, *, raw: bool = False) -> str:
    """Read the lines a ref names, in the file, which may be in the archive by now.

    Args:
        visible: of the workspace.
        ref: `path`, `path#L12` or `path#L12-L30`.
        raw: as they stand in the file, for its owner; otherwise without secrets, private passages and what
            was forgotten.

    Raises:
        NotFoundError: there is no such file, it is no text, or it has not that many lines.
        UsageError: the path leaves the workspace.
    """
    root = visible.root
    path, first, last = split_ref(ref)
    full = layout.safe_path(root, path)
    found = read(root, path)
    if isinstance(found, Problem) and not full.exists() and (moved := _archived(root, path)):
        found = read(root, moved)
    if isinstance(found, Problem):
        raise NotFoundError(f"{layout.shown(path)} {found.reason}")
    text = found.text if raw else visible.text(found.path, found.text)
    if last is None:
        return text
    lines = _LINE.findall(text) or [""]
    if last < first:
        raise UsageError(f"{layout.shown(ref)}: the first line number must not be larger than the last")
    if not 1 <= first <= len(lines):
        raise NotFoundError(f"{layout.shown(path)} has only {len(lines)} lines, so there is no line {first}")
    return "".join(lines[first - 1 : last])


def _archived(root: Path, path: str) -> str:
    """Return the new path of an archived daily note or session; empty where there is none."""
    place = layout.place(path)
    folder, _, name = path.rpartition("/")
    if place is None or place.role not in {"daily", "session"} or not folder:
        return ""
    moved = f"{folder}/archive/{name}"
    return moved if (root / moved).is_file() else ""
