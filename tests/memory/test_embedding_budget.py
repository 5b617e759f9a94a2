"""An embedding server is sent texts in the background by itself, and no more than a day's budget unasked."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from embed import scripted_server as server
from mnemark.memory.memory import Memory
from mnemark.types import Recall
from mnemark_interfaces.status import Status
from mnemark_interfaces.workspace import followed

pytestmark = pytest.mark.timed

TEXTS = 40


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[server.Script]:
    monkeypatch.setenv("MNEMARK_HOSTS", "127.0.0.1")
    monkeypatch.setenv("MNEMARK_EMBEDDER_KEY", "made-up")
    with server.serve() as script:
        yield script


def settings(script: server.Script, tokens: int) -> dict[str, Any]:
    return {
        "embedder": "api:tiny", "embedder_url": script.url, "embedder_dimension": server.DIMENSION,
        "embedder_tokens_per_day": tokens,
    }  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        session = memory.session("talk")
        for number in range(TEXTS):
            session.add("user", f"On day {number} the ferry to island number {number} left at noon.")
    return tmp_path


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def ask(memory: Memory) -> Recall:
    return memory.search("When did the ferry to island number 7 leave?")


def passages(script: server.Script) -> list[str]:
    texts = [text for request in script.requests for text in request["input"]]
    return [text for text in texts if "left at noon" in text]


def test_all_is_embedded_without_being_asked_for(root: Path, script: server.Script) -> None:
    with Memory.open(root, config=settings(script, 100_000)) as memory:
        first = ask(memory)
        assert "number 7 " in first.hits[0].text  # by its words
        until(lambda: ask(memory).complete)
        assert "dense" in ask(memory).mode
        assert Status.of(memory).unembedded == 0
    assert len(passages(script)) == len(set(passages(script))) == TEXTS


def test_a_used_up_budget_is_told_and_a_person_may_go_on(root: Path, script: server.Script) -> None:
    with Memory.open(root, config=settings(script, 400)) as memory:
        until(lambda: any("budget of 400 tokens is used up" in why for why in ask(memory).degraded))
        sent = len(passages(script))
        assert 0 < sent < TEXTS
        assert "number 7 " in ask(memory).hits[0].text
    with Memory.open(root, config=settings(script, 400)) as memory:  # another process, on the same day
        until(lambda: any("budget of 400 tokens is used up" in why for why in ask(memory).degraded))
        assert len(passages(script)) == sent
        status = Status.of(memory)
        assert status.unembedded == TEXTS - sent
        assert [(one.what, one.count) for one in status.attention] == [("budget", TEXTS - sent)]
        memory.sync()
        assert len(passages(script)) == TEXTS
        until(lambda: ask(memory).complete)
        assert (Status.of(memory).unembedded, Status.of(memory).attention) == (0, ())


def test_a_read_on_the_command_line_keeps_the_budget_too(root: Path, script: server.Script) -> None:
    (root / "mnemark.toml").write_text(
        "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings(script, 400).items())
    )
    with followed(root) as (memory, late):
        assert late == ()
        assert "number 7 " in ask(memory).hits[0].text
    assert 0 < len(passages(script)) < TEXTS


def test_without_a_budget_nothing_is_sent_but_questions(root: Path, script: server.Script) -> None:
    with Memory.open(root, config=settings(script, 0)) as memory:
        until(lambda: any("budget of 0 tokens" in why for why in ask(memory).degraded))
        assert Status.of(memory).unembedded == TEXTS
    assert passages(script) == []
