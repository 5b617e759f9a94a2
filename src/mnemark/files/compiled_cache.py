"""Cache texts compiled from others in `.mnemark/compiled/`; they can be deleted at any time."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from mnemark.files import jsonl, platform
from mnemark.files.private import private, private_folder

FOLDER: Final = "compiled"
KEPT: Final = 6
"""Texts kept of each name: several budgets and scopes are in use side by side."""


def load(root: Path, name: str, key: str) -> str | None:
    """Return the text kept under a name and key, or None."""
    try:
        return platform.content(private(root) / FOLDER / f"{name}-{key}.md").decode()
    except (OSError, UnicodeDecodeError):  # made anew
        return None


def save(root: Path, name: str, key: str, text: str) -> None:
    """Keep a text, and the newest others of that name; a failure only means making it again."""
    with suppress(OSError):
        folder = private_folder(root) / FOLDER
        platform.make_folder(folder)
        jsonl.replace_file(folder / f"{name}-{key}.md", text.encode("utf-8", "replace"))
        files = sorted(folder.glob(f"{name}-*.md"), key=lambda path: path.stat().st_mtime_ns)
        for path in files[:-KEPT]:
            platform.FS.unlink(path)


def clear(root: Path) -> list[str]:
    """Remove all texts, for example because their sources were erased, and return their paths."""
    folder = private(root) / FOLDER
    gone = []
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            continue
        platform.FS.unlink(path)
        gone.append(path.relative_to(root).as_posix())
    return gone
