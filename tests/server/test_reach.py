"""Agents on other machines use a memory on a server: their hooks, what waits, and where the key lies."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark_agents.connect.hosts import HOSTS
from mnemark_server import tenants
from mnemark_server.database import connect
from server.command import mnemark
from server.processes import NodeProcess, post

CLAUDE = "claude-code"
_EARLIER = "chat:1"


class Laptop:
    """A machine with agents: its home folder, in which mnemark is run as agents and people do."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()
        names = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")
        hidden = ("MNEMARK_", "XDG_", "CLAUDE", "CODEX", "COPILOT", "OPENCLAW", "PI_", "CLINE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        self.environment = {**kept, **dict.fromkeys(names, str(home)), "NO_COLOR": "1"}

    def run(self, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return mnemark(*words, given=given, cwd=self.home, environment=self.environment)

    def hook(self, url: str, agent: str, event: str, data: Mapping[str, Any]) -> dict[str, Any]:
        words = [sys.executable, "-P", "-m", "mnemark", "hook", event, "--agent", agent, "--server", url]
        found: dict[str, Any] = json.loads(as_agent(self, words, json.dumps(data)))
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


def said(node: NodeProcess, key: str) -> list[tuple[str, str]]:
    with Memory.connect(node.address, key) as memory:
        found = memory.client.call("said", {})["turns"]
    mine = (one["turn"] for one in found if one["session"] != _EARLIER)
    return [(one["role"], one["content"]) for one in mine]


def refused(port: int, key: str, path: str, body: dict[str, Any]) -> int:
    """Return the status with which a request is refused."""
    with pytest.raises(urllib.error.HTTPError) as error:
        post(port, key, path, body)
    error.value.close()
    return error.value.code


def told_on_pelicans(node: NodeProcess, key: str) -> None:
    """Let the memory hold what a session is asked for."""
    with Memory.connect(node.address, key) as memory:
        session = memory.session(_EARLIER)
        session.add("user", "The code word of the harbour gate is pelican.")
        session.end()


def connected(laptop: Laptop, node: NodeProcess, key: str, agent: str) -> str:
    done = laptop.run("connect", agent, "--server", node.address, given=f"{key}\n")
    assert done.returncode == 0, done.stderr
    return done.stderr


def lines_of(laptop: Laptop, agent: str) -> dict[str, list[str]]:
    """Return the command lines that stand in an agent's settings, by event, as its program runs them."""
    code = (
        "import json, sys; from mnemark_agents.connect.check import _commands; "
        "from mnemark_agents.connect.connect import host_of; "
        "print(json.dumps([words for _, words in _commands(host_of(sys.argv[1]), None)]))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, agent], env=laptop.environment, text=True, capture_output=True,
        check=True,
    )  # fmt: skip
    found: list[list[str]] = json.loads(done.stdout)
    return {words[words.index("hook") + 1] if "hook" in words else "mcp": words for words in found}


def as_agent(laptop: Laptop, words: list[str], given: str) -> str:
    """Run a command line as an agent does: with a program that knows no option of pytest's."""
    done = subprocess.run(
        words, input=given, text=True, capture_output=True, env=laptop.environment, cwd=laptop.home,
        check=True,
    )  # fmt: skip
    return done.stdout


def test_each_agent_is_connected_and_disconnected(node: NodeProcess, key: str, laptop: Laptop) -> None:
    url = node.address
    for host in HOSTS:
        before = {name: text for name, text in laptop.files().items() if ".local" not in name}
        told = connected(laptop, node, key, host.name)
        assert "The key opens the memory ann" in told
        written = laptop.files()
        holding = [name for name, text in written.items() if key in text]
        assert holding == [".config/mnemark/servers.json"]
        settings = "".join(
            text for name, text in written.items() if name not in before and name != holding[0]
        )
        assert f"--server {url}" in settings or f'"{url}"' in settings, host.name
        assert "--workspace" not in settings, host.name
        assert "review" not in " ".join(written)
        listed = json.loads(laptop.run("connect", "--json").stdout)
        (mine,) = (one for one in listed["agents"] if one["agent"] == host.name)
        assert (mine["state"], mine["workspace"]) == ("connected", url)
        again = laptop.run("connect", host.name, "--server", url)
        assert "already connected" in again.stderr, again.stderr
        gone = laptop.run("connect", host.name, "--remove")
        assert "is removed from this machine" in gone.stderr, gone.stderr
        after = {name: text for name, text in laptop.files().items() if ".local" not in name}
        assert after == before, host.name


def test_the_key_is_for_its_user_alone(node: NodeProcess, key: str, laptop: Laptop) -> None:
    connected(laptop, node, key, CLAUDE)
    path = laptop.home / ".config/mnemark/servers.json"
    assert path.stat().st_mode & 0o777 == 0o600
    connected(laptop, node, key, "codex")
    assert "is removed" not in laptop.run("connect", "codex", "--remove").stderr
    assert path.exists()  # Claude Code uses it
    path.chmod(0o644)
    data = {"session_id": "one", "prompt": "What is the code word?"}
    assert laptop.hook(node.address, CLAUDE, "prompt", data) == {}
    assert "chmod 600" in laptop.log()
    assert "chmod 600" in laptop.run("connect").stderr


def test_what_is_wrong_is_told_at_once(node: NodeProcess, key: str, laptop: Laptop, url: str) -> None:
    def told(where: str, given: str, *words: str) -> str:
        done = laptop.run("connect", CLAUDE, "--server", where, *words, given=given)
        assert done.returncode != 0
        assert not given.strip() or given.strip() not in done.stderr
        assert "Traceback" not in done.stderr
        assert not (laptop.home / ".claude").exists()
        return done.stderr

    assert "does not know this key" in told(node.address, "mnk_wrong\n")
    assert "does not answer" in told("http://127.0.0.1:1", f"{key}\n")
    assert "begins with http://" in told(node.address.replace("http:", "https:"), f"{key}\n")
    away = laptop.run("connect", CLAUDE, "--server", "http://127.0.0.1:1", given=f"{key}\n")
    assert away.returncode == 5
    unknown = laptop.run("connect", "claude-kode", "--server", "http://127.0.0.1:1", given=f"{key}\n")
    assert "is not an agent" in unknown.stderr  # before anybody is asked for a key
    assert "https://memory.example.org" in told("memory.example.org", f"{key}\n")
    assert "no password" in told("https://ann:secret@example.org", f"{key}\n")
    assert "one word" in told(node.address, "two words\n")
    assert "needs a key" in told(node.address, "")
    assert "no folder here" in told(node.address, f"{key}\n", "--one-memory")
    with connect(url) as connection:
        reading = tenants.add_key(connection, "ann", "reader", scopes=("read",))
    assert "may only read" in connected(laptop, node, reading, CLAUDE)


def test_nothing_is_asked_or_written_by_a_dry_run(laptop: Laptop) -> None:
    done = laptop.run("connect", CLAUDE, "--server", "https://memory.example.org/", "--dry-run")
    assert "--server https://memory.example.org" in done.stdout, done.stderr
    assert laptop.files() == {}


@pytest.mark.parametrize("agent", ["claude-code", "codex", "copilot"])
def test_turns_of_a_transcript_are_there_once(
    node: NodeProcess, key: str, laptop: Laptop, agent: str
) -> None:
    told_on_pelicans(node, key)
    connected(laptop, node, key, agent)
    lines = lines_of(laptop, agent)
    transcript = laptop.home / "one.jsonl"
    data = {"session_id": "one", "transcript_path": str(transcript), "cwd": str(laptop.home)}
    question = "What is the code word of the harbour gate?"
    answer = as_agent(laptop, lines["prompt"], json.dumps({**data, "prompt": question}))
    assert "pelican" in answer
    say(transcript, agent, "user", question)
    say(transcript, agent, "assistant", "It is pelican.")
    for _ in range(2):
        assert as_agent(laptop, lines["response"], json.dumps(data)) == "{}\n"
    say(transcript, agent, "user", "谢谢，明天见。")
    as_agent(laptop, lines["session-end"], json.dumps(data))
    (laptop.home / ".local/state/mnemark/outbox").rename(laptop.home / "lost")  # what was read is not known
    as_agent(laptop, lines["response"], json.dumps(data))
    assert said(node, key) == [
        ("user", question),
        ("assistant", "It is pelican."),
        ("user", "谢谢，明天见。"),
    ]
    assert key not in laptop.log()


def say(transcript: Path, agent: str, role: str, text: str) -> None:
    """Write a message as an agent writes its transcript."""
    number = len(transcript.read_text("utf-8").splitlines()) if transcript.exists() else 0
    kind = "input_text" if role == "user" else "output_text"
    record = {
        "claude-code": {"type": role, "uuid": f"u{number}", "message": {"role": role, "content": text}},
        "codex": {"type": "response_item", "payload": {
            "type": "message", "role": role, "content": [{"type": kind, "text": text}]}},
        "copilot": {"type": f"{role}.message", "id": f"u{number}", "data": {"content": text}},
    }[agent]  # fmt: skip
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"timestamp": f"2026-11-28T10:00:{number:02}Z", **record}) + "\n")


