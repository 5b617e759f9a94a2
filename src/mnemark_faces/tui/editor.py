"""Let a person's editor change a text, in a file that nobody else can read."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath


def editor_of(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command of the person's editor; empty where none is set."""
    return shlex.split(environment.get("VISUAL") or environment.get("EDITOR") or "")


class Draft:
    """A copy of a file for the editor, in a private folder. Close it, or keep what it holds."""

    def __init__(self, path: str, data: bytes) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="mnemark-"))
        self.path = self._folder / PurePosixPath(path).name
        self.path.touch(0o600)
        self.path.write_bytes(data)

    def edited(self, command: list[str]) -> bytes | None:
        """Run the editor until it ends; return the bytes, or None if it failed."""
        try:
            ended = subprocess.run([*command, str(self.path)], check=False).returncode
            return None if ended else self.path.read_bytes()
        except OSError:
            return None

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self._folder, ignore_errors=True)
