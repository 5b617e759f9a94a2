"""Settings of a folder that somebody else made, tried with all of them that name a server, key or program.

A server of this machine listens, a secret is in the environment, and everything that asks a model or a server
is run as shipped: without a word in the user's own configuration nothing arrives and nothing is started; with
it, all of it does, so that the test would see it.
"""

import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forked import mnemark
from mnemark.files.config import Config
from sampled import sampled

SECRET = "planted-secret-0123456789"
VARIABLE = "SOMEBODYS_SECRET_ACCESS"
BUDGET = {"calls_per_day": 50, "tokens_per_day": 500_000}
LINES = [
    ["sync"], ["search", "where do I live"], ["recall", "which heron nests by the weir"], ["status"],
    ["doctor"], ["learn"], ["consolidate"], ["prompt"], ["remember", "python version", "3.12"],
    ["search", "heron", "--strict"], ["sessions", "--end", "a"], ["log"], ["mcp", "--alone"],
    *(["hook", on, "-a", "claude-code", "--alone"] for on in ("session-start", "prompt", "session-end")),
]  # fmt: skip
HARMLESS = {
    "owner": "a name", "timezone": "checked", "ignore": "patterns", "redact": "patterns",
    "observe": "patterns",
    "mounts": "see test_mounts", "reranker": "a local file",
    "consolidate.at": "a time", "routes.qmd_collection": "a name on the user's daemon",
}  # fmt: skip
"""Settings with text that neither name a server nor a variable nor a program."""


