"""Name the user's own configuration, `~/.config/mnemark/config.toml`. Imports stay light: hooks need this."""

import os
import sys
from pathlib import Path
from typing import Final

VARIABLE: Final = "MNEMARK_CONFIG"
"""Environment variable with the path of the file, instead of the default one."""


def path() -> Path:
    """Return the path of the file, which need not exist: `MNEMARK_CONFIG`, else in the user's settings."""
    given = os.environ.get(VARIABLE, "")
    if given:
        return Path(given).expanduser()
    folder = os.environ.get("XDG_CONFIG_HOME", "")
    if folder and Path(folder).is_absolute():
        return Path(folder, "mnemark", "config.toml")
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData/Roaming", "mnemark", "config.toml")
    return Path.home() / ".config/mnemark/config.toml"
