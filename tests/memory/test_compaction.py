"""Compaction: within the budget, calls with results, every message in the log once, come what may."""

import subprocess
import sys
import textwrap
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemark import Memory
from mnemark.errors import BusyError, UsageError
from mnemark.llm import Budget, Entry, Ledger, Message, Meter, spent_on
from mnemark.llm.function import from_callable
from mnemark.memory.sessions.compaction import Compacted, flush_prompt, is_due
from mnemark.memory.sessions.messages import calls_of, key_of, units
from mnemark.text.quoting.fence import is_fenced, strip_fences
from sampled import examples, sampled

CONFIG = {"embedder": "none"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, config=CONFIG) as found:
        yield found


def openai(count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"role": "system", "content": "You are Mo."}]
    for n in range(count):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "exec", "arguments": "{}"}}
        found += [
            {"role": "user", "content": f"Fix test {n}. We decided to use SQLite 3.{n} for the catalogue."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"output {n} " * 60},
            {"role": "assistant", "content": f"Test {n} is fixed."},
        ]
    return found


def anthropic(count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for n in range(count):
        found += [
            {"role": "user", "content": [{"type": "text", "text": f"修复测试 {n}，我们决定用 SQLite。"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": f"好的 {n}"},
                {"type": "tool_use", "id": f"t{n}", "name": "exec", "input": {"n": n}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"结果 {n} " * 60},
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": f"测试 {n} 已修复。"}]},
        ]  # fmt: skip
    return found


def logged(memory: Memory, session: str) -> list[str]:
    return [key_of(one.turn) for one in memory.session(session).log.turns()]


def check_pairs(found: Compacted) -> None:
    open_calls: set[str] = set()
    for message in found.messages:
        answers = {message["tool_call_id"]} if message.get("role") == "tool" else set()
        content = message.get("content")
        if isinstance(content, list):
            answers |= {block["tool_use_id"] for block in content if block.get("type") == "tool_result"}
        assert answers <= open_calls
        open_calls = (open_calls - answers) | set(calls_of(message))
    assert not open_calls


@pytest.mark.parametrize("shape", [openai, anthropic])
@pytest.mark.parametrize("budget", [700, 1200, 2500])
def test_within_the_budget_with_pairs_together_and_all_of_it_in_the_log(
    memory: Memory, shape: Any, budget: int
) -> None:
    messages = shape(20)
    before = repr(messages)
    session = memory.session("cli:x")
    found = session.compact(messages, budget, deadline=5)
    assert repr(messages) == before
    assert found.tokens <= budget
    assert not found.degraded
    check_pairs(found)
    assert found.messages[-1] == messages[-1]
    assert found.dropped > 0
    assert "SQLite" in found.summary
    spoken = [message for message in messages if message["role"] != "system"]
    assert len(logged(memory, "cli:x")) == len(spoken)
    quoted = next(m for m in found.messages if isinstance(m["content"], str) and is_fenced(m["content"]))
    assert quoted["role"] == "user"
    assert strip_fences(quoted["content"]).strip() == ""


def test_again_and_going_on_records_only_what_is_new(memory: Memory) -> None:
    session = memory.session("cli:x")
    messages = openai(12)
    session.add("user", messages[1]["content"])
    first = session.compact(messages, 900, deadline=5)
    assert len(first.recorded) == len(messages) - 2
    assert session.compact(messages, 900, deadline=5).recorded == ()
    more = [
        *first.messages,
        {"role": "user", "content": "Fix test 0. We decided to use SQLite 3.0 for the catalogue."},
    ]
    again = session.compact(more, 500, deadline=5)
    assert len(again.recorded) == 1  # said once more: a turn of its own
    assert session.compact(more, 500, deadline=5).recorded == ()
    assert len(logged(memory, "cli:x")) == len(messages)


def test_messages_are_known_by_their_ids(memory: Memory) -> None:
    session = memory.session("cli:x")
    turn = session.add("user", "first wording")
    found = session.compact([{"role": "user", "id": turn.id, "content": "changed by the host"}], 500)
    assert found.recorded == ()


WORDS = st.sampled_from(["ok", "yes", "no", "go on"])


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=st.lists(WORDS, max_size=6), new=st.lists(WORDS, min_size=1, max_size=6))
def test_short_words_said_again_and_again_are_each_kept_once(
    memory: Memory, old: list[str], new: list[str]
) -> None:
    """Whatever part of a window is in the log already, after two tries the log holds the window, once."""
    name = f"s{uuid.uuid4()}"
    session = memory.session(name)
    session.add("user", "begin")
    for word in old:
        session.add("user", word)
    window = ["begin", *old, *new]
    messages = [{"role": "user", "content": word} for word in window]
    session.compact(messages, 5_000)
    assert session.compact(messages, 5_000).recorded == ()
    assert [turn.content for turn in memory.session(name).last(100)] == window


def test_what_fits_comes_back_as_it_was(memory: Memory) -> None:
    messages = openai(2)
    found = memory.session("cli:x").compact(messages, 5_000)
    assert list(found.messages) == messages
    assert found.summary == ""
    assert found.dropped == 0
    assert len(found.recorded) == 8


def test_a_last_exchange_that_is_too_long_loses_output_and_nothing_else(memory: Memory) -> None:
    messages = openai(3)
    messages += [
        {"role": "user", "content": "read the log"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "z", "type": "function", "function": {}}],
        },
        {"role": "tool", "tool_call_id": "z", "content": "line of the log\n" * 4_000},
    ]
    session = memory.session("cli:x")
    found = session.compact(messages, 1_000, deadline=5)
    assert found.tokens <= 1_000
    check_pairs(found)
    assert session.path in found.messages[-1]["content"]
    assert session.last(1)[0].content + "\n" == "line of the log\n" * 4_000


def test_instructions_that_are_longer_than_the_budget_are_told(memory: Memory) -> None:
    messages = [{"role": "system", "content": "rule " * 500}, *openai(3)[1:]]
    found = memory.session("cli:x").compact(messages, 200)
    assert found.messages[0] == messages[0]
    assert any("too long" in reason for reason in found.degraded)
    with pytest.raises(UsageError):
        memory.session("cli:x").compact(messages, 0)


def test_secrets_do_not_reach_log_or_summary(memory: Memory) -> None:
    key = "sk-proj-" + "a1B2c3D4" * 6
    messages = openai(8)
    messages[1] = {"role": "user", "content": f"We decided to use the key {key} for SQLite."}
    found = memory.session("cli:x").compact(messages, 600, deadline=5)
    assert key not in found.summary + found.recalled
    assert key not in "".join(path.read_text() for path in memory.root.rglob("*.jsonl"))
    assert memory.session("cli:x").compact(messages, 600, deadline=5).recorded == ()


def model(memory: Memory, answer: str) -> Any:
    def say(asked: Sequence[Message]) -> str:
        if answer == "fail":
            raise OSError("gone")
        assert asked[0].role == "system"
        return answer

    entries: list[Entry] = []
    ledger = Ledger(entries.append, lambda day: spent_on(day, entries))
    return from_callable(say, meter=Meter(Budget(100, 10**6), ledger))


@pytest.mark.parametrize(
    ("answer", "by"),
    [
        ("They use SQLite.", "callable"),
        ("", "rules"),
        ("fail", "rules"),
        ("They use SQLite since 1987.", "rules"),
        ("Elephants wander slowly through golden savannah towards evening.", "rules"),
    ],
)
def test_a_model_writes_the_summary_or_the_rules_do(memory: Memory, answer: str, by: str) -> None:
    found = memory.session("cli:x").compact(openai(12), 900, llm=model(memory, answer), deadline=5)
    assert found.by == by
    assert found.summary
    assert bool(found.degraded) == (by == "rules")


def test_what_cannot_be_learned_is_left_to_the_end(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        assert len(logged(memory, "cli:x")) == 20
        raise BusyError("someone is at it; try later")

    monkeypatch.setattr("mnemark.memory.sessions.compaction.learn", failing)
    found = memory.session("cli:x").compact(openai(5), 400, deadline=5)
    assert any("facts: someone is at it" in reason for reason in found.degraded)
    assert list((memory.root / "memory/episodes").glob("*.md"))


def test_what_is_left_out_is_learned_and_an_episode_once(memory: Memory) -> None:
    messages = openai(8)
    messages[1] = {"role": "user", "content": "My name is Ann and I live in Berlin."}
    session = memory.session("cli:x")
    for _ in range(2):
        session.compact(messages, 700, deadline=5)
        assert [str(fact) for fact in memory.facts() if "Berlin" in fact.value]
    found = list(memory.facts())
    assert len(found) == len({fact.key for fact in found})
    assert len(list((memory.root / "memory/episodes").glob("*.md"))) == 1


def test_the_flush_prompt_speaks_the_languages_of_the_conversation(memory: Memory) -> None:
    assert memory.session("a").compact(anthropic(3), 300, deadline=5).flush == flush_prompt(chinese=True)
    assert memory.session("b").compact(openai(3), 300, deadline=5).flush == flush_prompt()
    assert is_due(openai(10), 100)
    assert not is_due(openai(1), 10_000)


def test_parallel_calls_and_results_without_a_call_stay_with_their_neighbours() -> None:
    calls = [{"id": name, "type": "function", "function": {}} for name in "ab"]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "assistant", "content": "done"},
        {"role": "tool", "tool_call_id": "lost", "content": "?"},
    ]
    assert [(one.first, one.end) for one in units(messages, 0)] == [(0, 1), (1, 4), (4, 6)]


