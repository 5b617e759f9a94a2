"""docs/http.md has an example of each call, which does what it shows and answers what OpenAPI says."""

import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interfaces.daemons import Running, running
from mnemark_interfaces.http.document import openapi

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("mcp")
jsonschema = pytest.importorskip("jsonschema")
PAGE = Path(__file__).parents[2] / "docs/http.md"
FOLDER = "/home/me/agent"
_EXAMPLE = re.compile(r"^(GET|POST) (\S+)(?: (\{.*\}))?\n([0-9]{3}) (.*)$", re.MULTILINE)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "state") as found:
        yield found


def examples() -> list[tuple[str, ...]]:
    return _EXAMPLE.findall(PAGE.read_text("utf-8"))


def asked(here: Running, method: str, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", here.port, timeout=90)
    head = {
        "Authorization": f"Bearer {here.at.token}", "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }  # fmt: skip
    connection.request(method, path, None if body is None else json.dumps(body), head)
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


def fits(shown: Any, found: Any, names: dict[str, Any]) -> bool:
    """Whether an answer holds what is shown of it; `$name` is what it was first, which `names` takes."""
    if shown == "…":
        return found is not None
    if isinstance(shown, str) and shown.startswith("$"):
        return bool(found) and bool(names.setdefault(shown, found) == found)
    if isinstance(shown, dict):
        return isinstance(found, dict) and all(
            key in found and fits(value, found[key], names) for key, value in shown.items()
        )
    if isinstance(shown, list) and shown:
        return (
            isinstance(found, list)
            and len(found) >= len(shown)
            and all(fits(one, other, names) for one, other in zip(shown, found, strict=False))
        )
    return bool(shown == found)


def closed(schema: Any) -> Any:
    """The schema, in which an object has no fields but those that are named."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    more = (
        {"additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else {}
    )
    return {**{key: closed(value) for key, value in schema.items()}, **more}


def assert_as_described(document: dict[str, Any], method: str, path: str, status: int, answer: Any) -> None:
    if path.startswith(("/mcp", "/hook/")):
        return
    said = document["paths"][path][method.lower()]["responses"]["200" if status == 200 else "default"]
    schema = (
        said["content"]["application/json"]["schema"]
        if "content" in said
        else {"$ref": "#/components/schemas/Error"}
    )
    jsonschema.validate(answer, {**closed(schema), "components": closed(document["components"])})


def test_each_example_does_what_the_page_shows(here: Running, tmp_path: Path) -> None:
    root = tmp_path / "agent"
    root.mkdir()
    names: dict[str, Any] = {}
    document = openapi()
    for method, path, body, status, answer in examples():
        sent = {key: names.get(str(value), value) for key, value in json.loads(body or "{}").items()}
        if "deadline" in sent:
            sent["deadline"] = 60  # the machine of a test may be busy
        if path != "/mcp":
            sent = {"workspace": str(root), **sent}
        if path == "/mcp":
            path += f"?workspace={root}"  # noqa: PLW2901 - as the page says
        found = asked(here, method, path, sent if body else None)
        assert_as_described(document, method, path, *found)
        shown = json.loads(answer.replace(FOLDER, str(root)))
        assert (found[0], fits(shown, found[1], names)) == (int(status), True), (path, found)


def test_each_call_has_an_example(here: Running) -> None:
    _, document = asked(here, "GET", "/openapi.json", None)
    shown = {(method.lower(), path) for method, path, *_ in examples()}
    calls = {
        (method, path) for path, methods in document["paths"].items() for method in methods
        if not path.startswith(("/v1/tools/", "/hook/"))
    }  # fmt: skip
    assert calls <= shown
    assert {"/v1/tools/memory_search", "/hook/prompt", "/mcp"} <= {path for _, path in shown}
