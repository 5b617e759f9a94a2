"""What the tools of real agents answer, recorded as they answer it, is not taken for an attack.

An agent's own tools read, search, change and run over copies of Python's standard library, called by a
scripted model. With MNEMARK_TRANSCRIPTS=FOLDER the answers are written there as `AGENT-tools/corpus.jsonl`,
for `mnemark bench marks`; MNEMARK_TOOL_FILES=N takes more files than the few of the test.
"""

import itertools
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.scripted import Call, Model, serving, strings
from agent.test_real_agents import SAID, Machine, machine, note_down, program, way
from mnemark import Memory

__all__ = ["machine", "way"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="a home folder of its own is made"),
]
FIRST = "# Looked after."
START = "Please look after these files."
FILES = int(os.environ.get("MNEMARK_TOOL_FILES", "3"))
Asked = tuple[str, dict[str, Any]]
_LIBRARY = Path(json.__file__).parents[1]


def claude_code(path: Path) -> Iterator[Asked]:
    name = str(path)
    yield "Read", {"file_path": name}
    yield "Read", {"file_path": name}
    yield "Read", {"file_path": name, "offset": 99_000}
    yield "Read", {"file_path": f"{name}.missing"}
    yield "Edit", {"file_path": name, "old_string": FIRST, "new_string": f"{FIRST} #"}
    yield "Edit", {"file_path": name, "old_string": "no such words", "new_string": "others"}
    for command in commands(path):
        yield "Bash", {"command": command, "description": "Look"}
    yield "Edit", {"file_path": name, "old_string": f"{FIRST} #", "new_string": FIRST}
    yield "Write", {"file_path": f"{name}.new", "content": f"{FIRST}\n"}
    yield "Write", {"file_path": f"{name}.empty", "content": ""}
    yield "Read", {"file_path": f"{name}.empty"}
    yield "ToolSearch", {"query": "select:TodoWrite,Glob,Grep,WebFetch"}


def codex(path: Path) -> Iterator[Asked]:
    patch = f"*** Begin Patch\n*** Update File: {path.name}\n@@\n-{FIRST}\n+{FIRST} #\n*** End Patch"
    patching = f"apply_patch <<'EOF'\n{patch}\nEOF"
    for command in (f"cat {path}", *commands(path), patching, f"cat {path}.missing"):
        yield "exec_command", {"cmd": command}
    yield "exec_command", {"cmd": f"cat {path}", "max_output_tokens": 100}
    yield "exec_command", {"cmd": "sleep 3; echo done", "yield_time_ms": 250}
    yield "write_stdin", {"session_id": 99, "chars": ""}
    yield "view_image", {"path": str(path)}


def gemini_cli(path: Path) -> Iterator[Asked]:
    name = str(path)
    yield "read_file", {"file_path": name}
    yield "read_file", {"file_path": name, "start_line": 3, "end_line": 40}
    yield "read_file", {"file_path": f"{name}.missing"}
    for new in (f"{FIRST} #", FIRST):
        yield "replace", {"file_path": name, "old_string": FIRST, "new_string": new, "instruction": "Mark it"}
    yield "replace", {"file_path": name, "old_string": "no such words", "new_string": "", "instruction": "No"}
    yield "write_file", {"file_path": f"{name}.new", "content": f"{FIRST}\n"}
    for command in commands(path):
        yield "run_shell_command", {"command": command}
    yield "grep_search", {"pattern": "import"}
    yield "glob", {"pattern": "**/*.py"}
    yield "list_directory", {"dir_path": str(path.parent)}
    yield "write_todos", {"todos": [{"description": f"Look at {path.name}", "status": "pending"}]}
    yield "update_topic", {"title": path.name, "strategic_intent": "Look at it"}


def commands(path: Path) -> tuple[str, ...]:
    """A developer's day in a shell, with commands that fail."""
    return (
        f"sed -n 1,60p {path}", f"grep -n import {path}", "git status", "git diff --stat", "ls -la", "false",
        f"sed -i 's/ = /  = /' {path}", f"python3 {path} --help", "python3 -c 'import nothing_like_this'",
    )  # fmt: skip


AGENTS: dict[str, Callable[[Path], Iterator[Asked]]] = {
    "claude-code": claude_code, "codex": codex, "gemini-cli": gemini_cli,
}  # fmt: skip
MAY = {
    "claude-code": ["--allowedTools", "Bash", "Read", "Edit", "Write"],
    "codex": ["--dangerously-bypass-approvals-and-sandbox"],
    "gemini-cli": [],
}


def answers(body: Any) -> Iterator[str]:
    """The answers of tools in what was sent to a model, in the forms of three protocols."""
    if isinstance(body, list):
        for one in body:
            yield from answers(one)
    elif isinstance(body, dict):
        if body.get("type") == "tool_result":
            yield "\n".join(_texts(body.get("content")))
        elif body.get("type") == "function_call_output":
            yield "\n".join(_texts(body.get("output")))
        elif isinstance(found := body.get("functionResponse"), dict):
            yield "\n".join(strings(found["response"]))
        else:
            for one in body.values():
                yield from answers(one)


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, list):
        yield from (one["text"] for one in content if "text" in one)
    else:
        yield from strings(content)


