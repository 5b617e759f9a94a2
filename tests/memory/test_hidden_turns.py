"""What was forgotten is not learned, not summed up and not told again, whatever runs afterwards."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.llm import Budget, Ledger, Message, Meter
from mnemark.llm.function import from_callable
from mnemark.memory.learning import by_model
from mnemark.memory.sessions.reading import learn_all

SECRET = "My name is Persephone Vance and I moved to Reykjavik."
KEPT = "Please always answer in Portuguese."


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path, config={"embedder": "none"})
    session = memory.session("chat")
    turn = session.add("user", SECRET)
    session.add("assistant", "Welcome.")
    session.add("user", KEPT)
    memory.sync()
    memory.forget(turn.id)
    return memory


def told(memory: Memory) -> str:
    """All that was written but the session and the journal, which only hide it."""
    files = [path for path in memory.root.rglob("*.md") if ".mnemark" not in path.parts]
    return "\n".join(path.read_text("utf-8") for path in files)


def test_history_leaves_it_out_and_is_as_long_as_asked(memory: Memory) -> None:
    session = memory.session("chat")
    assert [turn.content for turn in session.last(2)] == ["Welcome.", KEPT]
    assert SECRET not in str(session.window(1_000))


def test_it_is_not_learned_nor_summed_up(memory: Memory) -> None:
    learn_all(memory.workspace)
    memory.session("chat").end()
    memory.consolidate(now=datetime.now().astimezone() + timedelta(days=1))
    text = told(memory)
    assert "Portuguese" in text
    assert "Persephone" not in text
    assert "Reykjavik" not in text
    assert "Reykjavik" not in memory.prompt("Where does Persephone live?", session="chat").text


def test_it_is_not_shown_to_a_model(memory: Memory) -> None:
    asked: list[str] = []

    def answer(messages: Sequence[Message]) -> str:
        asked.append("\n".join(message.content for message in messages))
        return json.dumps({"facts": []})

    state = memory.workspace.state
    path = memory.session("chat").path
    now = datetime.now().astimezone() - timedelta(minutes=1)
    state.enqueue([(path, 1, 10)], now)
    meter = Meter(Budget(calls_per_day=5, tokens_per_day=100_000), Ledger.in_memory())
    by_model.work(memory.workspace, model=from_callable(answer, meter=meter))
    assert len(asked) == 1
    assert "Portuguese" in asked[0]
    assert "Persephone" not in asked[0]


def test_a_compaction_does_not_bring_it_back(memory: Memory) -> None:
    session = memory.session("chat")
    messages = [{"role": turn.role, "content": turn.content} for turn in session.log.last(10)]
    for number in range(30):
        session.add("user", f"Step {number}: the pump in cellar {number} was checked and found dry.")
        messages.append({"role": "user", "content": session.last(1)[0].content})
    found = session.compact(messages, 300)
    assert "Persephone" not in found.summary
    assert "Persephone" not in told(memory)


@pytest.mark.parametrize("how", ["id", "session", "query"])
def test_a_forgotten_execution_reaches_no_note_episode_or_archive(tmp_path: Path, how: str) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        session = memory.session("chat")
        session.add("user", "Please fix the build. It fails.")
        session.add("assistant", "I will run it.")
        call = {"id": "c1", "function": {"name": "exec", "arguments": '{"command": "make zeppelin"}'}}
        session.add("assistant", "", tool_calls=[call])
        seen = session.observe("exec", {"command": "make zeppelin"}, "exit code: 2", call="c1")
        session.add("user", "Thanks, go on.")
        session.add("assistant", "Done.")
        assert seen is not None
        gone = {"id": seen.id, "session": "chat", "query": "zeppelin"}[how]
        receipt = memory.forget(gone) if how == "id" else memory.forget(**{how: gone})  # type: ignore[arg-type]
        session.end()
        memory.consolidate(now=datetime.now().astimezone() + timedelta(days=40))
        assert "zeppelin" not in told(memory)
        if how == "id":
            memory.undo(receipt.id)
            memory.consolidate(now=datetime.now().astimezone() + timedelta(days=41))
            assert "zeppelin" in told(memory)
