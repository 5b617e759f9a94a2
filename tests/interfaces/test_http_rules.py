"""What the daemon refuses, each rule by a request that breaks it and no other."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from interfaces.daemons import Running, running
from mnemark_interfaces.http import guard

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

_LIMITS = ("HEAD_SECONDS=0.5", "BODY_SECONDS=0.5", "SEND_SECONDS=0.5")
_LONG = 12_000_000
"""Bytes that no system keeps for a connection on its own."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("state"), *_LIMITS) as found:
        yield found


@pytest.fixture
def right(tmp_path: Path) -> bytes:
    return json.dumps({"workspace": str(tmp_path), "query": "x"}).encode()


def test_a_right_request_is_answered(here: Running, right: bytes) -> None:
    status, said = here.request(body=right)
    assert (status, said["hits"]) == (200, [])


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", ""]
)
def test_a_foreign_host_is_refused(here: Running, right: bytes, host: str) -> None:
    status, said = here.request(body=right, host=host.format(port=here.port))
    assert (status, said["error"]["code"]) == (403, "host")


def test_no_host_is_refused(here: Running, right: bytes) -> None:
    assert here.request(body=right, without="host")[0] in {400, 403}


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:1", "https://127.0.0.1:{port}"]
)
def test_a_foreign_origin_is_refused(here: Running, right: bytes, origin: str) -> None:
    status, said = here.request(body=right, origin=origin.format(port=here.port))
    assert (status, said["error"]["code"]) == (403, "origin")


def test_its_own_origin_is_taken(here: Running, right: bytes) -> None:
    assert here.request(body=right, origin=f"http://localhost:{here.port}")[0] == 200


@pytest.mark.parametrize("path", ["/v1/search", "/mcp", "/health", "/openapi.json", "/hook/stop", "/nothing"])
def test_nothing_is_said_without_the_token(here: Running, right: bytes, path: str) -> None:
    method = "GET" if path in {"/health", "/openapi.json"} else "POST"
    assert here.request(path, right, method=method, without="authorization")[0] == 401


@pytest.mark.parametrize(
    "sent", ["Bearer x", "Bearer ", "Basic {token}", "{token}", "Bearer {token}x", "Bearer é"]
)
def test_a_wrong_token_is_refused(here: Running, right: bytes, sent: str) -> None:
    status, said = here.request(body=right, authorization=sent.format(token=here.at.token))
    assert (status, said["error"]["code"]) == (401, "token")


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""],
)
def test_what_a_page_could_send_unasked_is_refused(here: Running, right: bytes, kind: str) -> None:
    status, said = here.request(body=right, content_type=kind)
    assert (status, said["error"]["code"]) == (415, "type")


def test_json_with_its_encoding_is_taken_and_compressed_is_not(here: Running, right: bytes) -> None:
    assert here.request(body=right, content_type="application/json; charset=utf-8")[0] == 200
    assert here.request(body=right, content_encoding="gzip")[0] == 415


def test_a_page_cannot_ask_for_permission(here: Running, right: bytes) -> None:
    asked = {"origin": "https://evil.example", "access_control_request_method": "POST"}
    status, said = here.request(body=b"", method="OPTIONS", without="authorization", **asked)
    assert status == 403
    assert "access-control" not in str(said).lower()


@pytest.mark.parametrize(
    "path",
    ["/../etc/passwd", "/v1/../v1/search", "/v1/%2e%2e/search", "/v1/tools/..%2f..", "//v1/search",
     "/v1//search",
     "/v1/search%00", "/v1\\search", "/v1/search/", "/v1/.search", "/hook/a%20b"],
)  # fmt: skip
def test_path_tricks_are_refused(here: Running, right: bytes, path: str) -> None:
    status, said = here.request(path, right)
    assert (status, said["error"]["code"]) == (400, "path")


@pytest.mark.parametrize("folder", ["", "relative", "/", "/tmp/../etc", "/tmp\0", "~/notes", 5, None])
def test_a_workspace_is_an_absolute_path(here: Running, folder: object) -> None:
    status, said = here.request(body=json.dumps({"workspace": folder, "query": "x"}).encode())
    assert (status, said["error"]["code"]) == (400, "usage")


