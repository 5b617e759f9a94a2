"""`mnemark mcp` as a client sees it: quick, correct, and going on when the daemon dies."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interfaces.daemons import found, surroundings, wait_for

BUDGET = 0.300
"""Seconds of CPU until `tools/list` is answered, Python's own start included."""


class Client:
    """Speaks to one front."""

    def __init__(self, workspace: Path, state: Path, *options: str) -> None:
        command = [sys.executable, "-m", "mnemark", "mcp", "-w", str(workspace), *options]
        environment = surroundings(state)
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.count = 0

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "it ended"
        return json.loads(line)

    def ask(self, method: str, params: Any = None) -> Any:
        self.count += 1
        message = {"jsonrpc": "2.0", "id": self.count, "method": method}
        self.send(json.dumps(message | ({} if params is None else {"params": params})).encode())
        answer = self.read()
        assert answer["id"] == self.count
        return answer

    def call(self, name: str, **arguments: Any) -> Any:
        result = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        return result["content"][0]["text"] if result["isError"] else result["structuredContent"]

    def close(self) -> int:
        self.process.communicate(timeout=30)
        return self.process.returncode


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Client]:
    workspace = tmp_path / "w"
    workspace.mkdir()
    client = Client(workspace, tmp_path / "state", "--alone")
    yield client
    assert client.close() == 0


@pytest.fixture
def warm(tmp_path: Path) -> Iterator[Client]:
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    workspace = tmp_path / "w"
    workspace.mkdir()
    client = Client(workspace, tmp_path / "state")
    yield client
    assert client.close() == 0
    running = found(tmp_path / "state")
    if running is not None:
        _kill(running.pid)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # one that was killed leaves its file behind
        os.kill(pid, signal.SIGKILL)


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("x", "2025-11-25"),
    ],
)
def test_a_version_is_agreed_on(alone: Client, wanted: str, given: str) -> None:
    assert alone.ask("initialize", HELLO | {"protocolVersion": wanted})["result"]["protocolVersion"] == given


def test_a_client_without_handshake_is_answered_too(alone: Client) -> None:
    meta = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    assert alone.ask("server/discover", meta)["result"]["supportedVersions"] == ["2026-07-28"]
    listed = alone.ask("tools/list", meta)["result"]
    assert (listed["resultType"], len(listed["tools"])) == ("complete", 8)
    refused = alone.ask("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2030-01-01"}})
    assert refused["error"]["data"]["supported"] == ["2026-07-28"]


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"garbage", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"5", -32600),
        (b"[]", -32600),
        (b'{"id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "nothing"}', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "x"}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "no"}}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": {}}}', -32602),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_get","arguments":[]}}',
            -32602,
        ),
    ],
)
def test_what_is_wrong_gets_the_right_code_and_the_talk_goes_on(
    alone: Client, sent: bytes, code: int
) -> None:
    alone.send(sent)
    assert alone.read()["error"]["code"] == code
    assert alone.ask("ping")["result"] == {}


def test_notifications_and_answers_get_no_answer(alone: Client) -> None:
    alone.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    alone.send(b'{"jsonrpc": "2.0", "method": "notifications/unheard-of", "params": {}}')
    alone.send(b'{"jsonrpc": "2.0", "id": 7, "result": {}}')
    alone.send(b"")
    assert alone.ask("ping")["result"] == {}


def test_a_batch_is_answered_together(alone: Client) -> None:
    messages = [
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "memory_status"}},
        5,
    ]
    alone.send(json.dumps(messages).encode())
    assert [answer["id"] for answer in alone.read()] == ["a", "b", None]


def test_a_message_of_many_megabytes_is_refused_and_the_next_is_read(alone: Client) -> None:
    alone.send(
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "' + b"x" * (17 << 20) + b'"}}'
    )
    assert alone.read()["error"]["code"] == -32700
    assert alone.ask("ping")["result"] == {}


