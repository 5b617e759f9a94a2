"""What needs a person: told by kind, with what to do, and gone when it is done."""

from datetime import timedelta
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.text.dates import local_now


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    (tmp_path / "mnemark.toml").write_text(
        'embedder = "none"\n[llm]\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\ncalls_per_day = 2\n'
        "tokens_per_day = 1000\n",
        "utf-8",
    )
    return Memory.open(tmp_path)


def told(memory: Memory) -> dict[str, int]:
    return {one.what: one.count for one in memory.attention()}


def test_nothing_needs_a_person_in_an_empty_memory(memory: Memory) -> None:
    assert memory.attention() == []


def test_what_the_web_says_waits_until_it_is_decided(memory: Memory) -> None:
    memory.remember("city", "Lisbon")
    memory.remember("city", "Oslo", origin="import")
    memory.remember("editor", "Helix", origin="tool")
    assert told(memory) == {"conflicts": 1, "proposals": 1}
    for waiting in memory.review():
        memory.reject(waiting.id)
    assert told(memory) == {}


def test_it_is_seen_in_every_scope(memory: Memory) -> None:
    memory.remember("城市", "杭州", origin="web", scope="users/ann")
    assert told(memory) == {"proposals": 1}


def test_conflict_copies_and_skipped_files(memory: Memory) -> None:
    (memory.root / "MEMORY.sync-conflict-20260213-101500-ABCDEF7.md").write_text("- b\n", "utf-8")
    (memory.root / "broken.md").write_bytes(b"\0\1\2" * 100)
    memory.sync()
    assert told(memory) == {"copies": 1, "skipped": 1}


def test_a_spent_budget_and_what_the_model_failed_on(memory: Memory) -> None:
    state = memory.workspace.state
    now = local_now(memory.config.timezone)
    state.enqueue([("sessions/a.jsonl", 1, 4)], now)
    (item,) = state.claim(1, now)
    for _ in range(3):
        state.missed([item.id], "answered nonsense", now)
        for again in state.claim(1, now + timedelta(hours=1)):
            assert again.id == item.id
    state.spend(("r", now.date().isoformat(), now.isoformat(), "m", "extract", 2, 10, 10))
    found = {one.what: one for one in memory.attention()}
    assert "2 of 2 calls" in found["budget"].text
    assert "sessions/a.jsonl#L1-L4: answered nonsense" in found["extraction"].text


def test_a_report_names_it(memory: Memory) -> None:
    memory.remember("city", "Oslo", origin="web")
    assert any("proposed fact" in note for note in memory.consolidate().notes)
