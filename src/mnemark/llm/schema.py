"""Describe a `msgspec` type to a model: as `response_format` and as an instruction in the prompt."""

from typing import Any

import msgspec

from mnemark.types import Json

_STRICT_KEYWORDS = frozenset(
    {"type", "properties", "items", "enum", "const", "anyOf", "$ref", "description", "additionalProperties"}
)
"""JSON Schema keywords that strict decoding supports. Bounds and patterns are checked by msgspec."""


def shape(schema: type[msgspec.Struct]) -> dict[str, Json]:
    """Return the full JSON schema, bounds included, with the object itself (no `$ref`) as its root."""
    (root,), others = msgspec.json.schema_components([schema], ref_template="#/$defs/{name}")
    found: dict[str, Json] = dict(others.pop(schema.__name__, root)) if "$ref" in root else dict(root)
    if schema.__name__ in str(others) or f"#/$defs/{schema.__name__}'" in str(found):
        others[schema.__name__] = dict(found)
    return found | ({"$defs": others} if others else {})


def response_format(schema: type[msgspec.Struct]) -> dict[str, Json]:
    """Return a `json_schema` response format in the subset that OpenAI's strict mode supports.

    There every property is required and no other allowed; a type with a mapping or a fixed-length array is
    sent without `strict`. Source: OpenAI's guide to structured outputs, "Supported schemas".
    """
    full = shape(schema)
    strict = _supports_strict(full)
    return {
        "type": "json_schema",
        "json_schema": {"name": schema.__name__[:64], "strict": strict, "schema": _strict_schema(full)},
    }


def instruction(schema: type[msgspec.Struct]) -> str:
    """Return the prompt text that asks for JSON of `schema`.

    Sent with every response format: strict decoding does not show the schema to the model, and `json_object`
    requires the word JSON in the prompt (DeepSeek, DashScope, OpenAI).
    """
    wanted = msgspec.json.encode(_untitled(shape(schema))).decode()
    return (
        "Answer with one JSON object and nothing else: no explanation, no code fence. "
        f"It must fit this JSON schema:\n{wanted}"
    )


def _untitled(node: Json) -> Json:
    if isinstance(node, list):
        return [_untitled(part) for part in node]
    if not isinstance(node, dict):
        return node
    # A property may be called "title": remove only the keyword, whose value is a string.
    return {
        name: _untitled(part) for name, part in node.items() if name != "title" or not isinstance(part, str)
    }


def _supports_strict(node: Json) -> bool:
    """Return whether no object lacks `properties` (a mapping) and no array has `prefixItems`."""
    if isinstance(node, list):
        return all(map(_supports_strict, node))
    if not isinstance(node, dict):
        return True
    free = node.get("type") == "object" and "properties" not in node
    return not free and "prefixItems" not in node and all(map(_supports_strict, node.values()))


def _strict_schema(node: dict[str, Json]) -> dict[str, Json]:
    kept = {name: _strict_part(name, part) for name, part in node.items() if name in _STRICT_KEYWORDS}
    if "properties" in kept:
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    if "$defs" in node:
        kept["$defs"] = {name: _strict_schema(part) for name, part in node["$defs"].items()}
    return kept


def _strict_part(name: str, part: Any) -> Json:
    if name == "properties":
        return {key: _strict_schema(value) for key, value in part.items()}
    if name == "anyOf":
        return [_strict_schema(value) for value in part]
    return _strict_schema(part) if isinstance(part, dict) else part
