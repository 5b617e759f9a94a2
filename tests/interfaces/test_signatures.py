"""Python, the command line, HTTP and the tools of models take the same words for a fact."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from interfaces.conftest import Shell
from mnemark import Memory
from mnemark.facts.model import FactOptions, NewFact
from mnemark_interfaces.commands.facts import remember
from mnemark_interfaces.http import bodies
from mnemark_interfaces.tools import BY_NAME

FIELDS = set(NewFact.__struct_fields__)


def test_each_face_has_all_fields_of_a_fact() -> None:
    own = set(inspect.signature(Memory.remember).parameters) - {"self", "dry_run", "options"}
    assert own | set(FactOptions.__annotations__) == FIELDS
    assert set(bodies.RememberBody.__struct_fields__) - {"workspace"} == FIELDS
    assert set(BY_NAME["memory_remember"].properties) == FIELDS - {"origin"}, "a model speaks as the agent"
    options = set(inspect.signature(remember).parameters) - {"workspace_", "dry_run", "json"}
    assert {{"type_": "type", "tag": "tags"}.get(name, name) for name in options} == FIELDS


WHOLE: dict[str, Any] = {
    "importance": 0.9, "confidence": 0.6, "priority": "long", "source": "sessions/a.jsonl#L2",
    "tags": ["work"], "since": "2026-02-13", "subject": "ann", "type": "preference", "scope": "users/ann",
}  # fmt: skip


def kept(memory: Memory) -> dict[str, Any]:
    (fact,) = memory.facts(scope="users/ann")
    found = {name: getattr(fact, name) for name in WHOLE}
    return found | {"tags": list(fact.tags), "since": fact.since[:10]}


def test_the_command_line_and_the_tool_keep_all_of_it(shell: Shell, tmp_path: Path) -> None:
    from mnemark_interfaces.tools_run import RUNS

    options = [f"--{'tag' if name == 'tags' else name}={value[0] if name == 'tags' else value}"
               for name, value in WHOLE.items()]  # fmt: skip
    done = shell("remember", "editor", "vim", "-w", str(tmp_path), "--json", *options)
    assert done.data["fact"]["priority"] == "long"
    with Memory.open(tmp_path) as memory:
        assert kept(memory) == WHOLE
    with Memory.open(tmp_path / "other") as memory:
        RUNS["memory_remember"](memory, {"predicate": "editor", "value": "vim", **WHOLE})
        assert kept(memory) == WHOLE


@pytest.mark.parametrize("name", ["confidence", "priority", "source"])
def test_what_is_left_out_is_left_open(tmp_path: Path, name: str) -> None:
    with Memory.open(tmp_path) as memory:
        memory.remember_many([NewFact(predicate="editor", value="vim")])
        (fact,) = memory.facts()
        assert getattr(fact, name) == {"confidence": 0.9, "priority": "", "source": ""}[name]