@pytest.mark.parametrize("agent", ["cursor", "gemini-cli", "qwen-code", "opencode"])
def test_turns_of_events_are_there_once(node: NodeProcess, key: str, laptop: Laptop, agent: str) -> None:
    told_on_pelicans(node, key)
    laptop.environment["MNEMARK_KEY"] = key
    url, question = node.address, "What is the code word of the harbour gate?"
    data = {"session_id": "one", "conversation_id": "one", "timestamp": "2026-11-28T10:00:00Z"}
    answers = (laptop.hook(url, agent, "prompt", {**data, "prompt": question}) for _ in range(3))
    assert any("pelican" in str(one) for one in answers)  # a busy machine is late the first time
    reply = {"text": "Pelican.", "last_assistant_message": "Pelican."}
    if agent == "gemini-cli":
        reply = {"prompt": question, "prompt_response": "Pelican."}
    laptop.hook(url, agent, "response", {**data, **reply})
    tool = {"tool_name": "Bash", "tool_input": {"command": "make gate"}, "tool_response": "ok" * 100_000}
    for _ in range(2):
        laptop.hook(url, agent, "tool", {**data, **tool, "tool_use_id": "call-1"})
    laptop.hook(url, agent, "session-end", data)
    assert said(node, key) == [("user", question), ("assistant", "Pelican.")]
    with Memory.connect(url, key) as memory:
        assert memory.context().count("make gate") == 1
    assert laptop.log() == ""


