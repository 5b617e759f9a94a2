"""A shell for tests: commands run in process, in a folder of their own."""

import json
from contextvars import copy_context
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from mnemark_interfaces.app import app


class Ran(NamedTuple):
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


class Shell:
    """Runs `mnemark` in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str, stdin: str | None = None) -> Ran:
        # In a context of its own, as in a process: the language that it chose is no other test's.
        result = copy_context().run(CliRunner().invoke, app, list(arguments), input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    def write(self, path: str, text: str) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def state(self) -> dict[str, tuple[int, int]]:
        """Time and size of every file, but for those that SQLite makes beside a database to read it."""
        return {
            path.relative_to(self.folder).as_posix(): (path.stat().st_mtime_ns, path.stat().st_size)
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and not path.name.endswith(("-shm", "-wal"))
        }


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    folder = tmp_path / "notes"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("MNEMARK_WORKSPACE", raising=False)
    monkeypatch.delenv("MNEMARK_DEBUG", raising=False)
    return Shell(folder)
