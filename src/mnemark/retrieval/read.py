"""Read the text of a ref from its file."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mnemark.errors import NotFoundError, UsageError
from mnemark.facts.visible import Visible
from mnemark.files import layout
from mnemark.files.config import Config
from mnemark.files.disk_errors import HINT, MISSING
from mnemark.files.mounts import Mounted
from mnemark.files.names import columns_of, cut_to_columns, split_ref
from mnemark.files.reading import read
from mnemark.text.documents import PAGE, format_of
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import WHOLE, Problem

_PAGE: Final = lazy_pattern(r"(?P<path>.+)#page=(?P<page>[0-9]{1,6})", re.DOTALL)
_LINE: Final = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def located(visible: Visible, config: Config, mounts: Mapping[str, Mounted], ref: str) -> tuple[Visible, str]:
    """Return the filter of the texts that a ref names one of, and the ref there: `@name/path` is a mount's.

    Args:
        visible: filter of the workspace's texts.
        config: its settings.
        mounts: its mounts.
        ref: as `read_ref` takes it.

    Raises:
        NotFoundError: there is no such mount, or it does not read that file.
    """
    first, _, rest = ref.partition("/")
    name = first.removeprefix(layout.MOUNT)
    if name == first or (name not in mounts and (visible.root / first).exists()):
        return visible, ref
    if name not in mounts:
        known = ", ".join(mounts) or "none"
        raise NotFoundError(f"there is no mount {name!r}; configured mounts: {known}")
    if why := mounts[name].why_not(name):
        raise NotFoundError(why)
    page = _PAGE.fullmatch(rest)
    if not mounts[name].holds(page["path"] if page else split_ref(rest)[0]):
        raise NotFoundError(f"{layout.shown(rest)} is no file that is read from the mount {name}")
    return Visible(mounts[name].folder, config), rest


def read_ref(visible: Visible, ref: str, *, raw: bool = False) -> str:
    """Return the lines that a ref names, from the file or its archived copy.

    Args:
        visible: filter of the workspace's texts.
        ref: `path`, `path#L12`, `path#L12-L30`, for characters in lines `path#L12C341-L12C900`, or a page of
            a PDF, `path#page=12`.
        raw: return whole lines unfiltered, for the owner of the file; otherwise without secrets, private
            passages and forgotten text.

    Raises:
        NotFoundError: the file does not exist, is not text, or has fewer lines or characters.
        UsageError: the path leaves the workspace.
    """
    root = visible.root
    ref = with_lines(visible, ref)
    path, first, last = split_ref(ref)
    full = layout.safe_path(root, path)
    found = read(root, path)
    there = os.path.exists(full)  # noqa: PTH110 - a name that is too long is no file; `Path.exists` raises
    if isinstance(found, Problem) and not there and (moved := _archived_path(root, path)):
        found = read(root, moved)
    if isinstance(found, Problem):
        raise NotFoundError(f"{layout.shown(path)} {found.reason}{HINT if found.reason == MISSING else ''}")
    text = found.text if raw else visible.text(found.path, found.text)
    if last is None:
        return text
    lines = _LINE.findall(text) or [""]
    if last < first:
        raise UsageError(f"{layout.shown(ref)}: the first line number must not be larger than the last")
    if not 1 <= first <= len(lines):
        raise NotFoundError(f"{layout.shown(path)} ends with line {len(lines)}; there is no line {first}")
    chosen, columns = lines[first - 1 : last], WHOLE if raw else columns_of(ref)
    if columns[0] > len(chosen[0]):
        raise NotFoundError(f"line {first} of {layout.shown(path)} has only {len(chosen[0])} characters")
    return "".join(cut_to_columns(chosen, columns))


def with_lines(visible: Visible, ref: str) -> str:
    """Return a ref to a page of a PDF, `path#page=12`, as one to its lines, which begin with a heading.

    Other refs are returned as they are.

    Raises:
        NotFoundError: the file cannot be read, or has no such page.
        UsageError: the path leaves the workspace.
    """
    match = _PAGE.fullmatch(ref)
    if match is None or format_of(match["path"]) is None:
        return ref
    layout.safe_path(visible.root, match["path"])
    found = read(visible.root, match["path"])
    if isinstance(found, Problem):
        raise NotFoundError(f"{layout.shown(match['path'])} {found.reason}")
    lines = found.text.splitlines()
    starts = [number for number, line in enumerate(lines, 1) if line.startswith(PAGE)]
    page = int(match["page"])
    if not 1 <= page <= len(starts):
        pages = f"{len(starts):,} pages" if starts else "no pages"
        raise NotFoundError(f"{layout.shown(match['path'])} has {pages}; there is no page {page}")
    end = starts[page] - 1 if page < len(starts) else len(lines)
    return f"{match['path']}#L{starts[page - 1]}-L{end}"


def _archived_path(root: Path, path: str) -> str:
    """Return the path of an archived daily note or session; empty where there is none."""
    place = layout.place(path)
    folder, _, name = path.rpartition("/")
    if place is None or place.role not in {"daily", "session"} or not folder:
        return ""
    moved = f"{folder}/archive/{name}"
    return moved if (root / moved).is_file() else ""
