"""Describe a `msgspec` type to a model, as JSON schema and in words."""

from typing import Any

import msgspec

from mnemark.types import Json

_KEPT = frozenset(
    {"type", "properties", "items", "enum", "const", "anyOf", "$ref", "description", "additionalProperties"}
)
"""What servers that decode along a schema have in common. Bounds and patterns are checked afterwards."""


def shape(schema: type[msgspec.Struct]) -> dict[str, Json]:
    """Return the JSON schema with an object at its root and its bounds: what the model reads."""
    (root,), others = msgspec.json.schema_components([schema], ref_template="#/$defs/{name}")
    found: dict[str, Json] = dict(others.pop(schema.__name__, root)) if "$ref" in root else dict(root)
    if schema.__name__ in str(others) or f"#/$defs/{schema.__name__}'" in str(found):
        others[schema.__name__] = dict(found)
    return found | ({"$defs": others} if others else {})


def response_format(schema: type[msgspec.Struct]) -> dict[str, Json]:
    """Return a `json_schema` response format, in the subset that OpenAI's strict mode takes.

    There every property is required and no other allowed; a type with free keys (a mapping) is sent without
    `strict`. Source: OpenAI's guide to structured outputs, "Supported schemas".
    """
    full = shape(schema)
    strict = _closed(full)
    return {
        "type": "json_schema",
        "json_schema": {"name": schema.__name__[:64], "strict": strict, "schema": _reduced(full)},
    }


def instruction(schema: type[msgspec.Struct]) -> str:
    """Return the instruction for the model.

    Sent in every mode: servers that decode along the schema do not show it to the model, and `json_object`
    wants the word JSON in the prompt (DeepSeek, DashScope, OpenAI).
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
    # A property may be called "title": only the keyword, whose value is a string, goes.
    return {
        name: _untitled(part) for name, part in node.items() if name != "title" or not isinstance(part, str)
    }


def _closed(node: Json) -> bool:
    """Whether no object has free keys and no array fixed places."""
    if isinstance(node, list):
        return all(map(_closed, node))
    if not isinstance(node, dict):
        return True
    free = node.get("type") == "object" and "properties" not in node
    return not free and "prefixItems" not in node and all(map(_closed, node.values()))


def _reduced(node: dict[str, Json]) -> dict[str, Json]:
    kept = {name: _reduced_part(name, part) for name, part in node.items() if name in _KEPT}
    if "properties" in kept:
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    if "$defs" in node:
        kept["$defs"] = {name: _reduced(part) for name, part in node["$defs"].items()}
    return kept


def _reduced_part(name: str, part: Any) -> Json:
    if name == "properties":
        return {key: _reduced(value) for key, value in part.items()}
    if name == "anyOf":
        return [_reduced(value) for value in part]
    return _reduced(part) if isinstance(part, dict) else part
