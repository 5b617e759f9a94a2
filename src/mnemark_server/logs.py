"""Write a node's log without a word of a memory: lines of JSON for warnings, and slow or failed requests."""

import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final

from mnemark_interfaces.http.guard import App, Receive, Scope, Send
from mnemark_server.guard import ROUTE, route_of
from mnemark_server.metrics import Seen

SLOW_SECONDS: Final = 1.0
"""Seconds from which a request is logged though it was answered."""
_TENANT: Final = b"mnemark-workspace"
"""The header in which the guard passes on the number of a memory."""
_FRAMES: Final = 20
_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
_log = logging.getLogger("mnemark.server")


def start() -> None:
    """Log to stderr: lines of JSON, but for people at a terminal."""
    stream = sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Plain() if stream.isatty() else _Lines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for noisy in ("mcp", "uvicorn", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # each attempt; what fails of it is told by us
    threading.excepthook = _thread_ended


def _thread_ended(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None:
        _log.error("a thread has ended", exc_info=ended.exc_value)


class _Plain(logging.Formatter):
    """A line for people. An error's text may quote a memory: only its kind and place are told."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        record.exc_text = None  # another handler's, with the text
        words = [super().format(record), *(f"{name}={value}" for name, value in _fields(record).items())]
        return " ".join(words)

    def formatException(self, ei: _Raised) -> str:  # noqa: N802 - as it is called
        return _without_text(ei[1])


class _Lines(logging.Formatter):
    """A line of JSON, in the same way."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage(),
            **_fields(record),
        }  # fmt: skip
        if record.exc_info:
            line["error"] = _without_text(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    found: dict[str, Any] = getattr(record, "fields", {})
    return found


def _without_text(error: BaseException | None) -> str:
    return "; caused by ".join(map(_one_without_text, _chain(error)))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _one_without_text(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = (f"{one.filename}:{one.lineno} {one.name}" for one in frames)
    return f"{type(error).__name__} at {' < '.join(reversed([*places]))}"


class RequestLog:
    """ASGI middleware around the guard that logs slow and failed requests."""

    def __init__(self, app: App, *, slow: float = SLOW_SECONDS) -> None:
        self._app = app
        self._slow = slow

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and look at how it was answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["headers"] = [one for one in scope["headers"] if one[0] != _TENANT]  # it is the guard that says
        seen, begun = Seen(), time.perf_counter()
        try:
            await self._app(scope, receive, seen.sending(send))
        finally:
            seconds = time.perf_counter() - begun
            if seconds >= self._slow or not 0 < seen.status < 500:
                _tell(scope, seen.status, seconds)


def _tell(scope: Scope, status: int, seconds: float) -> None:
    tenant = [int(value) for name, value in scope["headers"] if name == _TENANT]
    route = scope.get(ROUTE) or route_of(scope["path"])
    fields = {"route": route, "status": status, "seconds": round(seconds, 3)}
    _log.warning("request", extra={"fields": fields | ({"tenant": tenant[0]} if tenant else {})})