@pytest.mark.parametrize("agent", AGENTS)
def test_no_answer_of_its_tools_is_taken_for_an_attack(tmp_path: Path, agent: str) -> None:
    program(agent)
    recorded: list[str] = []
    copied = [path for path in sorted(_LIBRARY.glob("*.py")) if 2_000 < path.stat().st_size < 40_000][:FILES]
    with serving(Model("Done.")) as model:
        machine = Machine(tmp_path, model)
        for command in (
            ("init", "-q"),
            ("config", "user.name", "x"),
            ("config", "user.email", "x@example.org"),
        ):
            subprocess.run(["git", "-C", str(machine.project), *command], check=True, capture_output=True)
        for path in copied:
            target = machine.project / path.name
            target.write_text(f"{FIRST}\n{path.read_text('utf-8')}", "utf-8")
            model.calls = [Call(START, *asked) for asked in AGENTS[agent](target)]
            count = len(model.calls)
            words = SAID[agent](START, 1)
            machine.run(program(agent), *words, *MAY[agent])
            assert model.calls == []
            found = list(answers(model.requests[-1][1]))
            assert len(found) == count
            recorded += found
            model.requests.clear()
    folder = Path(os.environ.get("MNEMARK_TRANSCRIPTS") or tmp_path) / f"{agent}-tools"
    keep(folder, recorded)
    counted = json.loads(machine.mnemark("bench", "marks", str(folder), "--json"))
    marked = {int(id_) for row in counted for id_ in row["ids"]}
    assert sum(row["answers"] for row in counted) == len(recorded)
    assert [recorded[number] for number in sorted(marked)] == []


def keep(folder: Path, recorded: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for number, text in enumerate(recorded):
            unit = {"id": str(number), "scope": "", "session_id": str(number), "role": "tool", "text": text}
            file.write(json.dumps(unit) + "\n")


TOLD = "Please remember this: my dentist is Dr Sousa."
WRONG = "No, that's wrong: my dentist is Dr Costa, not Dr Sousa."
ASKED = "Who is my dentist?"


@pytest.mark.timed
@pytest.mark.parametrize("agent", AGENTS)
def test_what_its_user_says_is_wrong_is_corrected(machine: Machine, way: str, agent: str) -> None:
    program(agent)
    machine.connect(agent)
    machine.say(agent, TOLD)
    machine.turns_after(2)
    for word in ("learn", "consolidate", "sync"):
        machine.mnemark(word, "--workspace", str(machine.memory))
    before = texts_of(machine)
    assert "Dr Sousa" in before["memory/facts/user.md"]
    machine.model.calls.append(Call(WRONG, "memory_correct", {"fact": "dentist", "value": "Dr Costa"}))
    machine.say(agent, WRONG)
    assert machine.model.calls == []
    (answer,) = (json.loads(line) for line in corrections(machine))
    assert answer["status"] == "corrected"
    machine.turns_after(4)
    with Memory.open(machine.memory, config={"embedder": "none"}) as memory:
        assert [fact.value for fact in memory.facts(history=True)] == ["Dr Costa"]
        said = next(one for one in memory.turns(role="user") if one.turn.content == TOLD)
        (corrected,) = memory.why(said.ref).corrected
        assert "the dentist is Dr Costa, not Dr Sousa" in corrected.text
    assert "Sousa" not in "".join(texts_of(machine).values())

    machine.say(agent, ASKED)
    given = "\n".join(text for text in machine.received(ASKED) if "<mnemark-recall" in text)
    note_down(agent, f"correct-{way}", [given])
    assert "dentist: Dr Costa" in given
    lines = given.splitlines()
    told = [
        pair
        for pair in itertools.pairwise([*lines, ""])
        if "Sousa" in pair[0] and "not Dr Sousa" not in pair[0]
    ]
    assert [pair for pair in told if "[corrected on" not in pair[1]] == []

    machine.mnemark("undo", answer["id"], "--workspace", str(machine.memory))
    assert texts_of(machine) == before
    assert machine.log() == ""


def corrections(machine: Machine) -> list[str]:
    """What `memory_correct` answered, as the model was told."""
    told = {one: None for _, body in machine.model.requests for one in answers(body) if '"was"' in one}
    return [one[one.index('{"status"') : one.rindex("}") + 1] for one in told]


def texts_of(machine: Machine) -> dict[str, str]:
    """The files in which facts stand."""
    paths = [*machine.memory.glob("*.md"), *machine.memory.glob("memory/facts/*.md")]
    return {str(path.relative_to(machine.memory)): path.read_text("utf-8") for path in paths}
