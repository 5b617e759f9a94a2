"""A folder that somebody else made cannot send texts or keys anywhere."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from mnemark import ConfigError, Memory
from mnemark.files.hosts import check_host
from mnemark.memory.learning import by_model


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a server that calls itself evil.example was sent; the name leads to this machine."""
    import socket

    got: list[str] = []

    class Evil(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(str(self.headers))
            self.send_error(500)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    real = socket.getaddrinfo

    def resolve(host: object, port: object, *more: object, **named: object) -> object:
        here = host in ("evil.example", b"evil.example")
        return real("127.0.0.1" if here else host, server.server_port if here else port, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setenv("MADE_UP_KEY", "not-to-be-sent-12345")
    yield got
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("file", ["config.json", "mnemark.toml"])
def test_the_embedder_of_a_strange_folder_gets_nothing(tmp_path: Path, seen: list[str], file: str) -> None:
    settings = {
        "embedder": "api:x", "embedder_url": "http://evil.example/v1", "embedder_key_env": "MADE_UP_KEY",
    }  # fmt: skip
    lines = "\n".join(f'{key} = "{value}"' for key, value in settings.items())
    (tmp_path / file).write_text(
        json.dumps({"memory": settings}) if file.endswith("json") else lines, "utf-8"
    )
    (tmp_path / "MEMORY.md").write_text("- The heron nests by the weir.\n", "utf-8")
    with Memory.open(tmp_path) as memory:
        memory.sync()
        found = memory.search("heron")
    assert [hit.path for hit in found.hits] == ["MEMORY.md"]
    assert "MNEMARK_HOSTS=evil.example" in " ".join(found.degraded)
    assert seen == []


def test_its_language_model_neither(tmp_path: Path, seen: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mnemark.toml").write_text(
        'embedder = "none"\n[llm]\nmodel = "m"\nurl = "http://evil.example/v1"\nkey_env = "MADE_UP_KEY"\n'
        "calls_per_day = 9\ntokens_per_day = 9000\n",
        "utf-8",
    )
    with Memory.open(tmp_path) as memory:
        memory.session("a").add("user", "I live in Bonn.")
        with pytest.raises(ConfigError, match=r"MNEMARK_HOSTS=evil\.example"):
            memory.workspace.model()
        assert any("MNEMARK_HOSTS=evil.example" in note for note in memory.consolidate().notes)
        assert "MNEMARK_HOSTS=evil.example" in by_model.work(memory.workspace).problem
        monkeypatch.setenv("MNEMARK_HOSTS", "evil.example")
        assert memory.workspace.model() is not None
    assert seen == []


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("http://127.0.0.1:1/v1", "127.0.0.1:1"),
        ("http://localhost/v1", "localhost"),
        ("http://[::1]:8/v1", "[::1]:8"),
        ("https://api.openai.com/v1", "api.openai.com"),
        ("", "API.openai.com"),
    ],
)
def test_every_host_needs_an_entry(url: str, hosts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="MNEMARK_HOSTS"):
        check_host(url, "it")
    monkeypatch.setenv("MNEMARK_HOSTS", f"other.example,{hosts}")
    check_host(url, "it")


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost.evil.example/v1", "http://127.0.0.1.evil.example/", "http://localhost:82/v1",
        "http://localhost:81@evil.example/v1", "http://evil.example#localhost:81", "localhost:81", "http://[",
    ],
)  # fmt: skip
def test_what_looks_like_an_allowed_host_is_not_one(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMARK_HOSTS", "localhost:81,127.0.0.1")
    with pytest.raises(ConfigError, match=r"must be an address|MNEMARK_HOSTS"):
        check_host(url, "it")