def test_a_folder_that_is_not_there_is_not_made(here: Running, tmp_path: Path) -> None:
    body = json.dumps({"workspace": str(tmp_path / "new"), "query": "x"}).encode()
    assert here.request(body=body)[0] == 404
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("ref", ["../secret.md", "/etc/passwd", "a\0b", "link.md"])
def test_a_ref_does_not_leave_the_workspace(here: Running, tmp_path: Path, ref: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (inside / "link.md").symlink_to(tmp_path / "secret.md")
    status, said = here.request("/v1/read", json.dumps({"workspace": str(inside), "ref": ref}).encode())
    assert (status, said["error"]["code"]) == (400, "usage")


def test_a_huge_body_is_refused_before_it_is_read(here: Running) -> None:
    status, said = here.request(body=b"", content_length=str(10**9))
    assert (status, said["error"]["code"]) == (413, "size")


@pytest.mark.parametrize("megabytes", [9, 40])
def test_a_client_that_sends_its_body_at_once_reads_why_it_is_refused(here: Running, megabytes: int) -> None:
    body = b'{"query": "' + b"x" * (megabytes << 20) + b'"}'
    status, said = here.request(body=body)
    assert (status, said["error"]["code"]) == (413, "size")
    assert here.request("/health", b"", method="GET")[0] == 200


def test_a_client_that_never_ends_is_cut_off(here: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_DRAIN_SECONDS", 0.2)
    head = (
        f"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\nContent-Length: 1000000000\r\n"
        f"Authorization: Bearer {here.at.token}\r\nContent-Type: application/json\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", here.port), 10) as connection:
        connection.sendall(head)
        answer = b""
        while more := connection.recv(4096):
            answer += more
    assert b" 413 " in answer.split(b"\r\n")[0]


def test_a_huge_body_without_a_length_is_cut(here: Running) -> None:
    head = (
        f"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\n"
        f"Authorization: Bearer {here.at.token}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    ).encode()
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", here.port), 10) as connection:
        connection.sendall(head)
        try:
            for _ in range(20):
                connection.sendall(chunk)
            answer = connection.recv(4096)
        except OSError:  # it closed before all was sent
            answer = b""
    assert not answer or b" 413 " in answer.split(b"\r\n")[0]
    assert here.request("/health", b"", method="GET")[0] == 200


def test_a_body_that_never_ends_is_given_up(here: Running) -> None:
    status, said = here.request(body=b"{", content_length="100")
    assert (status, said["error"]["code"]) == (408, "slow")


@pytest.mark.timed
@pytest.mark.parametrize("sent", [b"", b"POST /v1/search HTTP/1.1\r\nHost: x\r\n"])
def test_a_head_that_never_ends_is_given_up(here: Running, sent: bytes) -> None:
    started = time.monotonic()
    assert here.raw(sent) == b""
    assert time.monotonic() - started < 5


@pytest.mark.timed
def test_a_head_that_comes_drop_by_drop_is_given_up(here: Running) -> None:
    started = time.monotonic()
    with socket.create_connection(("127.0.0.1", here.port), 10) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\n")
        with pytest.raises(OSError):  # noqa: PT012 - it is the loop that ends so
            while time.monotonic() - started < 8:
                connection.sendall(b"X-A: b\r\n")
                time.sleep(0.1)
    assert time.monotonic() - started < 5


@pytest.fixture
def long_answer(here: Running, tmp_path: Path) -> Iterator[socket.socket]:
    """A connection on which a long answer is under way, of which nothing was taken yet."""
    (tmp_path / "long.md").write_text("word " * (_LONG // 5), encoding="utf-8")
    body = json.dumps({"workspace": str(tmp_path), "ref": "long.md"}).encode()
    head = (
        f"POST /v1/read HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\nConnection: close\r\n"
        f"Authorization: Bearer {here.at.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(10)
        connection.connect(("127.0.0.1", here.port))
        connection.sendall(head + body)
        assert connection.recv(12) == b"HTTP/1.1 200"
        yield connection


def _taken(connection: socket.socket) -> int:
    """Bytes that come until the connection ends."""
    count = 0
    try:
        while chunk := connection.recv(1 << 20):
            count += len(chunk)
    except ConnectionResetError:
        pass
    return count


def test_a_long_answer_is_given_whole_to_who_takes_it(long_answer: socket.socket) -> None:
    assert _taken(long_answer) > _LONG


@pytest.mark.timed
def test_who_does_not_take_its_answer_is_cut_off(here: Running, long_answer: socket.socket) -> None:
    end = time.monotonic() + 2.0
    while time.monotonic() < end:  # the others go on
        assert here.request("/health", b"", method="GET")[0] == 200
        time.sleep(0.1)
    assert _taken(long_answer) < _LONG


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"null", b'{"query": 1}', b"[" * 100_000])
def test_what_is_no_request_says_what_is_wanted(here: Running, body: bytes) -> None:
    status, said = here.request(body=body)
    assert (status, said["error"]["code"]) == (400, "usage")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "TRACE", "PATCH"])
def test_other_methods_are_refused(here: Running, method: str) -> None:
    assert here.request(method=method)[0] == 405


def test_strange_bytes_do_not_end_it(here: Running) -> None:
    for sent in (b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"A" * 100_000):
        assert b"HTTP/1.1 200" not in here.raw(sent)
    assert here.request("/health", b"", method="GET")[0] == 200
