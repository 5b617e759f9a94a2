"""Make the OpenAPI document from the table of calls and their records."""

from typing import Any

import msgspec

from mnemark._version import __version__
from mnemark.interfaces.http.bodies import ToolCall
from mnemark.interfaces.http.calls import CALLS
from mnemark.interfaces.tools import TOOLS


def document() -> dict[str, Any]:
    """The whole document (OpenAPI 3.1)."""
    bodies = [call.body for call in CALLS] + [ToolCall]
    _, shapes = msgspec.json.schema_components(bodies, ref_template="#/components/schemas/{name}")
    paths: dict[str, Any] = {
        f"/v1/{call.name}": {"post": _operation(call.name, call.summary, call.body.__name__)}
        for call in CALLS
    }
    for tool in TOOLS:
        made = _operation(f"tools/{tool.name}", tool.description, "ToolCall")
        made["x-arguments"] = tool.listed()["inputSchema"]
        paths[f"/v1/tools/{tool.name}"] = {"post": made}
    hook = _operation("hook", "Handle an event of an agent; the answer is for the agent.", "")
    hook["parameters"] = [{"name": "event", "in": "path", "required": True, "schema": {"type": "string"}}]
    paths["/hook/{event}"] = {"post": hook}
    paths["/health"] = {"get": _plain("health", "Show version, process and open workspaces.")}
    paths["/openapi.json"] = {"get": _plain("openapi", "This document.")}
    return {
        "openapi": "3.1.0",
        "info": {"title": "mnemark", "version": __version__},
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {**shapes, "Error": _ERROR},
            "responses": {"Error": {"description": "What was wrong.", "content": _json("Error")}},
        },
    }  # fmt: skip


_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}


def _json(name: str) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{name}"} if name else {"type": "object"}
    return {"application/json": {"schema": schema}}


def _plain(name: str, summary: str) -> dict[str, Any]:
    answers = {
        "200": {"description": "Done.", "content": _json("")},
        "default": {"$ref": "#/components/responses/Error"},
    }
    return {"operationId": name.replace("/", "_"), "summary": summary, "responses": answers}


def _operation(name: str, summary: str, body: str) -> dict[str, Any]:
    return _plain(name, summary) | {"requestBody": {"required": True, "content": _json(body)}}
