"""A node's log is for hosters: lines of JSON, and no word of a memory in them."""

import asyncio
import io
import json
import logging
import os
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemark_server import logs, tenants
from mnemark_server.database import UnavailableError, connect, said
from mnemark_server.guard import KeyGuard
from mnemark_server.metrics import Metrics
from server.cluster import ShippedNode
from server.postgres import Postgres
from server.processes import post

MARK = "Zanzibar-Quetzal"


@pytest.fixture
def node(url: str, tmp_path: Path) -> Iterator[ShippedNode]:
    found = ShippedNode(url, tmp_path / "node")
    yield found
    found.kill()


def test_requests_that_fail_are_lines_without_a_word_of_them(
    node: ShippedNode, url: str, postgres: Postgres
) -> None:
    with connect(url) as connection:
        key, bob = tenants.add_key(connection, "bob", "laptop"), tenants.number_of(connection, "bob")
    turn = {"role": "user", "content": f"My island is {MARK}.", "origin": "owner"}
    post(node.port, key, "/v1/turns", {"session": "chat:1", "turns": [turn]})
    post(node.port, key, "/v1/recall", {"query": MARK})
    codes = set[int]()
    for path, body in (
        ("/v1/recall", {"query": MARK, "k": MARK}),
        ("/v1/turns", {"session": "chat:1", "turns": [{"role": MARK, "content": MARK}]}),
        (f"/v1/{MARK}", {}),
        ("/v1/tools/memory_get", {"arguments": {"ref": MARK}}),
        ("/v1/read", {"ref": MARK}),
    ):
        try:
            post(node.port, key, path, body)
        except urllib.error.HTTPError as error:
            codes.add(error.code)
    assert codes
    assert max(codes) < 500
    postgres.stop("immediate")
    try:
        with pytest.raises(urllib.error.HTTPError, match="503"):
            post(node.port, key, "/v1/turns", {"session": "chat:1", "turns": [turn]})
    finally:
        postgres.start()
    found = node.log()
    assert MARK not in found
    lines = [json.loads(line) for line in found.splitlines()]
    (failed,) = [one for one in lines if one["message"] == "request"]
    assert failed.pop("seconds") >= 0
    assert failed.pop("time").endswith("+00:00")
    assert failed == {
        "level": "warning", "logger": "mnemark.server", "message": "request", "route": "/v1/turns",
        "status": 503, "tenant": bob,
    }  # fmt: skip


def test_a_page_that_fails_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def failing(scope: dict[str, Any], _: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 503, "headers": []})

    class Pages:
        def route_of(self, path: str) -> str:
            return "/ui/w/memory/search" if path.startswith("/ui/") else ""

        __call__ = staticmethod(failing)

    nothing: Any = None
    guard = KeyGuard(failing, nothing, nothing, Metrics(), nothing, challenge="", pages=Pages())  # type: ignore[arg-type]

    async def sent(_: Any) -> None:
        """Take it."""

    scope = {"type": "http", "path": f"/ui/{MARK}", "headers": []}
    with caplog.at_level(logging.WARNING):
        asyncio.run(logs.RequestLog(guard)(scope, nothing, sent))
    (line,) = [one for one in caplog.records if one.getMessage() == "request"]
    assert line.fields["route"] == "/ui/w/memory/search"  # type: ignore[attr-defined]


def _fail() -> None:
    try:
        int(MARK)
    except ValueError as error:
        raise RuntimeError(MARK) from error


def logged(formatter: logging.Formatter) -> str:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    log = logging.getLogger("mnemark.tried")
    log.propagate = False
    log.addHandler(handler)
    try:
        try:
            _fail()
        except RuntimeError:
            log.exception("unexpected")
    finally:
        log.removeHandler(handler)
    return stream.getvalue()


@pytest.mark.parametrize("formatter", [logs._Lines(), logs._Plain()])
def test_an_unexpected_error_is_told_with_its_place_alone(formatter: logging.Formatter) -> None:
    found = logged(formatter)
    assert "RuntimeError at " in found
    assert "caused by ValueError at " in found
    assert os.path.basename(__file__) in found  # noqa: PTH119 - a name
    assert MARK not in found


def test_a_log_quotes_what_databases_say_alone() -> None:
    assert said(UnavailableError("refused")) == "refused"
    assert said(ValueError(MARK)) == "ValueError"


async def _answer(status: int, scope: Any, headers: list[tuple[bytes, bytes]]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["headers"] = [*scope["headers"], *headers]
        if status:
            await send({"type": "http.response.start", "status": status})

    async def nothing(*_: Any) -> Any:
        return None

    await logs.RequestLog(app)(scope, nothing, nothing)


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (200, [], None),
        (404, [], None),
        (503, [], {"route": "other", "status": 503}),
        (500, [(b"mnemark-workspace", b"7")], {"route": "other", "status": 500, "tenant": 7}),
        (0, [], {"route": "other", "status": 0}),  # it ended without an answer
    ],
)
def test_what_a_client_calls_itself_is_no_memory(
    status: int, headers: list[tuple[bytes, bytes]], told: object, caplog: pytest.LogCaptureFixture
) -> None:
    import asyncio

    scope = {"type": "http", "path": f"/{MARK}", "headers": [(b"mnemark-workspace", MARK.encode())]}
    with caplog.at_level(logging.WARNING, "mnemark.server"):
        asyncio.run(_answer(status, scope, headers))
    found = [getattr(record, "fields") for record in caplog.records]  # noqa: B009 - of a record
    for one in found:
        one.pop("seconds")
    assert found == ([] if told is None else [told])
