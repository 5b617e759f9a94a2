"""A page of the documentation as a session of a shell: what its blocks do, and what it says they print.

- `sh` is run, and has to succeed.
- `console` has commands behind `$ ` and what they print; `…` stands for any words, and days, times, ids and
  scores may be others.
- `python` is run in the folder that the shell is in, with more time: the machine of a test may be busy.
- Others that begin with a comment that is a path (`# mnemark.toml`, `<!-- notes.md -->`) are written there.

All runs in a home folder of its own, without a network.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import forked

_BLOCK: Final = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_PATH: Final = re.compile(r"(?:#|<!--) ((?:~/)?[\w./-]+\.\w+)(?: -->)?(?:  .*)?\n")
_VARIES: Final = (
    (re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.+]+)?"), "DAY"),
    (re.compile(r"\b\d\d:\d\d\b"), "TIME"),
    (re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b"), "ID"),
    (re.compile(r"\b[01]\.\d\d\b"), "SCORE"),
    (re.compile(r"\b[0-9a-f]{16}\b"), "NUMBER"),
    (re.compile(r"[ \t]+"), " "),
)
_MARK: Final = "@@@ "
_OFFLINE: Final = """\
import os
import socket

def refused(self, *address):
    if self.family in {socket.AF_INET, socket.AF_INET6}:
        if os.environ["NETWORK"] == "refuses":
            raise ConnectionRefusedError
        os.write(2, b"the network was used")
        os._exit(70)
    return connect(self, *address)

connect, socket.socket.connect = socket.socket.connect, refused
"""
"""A `sitecustomize.py` that ends a process which connects to a network, or has the connection refused."""


class Block(NamedTuple):
    """A block of code of a page."""

    language: str
    code: str


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page; one in a list is taken out of its indentation."""
    return [
        Block(language, re.sub(f"^{indent}", "", code, flags=re.MULTILINE))
        for indent, language, code in _BLOCK.findall(page.read_text("utf-8"))
    ]


def python(page: Path) -> list[str]:
    """Return the code of a page that is Python."""
    return [block.code for block in blocks(page) if block.language == "python"]


def run(page: Path, home: Path, *, given: str = "", network: str = "ends", language: str = "en") -> str:
    """Run a page and return what it printed; fail where a block does, or prints what the page does not say.

    Args:
        page: the page.
        home: the home folder, which is the folder it begins in.
        given: a script before it, which makes what the page takes as there.
        network: what a connection does: "ends" the process, or "refuses".
        language: of the machine.
    """
    script = ["set -eu", "exec 2>&1", given]
    shown: list[tuple[str, str]] = []
    for at, block in enumerate(blocks(page)):
        script += _steps(at, block, shown)
    script.append(f"echo '{_MARK}end'")
    ran = subprocess.run(
        ["sh", "-c", "\n".join(script)],
        cwd=home,
        env={**_surroundings(home, language), "NETWORK": network},
        capture_output=True,
        encoding="utf-8",
        timeout=180,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert "Traceback" not in ran.stdout, ran.stdout
    printed = dict(re.findall(rf"^{_MARK}(\d+)\n(.*?)(?=^{_MARK})", ran.stdout, re.DOTALL | re.MULTILINE))
    for at, (command, expected) in enumerate(shown):
        assert _fits(expected, printed[str(at)]), f"{page.name}: {command}\n{printed[str(at)]}"
    return ran.stdout


def _steps(at: int, block: Block, shown: list[tuple[str, str]]) -> Iterator[str]:
    if block.language == "sh":
        yield block.code
    elif block.language == "python":
        code = block.code.replace("deadline=2.0", "deadline=60")
        yield f"cat > .block.py <<'END-OF-{at}'\n{code}END-OF-{at}\npython .block.py; rm .block.py"
    elif block.language == "console":
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.code, re.MULTILINE):
            does = command.partition("  #")[0]
            yield f"echo '{_MARK}{len(shown)}'\n{{ {does}; }} || true\necho '{_MARK}after'"
            shown.append((command, expected))
    elif path := _PATH.match(block.code):
        where = path[1].replace("~", '"$HOME"', 1) if path[1].startswith("~") else shlex.quote(path[1])
        yield f"mkdir -p $(dirname {where})\ncat > {where} <<'END-OF-{at}'\n{block.code}END-OF-{at}"


def _fits(expected: str, printed: str) -> bool:
    """Whether each line that a page shows was printed, in this order; `…` alone skips lines."""
    wanted, got = _plain(expected).splitlines(), _plain(printed).splitlines()
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + "\n" for line in wanted
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in got)) is not None


def _plain(text: str) -> str:
    for pattern, put in _VARIES:
        text = pattern.sub(put, text)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def _surroundings(home: Path, language: str) -> Mapping[str, str]:
    """Return an environment with `mnemark`, `python`, and a `pip` that installs nothing."""
    tools = home / ".test-bin"
    tools.mkdir(parents=True)
    (tools / "sitecustomize.py").write_text(_OFFLINE, "utf-8")
    for name, does in (
        ("python", f'exec "{sys.executable}" "$@"'),
        ("pip", 'echo "pip $*" >> "$HOME/.test-bin/installed"'),
    ):
        path = tools / name
        path.write_text(f'#!/bin/sh\nPYTHONPATH="{tools}:$PYTHONPATH" {does}\n', "utf-8")
        path.chmod(0o755)
    forked.command_at(tools / "mnemark", first=_OFFLINE)
    kept = {"GIT_CEILING_DIRECTORIES", "PYTHONPATH", "TMPDIR"}
    given = {name: value for name, value in os.environ.items() if name in kept}
    return {
        "PYTHONPATH": "", **given, "HOME": str(home), "PATH": f"{tools}:{os.environ['PATH']}", "TERM": "dumb",
        "LANG": {"en": "C.UTF-8", "zh": "zh_CN.UTF-8"}[language], "PYTHONUTF8": "1", "COLUMNS": "100",
        "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_COMMITTER_NAME": "Ann",
        "GIT_COMMITTER_EMAIL": "ann@example.org", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "init.defaultBranch", "GIT_CONFIG_VALUE_0": "main",
    }  # fmt: skip