def test_calls_that_run_are_finished_when_the_client_closes_its_end(tmp_path: Path) -> None:
    client = Client(tmp_path, tmp_path / "state", "--alone")
    call = {"name": "memory_write", "arguments": {"text": "at the very end"}}
    client.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode())
    out, _ = client.process.communicate(timeout=30)
    assert json.loads(out)["result"]["isError"] is False
    assert any("at the very end" in path.read_text("utf-8") for path in tmp_path.glob("memory/*.md"))


def test_the_list_of_tools_costs_little(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return float(usage.ru_utime + usage.ru_stime)

    costs = []
    for _ in range(4):
        before = spent()
        client = Client(tmp_path, tmp_path / "state", "--alone")
        client.ask("initialize", HELLO)
        assert len(client.ask("tools/list")["result"]["tools"]) == 8
        client.close()
        costs.append(spent() - before)
    assert min(costs) <= BUDGET, costs


def test_nothing_heavy_is_read_for_the_list_of_tools() -> None:
    heavy = (
        "{'typer', 'rich', 'numpy', 'msgspec', 'apsw', 'httpx', 'mcp', 'pydantic', 'starlette', 'asyncio'}"
    )
    code = f"import sys, mnemark_interfaces.mcp.front; print(sorted({heavy} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.timed
def test_it_starts_a_daemon_and_asks_it(warm: Client, tmp_path: Path) -> None:
    warm.ask("initialize", HELLO)
    warm.ask("tools/list")
    assert warm.call("memory_write", text="the badger digs")["status"] == "written"
    running = wait_for(tmp_path / "state")
    assert running.pid != warm.process.pid
    rows = warm.call("memory_search", query="badger")["results"]
    assert "badger" in rows[0]["snippet"]


@pytest.mark.timed
@pytest.mark.parametrize("delay", [0.0, 0.003, 0.01])
def test_killed_at_any_moment_the_daemon_is_not_missed(warm: Client, tmp_path: Path, delay: float) -> None:
    """Writes go on alone; each that was acknowledged is there, and none twice."""
    warm.ask("initialize", HELLO)
    warm.ask("tools/list")
    running = wait_for(tmp_path / "state")
    killer = threading.Timer(delay, _kill, (running.pid,))
    written = []
    for number in range(8):
        if number == 3:
            killer.start()
        words = f"note number {number} of the wombat"
        assert warm.call("memory_write", text=words)["status"] in {"written", "unchanged"}
        written.append(words)
    killer.join()
    text = "".join(path.read_text("utf-8") for path in (tmp_path / "w/memory").glob("*.md"))
    assert [text.count(f"{words}\n") for words in written] == [1] * 8
    assert warm.call("memory_search", query="wombat", maxResults=20)["results"]


def test_outside_of_a_workspace_the_tools_say_what_to_do(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mnemark", "mcp", "--alone"]
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_status"}}
    ran = subprocess.run(
        command, input=json.dumps(call).encode() + b"\n", cwd=tmp_path, env=surroundings(tmp_path),
        capture_output=True, check=True, timeout=30,
    )  # fmt: skip
    result = json.loads(ran.stdout)["result"]
    assert result["isError"]
    assert "mnemark init" in result["content"][0]["text"]


def test_a_damaged_index_is_answered_around(tmp_path: Path) -> None:
    first = Client(tmp_path, tmp_path / "state", "--alone")
    first.call("memory_write", text="the tapir")
    first.call("memory_search", query="tapir")
    first.close()
    (tmp_path / ".mnemark/index.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 8000)
    second = Client(tmp_path, tmp_path / "state", "--alone")
    found = second.call("memory_search", query="tapir")
    assert "tapir" in found["results"][0]["snippet"]
    assert "answered from the files" in found["warning"]
    second.close()


def test_a_folder_that_is_not_there_is_said_at_the_start(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mnemark", "mcp", "-w", str(tmp_path / "no")]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert ran.returncode == 3
    assert "mnemark init" in ran.stderr