@pytest.mark.parametrize("call", sampled([1, 2, 3, 4, 6, 9], 3))
def test_a_kill_loses_and_doubles_nothing(tmp_path: Path, call: int) -> None:
    script = textwrap.dedent(f"""
        import os, sys
        from mnemark import Memory
        from mnemark.files import platform
        from tests.memory.test_compaction import openai, CONFIG
        count = 0
        real = os.fsync
        def dying(fd):
            global count
            count += 1
            if count == {call}:
                os._exit(9)
            real(fd)
        os.fsync = dying
        with Memory.open({str(tmp_path)!r}, config=CONFIG) as memory:
            memory.session("cli:x").compact(openai(6), 500)
    """)
    subprocess.run([sys.executable, "-c", script], check=False, cwd=Path(__file__).parents[2])
    with Memory.open(tmp_path, config=CONFIG) as memory:
        memory.session("cli:x").compact(openai(6), 500, deadline=5)
        assert len(logged(memory, "cli:x")) == 24
        assert len(set(logged(memory, "cli:x"))) == 24


def test_an_image_has_a_price_of_its_own_and_long_words_are_cut(memory: Memory) -> None:
    session = memory.session("c")
    said: list[dict[str, Any]] = [
        {"role": role, "content": f"{role} says {n} about the boiler"}
        for n in range(40)
        for role in ("user", "assistant")
    ]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 200_000}}
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "B" * 200_000}}
    for part in (picture, block):
        last: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "看这张图"}, part]}
        found = session.compact([*said, last], 2_200, deadline=5.0)
        assert found.tokens <= 2_200
        assert found.messages[-1] == last
        assert not [one for one in found.degraded if "too long" in one]
    long: dict[str, Any] = {"role": "assistant", "content": "words " * 50_000}
    more: list[dict[str, Any]] = [*said, {"role": "user", "content": "go on"}, long]
    found = session.compact(more, 1_500, deadline=5.0)
    assert found.tokens <= 1_500
    assert session.path in str(found.messages[-1]["content"])
    assert any(
        turn.content == long["content"].strip() or turn.content == long["content"] for turn in session.last(1)
    )


def test_the_user_begins_where_there_is_no_room_for_a_summary(memory: Memory) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "read it"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "q", "name": "a", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "q", "content": "r " * 20_000}]},
    ]
    found = memory.session("d").compact(messages, 300, deadline=5.0)
    assert found.messages[0]["role"] == "user"
    assert found.tokens <= 300
    assert found.messages[1]["content"][0]["type"] == "tool_use"
