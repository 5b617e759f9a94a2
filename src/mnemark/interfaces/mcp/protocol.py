"""JSON-RPC as MCP speaks it on stdio: which message gets which answer.

Only the standard library, and of that little: `initialize` and `tools/list` are answered before anything
heavy is read. Calls of tools go to `Answers.call`. Both ways of the protocol are understood: a handshake by
`initialize` (revisions up to 2025-11-25) and the version named in each request (`server/discover`, from
2026-07-28 on).
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from mnemark._version import __version__
from mnemark.errors import UsageError
from mnemark.interfaces.tools import BY_NAME, INSTRUCTIONS, listed

HANDSHAKE: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions that begin with `initialize`, newest first."""
MODERN: Final = ("2026-07-28",)
"""Revisions that name the version in each request."""
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
UNSUPPORTED_VERSION: Final = -32022
_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
_FRESH_MS: Final = 3_600_000
"""For how long a client may keep the list of tools: it does not change while a version runs."""

Message = dict[str, Any]
Call = Callable[[str, Mapping[str, Any]], Message]


class RpcError(Exception):
    """An answer of JSON-RPC that says what was wrong with the request."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def decode(line: bytes) -> Any:
    """A line as JSON.

    Raises:
        RpcError: it is none.
    """
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"this line is not JSON: {error}") from None


def encode(message: Any) -> bytes:
    """A message as one line; what is no Unicode in it is escaped."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def failure(identifier: Any, error: RpcError) -> Message:
    """The answer that says what was wrong."""
    said: Message = {"code": error.code, "message": str(error)}
    if error.data is not None:
        said["data"] = error.data
    return {"jsonrpc": "2.0", "id": identifier, "error": said}


def is_request(message: Any) -> bool:
    """Whether a message wants an answer: a notification or an answer of the client's does not."""
    return isinstance(message, dict) and "method" in message and "id" in message


def check(message: Any) -> None:
    """Raise RpcError where it is no message of JSON-RPC 2.0."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'this is not JSON-RPC 2.0: send an object with "jsonrpc": "2.0"')
    if "method" not in message and not ("result" in message or "error" in message):
        raise RpcError(INVALID_REQUEST, "this is neither a request nor a response")
    identifier = message.get("id", 0)
    if isinstance(identifier, bool) or not isinstance(identifier, (str, int, float)):
        raise RpcError(INVALID_REQUEST, "id must be a string or a number")
    if "method" in message and not isinstance(message["method"], str):
        raise RpcError(INVALID_REQUEST, "method must be a string")


def answer(message: Message, call: Call) -> Message:
    """The answer to a request. `call` runs a tool and returns its result; it must not raise."""
    identifier = message["id"]
    try:
        result = _result(message["method"], message.get("params"), call)
    except RpcError as error:
        return failure(identifier, error)
    return {"jsonrpc": "2.0", "id": identifier, "result": result}


def _result(method: str, params: Any, call: Call) -> Message:
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object")
    modern = _is_modern(params)
    match method:
        case "initialize":
            return _initialized(params)
        case "server/discover":
            return {
                "resultType": "complete", "supportedVersions": list(MODERN), "capabilities": _CAPABILITIES,
                "instructions": INSTRUCTIONS, "ttlMs": _FRESH_MS, "cacheScope": "private",
                "_meta": _meta(),
            }  # fmt: skip
        case "ping":
            return {}
        case "tools/list":
            if params.get("cursor"):
                raise RpcError(INVALID_PARAMS, "there is only one page of tools; leave out the cursor")
            found: Message = {"tools": listed()}
            return found | ({"ttlMs": _FRESH_MS, "cacheScope": "private"} | _complete() if modern else {})
        case "tools/call":
            return _called(params, call) | (_complete() if modern else {})
    raise RpcError(METHOD_NOT_FOUND, f"there is no method {method!r}")


def _complete() -> Message:
    return {"resultType": "complete", "_meta": _meta()}


def _meta() -> Message:
    return {"io.modelcontextprotocol/serverInfo": _info()}


def _is_modern(params: Message) -> bool:
    """Whether the request names a version that is spoken without a handshake."""
    meta = params.get("_meta")
    named = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
    if named is None:
        return False
    if named not in MODERN:
        raise RpcError(
            UNSUPPORTED_VERSION,
            f"protocol version {named!r} is not supported",
            {"supported": list(MODERN), "requested": named},
        )
    return True


_CAPABILITIES: Final = {"tools": {"listChanged": False}}


def _info() -> Message:
    return {"name": "mnemark", "title": "mnemark", "version": __version__}


def _initialized(params: Message) -> Message:
    """The version wanted where it is spoken, else the newest: then the client decides."""
    wanted = params.get("protocolVersion")
    if not isinstance(wanted, str):
        raise RpcError(INVALID_PARAMS, "initialize needs a protocolVersion, such as 2025-11-25")
    return {
        "protocolVersion": wanted if wanted in HANDSHAKE else HANDSHAKE[0],
        "capabilities": _CAPABILITIES,
        "serverInfo": _info(),
        "instructions": INSTRUCTIONS,
    }


def _called(params: Message, call: Call) -> Message:
    name = params.get("name")
    if not isinstance(name, str) or name not in BY_NAME:
        raise RpcError(INVALID_PARAMS, f"there is no tool {name!r}; tools: {', '.join(BY_NAME)}")
    arguments = params.get("arguments")
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, f"the arguments of {name} must be an object")
    try:
        return call(name, arguments)
    except UsageError as error:
        raise RpcError(INVALID_PARAMS, str(error)) from None
