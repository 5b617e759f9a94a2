"""Answer the JSON-RPC messages of MCP on stdio.

Imports stay light: `initialize` and `tools/list` are answered before anything else is loaded. Both forms of
the protocol are supported: a handshake by `initialize` (revisions up to 2025-11-25), and the version named in
each request (`server/discover`, from 2026-07-28 on).
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from mnemark._version import __version__
from mnemark.errors import UsageError
from mnemark_interfaces.tools import BY_NAME, INSTRUCTIONS, listed

HANDSHAKE: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions that begin with `initialize`, newest first."""
MODERN: Final = ("2026-07-28",)
"""Revisions that name the version in each request."""
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
UNSUPPORTED_VERSION: Final = -32022
_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
Message = dict[str, Any]
_INFO: Final = {"name": "mnemark", "title": "mnemark", "version": __version__}
_CAPABILITIES: Final = {"tools": {"listChanged": False}}
_CACHING: Final[Message] = {"ttlMs": 3_600_000, "cacheScope": "private"}
"""Cache hints for the list of tools, which only changes with the version."""
_COMPLETE: Final[Message] = {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": _INFO}}
Call = Callable[[str, Mapping[str, Any]], Message]


class RpcError(Exception):
    """An error response of JSON-RPC."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def decode(line: bytes) -> Any:
    """Parse a line of JSON; raise RpcError where it is invalid."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"this line is not JSON: {error}") from None


def encode(message: Any) -> bytes:
    """Return a message as one line; lone surrogates are escaped."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def failure(identifier: Any, error: RpcError) -> Message:
    """Return an error response."""
    data = {} if error.data is None else {"data": error.data}
    return {"jsonrpc": "2.0", "id": identifier, "error": {"code": error.code, "message": str(error), **data}}


def is_request(message: Any) -> bool:
    """Tell whether a message wants an answer; notifications and responses do not."""
    return isinstance(message, dict) and "method" in message and "id" in message


def check(message: Any) -> None:
    """Raise RpcError where a message is not valid JSON-RPC 2.0."""
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
    """Answer a request; `call` runs a tool and must not raise."""
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
                "supportedVersions": list(MODERN), "capabilities": _CAPABILITIES,
                "instructions": INSTRUCTIONS, **_CACHING, **_COMPLETE,
            }  # fmt: skip
        case "ping":
            return {}
        case "tools/list":
            if params.get("cursor"):
                raise RpcError(INVALID_PARAMS, "there is only one page of tools; leave out the cursor")
            found: Message = {"tools": listed()}
            return found | (_CACHING | _COMPLETE if modern else {})
        case "tools/call":
            return _called(params, call) | (_COMPLETE if modern else {})
    raise RpcError(METHOD_NOT_FOUND, f"there is no method {method!r}")


def _is_modern(params: Message) -> bool:
    """Tell whether the request names a protocol version without a handshake."""
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


def _initialized(params: Message) -> Message:
    """Accept the requested version if supported, else offer the newest."""
    wanted = params.get("protocolVersion")
    if not isinstance(wanted, str):
        raise RpcError(INVALID_PARAMS, "initialize needs a protocolVersion, such as 2025-11-25")
    return {
        "protocolVersion": wanted if wanted in HANDSHAKE else HANDSHAKE[0],
        "capabilities": _CAPABILITIES,
        "serverInfo": _INFO,
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
