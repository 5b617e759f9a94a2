"""Turns by session, time, role and tool; windows for a prompt; idle sessions."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark import Memory, UsageError
from mnemark.memory.sessions.history import window
from mnemark.text.words.tokens import estimate_tokens
from mnemark.types import Turn

START = datetime.fromisoformat("2026-02-13T09:00:00+08:00")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, config={"embedder": "none", "timezone": "Asia/Shanghai"}) as found:
        one = found.session("one")
        one.add("user", "first", time=START)
        call = {"id": "c", "function": {"name": "functions.exec", "arguments": '{"command": "make"}'}}
        one.add("assistant", "on it", time=START + timedelta(minutes=1), tool_calls=[call])
        one.add("tool", "ok", time=START + timedelta(minutes=2), meta={"name": "functions.exec"})
        found.session("two").add("user", "二", time=START + timedelta(days=1))
        found.session("ann", user="ann").add("user", "mine", time=START)
        yield found


def said(memory: Memory, **fields: object) -> list[str]:
    return [one.turn.content for one in memory.turns(**fields)]  # type: ignore[arg-type]


def test_each_filter(memory: Memory) -> None:
    assert said(memory) == ["first", "on it", "ok", "二"]
    assert said(memory, session="one", role="user") == ["first"]
    assert said(memory, tool="exec") == ["on it", "ok"]
    assert said(memory, tool="read") == []
    assert said(memory, since="2026-02-14") == ["二"]
    assert said(memory, until="2026-02-13") == ["first", "on it", "ok"]
    assert said(memory, limit=2) == ["ok", "二"]
    assert said(memory, scope="users/ann") == ["first", "mine", "on it", "ok", "二"]
    with pytest.raises(UsageError, match="limit"):
        memory.turns(limit=0)


def test_the_ref_reads_back(memory: Memory) -> None:
    (one,) = memory.turns(session="two")
    assert "二" in memory.read(one.ref)


def test_what_was_forgotten_is_left_out(memory: Memory) -> None:
    (one,) = memory.turns(session="two")
    memory.forget(one.ref)
    assert said(memory, session="two") == []


def test_idle(memory: Memory) -> None:
    session = memory.session("one")
    assert session.idle_since == START + timedelta(minutes=2)
    assert session.idle(60, now=START + timedelta(minutes=3))
    assert not session.idle(61, now=START + timedelta(minutes=3))
    assert not memory.session("never").idle(0)


def test_a_window_begins_with_the_user_and_keeps_results_behind_their_call(memory: Memory) -> None:
    session = memory.session("one")
    assert session.window(1000) == [
        {"role": "user", "content": "first"}, {"role": "assistant", "content": "on it"}
    ]  # fmt: skip
    full = session.window(1000, tools=True)
    assert [one["role"] for one in full] == ["user", "assistant", "tool"]
    assert full[1]["tool_calls"]
    assert [one["role"] for one in session.window(6, tools=True)] != ["tool"]


turns = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "tool", "system"]), st.text(max_size=60)), max_size=12
)


@given(rows=turns, budget=st.integers(6, 200), tools=st.booleans())
def test_a_window_is_within_its_budget(rows: list[tuple[str, str]], budget: int, *, tools: bool) -> None:
    given_turns = [
        Turn(id=str(number), time=START, role=role, content=text) for number, (role, text) in enumerate(rows)
    ]
    found = window(given_turns, budget, tools=tools)
    assert sum(estimate_tokens(one["content"]) for one in found) <= budget
    assert not found or found[0]["role"] != "tool"
    contents = [text for _, text in rows]
    assert len(found) == 1 or all(one["content"] in contents for one in found)
