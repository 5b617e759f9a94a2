"""Agents are checked with the commands in their settings, and a moved environment is found."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.settings_of import none_named
from mnemark_agents.connect import check, connections
from mnemark_agents.connect.hosts import HOSTS, Host
from mnemark_agents.hook.agents import AGENTS
from mnemark_interfaces.app import app
from sampled import sampled


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a program of its own, which can be moved, and no agent on the PATH."""
    none_named(monkeypatch)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    program = tmp_path / "venv/bin/mnemark"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mnemark "$@"\n', "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr("mnemark_agents.connect.caller.command", lambda *words: [str(program), *words])
    check._runs.cache_clear()
    return tmp_path


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["connect", *words])
    return done.exit_code, done.output


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
@pytest.mark.parametrize("host", sampled(HOSTS, 7), ids=lambda host: host.name)
def test_each_agent_answers_until_its_environment_moves(home: Path, host: Host) -> None:
    name, memory = host.name, home / "my memory"
    assert run(name, "-w", str(memory))[0] == 0
    assert (memory / "mnemark.toml").is_file(), "a missing folder is made"
    before = sorted(memory.rglob("*"))
    found = check.check(host)
    parts = ["hooks", "tools"] if name in {agent.name for agent in AGENTS} else ["tools"]
    assert [(one.part, one.problem) for one in found] == [(part, "") for part in parts]
    assert {one.workspace for one in found} == {str(memory)}
    assert sorted(memory.rglob("*")) == before, "it is not touched"
    assert check.moved(memory) == []
    shutil.move(home / "venv", home / "elsewhere")
    check._runs.cache_clear()
    assert all("does not work any more" in one.problem for one in check.check(host))
    assert [f"connect {name}" in problem for problem in check.moved(memory)] == [True]
    done = CliRunner().invoke(app, ["doctor", "-w", str(memory), "--json"])
    warned = [one["what"] for one in json.loads(done.stdout)["findings"] if one["level"] == "warn"]
    assert any("does not work any more" in what for what in warned)


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_what_does_not_answer_is_told(home: Path) -> None:
    memory = home / "memory"
    run("claude-code", "-w", str(memory))
    (home / "venv/bin/mnemark").write_text(
        f'#!/bin/sh\n[ "$1" = --version ] || exit 3\nexec "{sys.executable}" -m mnemark "$@"\n', "utf-8"
    )
    code, told = run("--check")
    assert code == 1
    assert "hooks do not answer: exit code 3" in told
    assert "tools do not answer: exit code 3" in told
    shutil.rmtree(memory)
    assert "does not exist" in run("--check", "claude-code")[1]
    assert "No agent is connected" in run("--check", "codex")[1]


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_without_an_agent_all_that_are_installed_are_connected_at_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (".claude/settings.json", ".codex/config.toml", ".gemini/settings.json"):
        (home / name).parent.mkdir()
        (home / name).touch()
    (home / ".cursor/empty").mkdir(parents=True)
    (home / ".gemini/settings.json").write_text('{\n  // mine\n  "a": 1,,\n}\n', "utf-8")
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    told = run()[1]
    assert "not connected" in told, "nobody is there to be asked"
    assert "mnemark connect --yes" in told, "what to do then is said"
    assert "--remove --yes" in run("--remove")[1]
    assert "+++" in run("--dry-run")[1]
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
    monkeypatch.setattr("mnemark_interfaces.output.is_terminal", lambda _: True)
    asked = CliRunner().invoke(app, ["connect"], input="n\n")
    assert "Nothing was changed" in asked.output
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
    done = CliRunner().invoke(app, ["connect"], input="\n")
    assert done.exit_code == 0, done.output
    assert done.output.count("Go on?") == 1
    assert "pasted into it" in done.output, "Gemini CLI's settings are broken"
    states = {one.agent: one.state for one in connections.connections()}
    assert [states[name] for name in ("claude-code", "codex", "cursor")] == [
        "connected", "connected", "not connected",
    ]  # fmt: skip
    assert (home / "mnemark/mnemark.toml").is_file()
    assert run("--check")[0] == 0
    assert run("--remove", "--yes")[0] == 0
    shutil.rmtree(home / "mnemark")
    assert sorted(path.name for path in home.glob(".c*/*")) == ["config.toml", "empty", "settings.json"]
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