def test_nothing_is_lost_while_the_server_is_away(node: NodeProcess, key: str, laptop: Laptop) -> None:
    connected(laptop, node, key, "cursor")
    lines, url = lines_of(laptop, "cursor"), node.address
    data = {"conversation_id": "one"}
    node.kill()
    as_agent(laptop, lines["prompt"], json.dumps({**data, "prompt": "My cat is called Nimbus."}))
    begun = time.monotonic()
    as_agent(laptop, lines["response"], json.dumps({**data, "text": "A fine name."}))
    tool = {"tool_name": "Shell", "tool_input": {"command": "make gate"}, "tool_output": "ok"}
    as_agent(laptop, lines["tool"], json.dumps({**data, **tool}))
    assert time.monotonic() - begun < 4.0  # nobody waits for a server that is silent
    as_agent(laptop, lines["session-end"], json.dumps(data))
    assert f"4 events wait for {url}" in laptop.run("connect").stderr
    assert laptop.run("connect", "--send").returncode == 1
    assert all(path.stat().st_mode & 0o077 == 0 for path in (laptop.home / ".local").rglob("*.json"))
    node.start()
    assert said(node, key) == []  # it answers
    assert laptop.run("connect", "--send").stderr.startswith("4 events were sent")
    assert said(node, key) == [("user", "My cat is called Nimbus."), ("assistant", "A fine name.")]
    with Memory.connect(url, key) as memory:
        assert "make gate" in memory.context()
        assert "Nimbus" in memory.search("cat").hits[0].text
    assert "events wait" not in laptop.run("connect").stderr
    assert key not in laptop.log()
    assert "does not answer" in laptop.log()


