"""What one tool run left in several places stands once in what a model gets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemark.memory.memory import Memory

COMMAND = "make seedlings TRAY=4"
RESULT = "thermostat of tray 4 does not answer\nexit code: 2"
QUESTION = "Why did make seedlings fail for tray 4?"


@pytest.fixture(params=[False, True], ids=["observed", "observed and recorded"])
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    with Memory.open(tmp_path) as found:
        session = found.session("cli:greenhouse")
        session.add("user", "Please start the seedlings in tray 4")
        call = {"id": "c1", "type": "function", "function": {"name": "exec", "arguments": COMMAND}}
        session.add("assistant", "", tool_calls=[call])
        session.observe("exec", {"command": COMMAND}, RESULT, call="c1")
        if request.param:
            session.add("tool", RESULT, meta={"tool_call_id": "c1", "name": "exec"})
        session.add("assistant", "Tray 4 could not be started. I'll look at its cable next.")
        session.end()
        found.consolidate()
        yield found


def test_a_recall_shows_a_run_once(memory: Memory) -> None:
    text = memory.recall(QUESTION, deadline=30).text
    assert text.count("exec: make seedlings TRAY=4") == text.count("thermostat of tray 4") == 1
    assert " · from tool" in text


def test_a_prompt_shows_a_run_once(memory: Memory) -> None:
    text = memory.prompt(QUESTION, deadline=30).recall
    assert text.count("exec: make seedlings TRAY=4") == text.count("thermostat of tray 4") == 1


def test_a_day_without_that_run_in_its_rows_lists_it(memory: Memory) -> None:
    assert "exec: make seedlings TRAY=4" in memory.prompt().recall


def test_what_a_person_wrote_beside_the_list_is_found(memory: Memory) -> None:
    (note,) = (memory.root / "memory").glob("2*.md")
    note.write_text(note.read_text() + "\n- 14:20 exec: the cable of tray 4 was chewed by a marten\n")
    memory.sync()
    assert "chewed by a marten" in memory.recall("What happened to the cable of tray 4?", deadline=30).text


def test_a_listed_run_is_no_word_of_the_owner(memory: Memory) -> None:
    found = memory.search("make seedlings TRAY=4", k=50)
    assert {hit.origin for hit in found.hits if "exec: make" in hit.text} == {"tool"}
