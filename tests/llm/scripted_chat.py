"""A chat server on loopback that does what a test tells it, one step a request."""

import contextlib
import gzip
import http.server
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Step = Callable[["Handler", dict[str, Any]], None]


@dataclass
class Script:
    """What to do with each request; the last step is repeated."""

    url: str = ""
    steps: list[Step] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


class Handler(http.server.BaseHTTPRequestHandler):
    script: Script
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        script = self.script
        script.requests.append(body)
        script.headers.append({name.lower(): value for name, value in self.headers.items()})
        script.paths.append(self.path)
        step = script.steps.pop(0) if len(script.steps) > 1 else script.steps[0]
        with contextlib.suppress(ConnectionError):
            step(self, body)

    def reply(self, content: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        pass


def completion(text: Any, *, finish: str = "stop", **more: Any) -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "model": "served-model",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 7},
    } | more


def says(text: Any, *, finish: str = "stop", **more: Any) -> Step:
    return lambda handler, body: handler.reply(json.dumps(completion(text, finish=finish, **more)).encode())


good = says('{"facts": [{"text": "likes tea", "confidence": 0.9}]}')


def sends(document: Any) -> Step:
    return lambda handler, body: handler.reply(json.dumps(document).encode())


def status(code: int, said: str = "{}", **headers: str) -> Step:
    return lambda handler, body: handler.reply(said.encode(), code, **headers)


def raw(content: bytes, **headers: str) -> Step:
    return lambda handler, body: handler.reply(content, 200, **headers)


def packed(handler: Handler, body: dict[str, Any]) -> None:
    content = gzip.compress(json.dumps(completion('{"facts": []}')).encode())
    handler.reply(content, content_encoding="gzip")


def bomb(handler: Handler, body: dict[str, Any]) -> None:
    handler.reply(gzip.compress(b" " * 3_000_000), content_encoding="gzip")


def slow(seconds: float) -> Step:
    def step(handler: Handler, body: dict[str, Any]) -> None:
        time.sleep(seconds)
        good(handler, body)

    return step


def trickle(seconds: float, *, in_headers: bool = False) -> Step:
    """Send a byte now and then, so that no socket ever times out."""

    def step(handler: Handler, body: dict[str, Any]) -> None:
        if in_headers:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-long: ")
        else:
            handler.send_response(200)
            handler.send_header("content-length", "1000000")
            handler.end_headers()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            handler.wfile.write(b" ")
            time.sleep(0.02)
        handler.close_connection = True

    return step


def drop(handler: Handler, body: dict[str, Any]) -> None:
    """Reset the connection in the middle of the reply."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True


def knows(*formats: str, said: str = "This response_format type is unavailable now") -> Step:
    """A server that refuses other values of `response_format` ("text": none)."""

    def step(handler: Handler, body: dict[str, Any]) -> None:
        if body.get("response_format", {"type": "text"})["type"] in formats:
            good(handler, body)
        else:
            handler.reply(json.dumps({"error": {"message": said}}).encode(), 400)

    return step


@contextlib.contextmanager
def serve() -> Iterator[Script]:
    script = Script(steps=[good])
    handler = type("ScriptedHandler", (Handler,), {"script": script})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