def test_what_waits_is_sent_in_its_order_by_the_next_hook(
    node: NodeProcess, key: str, laptop: Laptop
) -> None:
    connected(laptop, node, key, "cursor")
    lines = lines_of(laptop, "cursor")
    data = {"conversation_id": "one"}
    node.kill()
    as_agent(laptop, lines["prompt"], json.dumps({**data, "prompt": "First."}))
    node.start()
    assert said(node, key) == []  # it answers
    for silent in laptop.home.rglob("silent"):
        silent.unlink()  # as if ten seconds had passed
    as_agent(laptop, lines["response"], json.dumps({**data, "text": "Second."}))
    wanted = [("user", "First."), ("assistant", "Second.")]
    until = time.monotonic() + 30.0
    while said(node, key) != wanted and time.monotonic() < until:
        time.sleep(0.1)
    assert said(node, key) == wanted


def test_a_slow_server_keeps_no_agent_waiting(laptop: Laptop, key: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        laptop.environment["MNEMARK_KEY"] = key
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        data = {"conversation_id": "one", "prompt": "What is the code word?"}
        assert laptop.hook(url, "cursor", "prompt", data) == {}
        assert time.monotonic() - begun < 5.0
    (path,) = laptop.home.rglob("*.json")
    assert "What is the code word?" in path.read_text("utf-8")


def test_a_killed_hook_leaves_what_it_was_sending(laptop: Laptop, key: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        words = ["hook", "prompt", "--agent", "cursor", "--server", url]
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "mnemark", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**laptop.environment, "MNEMARK_KEY": key},
        ) as hook:  # fmt: skip
            assert hook.stdin is not None
            hook.stdin.write(json.dumps({"conversation_id": "one", "prompt": "Keep this."}).encode())
            hook.stdin.close()
            connection, _ = silent.accept()
            with connection:
                assert key not in shown(hook.pid)
                hook.kill()
                hook.wait()
    (path,) = laptop.home.rglob("*.json")
    assert "Keep this." in path.read_text("utf-8")
    assert key not in path.read_text("utf-8")


def shown(pid: int) -> str:
    """Return what others see of a process."""
    return Path(f"/proc/{pid}/cmdline").read_text() if sys.platform == "linux" else ""


def test_a_key_that_was_taken_back_is_told_and_nothing_is_lost(
    node: NodeProcess, key: str, laptop: Laptop, url: str
) -> None:
    connected(laptop, node, key, "cursor")
    with connect(url) as connection:
        tenants.revoke(connection, "ann", "laptop")
        new = tenants.add_key(connection, "ann", "second")
    node.kill()
    node.start()
    laptop.hook(node.address, "cursor", "prompt", {"conversation_id": "one", "prompt": "Keep this."})
    assert "this key opens no memory" in laptop.log()
    assert key not in laptop.log()
    checked = laptop.run("connect", "--check")
    assert checked.returncode == 1
    assert "does not know this key" in checked.stderr
    assert "1 events wait" in laptop.run("connect").stderr
    connected(laptop, node, new, "cursor")
    laptop.run("connect", "--send")
    assert said(node, new) == [("user", "Keep this.")]


def test_what_waits_for_one_memory_is_not_sent_to_another(
    node: NodeProcess, key: str, laptop: Laptop, url: str
) -> None:
    connected(laptop, node, key, "cursor")
    with connect(url) as connection:
        other = tenants.add_key(connection, "bob", "laptop")
    node.kill()
    laptop.hook(node.address, "cursor", "prompt", {"conversation_id": "one", "prompt": "Of ann alone."})
    node.start()
    laptop.environment["MNEMARK_KEY"] = other
    done = laptop.run("connect", "cursor", "--server", node.address)
    assert done.returncode != 0
    assert "wait for the memory ann" in done.stderr
    laptop.run("connect", "--send")
    assert said(node, other) == []


def test_a_check_runs_what_stands_in_the_settings(node: NodeProcess, key: str, laptop: Laptop) -> None:
    connected(laptop, node, key, CLAUDE)
    done = laptop.run("connect", CLAUDE, "--check", "--json")
    found = json.loads(done.stdout)["checked"]
    assert [(one["part"], one["workspace"], one["problem"]) for one in found] == [
        ("hooks", node.address, ""), ("tools", node.address, ""),
    ]  # fmt: skip
    node.kill()
    done = laptop.run("connect", CLAUDE, "--check")
    assert done.returncode == 1
    assert "does not answer" in done.stderr
    node.start()


