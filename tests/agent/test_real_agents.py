"""The real Claude Code and Codex, connected as a user would, with a scripted model on loopback.

They are not ours to ship: tests are skipped where `claude` or `codex` is not on the PATH
(`npm install @anthropic-ai/claude-code @openai/codex`).
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.scripted import Model, serving
from mnemark import Memory
from mnemark.files.sessions import SessionLog, list_sessions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="a home folder of its own is made"),
]
FIRST = "Please note: the code word of the harbour gate is pelican, and Ann keeps the spare key."
SECOND = "What is the code word of the harbour gate?"


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed; npm install it and put node_modules/.bin on the PATH")
    return found


class Machine:
    """A home, a project and a workspace of their own, and a model that agents there talk to."""

    def __init__(self, folder: Path, model: Model, *, daemon: bool) -> None:
        self.model = model
        self.memory = folder / "memory"
        self.project = folder / "project"
        self.home = folder / "home"
        for made in (self.memory, self.project, self.home):
            made.mkdir()
        dropped = ("CLAUDE", "ANTHROPIC", "OPENAI", "CODEX", "MNEMARK", "XDG")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(dropped)} | {
            "HOME": str(self.home), "XDG_STATE_HOME": str(self.home / "state"), "SCRIPTED_KEY": "x",
            "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "x", "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }  # fmt: skip
        self.daemon = daemon

    def mnemark(self, *words: str) -> str:
        command = [sys.executable, "-m", "mnemark", *words]
        done = subprocess.run(command, env=self.env, check=True, capture_output=True, text=True, timeout=60)
        return done.stdout

    def run(self, *words: str) -> str:
        done = subprocess.run(
            words, env=self.env, cwd=self.project, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def settle(self) -> None:
        """Wait until what was left to the background is done."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with Memory.open(self.memory, config={"embedder": "none"}, readonly=True) as memory:
                if memory.index.exists() and memory.search("pelican").hits:
                    known = memory.index.known()
                    if any(path.startswith("sessions/") for path in known):
                        return
            time.sleep(0.3)
        raise AssertionError((self.memory / ".mnemark/hook.log").read_text("utf-8"))

    def turns(self) -> list[tuple[str, str]]:
        logs = [SessionLog(self.memory, info.id) for info in list_sessions(self.memory)]
        return [(placed.turn.role, placed.turn.content) for log in logs for placed in log.turns()]


@pytest.fixture(params=["alone", "daemon"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    with serving(Model("Noted: pelican.", "It is the word I was told.")) as model:
        machine = Machine(tmp_path, model, daemon=request.param == "daemon")
        serve = None
        if machine.daemon:
            serve = subprocess.Popen(
                [sys.executable, "-m", "mnemark", "serve", "--no-nightly"], env=machine.env,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            state = machine.home / "state/mnemark/daemon.json"
            deadline = time.monotonic() + 30
            while not state.exists() and time.monotonic() < deadline:
                time.sleep(0.1)
        try:
            yield machine
        finally:
            if serve is not None:
                serve.terminate()
                serve.wait(30)


def hooks_only(path: Path, key: str) -> None:
    """Take the tools out: this is about hooks, and `mnemark mcp` would start a daemon of its own."""
    found = json.loads(path.read_text("utf-8"))
    found.pop(key, None)
    path.write_text(json.dumps(found), "utf-8")


def seen_in_second(machine: Machine) -> str:
    """What the model got when the second session asked."""
    said = [json.dumps(body, ensure_ascii=False) for _, body in machine.model.requests]
    last = next(body for body in reversed(said) if SECOND in body)
    return last.replace("\\n", "\n")


def test_claude_code_remembers_from_one_session_to_the_next(machine: Machine) -> None:
    claude = program("claude")
    machine.mnemark("connect", "claude-code", "--workspace", str(machine.memory))
    hooks_only(machine.home / ".claude.json", "mcpServers")
    machine.run(claude, "-p", FIRST, "--model", "claude-sonnet-4-5")
    machine.settle()
    machine.run(claude, "-p", SECOND, "--model", "claude-sonnet-4-5")
    assert ("user", FIRST) in machine.turns()
    assert ("assistant", "Noted: pelican.") in machine.turns()
    second = seen_in_second(machine)
    assert "UserPromptSubmit hook additional context: <mnemark-recall" in second
    assert "Ann keeps the spare key" in second
    assert not (machine.memory / ".mnemark/hook.log").exists()
    machine.mnemark("connect", "claude-code", "--remove")
    assert not (machine.home / ".claude/settings.json").exists()


def test_codex_remembers_from_one_session_to_the_next(machine: Machine) -> None:
    codex = program("codex")
    home = machine.home / ".codex"
    home.mkdir()
    (home / "config.toml").write_text(
        'model = "gpt-5"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\n'
        f'base_url = "{machine.model.url}/v1"\nwire_api = "responses"\nenv_key = "SCRIPTED_KEY"\n',
        "utf-8",
    )
    before = (home / "config.toml").read_bytes()
    machine.mnemark("connect", "codex", "--workspace", str(machine.memory))
    (home / "config.toml").write_bytes(before)  # without the tools, as for Claude Code
    words = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    machine.run(codex, *words, FIRST)
    machine.settle()
    machine.run(codex, *words, SECOND)
    assert ("user", FIRST) in machine.turns()
    assert ("assistant", "Noted: pelican.") in machine.turns()
    second = seen_in_second(machine)
    assert "<mnemark-recall" in second
    assert "Ann keeps the spare key" in second
    assert not (machine.memory / ".mnemark/hook.log").exists()


def test_the_plug_in_passes_claudes_own_check(machine: Machine, tmp_path: Path) -> None:
    claude = program("claude")
    folder = tmp_path / "plugin"
    machine.mnemark("connect", "claude-code", "--plugin", str(folder), "--workspace", str(machine.memory))
    assert "Validation passed" in machine.run(claude, "plugin", "validate", str(folder))
    machine.run(claude, "-p", FIRST, "--plugin-dir", str(folder), "--model", "claude-sonnet-4-5",
                "--strict-mcp-config", "--mcp-config", '{"mcpServers": {}}')  # fmt: skip
    assert ("user", FIRST) in machine.turns()
