"""QMD's daemon as a route: a server that answers as QMD 2.8.3 documents, and as nothing should."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from mnemark import Memory
from mnemark.files.config import load_reported

Answer = Callable[[], tuple[int, bytes]]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    answer: Answer
    asked: list[tuple[str, Any]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, body))
        status, content = self.server.answer()
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except ConnectionError:
            pass  # the asker did not wait

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    server.asked = []
    server.answer = found
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def found(*places: tuple[str, int, float]) -> tuple[int, bytes]:
    results = [
        {"docid": "#abc123", "file": f"qmd://{quote(file)}", "title": "", "score": score, "context": None,
         "line": line, "snippet": f"{line}: …"}
        for file, line, score in places
    ]  # fmt: skip
    return 200, json.dumps({"results": results}).encode()


@pytest.fixture
def workspace(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MNEMARK_HOSTS", "127.0.0.1")
    configure(tmp_path, f"http://127.0.0.1:{server.server_port}")
    (tmp_path / "garden.md").write_text("# Garden\n\nThe roses are watered on Mondays.\n")
    (tmp_path / "笔记").mkdir()
    (tmp_path / "笔记" / "厨房 一.md").write_text("# 厨房\n\n烤箱预热到二百度。\n", encoding="utf-8")
    (tmp_path / "users" / "ann" / "memory").mkdir(parents=True)
    (tmp_path / "users" / "ann" / "memory" / "note.md").write_text("Ann keeps bees.\n")
    return tmp_path


def configure(folder: Path, url: str, more: str = "") -> None:
    (folder / "mnemark.toml").write_text(f'embedder = "none"\n[routes]\nqmd = "{url}"\n{more}')


def test_what_qmd_alone_found_is_among_the_hits(workspace: Path, server: Server) -> None:
    server.answer = lambda: found(("memory/笔记/厨房 一.md", 3, 0.9))
    with Memory.open(workspace) as memory:
        memory.sync()
        got = memory.search('how hot -is "the oven"?', explain=True)
    assert [hit.path for hit in got.hits] == ["笔记/厨房 一.md"]
    assert got.hits[0].why["routes"]["qmd"] == {"score": 0.9, "rank": 1}
    assert (got.mode, got.degraded) == ("lexical+qmd", ())
    ((path, body),) = server.asked
    assert path == "/query"
    assert body["collections"] == ["memory"]
    assert body["rerank"] is False
    assert {search["query"] for search in body["searches"]} == {"how hot is the oven ?"}


def test_what_is_outside_is_left_out(workspace: Path, server: Server) -> None:
    server.answer = lambda: found(
        ("other/garden.md", 3, 0.9), ("memory/../garden.md", 3, 0.9), ("memory/gone.md", 1, 0.9),
        ("memory/garden.md", 900, 0.9), ("memory/garden.md", 3, 7.0),
        ("memory/users/ann/memory/note.md", 1, 0.9),
    )  # fmt: skip
    with Memory.open(workspace) as memory:
        memory.sync()
        got = memory.search("厨房以外")
        other = memory.search("hives", scope="users/ann")
    assert "users/ann/memory/note.md" not in [hit.path for hit in got.hits]
    assert "garden.md" not in [hit.path for hit in got.hits]
    assert [hit.path for hit in other.hits] == ["users/ann/memory/note.md"]
    assert got.degraded == ()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((500, b"oops"), "HTTP 500.*qmd mcp --http"),
        ((404, b"{}"), "HTTP 404.*version 2"),
        ((200, b"{"), "not from QMD"),
        ((200, b"\xff"), "not from QMD"),
        ((200, b'{"results": [{"file": 1}]}'), "not from QMD"),
        ((200, b'{"jsonrpc": "2.0"}'), "not from QMD"),
    ],
)
def test_nonsense_is_told_and_the_answer_is_ones_own(
    workspace: Path, server: Server, answer: tuple[int, bytes], told: str
) -> None:
    server.answer = lambda: answer
    with Memory.open(workspace) as memory:
        memory.sync()
        got = memory.search("roses")
    assert [hit.path for hit in got.hits] == ["garden.md"]
    assert not got.complete
    (reason,) = got.degraded
    assert reason.startswith("qmd: ")
    assert re.search(told, reason)


@pytest.mark.timed
def test_a_slow_daemon_does_not_hold_up_a_recall(workspace: Path, server: Server) -> None:
    released = threading.Event()

    def late() -> tuple[int, bytes]:
        released.wait(5)
        return found()

    server.answer = late
    with Memory.open(workspace) as memory:
        memory.sync()
        started = time.monotonic()
        got = memory.recall("roses", deadline=0.5)
        took = time.monotonic() - started
        released.set()
    assert took < 1
    assert [hit.path for hit in got.hits] == ["garden.md"]
    assert "qmd: the daemon did not answer in time" in got.degraded or any(
        reason.startswith("qmd: no answer") for reason in got.degraded
    )


def test_an_absent_daemon_is_told_with_the_command_that_starts_it(workspace: Path) -> None:
    configure(workspace, "http://127.0.0.1:1")
    with Memory.open(workspace) as memory:
        memory.sync()
        got = memory.search("roses")
    assert [hit.path for hit in got.hits] == ["garden.md"]
    assert "qmd mcp --http --daemon" in got.degraded[0]


def test_a_daemon_is_asked_only_where_the_user_named_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hosts, named in [
        ("llm.example", False), ("llm.example, QMD.example", True), ("qmd.example:8181", True),
        ("qmd.example:81", False),
    ]:  # fmt: skip
        monkeypatch.setenv("MNEMARK_HOSTS", hosts)
        configure(workspace, "http://qmd.example:8181")
        with Memory.open(workspace) as memory:
            assert bool(memory.config.routes.qmd) == named
        problems = load_reported(workspace).problems
        assert ["qmd.example:8181" in one.reason for one in problems] == ([] if named else [True])
    configure(workspace, "localhost:8181")
    Memory.open(workspace).close()
    assert "routes.qmd must be an address like" in load_reported(workspace).problems[0].reason
