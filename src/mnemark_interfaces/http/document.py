"""Build the OpenAPI 3.1 document of the JSON API from its table of calls, and from what each answers."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from mnemark._version import __version__
from mnemark_interfaces.http import bodies
from mnemark_interfaces.http.answers import ANSWERS, HealthAnswer, ToolAnswer
from mnemark_interfaces.http.calls import CALLS
from mnemark_interfaces.tools import TOOLS

_REF: Final = "#/components/schemas/{name}"
_DOORS: Final = (("ui/ticket", bodies.TicketBody), ("ui/waiting", bodies.WaitingBody))
_OBJECT: Final = {"type": "object"}


def openapi() -> dict[str, Any]:
    """Build the OpenAPI 3.1 document."""
    asked = [*(call.body for call in CALLS), bodies.ToolCallBody, *(body for _, body in _DOORS)]
    answered = [*ANSWERS.values(), ToolAnswer, HealthAnswer]
    made, shapes = msgspec.json.schema_components([*asked, *answered], ref_template=_REF)
    for found in _structs(msgspec.inspect.multi_type_info(answered)):
        if not found.__struct_config__.omit_defaults:
            _say_all(shapes[found.__name__])
    refs = dict(zip(ANSWERS, made[len(asked) :], strict=False))
    paths: dict[str, Any] = {}
    for call in CALLS:
        said = _post(call.name, call.summary, call.body.__name__, refs[call.name])
        paths[f"/v1/{call.name}"] = {"post": said | {"x-idempotent": call.idempotent}}
    for tool in TOOLS:
        said = _post(f"tools/{tool.name}", tool.description, "ToolCallBody", _ref("ToolAnswer"))
        more = {"x-idempotent": tool.repeats, "x-arguments": tool.listed()["inputSchema"]}
        paths[f"/v1/tools/{tool.name}"] = {"post": said | more}
    for name, body in _DOORS:
        paths[f"/v1/{name}"] = {"post": _post(name, body.__doc__ or "", body.__name__, refs[name])}
    hook = _post("hook", "Handle an event of an agent; the answer is for the agent.", "", _OBJECT)
    event = {"name": "event", "in": "path", "required": True, "schema": {"type": "string"}}
    paths["/hook/{event}"] = {"post": hook | {"parameters": [event]}}
    paths["/health"] = {
        "get": _get("health", "Show version, process and open workspaces.", _ref("HealthAnswer"))
    }
    paths["/openapi.json"] = {"get": _get("openapi", "This document.", _OBJECT)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "mnemark", "version": __version__},
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {**shapes, "Error": _error()},
            "responses": {"Error": {"description": "What was wrong.", "content": _json(_ref("Error"))}},
        },
    }


def _structs(infos: Any, seen: set[type] | None = None) -> Iterator[type[msgspec.Struct]]:
    """Yield each struct in types as `msgspec.inspect` tells them, once."""
    seen = set() if seen is None else seen
    for info in infos if isinstance(infos, (tuple, list)) else (infos,):
        if isinstance(info, msgspec.inspect.StructType):
            if info.cls in seen:
                continue
            seen.add(info.cls)
            yield info.cls
        if isinstance(info, msgspec.inspect.Type | msgspec.inspect.Field):
            for name in info.__struct_fields__:
                yield from _structs(getattr(info, name), seen)


def _say_all(shape: dict[str, Any]) -> None:
    """Say that each field is there: an answer has those with defaults, too."""
    shape["required"] = list(shape["properties"])
    for field in shape["properties"].values():
        field.pop("default", None)


def _error() -> dict[str, Any]:
    text = {"type": "string"}
    error = {"type": "object", "required": ["code", "message"], "properties": {"code": text, "message": text}}
    return {"type": "object", "required": ["error"], "properties": {"error": error}}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": _REF.format(name=name)}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _get(name: str, summary: str, answer: dict[str, Any]) -> dict[str, Any]:
    answers = {
        "200": {"description": "Done.", "content": _json(answer)},
        "default": {"$ref": "#/components/responses/Error"},
    }
    return {"operationId": name.replace("/", "_"), "summary": summary, "responses": answers}


def _post(name: str, summary: str, body: str, answer: dict[str, Any]) -> dict[str, Any]:
    content = _json(_ref(body) if body else _OBJECT)
    return _get(name, summary, answer) | {"requestBody": {"required": True, "content": content}}
