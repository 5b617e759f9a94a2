"""What a person has just said counts while the model still answers, and leaves nothing behind."""

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.samples import claude_line, write
from agent.test_hook import background, handle, root
from mnemark import Memory
from mnemark.files import off_record
from mnemark.files.said import FRESH
from mnemark_interfaces.tools_run import call

__all__ = ["background", "handle", "root"]
WRONG = "No, that's wrong: my dentist is Dr Costa."
KEY = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


@pytest.fixture
def memory(root: Path) -> Any:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.remember("dentist", "Dr Sousa")
        yield memory


def say(handle: Any, words: str, session: str = "one", **more: Any) -> None:
    handle("claude-code", "prompt", session_id=session, prompt=words, **more)


def corrected(memory: Memory, **given: Any) -> str:
    given = {"fact": "dentist", "value": "Dr Costa"} | given
    answer = call(memory, "memory_correct", {name: one for name, one in given.items() if one is not None})
    return str(answer["structuredContent"]["status"])


def notes(memory: Memory) -> list[str]:
    return [path.read_text("utf-8") for path in (memory.root / ".mnemark/hooks").glob("*.said")]


def test_what_is_said_now_is_the_owners_correction(handle: Any, memory: Memory) -> None:
    assert corrected(memory) == "waits for review"
    say(handle, WRONG)
    assert corrected(memory) == "corrected"
    (fact,) = memory.facts(history=True)
    assert (fact.value, fact.origin) == ("Dr Costa", "owner")


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Who is my dentist?", "Dr Costa"),
        ("Is Dr Costa my dentist?", "Dr Costa"),
        ("Find me a dentist. Maybe Dr. Costa? Thanks.", "Dr Costa"),
        ("我的牙医是李医生吗", "李医生"),
        ("Thanks a lot.", None),
    ],
)
def test_what_was_not_said_waits_for_review(
    handle: Any, memory: Memory, said: str, value: str | None
) -> None:
    say(handle, said)
    assert corrected(memory, value=value, never=None if value else True) == "waits for review"
    assert [fact.value for fact in memory.facts()] == ["Dr Sousa"]


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("It's Dr Costa.", "Dr Costa"),
        ("Isn't it Dr Costa? That's wrong, I think.", "Dr Costa"),
        ("不对，我的牙医是李医生", "李医生"),
        ("I never said that!", None),
    ],
)
def test_what_was_said_counts_in_many_words(
    handle: Any, memory: Memory, said: str, value: str | None
) -> None:
    say(handle, said)
    assert corrected(memory, value=value, never=None if value else True) in {"corrected", "never true"}


def test_a_denial_of_something_else_earlier_ends_no_fact(handle: Any, memory: Memory) -> None:
    say(handle, "No, that's wrong, run the other test.")
    say(handle, "Good. Now read the page.")
    assert corrected(memory, value=None, never=True) == "waits for review"


def test_it_is_gone_once_it_is_recorded(handle: Any, memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    say(handle, WRONG, transcript_path=str(path))
    assert notes(memory) == [WRONG]
    write(path, claude_line(1, "user", WRONG), claude_line(2, "assistant", "Noted."))
    handle("claude-code", "response", session_id="one", transcript_path=str(path))
    assert notes(memory) == []
    assert [turn.turn.content for turn in memory.turns(role="user")] == [WRONG]


def test_it_is_gone_with_an_erasure(handle: Any, memory: Memory) -> None:
    say(handle, WRONG)
    assert not memory.forget("memory/facts/user.md#L3", erase=True).waiting
    assert notes(memory) == []


def test_it_is_no_word_after_half_an_hour(handle: Any, memory: Memory) -> None:
    say(handle, WRONG)
    old = time.time() - FRESH / timedelta(seconds=1) - 1
    for path in (memory.root / ".mnemark/hooks").glob("*.said"):
        os.utime(path, (old, old))
    assert corrected(memory) == "waits for review"
    say(handle, "Good morning!", session="two")
    assert notes(memory) == ["Good morning!"]


def test_it_is_redacted_and_private(handle: Any, memory: Memory) -> None:
    say(handle, f"My key is {KEY} <private>and my pin is 4711</private> but the dentist is Dr Costa.")
    (kept,) = notes(memory)
    assert KEY not in kept
    assert "4711" not in kept
    assert "Dr Costa" in kept
    if os.name == "posix":
        (path,) = (memory.root / ".mnemark/hooks").glob("*.said")
        assert path.stat().st_mode & 0o077 == 0


def test_off_the_record_nothing_is_kept(handle: Any, memory: Memory) -> None:
    off_record.begin(memory.root)
    say(handle, WRONG)
    assert notes(memory) == []
