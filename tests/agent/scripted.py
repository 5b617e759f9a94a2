"""A model that says what it is told to, on loopback: Anthropic's, OpenAI's and Gemini's protocols, streamed.

What each request held is kept, so that a test can read what would have reached the model.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Call(NamedTuple):
    """A tool that the model calls once, in the first request that holds `when` and offers the tool."""

    when: str
    tool: str
    """As memory calls it; agents put the name of the server before it."""
    arguments: dict[str, Any]


class Wanted(NamedTuple):
    """A call in the agent's own words."""

    name: str
    namespace: str
    arguments: dict[str, Any]
    number: int


class Model:
    """Answers each request with the next of `replies`, the last one again and again, after its `calls`."""

    def __init__(self, *replies: str, calls: tuple[Call, ...] = ()) -> None:
        self.replies = list(replies) or ["Understood."]
        self.calls = list(calls)
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.url = ""
        self._lock = threading.Lock()
        self._said = 0

    def take(self, path: str, body: dict[str, Any]) -> "str | Wanted":
        with self._lock:
            self.requests.append((path, body))
            if (wanted := self._wanted(body)) is not None:
                return wanted
            reply = self.replies[min(self._said, len(self.replies) - 1)]
            self._said += 1
            return reply

    def _wanted(self, body: dict[str, Any]) -> Wanted | None:
        said = "\n".join(strings(body))
        for call in self.calls:
            names = [found for found in offered(body) if found[0].endswith(call.tool)]
            if names and call.when in said:
                self.calls.remove(call)
                return Wanted(*names[0], call.arguments, len(self.requests))
            if call.when in said and ("tool_call", "") in offered(body):  # OpenClaw's way to tools of servers
                self.calls.remove(call)
                given = {"id": f"mnemark__{call.tool}", "args": call.arguments}
                return Wanted("tool_call", "", given, len(self.requests))
        return None

    @property
    def received(self) -> str:
        """Everything that was sent to the model, as text with JSON's escapes undone."""
        return "\n".join(text for _, body in self.requests for text in strings(body))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)


def offered(body: dict[str, Any]) -> list[tuple[str, str]]:
    """Names of the tools in a request, each with its namespace; empty where it has none."""
    found = []
    for tool in body.get("tools") or []:
        inner = tool.get("functionDeclarations") or tool.get("tools")
        space = str(tool.get("name") or "") if inner else ""
        found += [(str(one.get("name") or ""), space) for one in inner or [tool.get("function") or tool]]
    return found


def messages_events(said: "str | Wanted") -> list[tuple[str, dict[str, Any]]]:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0}
    message: dict[str, Any] = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    if isinstance(said, Wanted):
        block: dict[str, Any] = {
            "type": "tool_use",
            "id": f"toolu_{said.number}",
            "name": said.name,
            "input": {},
        }
        delta = {"type": "input_json_delta", "partial_json": json.dumps(said.arguments)}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": said}
    stop = "tool_use" if isinstance(said, Wanted) else "end_turn"
    return [
        ("message_start", {"type": "message_start", "message": message}),
        ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}),
        ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        ("message_delta", {"type": "message_delta", "delta": {"stop_reason": stop},
                           "usage": {"output_tokens": 5}}),
        ("message_stop", {"type": "message_stop"}),
    ]  # fmt: skip


def responses_events(said: "str | Wanted") -> list[tuple[str, dict[str, Any]]]:
    item: dict[str, Any] = {
        "type": "message", "role": "assistant", "id": "item_1", "status": "completed",
        "content": [{"type": "output_text", "text": said, "annotations": []}],
    }  # fmt: skip
    if isinstance(said, Wanted):
        item = {
            "type": "function_call", "id": f"item_{said.number}", "call_id": f"call_{said.number}",
            "name": said.name, "arguments": json.dumps(said.arguments), "status": "completed",
        }  # fmt: skip
        item |= {"namespace": said.namespace} if said.namespace else {}
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
    }  # fmt: skip
    made = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
    done = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    return [
        ("response.created", {"type": "response.created", "response": made}),
        ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
        ("response.completed", {"type": "response.completed", "response": done}),
    ]


def completions_chunks(said: "str | Wanted") -> list[dict[str, Any]]:
    call = {"index": 0, "id": "call_1", "type": "function", "function": {}}
    delta: dict[str, Any] = {"role": "assistant", "content": said}
    if isinstance(said, Wanted):
        call |= {
            "id": f"call_{said.number}",
            "function": {"name": said.name, "arguments": json.dumps(said.arguments)},
        }
        delta = {"role": "assistant", "content": None, "tool_calls": [call]}
    chunk: dict[str, Any] = {
        "id": "chat_1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
    }
    stop = "tool_calls" if isinstance(said, Wanted) else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
        {**chunk, "choices": [], "usage": usage},
    ]


def completion(said: "str | Wanted") -> dict[str, Any]:
    """The same answer in one piece."""
    first, last, count = completions_chunks(said)
    message, stop = first["choices"][0]["delta"], last["choices"][0]["finish_reason"]
    choices = [{"index": 0, "message": message, "finish_reason": stop}]
    return {**count, "object": "chat.completion", "choices": choices}


def gemini_chunk(said: "str | Wanted") -> dict[str, Any]:
    part: dict[str, Any] = {"text": said}
    if isinstance(said, Wanted):
        part = {"functionCall": {"name": said.name, "args": said.arguments}}
    content = {"role": "model", "parts": [part]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": "scripted",
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass

    def do_HEAD(self) -> None:
        self._send(b"", "application/json")

    def do_GET(self) -> None:
        self._send(json.dumps({"object": "list", "data": [], "models": []}).encode(), "application/json")

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        try:
            body = json.loads(data)
        except ValueError:
            body = {}
        if path.endswith("/count_tokens"):
            self._send(b'{"input_tokens": 10}', "application/json")
        elif path.endswith("/messages"):
            self._stream(messages_events(self.model.take(path, body)))
        elif path.endswith("/responses"):
            self._stream(responses_events(self.model.take(path, body)))
        elif path.endswith("/chat/completions") and not body.get("stream"):
            self._send(json.dumps(completion(self.model.take(path, body))).encode(), "application/json")
        elif path.endswith("/chat/completions"):
            chunks = [json.dumps(one) for one in completions_chunks(self.model.take(path, body))]
            lines = "".join(f"data: {one}\n\n" for one in [*chunks, "[DONE]"])
            self._send(lines.encode(), "text/event-stream")
        elif path.endswith(":streamGenerateContent"):
            chunk = json.dumps(gemini_chunk(self.model.take(path, body)))
            self._send(f"data: {chunk}\n\n".encode(), "text/event-stream")
        elif path.endswith(":generateContent"):
            self._send(json.dumps(gemini_chunk(self.model.take(path, body))).encode(), "application/json")
        elif path.endswith(":countTokens"):
            self._send(b'{"totalTokens": 10}', "application/json")
        else:
            self._send(b"{}", "application/json")

    def _stream(self, events: list[tuple[str, dict[str, Any]]]) -> None:
        lines = [f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events]
        self._send("".join(lines).encode(), "text/event-stream")

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
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