def test_a_project_has_a_memory_of_its_own(node: NodeProcess, key: str, laptop: Laptop) -> None:
    laptop.environment["MNEMARK_KEY"] = key
    url = node.address
    for name in ("one", "two"):
        folder = laptop.home / name / "shop"
        (folder / ".git").mkdir(parents=True)
        (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
        data = {"session_id": name, "cwd": str(folder)}
        laptop.hook(url, "qwen-code", "prompt", {**data, "prompt": f"The shop of {name} is painted teal."})
        laptop.hook(url, "qwen-code", "response", {**data, "cwd": str(laptop.home), "text": "Noted."})
    with Memory.connect(url, key) as memory:
        found = memory.client.call("said", {"scope": "*"})["turns"]
    scopes = [one["scope"] for one in found]
    assert len(scopes) == 4
    assert len(set(scopes)) == 2
    assert all(scope.startswith("projects/shop-") for scope in scopes), scopes
    assert str(laptop.home) not in json.dumps(found)


def test_a_server_reads_no_file_that_a_client_names(node: NodeProcess, key: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    say(secret, CLAUDE, "user", "Of the server alone.")
    event = {"session_id": "one", "transcript_path": str(secret), "cwd": str(tmp_path)}
    post(node.port, key, "/hook/response", {"agent": CLAUDE, "event": event})
    assert said(node, key) == []
    for wrong in ({"turns": [{"content": "x"}]}, {"turns": "x"}, {"project": "../../etc"}, {"time": "soon"}):
        body = {"agent": CLAUDE, "event": {"session_id": "one"}, **wrong}
        assert refused(node.port, key, "/hook/response", body) == 400, wrong


def test_a_key_says_what_it_opens_and_one_for_reading_records_nothing(
    node: NodeProcess, key: str, url: str
) -> None:
    with connect(url) as connection:
        reading = tenants.add_key(connection, "ann", "reader", scopes=("read",))
    assert post(node.port, key, "/v1/key", {}) == {"memory": "ann", "scopes": ["read", "write"]}
    assert post(node.port, reading, "/v1/key", {}) == {"memory": "ann", "scopes": ["read"]}
    event = {"session_id": "one", "prompt": "Keep this."}
    assert refused(node.port, reading, "/hook/prompt", {"agent": "cursor", "event": event}) == 403
    assert said(node, key) == []


def test_a_plug_in_uses_the_server_of_the_environment(node: NodeProcess, key: str, laptop: Laptop) -> None:
    laptop.environment |= {"MNEMARK_KEY": key, "MNEMARK_SERVER": node.address}
    data = json.dumps({"session_id": "one", "prompt": "Keep this.", "cwd": str(laptop.home)})
    words = [sys.executable, "-P", "-m", "mnemark", "hook", "prompt", "--agent", "openclaw", "--plugin"]
    assert as_agent(laptop, words, data) == "{}\n"
    assert said(node, key) == [("user", "Keep this.")]
    assert not (laptop.home / "mnemark").exists()


def test_damaged_keys_and_events_stop_nothing(node: NodeProcess, key: str, laptop: Laptop) -> None:
    connected(laptop, node, key, "cursor")
    node.kill()
    laptop.hook(node.address, "cursor", "prompt", {"conversation_id": "one", "prompt": "Keep this."})
    node.start()
    (waiting,) = laptop.home.rglob("outbox/*/*.json")
    waiting.with_name("00000000000000000000-1.json").write_bytes(b'{"path": "/hook/prompt", "body"')
    assert "1 events were refused" not in laptop.run("connect", "--send").stderr
    assert said(node, key) == [("user", "Keep this.")]
    assert "1 events were refused" in laptop.run("connect").stderr
    path = laptop.home / ".config/mnemark/servers.json"
    for damage in (b"{", b"[]", b'{"x": 1}', b"\xff"):
        path.write_bytes(damage)
        laptop.hook(node.address, "cursor", "prompt", {"conversation_id": "one", "prompt": "And this."})
        told = laptop.run("connect")
        assert "is damaged" in told.stderr
        assert "Traceback" not in told.stderr
