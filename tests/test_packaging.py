"""The recipes in `packaging/`, with the steps that need no container and no root.

With MNEMARK_COMMANDS=FOLDER an installation's `mnemark` and `python` are used; `make release` does so.
"""

import configparser
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mnemark_interfaces.app import loaded

ROOT = Path(__file__).parent.parent
RECIPES = ROOT / "packaging"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="recipes for Linux")


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """A folder with the commands `mnemark` and `python`."""
    if given := os.environ.get("MNEMARK_COMMANDS"):
        return Path(given)
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, words in (("mnemark", "-m mnemark "), ("python", "")):
        command = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words}"$@"\n'
        (folder / name).write_text(command, "utf-8")
        (folder / name).chmod(0o755)
    return folder


def dockerfile() -> str:
    text = (RECIPES / "container/Dockerfile").read_text("utf-8")
    return re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", "")


@pytest.fixture
def environment(commands: Path, tmp_path: Path) -> dict[str, str]:
    """That of the container, with a folder here as its volume."""
    (tmp_path / "data").mkdir(mode=0o700)
    (line,) = re.findall(r"^ENV (.+)$", dockerfile(), re.MULTILINE)
    named = dict(word.split("=") for word in line.split())
    own = {name: value.replace("/data", str(tmp_path / "data")) for name, value in named.items()}
    path = os.environ.get("PYTHONPATH", "")
    return {"PATH": f"{commands}:/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": path, **own}


def healthy(environment: dict[str, str]) -> bool:
    (check,) = re.findall(r"^HEALTHCHECK .*?CMD (\[.+\])$", dockerfile(), re.MULTILINE)
    return subprocess.run(json.loads(check), env=environment, check=False).returncode == 0


@contextmanager
def started(environment: dict[str, str], log: Path) -> Iterator[None]:
    """Start the container's program without words, wait until it is healthy, then end it as Docker does."""
    with log.open("w", encoding="utf-8") as messages:
        run = subprocess.Popen(
            ["sh", RECIPES / "container/mnemark-container"], env=environment, stderr=messages, stdout=messages
        )
    deadline, state = time.monotonic() + 60, Path(environment["XDG_STATE_HOME"], "mnemark/daemon.json")
    while not state.exists() and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    try:
        assert healthy(environment), log.read_text("utf-8")
        yield
    finally:
        run.send_signal(signal.SIGTERM)
        assert run.wait(30) == 0


def test_the_container_keeps_its_memory_and_tells_where_its_token_is(
    environment: dict[str, str], tmp_path: Path
) -> None:
    data, log = tmp_path / "data", tmp_path / "log"
    entry = ["sh", str(RECIPES / "container/mnemark-container")]
    assert not healthy(environment)
    with started(environment, log):
        token = data / "state/mnemark/daemon.json"
        assert str(token) in log.read_text("utf-8")
        assert token.stat().st_mode & 0o777 == 0o600
        assert json.loads(token.read_bytes())["token"]
        subprocess.run(
            [*entry, "remember", "city", "Leeds"], env=environment, check=True, capture_output=True
        )
        machine = (data / "machine-id").read_text()
    assert not healthy(environment)
    with started(environment, log):
        assert "Created" not in log.read_text("utf-8")
        start = json.dumps({"session_id": "s", "source": "startup"})
        hook = [*entry, "hook", "session-start", "--agent", "codex"]
        done = subprocess.run(hook, input=start, env=environment, check=True, capture_output=True, text=True)
        assert "Leeds" in done.stdout, "it is still trusted"
    assert (data / "machine-id").read_text() == machine


def test_what_the_container_copies_is_here_and_its_user_has_no_rights() -> None:
    text = dockerfile()
    for source in re.findall(r"^COPY (?:--\S+ )*(\S+) \S+$", text, re.MULTILINE):
        assert source == "dist/mnemark-*.whl" or (ROOT / source).is_file()
    assert re.search(r"^USER (?!0$)\d+$", text, re.MULTILINE)
    assert "VOLUME /data\n" in text


def test_the_unit_starts_a_command_that_there_is() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign] # as it is written
    unit.read(RECIPES / "systemd/mnemark.service", "utf-8")
    program, name, *words = shlex.split(unit["Service"]["ExecStart"])
    assert program == "/usr/bin/mnemark"
    loaded(name).make_context(name, words)


@pytest.mark.parametrize("script", ["container/mnemark-container", "debian/build.sh"])
def test_a_script_is_one_that_a_shell_takes(script: str) -> None:
    path = RECIPES / script
    assert os.access(path, os.X_OK)
    subprocess.run(["sh", "-n", path], check=True)
