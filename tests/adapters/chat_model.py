"""A scripted model with OpenAI's chat completions protocol, and texts of its responses protocol, on loopback.

It keeps what each request held.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Call(NamedTuple):
    """A tool call as an answer."""

    tool: str
    arguments: dict[str, Any]


class Model:
    """Answers each request with the next of `answers`, the last one again and again."""

    def __init__(self, *answers: str | Call) -> None:
        self.answers = list(answers) or ["Understood."]
        self.requests: list[dict[str, Any]] = []
        self.url = ""
        self._lock = threading.Lock()

    def take(self, body: dict[str, Any]) -> str | Call:
        with self._lock:
            self.requests.append(body)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def said(self, number: int, role: str) -> str:
        """The words of one role in one request."""
        return "\n".join(
            text_of(one.get("content")) for one in self.requests[number]["messages"] if one["role"] == role
        )

    def last(self, number: int = -1) -> str:
        """The last message of a request."""
        return text_of(self.requests[number]["messages"][-1].get("content"))


def text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content)
    return str(content or "")


def _message(said: str | Call, number: int) -> dict[str, Any]:
    if isinstance(said, str):
        return {"role": "assistant", "content": said}
    function = {"name": said.tool, "arguments": json.dumps(said.arguments, ensure_ascii=False)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}],
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        said = self.model.take(body)
        message = _message(said, len(self.model.requests))
        finish = "stop" if isinstance(said, str) else "tool_calls"
        base = {"id": "chat_1", "created": 1, "model": "scripted"}
        if self.path.endswith("/responses"):
            part: dict[str, Any] = {"type": "output_text", "text": said, "annotations": []}
            output = [{**message, "type": "message", "id": "m1", "status": "completed", "content": [part]}]
            whole = {**base, "object": "response", "created_at": 1, "status": "completed", "output": output}
            self._send(json.dumps(whole).encode(), "application/json")
            return
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
            whole = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
            self._send(json.dumps(whole).encode(), "application/json")
            return
        chunks = [
            {
                **base,
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": delta, "finish_reason": end}],
            }
            for delta, end in ((message, None), ({}, finish))
        ]
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        self._send("".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving(model: Model) -> Iterator[Model]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"model": model}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
