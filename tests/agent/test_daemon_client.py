"""The light client finds a living daemon and no other, and takes nothing that is cut short for an answer."""

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mnemark._version import __version__
from mnemark.files import platform
from mnemark_agents import daemon


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = platform.state_folder()
    platform.private_folder(folder)
    return folder


def _announce(state: Path, port: int = 1, version: str = __version__) -> None:
    said = {"url": f"http://127.0.0.1:{port}", "token": "t", "pid": os.getpid(), "version": version}
    platform.write_private(state / daemon.STATE, json.dumps(said).encode())


@contextmanager
def _alive(state: Path) -> Iterator[None]:
    with platform.locked(state / daemon.LOCK, os.O_RDWR | os.O_CREAT, timeout=1):
        yield


def test_there_is_none_without_a_file(state: Path) -> None:
    assert daemon.find() is None
    with pytest.raises(daemon.UnreachableError, match="mnemark serve"):
        daemon.post("/v1/search", {})


def test_a_living_one_is_found(state: Path) -> None:
    _announce(state, 4711)
    with _alive(state):
        found = daemon.find()
    assert found == daemon.Daemon("http://127.0.0.1:4711", "t", os.getpid(), __version__)


def test_what_a_killed_one_left_behind_counts_for_nothing(state: Path) -> None:
    with _alive(state):
        _announce(state)
    assert daemon.find() is None


def test_another_version_is_left_alone(state: Path) -> None:
    _announce(state, version="0.0.0")
    with _alive(state):
        assert daemon.find() is None
        assert daemon.find(any_version=True) is not None


@pytest.mark.skipif(sys.platform == "win32", reason="there folders of a user are private as they are")
@pytest.mark.parametrize("mode", [0o644, 0o620, 0o602])
def test_a_file_that_others_may_read_or_write_counts_for_nothing(state: Path, mode: int) -> None:
    _announce(state)
    (state / daemon.STATE).chmod(mode)
    with _alive(state):
        assert daemon.find() is None


@pytest.mark.parametrize("left", [b"", b"{", b"[]", b'{"url": "x"}', b"\xff\xfe"])
def test_a_torn_file_counts_for_nothing(state: Path, left: bytes) -> None:
    platform.write_private(state / daemon.STATE, left)
    with _alive(state):
        assert daemon.find() is None


@contextmanager
def _answering(answer: bytes) -> Iterator[daemon.Daemon]:
    """A server that reads a request and sends these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield daemon.Daemon(f"http://127.0.0.1:{server.getsockname()[1]}", "t", 1, __version__)
        thread.join(5)


def test_an_answer_is_read_by_its_length(state: Path) -> None:
    body = '{"看": 1}'.encode()
    with _answering(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)) as at:
        assert daemon.post("/x", {"a": "\udc80"}, daemon=at) == {"看": 1}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n\r\n{}",
        b"SSH-2.0-other\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
    ],
)
def test_half_an_answer_or_a_strange_one_is_none(state: Path, answer: bytes) -> None:
    with _answering(answer) as at, pytest.raises(daemon.UnreachableError):
        daemon.post("/x", {}, daemon=at, timeout=5)


def test_a_refusal_says_what_and_why(state: Path) -> None:
    body = b'{"error": {"code": "usage", "message": "k must be 1 to 1000"}}'
    with (
        _answering(b"HTTP/1.1 400 Bad\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)) as at,
        pytest.raises(daemon.DaemonRefusedError, match="k must be") as refused,
    ):
        daemon.post("/x", {}, daemon=at)
    assert (refused.value.status, refused.value.code) == (400, "usage")


def test_silence_ends_with_the_time_given(state: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        at = daemon.Daemon(f"http://127.0.0.1:{server.getsockname()[1]}", "t", 1, __version__)
        with pytest.raises(daemon.UnreachableError):
            daemon.post("/x", {}, 0.2, daemon=at)
