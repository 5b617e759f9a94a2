"""Set a workspace to one memory for everything, instead of one for each project beside the person's."""

import re
from pathlib import Path
from typing import Final

from mnemark.errors import BusyError, UsageError
from mnemark.files.config import load
from mnemark.files.edit import edit
from mnemark.files.layout import CONFIG
from mnemark.files.truth import Folder

LINE: Final = "projects = false"


def keep_one_memory(root: Path) -> None:
    """Write the setting into `mnemark.toml`; the rest of the file is kept.

    Raises:
        BusyError: another program is saving the file.
        ConfigError: the file is wrong.
        UsageError: another line says otherwise.
    """
    if not load(root).projects:
        return
    if edit(Folder(root), CONFIG, _changed).status == "deferred":
        raise BusyError(f"another program is saving {root / CONFIG}; try again in a moment")
    if load(root).projects:
        raise UsageError(f"{root / CONFIG} sets projects in another place, too; write there: {LINE}")


def _changed(content: bytes) -> bytes:
    """Return the settings with the line among the keys that stand before the tables."""
    lines = content.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    tables = next((at for at, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    said = next((at for at, line in enumerate(lines[:tables]) if re.match(r"\s*projects\s*=", line)), None)
    if said is not None:
        lines[said] = f"{LINE}\n"
    else:
        if tables and not lines[tables - 1].endswith("\n"):
            lines[tables - 1] += "\n"
        lines.insert(tables, f"{LINE}\n")
    return "".join(lines).encode("utf-8", "surrogateescape")
