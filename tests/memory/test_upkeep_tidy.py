"""A model may merge and supersede what people wrote; whatever else it answers, the file stays as it was."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.llm import Budget, Ledger, Meter
from mnemark.llm.function import FunctionLLM, from_callable

TEXT = """# Memory

- Deploys happen on Tuesdays.
- The staging server is called Pelikan.
- Deploys are on Tuesdays at 10.
- 用户住在北京。
- 用户住在杭州。
- Tests run before each commit.
- The printer is on the third floor.
- Coffee is at nine.
- Reviews need two people.
"""


def model(answer: str | Callable[[], str]) -> FunctionLLM:
    meter = Meter(Budget(calls_per_day=50, tokens_per_day=1_000_000), Ledger.in_memory())
    return from_callable(lambda _: answer if isinstance(answer, str) else answer(), meter=meter)


def changes(*drops: dict[str, object]) -> str:
    return json.dumps({"changes": drops})


def tidied(root: Path, llm: FunctionLLM) -> tuple[str, tuple[str, ...]]:
    (root / "MEMORY.md").write_text(TEXT)
    with Memory.open(root, config={"embedder": "none"}) as memory:
        report = memory.consolidate(llm=llm)
    return (root / "MEMORY.md").read_text(), report.notes


def test_merged_and_superseded_lines_go_and_are_named(tmp_path: Path) -> None:
    answer = changes(
        {"line": 3, "into": 5, "action": "merge", "text": "Deploys happen on Tuesdays at 10."},
        {"line": 6, "into": 7, "action": "supersede"},
    )
    text, notes = tidied(tmp_path, model(answer))
    assert notes == ()
    gone = ("- Deploys happen on Tuesdays.\n", "- 用户住在北京。\n")
    wanted = TEXT.replace("- Deploys are on Tuesdays at 10.", "- Deploys happen on Tuesdays at 10.")
    for line in gone:
        wanted = wanted.replace(line, "")
    assert text == wanted
    report = next((tmp_path / "memory/reports").glob("*.md")).read_text()
    assert "用户住在北京" in report


@pytest.mark.parametrize(
    "answer",
    [
        "I would rather not.",
        "",
        changes({"line": 3, "into": 5, "action": "merge", "text": "Deploys happen weekly."}),
        changes({"line": 3, "into": 5, "action": "merge", "text": "Deploys happen Tuesdays at 10 in Rome"}),
        changes({"line": 4, "into": 9, "action": "supersede"}),
        changes({"line": 3, "into": 99, "action": "supersede"}),
        changes({"line": 3, "into": 3, "action": "supersede"}),
        changes(*({"line": line, "into": 11, "action": "supersede"} for line in range(3, 11))),
        changes({"line": 3, "into": 5, "action": "merge", "text": "<!-- mnemark:begin core -->"}),
    ],
)
def test_nonsense_changes_nothing_and_is_told(tmp_path: Path, answer: str) -> None:
    text, notes = tidied(tmp_path, model(answer))
    assert text == TEXT
    assert any("not tidied" in note for note in notes)


def test_a_model_that_takes_too_long_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemark.memory.consolidation.tidy._SECONDS", 0.2)

    def late() -> str:
        time.sleep(2)
        return "{}"

    text, notes = tidied(tmp_path, model(late))
    assert text == TEXT
    assert any("not tidied" in note for note in notes)