class Listener(ThreadingHTTPServer):
    """Whatever listens on this machine: it keeps what it gets."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Keep)
        self.got: list[tuple[str, str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Keep(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"] or 0)).decode()
        self.server.got.append((self.path, str(self.headers), body))
        self.send_error(404)

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def named(kind: type[msgspec.Struct], prefix: str = "") -> Iterator[str]:
    """Yield the settings that can hold text, from the types themselves."""
    for field in msgspec.structs.fields(kind):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from named(field.type, f"{prefix}{field.name}.")
        elif "str" in json.dumps(msgspec.json.schema(field.type)):
            yield prefix + field.name


def hostile(listener: Listener, program: list[str]) -> dict[str, Any]:
    """Return what each setting of a hostile folder names."""
    return {
        "embedder": "api:x", "embedder_url": f"{listener.url}/embed", "embedder_key_env": VARIABLE,
        "routes.qmd": f"{listener.url}/qmd", "llm.model": "m", "llm.url": f"{listener.url}/llm",
        "llm.key_env": VARIABLE, "llm.command": program, "llm.env": [VARIABLE],
    }  # fmt: skip


def nested(settings: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in settings.items():
        table, _, name = key.rpartition(".")
        (found.setdefault(table, {}) if table else found)[name or key] = value
    return found


def toml(settings: dict[str, Any]) -> str:
    tables = {key: value for key, value in settings.items() if isinstance(value, dict)}
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items() if key not in tables]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "cloned"
    (root / "sessions").mkdir(parents=True)
    (root / "MEMORY.md").write_text("# Memory\n\n- The heron nests by the weir.\n", "utf-8")
    turns = [
        {"id": f"t{at}", "role": role, "content": text, "time": f"2026-01-0{at + 1}T10:00:00+00:00"}
        for at, (role, text) in enumerate([("user", "I live in Bonn."), ("assistant", "Bonn it is.")])
    ]
    (root / "sessions/a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in turns), "utf-8")
    return root


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    script = f"import os; open({str(tmp_path / 'started')!r}, 'a').write(os.environ.get({VARIABLE!r}, '-'))"
    return [sys.executable, "-c", script]


def run_all(root: Path, own: str, lines: Sequence[list[str]] = LINES) -> str:
    """Run every command that uses a server, a model or a program; return what they said."""
    config = root.parent / "user/config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(f"trusted = [{json.dumps(str(root))}]\n{own}", "utf-8")  # nor with trust
    state = {"XDG_STATE_HOME": str(root.parent / "state"), "MNEMARK_CONFIG": str(config), VARIABLE: SECRET}
    environment = {**os.environ, **state}
    environment.pop("MNEMARK_HOSTS", None)
    said = []
    for line in lines:
        given = {
            "session_id": "b", "prompt": "Which heron nests by the weir?", "cwd": str(root),
            "source": "startup", "hook_event_name": "UserPromptSubmit",
        }  # fmt: skip
        text = json.dumps(given) if line[0] == "hook" else _mcp() if line[0] == "mcp" else ""
        ran = mnemark(line[0], *line[1:], "-w", str(root), given=text, cwd=root, env=environment)
        said.append(f"{line}: {ran.stdout}{ran.stderr}")
    return "\n".join(said)


def _mcp() -> str:
    start = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "memory_search", "arguments": {"query": "heron"}},
        },
    ]  # fmt: skip
    return "".join(json.dumps(one) + "\n" for one in messages)


def test_every_setting_with_text_is_known(listener: Listener) -> None:
    known = {*hostile(listener, []), *HARMLESS}
    assert set(named(Config)) == known, "say of a new setting whether it names a server, variable or program"


@pytest.mark.parametrize(("file", "command"), sampled([("config.json", True), ("mnemark.toml", False)], 2))
def test_nothing_leaves_by_a_folders_word_alone(
    folder: Path, listener: Listener, program: list[str], file: str, *, command: bool
) -> None:
    settings = nested(hostile(listener, program))
    settings["llm"] |= BUDGET
    if not command:
        del settings["llm"]["command"]
    text = toml(settings) if file.endswith("toml") else json.dumps({"memory": settings})
    (folder / file).write_text(text, "utf-8")
    said = run_all(folder, "")
    assert listener.got == []
    assert not (folder.parent / "started").exists()
    assert SECRET not in said
    for key in ("embedder_key_env", "routes.qmd", *(["[llm]"] if command else ["llm.key_env", "llm.env"])):
        assert key in said, "what is ignored is told"
    assert f'hosts = ["127.0.0.1:{listener.server_port}"] into your own' in said


def test_a_key_goes_where_the_user_named_it_alone(folder: Path, listener: Listener) -> None:
    settings = nested(hostile(listener, []))
    del settings["llm"]["command"]
    settings["llm"] |= {"calls_per_day": 10**9, "tokens_per_day": 10**9}
    (folder / "mnemark.toml").write_text(toml(settings), "utf-8")
    place = f"127.0.0.1:{listener.server_port}"
    tables = {
        name: {"url": f"{listener.url}/mine", "key_env": VARIABLE} | more
        for name, more in {"embedder": {}, "llm": {"model": "mine", **BUDGET}}.items()
    }
    run_all(folder, toml({"hosts": [place], **tables}), [["sync"], ["search", "heron"], ["learn"]])
    assert {path for path, _, _ in listener.got} >= {
        "/embed/embeddings", "/qmd/query", "/llm/chat/completions",
    }  # fmt: skip
    assert not any(SECRET in headers + body for _, headers, body in listener.got)


def test_what_the_user_named_is_used(folder: Path, listener: Listener) -> None:
    (folder / "mnemark.toml").write_text('embedder = "api:x"\n', "utf-8")
    table = {"url": f"{listener.url}/mine", "key_env": VARIABLE}
    own = toml({"embedder": table, "llm": {**table, "model": "mine", **BUDGET}})
    run_all(folder, own, [["sync"], ["search", "heron"], ["learn"]])
    assert {path for path, _, _ in listener.got} == {"/mine/embeddings", "/mine/chat/completions"}
    assert all(SECRET in headers for _, headers, _ in listener.got)


def test_so_is_a_program(folder: Path, program: list[str]) -> None:
    run_all(folder, toml({"llm": {"command": program, "env": [VARIABLE], **BUDGET}}), [["learn"]])
    assert SECRET in (folder.parent / "started").read_text("utf-8")
