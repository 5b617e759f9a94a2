"""`self-check`: an installation is tried without touching a memory, and what is wrong is told."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from interfaces.conftest import Shell
from mnemark._version import __version__
from mnemark.extras import EXTRAS, how_to_add
from mnemark.files import platform, trial
from mnemark.memory.health.doctor import Finding
from mnemark_agents import daemon
from mnemark_agents.connect.caller import command
from mnemark_agents.connect.check import Place
from mnemark_interfaces import self_check

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No daemon, settings and programs of this machine."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MNEMARK_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def levels(data: dict[str, Any]) -> dict[str, str]:
    return {one["what"]: one["level"] for one in data["findings"]}


def test_what_is_installed_works_and_no_memory_is_touched(shell: Shell, tmp_path: Path) -> None:
    shell("init")
    shell("add", "Mine alone.")
    before, environment, state = shell.state(), dict(os.environ), sorted((tmp_path / "state").rglob("*"))
    place = tmp_path / "有 空格"
    place.mkdir()
    ran = shell("self-check", str(place), "--json")
    found = levels(ran.data)
    assert (ran.code, ran.data["works"]) == (0, True), ran.out
    for words in (
        "runs with Python", "English and Chinese words", "files in", "a note is", "a message is", "a fact is",
        "the index takes up", "a hook", "a tool", "no agent is connected",
    ):  # fmt: skip
        assert [level for what, level in found.items() if words in what] == ["ok"], words
    assert sum(what.startswith("extra ") for what in found) == len(EXTRAS)
    assert any(what.startswith("no daemon is running") for what in found)
    assert (shell.state(), dict(os.environ), list(place.iterdir())) == (before, environment, [])
    assert sorted((tmp_path / "state").rglob("*")) == state


def test_each_line_is_short_and_says_what_to_do(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_check, "throw_away", _refused)
    ran = shell("self-check")
    assert ran.code == 1
    assert "error  a memory cannot be made: no room: keep memories on a disk of this machine" in ran.out
    assert re.search(
        r"^warn   .*mnemark.* (?:is not on the PATH|is not installed), so .+: .+$", ran.out, re.MULTILINE
    )
    assert ran.out.endswith("\nmnemark does not work here; the lines that begin with error say what to do.\n")
    assert "Traceback" not in ran.out + ran.err
    chinese = shell("self-check", "--lang", "zh").out
    assert "无法建立记忆：no room：请把记忆放在本机的磁盘上" in chinese
    assert chinese.endswith("\nmnemark 在这里不能正常工作；以“错误”开头的行说明该怎么办。\n")
    rest = [line for line in chinese.splitlines() if re.search(r"[a-z] [a-z]+ [a-z]+ [a-z]", line)]
    assert all("no room" in line or "pip install" in line for line in rest), rest
    assert shell("self-check", "nowhere").code == 3


def _refused(_: Path | None) -> Any:
    raise OSError("no room")


def test_a_part_that_does_not_work_is_told_and_the_others_are_tried(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: Any) -> float:
        raise ValueError("exit code 3")

    monkeypatch.setattr(self_check, "try_hooks", lost)
    monkeypatch.setattr(self_check, "_TEXTS", (("One thing.", "quite another"),))
    monkeypatch.setattr(platform.FS, "exchange", lambda *_: False)
    ran = shell("self-check", "--json")
    found = levels(ran.data)
    assert (ran.code, ran.data["works"]) == (1, False)
    assert found["hooks: exit code 3"] == "error"
    assert [level for what, level in found.items() if "is not found by 'quite another'" in what] == [
        "error"
    ] * 2
    assert found["a tool is called over MCP"] == "ok"
    assert any("compared with the file" in what for what in found)


def test_a_part_of_search_that_fails_is_told_though_words_are_found(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = self_check._run

    def without_vectors(place: Place, name: str, *words: str) -> Any:
        found = run(place, name, *words)
        if name == "search":
            found["degraded"].append("the vectors cannot be read")
        if name == "verify":
            found["findings"].append({"level": "error", "what": "the index is damaged"})
        return found

    monkeypatch.setattr(self_check, "_run", without_vectors)
    ran = shell("self-check", "--json")
    found = levels(ran.data)
    assert ran.code == 1
    assert found["notes: the vectors cannot be read"] == found["index: the index is damaged"] == "error"


def test_agents_are_told_from_their_settings(shell: Shell, tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    shell("connect", "claude-code", "--workspace", str(memory), "--yes")
    before = sorted(memory.rglob("*"))
    ran = shell("self-check", "--json")
    assert levels(ran.data)["connected agents: Claude Code"] == "ok"
    assert sorted(memory.rglob("*")) == before
    settings = tmp_path / "home/.claude/settings.json"
    text = settings.read_text("utf-8")
    settings.write_text(text.replace(f"{Path(command()[0]).parent}/", f"{tmp_path}/gone/"), "utf-8")
    ran = shell("self-check")
    assert ran.code == 0
    assert re.search(
        r"^warn   Claude Code runs .*/gone/.*, which does not work any more; run ", ran.out, re.MULTILINE
    )
    assert ran.out.endswith(
        "\nmnemark works here; the lines that begin with warn say what could be better.\n"
    )
    settings.write_text("{no JSON", "utf-8")
    ran = shell("self-check")
    assert ran.code == 0
    assert "warn   " + str(settings) in ran.out
    settings.unlink()
    assert "warn   Claude Code is connected in part: `mnemark connect claude-code`" in shell("self-check").out


def test_a_disk_without_locks_and_modes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(trial.faults(tmp_path)) == []
    monkeypatch.setattr(platform, "try_lock", lambda _: True)
    monkeypatch.setattr(platform, "is_private", lambda _: False)
    monkeypatch.setattr(platform.FS, "rename_new", lambda one, other: one.replace(other))
    assert [fault.split()[0] for fault in trial.faults(tmp_path)] == ["other", "locks", "a"]


def test_a_second_installation_and_another_daemon_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "mnemark"
    program.write_text("#!/bin/sh\necho mnemark 0.0.1\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = warning(self_check._path())
    assert (found.level, "another mnemark" in found.what, "0.0.1" in found.what) == ("warn", True, True)
    program.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    assert "which does not start" in warning(self_check._path()).what
    monkeypatch.setattr(daemon, "find", lambda **_: daemon.Daemon("http://127.0.0.1:9", "t", 1, "0.0.1"))
    assert "version 0.0.1" in warning(self_check._daemon()).what
    own = daemon.Daemon("http://127.0.0.1:9", "t", 1, __version__)
    monkeypatch.setattr(daemon, "find", lambda **_: own)
    assert "does not answer" in warning(self_check._daemon()).what


def warning(found: str | list[Finding]) -> Finding:
    """The one line of a check that warns."""
    assert not isinstance(found, str), found
    (line,) = found
    return line


MODULES = {"pyjwt": "jwt"}
"""Packages whose module is called otherwise."""


def test_extras_are_those_of_the_project_and_are_added_as_it_was_installed(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {
        name: {
            MODULES.get(package := re.split(r"[^\w-]", one)[0], package.replace("-", "_"))
            for one in packages
            if not one.startswith("mnemark")
        }
        for name, packages in project["optional-dependencies"].items()
    }
    assert wanted.pop("all") == set()
    for extra in EXTRAS:
        assert wanted.pop(extra.name) <= set(extra.modules)
    assert wanted == {}
    assert how_to_add(["tui", "serve"]).endswith('-m pip install "mnemark[tui,serve]"')
    (tmp_path / "uv-receipt.toml").touch()
    assert how_to_add(["tui"], str(tmp_path)) == f'uv pip install --python {tmp_path} "mnemark[tui]"'
    (tmp_path / "pipx_metadata.json").touch()
    assert how_to_add(["tui"], str(tmp_path)) == f'pipx runpip {tmp_path.name} install "mnemark[tui]"'


@pytest.mark.timed
def test_the_list_of_commands_does_not_load_it() -> None:
    code = "import sys; from mnemark_interfaces.app import app; print('mnemark.extras' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
