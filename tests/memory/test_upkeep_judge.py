"""A model may say which facts say the same; what it cannot do is lose one, or merge what differs."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.llm import Budget, Ledger, Message, Meter
from mnemark.llm.function import FunctionLLM, from_callable

LIKES = (
    "takes the early train to the office on Fridays",
    "takes the early train to the office on Fridays because it is empty",
    "reads novels about the sea",
    "周末喜欢去西湖边上骑自行车",
    "周末喜欢去西湖边上骑自行车散心",
)


class Model:
    """Answers with the numbers of the facts that hold given words, and keeps what it was asked."""

    def __init__(self, *groups: tuple[str, ...], raw: str = "") -> None:
        self.asked: list[str] = []
        self.groups = groups
        self.raw = raw
        meter = Meter(Budget(calls_per_day=50, tokens_per_day=1_000_000), Ledger.in_memory())
        self.llm: FunctionLLM = from_callable(self._answer, meter=meter)

    def _answer(self, messages: Sequence[Message]) -> str:
        said = "\n".join(message.content for message in messages)
        if "Cluster 1" not in said:
            return '{"changes": []}'
        self.asked.append(said)
        lines = [line for line in said.splitlines() if line[:1].isdigit()]
        numbers = [
            [int(line.partition(":")[0]) for words in group for line in lines if line.endswith(words)]
            for group in self.groups
        ]
        return self.raw or json.dumps({"groups": numbers})


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path, config={"embedder": "none"})
    for value in LIKES:
        memory.remember("likes", value)
    return memory


def values(memory: Memory) -> set[str]:
    return {fact.value for fact in memory.facts()}


def test_without_a_model_all_stays_and_is_told(memory: Memory) -> None:
    report = memory.consolidate()
    assert values(memory) == set(LIKES)
    assert sum(note.startswith("alike:") for note in report.notes) == 2


def test_of_two_that_say_the_same_the_one_that_says_more_stays(memory: Memory) -> None:
    model = Model(LIKES[3:5])
    report = memory.consolidate(llm=model.llm)
    assert values(memory) == {*LIKES[:3], LIKES[4]}
    assert sum(note.startswith("alike:") for note in report.notes) == 1
    archived = "".join(path.read_text("utf-8") for path in (memory.root / "memory/archive/facts").iterdir())
    assert LIKES[3] in archived
    assert "merged:" in archived
    memory.undo(report.group)
    assert values(memory) == set(LIKES)


def test_it_is_asked_once_and_a_dry_run_is_kept(memory: Memory) -> None:
    model = Model(LIKES[3:5])
    memory.consolidate(llm=model.llm, dry_run=True)
    assert values(memory) == set(LIKES)
    memory.consolidate(llm=model.llm)
    assert len(values(memory)) == 4
    memory.consolidate(llm=model.llm)
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    "raw",
    [
        "no JSON at all",
        '{"groups": [[0]]}',
        '{"groups": [[0, 1, 2, 3, 4]]}',
        '{"groups": [[77, 78], [-1, -2]]}',
    ],
)
def test_nonsense_merges_nothing_and_is_told(memory: Memory, raw: str) -> None:
    report = memory.consolidate(llm=Model(raw=raw).llm)
    assert values(memory) == set(LIKES)
    assert any("similar facts were not compared" in note or "were rejected" in note for note in report.notes)


def test_numbers_and_negation_are_never_merged(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, config={"embedder": "none"})
    said = (
        "drinks about 2 cups of green tea at the office each morning",
        "drinks about 3 cups of green tea at the office each morning",
        "wants meetings in the afternoon on Thursdays with the team",
        "wants no meetings in the afternoon on Thursdays with the team",
    )
    for value in said:
        memory.remember("likes", value)
    model = Model(said[:2], said[2:])
    report = memory.consolidate(llm=model.llm)
    assert len(model.asked) == 1
    assert values(memory) == set(said)
    assert any("2 answers" in note for note in report.notes)
