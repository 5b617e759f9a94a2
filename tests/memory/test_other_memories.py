"""Exports of other memories: brought in once, with provenance, nobody's mixed with another's."""

import json
from pathlib import Path
from typing import Any

import pytest

from mnemark import IntegrityError, Memory
from mnemark.memory.transfer.imports import import_from


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def memory_of(text: str, number: int, user: str = "ann") -> dict[str, Any]:
    return {
        "id": f"3c90c3cc-{number:04}",
        "memory": text,
        "user_id": user,
        "categories": ["food"],
        "created_at": f"2026-0{number}-07T05:31:56Z",
    }


def test_mem0_memories_are_facts_once(tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.json", {"results": [memory_of("Likes green tea", 1), memory_of("住在杭州", 2)]}
    )
    with Memory.open(tmp_path / "w") as memory:
        assert import_from(memory.workspace, "mem0", path).facts == 2
        again = import_from(memory.workspace, "mem0", path)
        assert (again.facts, again.same) == (0, 2)
        facts = {fact.value: fact for fact in memory.facts()}
        assert set(facts) == {"Likes green tea", "住在杭州"}
        tea = facts["Likes green tea"]
        assert (tea.origin, tea.since[:10], tea.tags) == ("import", "2026-01-07", ("food",))
        assert memory.search("杭州").hits


def test_mem0_users_are_kept_apart(tmp_path: Path) -> None:
    entries = [memory_of("Likes tea", 1), memory_of("Likes coffee", 2, "bob"), {"memory": 3}]
    with Memory.open(tmp_path / "w") as memory:
        done = import_from(memory.workspace, "mem0", write(tmp_path / "m.json", entries))
        assert [problem.path for problem in done.problems] == ["m.json"]
        assert [fact.value for fact in memory.facts(scope="users/bob")] == ["Likes coffee"]
        assert list(memory.facts()) == []


def test_claude_mem_sessions_come_with_prompts_observations_and_summaries(tmp_path: Path) -> None:
    export = {
        "observations": [
            {"id": 1, "memory_session_id": "m1", "project": "atlas", "type": "bugfix",
             "title": "Fixed the cache",
             "narrative": "The cache key lacked the locale.", "facts": '["key: locale added"]',
             "files_modified": '["cache.py"]', "created_at_epoch": 1767229200000},
        ],
        "sessions": [{"content_session_id": "c1", "memory_session_id": "m1"}],
        "prompts": [{"id": 7, "content_session_id": "c1", "prompt_text": "为什么缓存错了？",
                     "created_at_epoch": 1767229100000}],
        "summaries": [{"id": 2, "memory_session_id": "m1", "learned": "Locale belongs into the key",
                       "created_at_epoch": 1767229300000}],
    }  # fmt: skip
    path = write(tmp_path / "c.json", export)
    with Memory.open(tmp_path / "w") as memory:
        assert import_from(memory.workspace, "claude-mem", path, dry_run=True).turns == 3
        assert import_from(memory.workspace, "claude-mem", path).turns == 3
        assert import_from(memory.workspace, "claude-mem", path).turns == 0
        turns = memory.session("claude-mem:m1").last()
        assert [turn.role for turn in turns] == ["user", "assistant", "assistant"]
        assert turns[0].content == "为什么缓存错了？"
        assert "locale" in turns[1].content
        assert (turns[1].meta["files"], turns[1].time.year) == (["cache.py"], 2026)


@pytest.mark.parametrize("format", ["mem0", "claude-mem"])
@pytest.mark.parametrize("text", ["", "not json", "{}", "3", '{"results": 3}'])
def test_what_is_no_export_is_told(tmp_path: Path, format: Any, text: str) -> None:  # noqa: A002 - their word
    path = tmp_path / "x.json"
    path.write_text(text)
    with Memory.open(tmp_path / "w") as memory, pytest.raises(IntegrityError, match=r"x\.json"):
        import_from(memory.workspace, format, path)
