"""Agents on other machines use a memory on a server: their hooks, what waits, and where the key lies."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.files import server_keys
from mnemark_agents.outbox import Outbox
from mnemark_server import tenants
from mnemark_server.database import connect
from server.test_kills import NodeProcess

Hook = Callable[..., dict[str, Any]]
CLAUDE = "claude-code"


@pytest.fixture
def key(url: str) -> str:
    with connect(url) as connection:
        return tenants.add_key(connection, "ann", "laptop")


@pytest.fixture
def node(url: str, tmp_path: Path) -> Iterator[NodeProcess]:
    found = NodeProcess(url, tmp_path / "node", 31_000 + os.getpid() % 9_000)
    yield found
    found.kill()


class Laptop:
    """A machine with agents: its home folder, in which mnemark is run as agents and people do."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()
        names = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")
        hidden = ("MNEMARK_", "XDG_", "CLAUDE", "CODEX", "COPILOT", "OPENCLAW", "PI_", "CLINE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        self.environment = {**kept, **dict.fromkeys(names, str(home)), "NO_COLOR": "1"}

    def run(
        self, *words: str, given: str = "", environment: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "mnemark", *words], input=given, text=True, capture_output=True,
            env={**self.environment, **(environment or {})}, cwd=cwd or self.home, check=False, timeout=60,
        )  # fmt: skip

    def hook(self, url: str, agent: str, event: str, data: Mapping[str, Any]) -> dict[str, Any]:
        done = self.run("hook", event, "--agent", agent, "--server", url, given=json.dumps(data))
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def files(self) -> dict[str, str]:
        """Return the texts of all files at home."""
        return {
            str(path.relative_to(self.home)): path.read_text("utf-8", "replace")
            for path in self.home.rglob("*") if path.is_file()
        }  # fmt: skip

    def log(self) -> str:
        return "".join(text for name, text in self.files().items() if name.endswith("hook.log"))


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path / "home")


def address(node: NodeProcess) -> str:
    return f"http://127.0.0.1:{node.port}"


def said(node: NodeProcess, key: str, **about: Any) -> list[tuple[str, str]]:
    with Memory.connect(address(node), key) as memory:
        found = memory.client.call("said", about)["turns"]
    return [(one["turn"]["role"], one["turn"]["content"]) for one in found]


def test_x(node, key, laptop):
    url = address(node)
    laptop.environment["MNEMARK_KEY"] = key
    with Memory.connect(url, key) as memory:
        memory.remember("code word", "pelican")
    import time
    t = time.time()
    print(laptop.hook(url, "cursor", "session-start", {"conversation_id": "one"}), time.time() - t)
    for i in range(3):
        t = time.time()
        print(laptop.hook(url, "cursor", "prompt", {"conversation_id": "one", "prompt": "What is the code word?"}), time.time() - t)
    print(laptop.hook(url, "cursor", "response", {"conversation_id": "one", "text": "It is pelican."}))
    print(laptop.hook(url, "cursor", "tool", {"conversation_id": "one", "tool_name": "Shell", "tool_input": {"command": "make build"}, "tool_output": "ok"}))
    print(laptop.hook(url, "cursor", "session-end", {"conversation_id": "one"}))
    with Memory.connect(address(node), key) as memory:
        print(memory.client.call("said", {}))
        print(memory.client.call("timeline", {}))
    print(laptop.log())
    print(laptop.files().keys())
    assert 0
