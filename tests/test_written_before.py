"""A workspace that an earlier version wrote opens, and answers as it did then.

`fixtures/written_before` was written by the version of November 2026: three sessions that were ended, facts
in two scopes, a turn that is forgotten, one that is erased, and a night's consolidation. The file of answers
beside it holds what that version answered. Neither is made again when the code changes. Ranking may change:
what people wrote and said must stay among the first hits.
"""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark_agents.hook.event import FLOOR

FIXTURE = Path(__file__).parent / "fixtures" / "written_before"
ANSWERS = FIXTURE.with_name("written_before_answers.json")
NOW = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
FLOOR_THEN = 0.35
"""`FLOOR` of the version that wrote the answers: the estimate is on another scale since."""
QUERIES = (
    "when does the ferry leave", "spare key", "saffron walnut", "which database", "where does Mira live",
    "anchor chain", "what does Ann's dog do", "龙井茶", "会议", "栈桥",
)  # fmt: skip


def answers(memory: Memory) -> dict[str, Any]:
    """What it answers to all that is asked of it."""
    memory.sync()
    fact_fields = ("id", "subject", "predicate", "value", "scope", "path", "line", "since", "until", "status")
    return {
        "facts": [[str(getattr(fact, name, "")) for name in fact_fields] for fact in memory.facts()],
        "all facts": [[fact.id, fact.value, fact.until] for fact in memory.facts(history=True)],
        "facts then": [fact.value for fact in memory.facts(as_of=datetime(2026, 3, 2, 12, tzinfo=UTC))],
        "facts of Ann": [fact.value for fact in memory.facts(scope="users/ann")],
        "search": {query: [[hit.ref, hit.text] for hit in memory.search(query).hits] for query in QUERIES},
        "recall": {query: memory.recall(query, deadline=60).believable for query in QUERIES},
        "context": memory.context(now=NOW),
        "read": memory.read("notes/boat.md#L3"),
        "why": str(memory.why("memory/facts/user.md#L7")),
        "turns": [[said.ref, said.turn.content] for said in memory.turns(session="cli:two")],
        "review": len(memory.review()),
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "memory"))


def test_it_answers_as_it_did(root: Path) -> None:
    with Memory.open(root) as memory:
        found = json.loads(json.dumps(answers(memory), default=str, ensure_ascii=False))
    before = json.loads(ANSWERS.read_text("utf-8"))
    ranked, ranked_before = found.pop("search"), before.pop("search")
    sure, sure_before = found.pop("recall"), before.pop("recall")
    assert found == before
    for query in QUERIES:
        by_people = [hit for hit in ranked_before[query] if hit[0].startswith(("sessions/", "notes/"))]
        assert not by_people or by_people[0] in ranked[query][:3], query
        assert (sure[query] >= FLOOR) == (sure_before[query] >= FLOOR_THEN), query  # handed out as before


def test_what_was_forgotten_comes_back_and_what_was_erased_does_not(root: Path) -> None:
    with Memory.open(root) as memory:
        memory.sync()
        assert not any("blue door" in hit.text for hit in memory.search("spare key blue door").hits)
        forgotten = next(
            json.loads(line)["id"]
            for line in (root / "journal/desk-150eb9.jsonl").read_text("utf-8").splitlines()
            if '"kind":"forget"' in line
        )
        memory.undo(forgotten)
        memory.sync()
        assert any("blue door" in hit.text for hit in memory.search("spare key blue door").hits)
        assert not any("saffron" in hit.text for hit in memory.search("saffron walnut").hits)
