"""What the READMEs show can be run as it stands."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sampled import sampled

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.zh-CN.md")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return [body for kind, body in _BLOCK.findall(text) if kind == language]


_TELL = """
print(found.complete, found.believable, found.degraded)
"""


@pytest.mark.parametrize("name", READMES)
def test_the_python_runs(name: str, tmp_path: Path) -> None:
    for code in blocks(name, "python"):
        ran = subprocess.run(
            [sys.executable, "-X", "utf8", "-W", "error", "-c", code + _TELL],
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        assert "<mnemark-recall " in ran.stdout
        assert "sessions/cli-main-" in ran.stdout
        assert "user python version: 3.12" in ran.stdout
        complete, believable, reasons = ran.stdout.splitlines()[-1].split(" ", 2)
        assert (complete == "True") == (reasons == "()"), reasons
        assert 0 <= float(believable) <= 1


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
@pytest.mark.parametrize("name", sampled(READMES, 2))
def test_the_shell_session_runs(name: str, tmp_path: Path) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "sitecustomize.py").write_text(_OFFLINE, encoding="utf-8")
    command = bin_folder / "mnemark"
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH="{bin_folder}" exec "{sys.executable}" -m mnemark "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)
    script = "\n".join(["set -eu", f'PATH="{bin_folder}:$PATH"', *blocks(name, "sh")])
    ran = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "notes.md#L1" in ran.stdout
    assert "<mnemark-recall " in ran.stdout
    assert '"hits":[{"ref":"memory/' in ran.stdout


_OFFLINE = """\
import os
import socket

def refused(self, *address):
    if self.family in {socket.AF_INET, socket.AF_INET6}:
        os.write(2, b"the network was used")
        os._exit(70)
    return connect(self, *address)

connect, socket.socket.connect = socket.socket.connect, refused
"""
"""A `sitecustomize.py` that ends a process which connects to a network."""


@pytest.mark.parametrize("name", READMES)
def test_the_links_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("name", READMES)
def test_the_figures_of_the_table_are_those_of_the_measurements(name: str) -> None:
    rows = re.findall(r"^\| .*(?:`|the same|同上) \|$", (ROOT / name).read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 10
    known = "".join((ROOT / "docs" / page).read_text("utf-8") for page in ("measurements.md", "daemon.md"))
    for row in rows:
        _, measured, mnemark, beside, *_ = row.split("|")
        figures = re.findall(r"\d[\d,]*\d\d|\.\d\d|\d\d", mnemark + beside + measured)
        assert [one for one in figures if one not in known] == [], row


def test_both_languages_show_the_same_commands() -> None:
    english, chinese = (_commands(name) for name in READMES)
    assert english == chinese


def _commands(name: str) -> list[str]:
    text = "\n".join([*blocks(name, "sh"), *blocks(name, "")])
    return re.findall(r"^(?:mnemark [\w ]*?(?= |$)|make \w+|pip install)", text, re.MULTILINE)
