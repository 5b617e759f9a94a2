"""The panel in a real terminal, in tmux, without colour, without a terminal, and without Textual."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from interfaces.conftest import Shell
from mnemark import Memory

from .conftest import say
from .test_screen import HOSTILE

pytest.importorskip("textual")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a Unix terminal")
_STRINGS = re.compile(rb"\x1b(?!\]22;default\x07)[\]PX^_]|[\x90\x9d\x9e\x9f]")
"""What begins a command with text in a terminal: titles, links, the clipboard. Textual sets the pointer."""


@pytest.fixture
def hostile(memory: Memory) -> Path:
    say(memory, "s", HOSTILE)
    memory.remember("city", "Lisbon")
    memory.sync()
    memory.close()
    return memory.root


def test_hostile_text_sends_no_command_to_the_terminal(hostile: Path) -> None:
    from .terminals import terminal

    with terminal(hostile, size=(120, 40)) as at:
        at.wait_for("Lisbon")
        at.press("1evil\r")
        at.wait_for("‹U+001B›]52;c;")
        at.press("w")
        at.wait_for("Searching for")
        at.press("q")
        time.sleep(0.5)  # until the window is closed
        at.press("q")
        assert at.ended() == 0
        assert [at.sent[m.start() : m.start() + 20] for m in _STRINGS.finditer(_ascii(at.sent))] == []
        assert b"\x07" not in at.sent.replace(b"\x1b]22;default\x07", b"")
        assert at.sent.count(b"\x1b[?1049h") == at.sent.count(b"\x1b[?1049l") == 1  # the screen is given back


def _ascii(sent: bytes) -> bytes:
    """Return what was sent without the characters beyond ASCII, whose bytes look like old controls."""
    return "".join(
        char if char < "\x80" or "\x80" <= char < "\xa0" else "?" for char in sent.decode()
    ).encode("latin-1")


def test_without_colour_the_choice_is_still_seen(hostile: Path) -> None:
    from .terminals import terminal

    with terminal(hostile, NO_COLOR="1") as at:
        at.wait_for("Lisbon")
        at.press("q")
        assert at.ended() == 0
        codes = {
            int(code or 0) for part in re.findall(rb"\x1b\[([0-9;]*)m", at.sent) for code in part.split(b";")
        }
        assert codes <= {0, 1, 2, 4, 7, 39, 49}, codes
        assert re.search(
            rb"(?i)\x1b\[(\d;)*7;[\d;]*m[^\x1b]*you live in", at.sent
        )  # the chosen row is reversed


def test_the_language_is_that_of_the_locale(hostile: Path) -> None:
    from .terminals import terminal

    with terminal(hostile, LANG="zh_CN.UTF-8") as at:
        at.wait_for("时间线")
        at.wait_for("Lisbon")
        at.press("q")
        assert at.ended() == 0


def test_what_is_typed_at_once_is_text(hostile: Path) -> None:
    from .terminals import terminal

    with terminal(hostile) as at:
        at.wait_for("Lisbon")
        at.press("3")
        at.wait_for("1 fact")
        at.press("fpup6q\r")  # in one go, as programs and slow lines send it; p would pin the fact
        at.wait_for("Nothing was found")
        at.press("q")
        assert at.ended() == 0
    with Memory.open(hostile) as memory:
        assert [row.kind for row in memory.browse.changes().rows] == ["remember"]


def test_control_c_leaves(hostile: Path) -> None:
    from .terminals import terminal

    with terminal(hostile) as at:
        at.wait_for("Lisbon")
        at.press("\x03")
        assert at.ended() == 0


def test_a_workspace_that_cannot_be_opened_is_said_after_the_screen_is_given_back(tmp_path: Path) -> None:
    from .terminals import terminal

    (tmp_path / "mnemark.toml").write_text('embedder = "none"\nrecall_hits = "many"\n', "utf-8")
    with terminal(tmp_path) as at:
        assert at.ended() > 0
        assert b"mnemark.toml" in at.sent.rpartition(b"\x1b[?1049l")[2]
        assert b"Traceback" not in at.sent


@pytest.mark.timed
@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_in_tmux(hostile: Path, tmp_path: Path) -> None:
    socket = str(tmp_path / "tmux")

    def tmux(*arguments: str) -> str:
        ran = subprocess.run(
            ["tmux", "-S", socket, "-f", os.devnull, *arguments],
            capture_output=True, text=True, check=True, timeout=30,
        )  # fmt: skip
        return ran.stdout

    def shows(text: str) -> str:
        deadline = time.monotonic() + 30
        while text not in (screen := tmux("capture-pane", "-p", "-t", "panel")):
            assert time.monotonic() < deadline, screen
            time.sleep(0.1)
        return screen

    command = f"'{sys.executable}' -m mnemark tui -w '{hostile}'; echo ended $?; cat"
    tmux("-u", "new-session", "-d", "-s", "panel", "-x", "80", "-y", "24", command)
    try:
        shows("Lisbon")
        tmux("send-keys", "-t", "panel", "1")
        shows("What are you looking for?")
        tmux("send-keys", "-t", "panel", "evil", "Enter")
        screen = shows("‹U+001B›")
        assert screen.splitlines()[2].startswith(" 1 Search    │")
        tmux("send-keys", "-t", "panel", "d")
        shows("This would be hidden: 1 message")
        tmux("send-keys", "-t", "panel", "y")
        shows("Forgotten: 1 message")
        tmux("send-keys", "-t", "panel", "u")
        shows("Found by searches again")
        tmux("resize-window", "-t", "panel", "-x", "120", "-y", "40")
        shows("6 Health")
        tmux("send-keys", "-t", "panel", "q")
        shows("ended 0")
    finally:
        tmux("kill-server")


def test_without_textual_it_says_how_to_install_it(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> object:
        return None if name == "textual" else found(name, package)

    monkeypatch.setattr("mnemark_faces.commands.tui.find_spec", without)
    ran = shell("tui", "-w", str(shell.folder))
    assert ran.code == 2
    assert 'pip install ".[tui]"' in ran.err
    assert ran.err.count("\n") == 1
    assert not ran.out


def test_without_a_terminal_it_says_so(shell: Shell) -> None:
    ran = shell("tui", "-w", str(shell.folder))
    assert ran.code == 2
    assert "needs a terminal" in ran.err
    assert ran.err.count("\n") == 1


_LOADED = """
import atexit, runpy, sys
sys.argv = ["mnemark", *sys.argv[1:]]
def loaded():
    found = sorted(n for n in sys.modules if n.startswith(("textual", "mnemark_faces.tui")))
    print(found, file=sys.stderr)
atexit.register(loaded)
runpy.run_module("mnemark", run_name="__main__")
"""


@pytest.mark.parametrize(
    "command",
    [["search", "x"], ["hook", "prompt", "--agent", "claude-code"], ["mcp"], ["status"], ["--help"]],
)
def test_no_other_command_loads_it(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "note.md").write_text("x\n", "utf-8")
    where = [] if command == ["--help"] else ["-w", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-c", _LOADED, *command, *where], input="", capture_output=True, text=True,
        check=True, timeout=60, env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
    )  # fmt: skip
    assert ran.stderr.splitlines()[-1] == "[]"
