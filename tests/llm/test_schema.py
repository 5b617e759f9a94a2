from typing import Annotated, Any, Literal

import msgspec

from mnemark.llm.schema import instruction, response_format


class Leaf(msgspec.Struct):
    title: str
    share: Annotated[float, msgspec.Meta(ge=0, le=1, description="0 to 1")] = 0.5
    kind: Literal["a", "b"] = "a"
    until: str | None = None


class Root(msgspec.Struct):
    """What was learned."""

    leaves: list[Leaf] = []


class Tree(msgspec.Struct):
    name: str
    below: list["Tree"] = []


class Free(msgspec.Struct):
    words: dict[str, int]


class Renamed(msgspec.Struct, rename="camel"):
    first_name: str


def sent(schema: type[msgspec.Struct]) -> Any:
    return response_format(schema)["json_schema"]


def objects(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [found for part in node for found in objects(part)]
    if not isinstance(node, dict):
        return []
    own = [node] if "properties" in node else []
    return own + [found for part in node.values() for found in objects(part)]


def test_every_object_is_closed_and_complete() -> None:
    for schema in (Root, Leaf, Tree, Renamed):
        described = sent(schema)
        assert described["strict"] is True
        assert described["name"] == schema.__name__
        assert described["schema"]["type"] == "object"
        for found in objects(described["schema"]):
            assert found["additionalProperties"] is False
            assert found["required"] == list(found["properties"])


def test_bounds_are_told_but_not_sent() -> None:
    leaf = sent(Root)["schema"]["$defs"]["Leaf"]["properties"]
    assert leaf["share"] == {"type": "number", "description": "0 to 1"}
    assert leaf["title"] == {"type": "string"}
    assert leaf["until"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert leaf["kind"] == {"enum": ["a", "b"]}
    assert '"maximum":1' in instruction(Root)
    assert "What was learned." in instruction(Root)


def test_references_lead_somewhere() -> None:
    for schema in (Root, Tree):
        described = sent(schema)["schema"]
        assert set(described["$defs"]) == {{Root: "Leaf", Tree: "Tree"}[schema]}
        assert "$ref" not in described
    assert "$defs" not in sent(Leaf)["schema"]


def test_free_keys_are_not_promised_strictly() -> None:
    described = sent(Free)
    assert described["strict"] is False
    assert described["schema"]["properties"]["words"]["additionalProperties"] == {"type": "integer"}


def test_names_are_those_of_the_json() -> None:
    assert list(sent(Renamed)["schema"]["properties"]) == ["firstName"]
