"""Texts made from others, kept below `.mnemark/compiled/`: derived, and deleted at will."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from mnemark.files import jsonl, layout, platform
from mnemark.files.ids import new_id

FOLDER: Final = "compiled"
KEPT: Final = 6
"""Texts of one name that are kept: several budgets and scopes are in use side by side."""


def load(root: Path, name: str, key: str) -> str | None:
    """The text kept under that name and key; None where there is none."""
    try:
        return platform.content(root / layout.PRIVATE / FOLDER / f"{name}-{key}.md").decode()
    except (OSError, UnicodeDecodeError):  # made anew
        return None


def save(root: Path, name: str, key: str, text: str) -> None:
    """Keep a text, and of that name only the newest. What cannot be kept is only made again next time."""
    with suppress(OSError):
        folder = layout.private_folder(root) / FOLDER
        platform.make_folder(folder)
        temporary = folder / (jsonl.TEMPORARY + new_id())
        jsonl.write_new(temporary, text.encode("utf-8", "replace"))
        platform.FS.replace(temporary, folder / f"{name}-{key}.md")
        files = sorted(folder.glob(f"{name}-*.md"), key=lambda path: path.stat().st_mtime_ns)
        for path in files[:-KEPT]:
            platform.FS.unlink(path)


def clear(root: Path) -> list[str]:
    """Remove all of them, for example because what they were made from was erased; returns their paths."""
    folder = root / layout.PRIVATE / FOLDER
    gone = []
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            continue
        platform.FS.unlink(path)
        gone.append(path.relative_to(root).as_posix())
    return gone
