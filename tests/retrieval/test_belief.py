"""Whether an answer can be believed: from three turns on, for questions of one word, with any ranking."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.memory.memory import Memory
from mnemark.retrieval.presets import PRESETS
from mnemark.retrieval.ranking.confidence import Evidence, believable, share, together

SURE, UNSURE = 0.4, 0.3


@pytest.fixture(params=["bundled", "none"])
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    with Memory.open(tmp_path, config={"embedder": request.param}) as found:
        session = found.session("cli:main")
        session.add("user", "We decided to use PostgreSQL for the billing service.")
        session.add("assistant", "Noted.")
        session.add("user", "服务器放在上海机房，下周三上线。")
        yield found


@pytest.mark.parametrize(
    "question",
    ["what did we decide for the billing service?", "postgresql", "服务器在哪个机房", "什么时候上线"],
)
def test_three_turns_are_enough_to_be_sure(memory: Memory, question: str) -> None:
    assert memory.search(question).believable > SURE


@pytest.mark.parametrize(
    "question", ["who won the football match?", "what is my dog's name", "今天晚饭吃什么"]
)
def test_three_turns_that_say_nothing_of_it(memory: Memory, question: str) -> None:
    assert memory.search(question).believable < UNSURE


def test_among_many_alike_a_passage_says_less(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        (tmp_path / "one.md").write_text("# Harbour\n\nThe crane was repaired.\n")
        alone = memory.search("crane repaired harbour").believable
        for number in range(120):
            (tmp_path / f"n{number}.md").write_text(f"# Harbour {number}\n\nThe crane was repaired.\n")
        memory.sync()
        assert memory.search("crane repaired harbour").believable < alone


def test_another_time_than_asked_is_believed_less(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-03-02.md").write_text("# 2026-03-02\n\nBought oats.\n")
    (tmp_path / "memory" / "2026-05-11.md").write_text("# 2026-05-11\n\nRepaired the garden fence.\n")
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        right = memory.search("repaired the garden fence in May", explain=True)
        wrong = memory.search("repaired the garden fence in March", explain=True)
    assert [found.hits[0].why["answer"]["outside"] for found in (right, wrong)] == [0.0, 1.0]
    assert wrong.believable < right.believable


def test_it_does_not_hang_on_the_ranking(memory: Memory) -> None:
    question = "what did we decide for the billing service?"
    found = {name: memory.search(question, preset=name).believable for name in PRESETS}
    assert min(found.values()) > SURE


texts = st.text("ab 数据", max_size=60)


@given(st.dictionaries(texts.filter(bool), st.floats(0.01, 9), max_size=6), texts)
def test_shares_are_shares(terms: dict[str, float], text: str) -> None:
    present = frozenset(term for term in terms if term in text)
    assert 0 <= share(terms, present) <= 1 + 1e-9
    assert 0 <= together(terms, text) <= 1
    if not present:
        assert together(terms, text) == 0


@given(
    st.builds(
        Evidence,
        lead=st.floats(0, 3),
        together=st.floats(0, 1),
        coverage=st.floats(0, 1),
        cosine=st.none() | st.floats(-1, 1),
        outside=st.sampled_from([0.0, 1.0]),
        terms=st.integers(0, 90),
    ),
    st.floats(0, 1),
)
def test_more_evidence_is_never_believed_less(evidence: Evidence, more: float) -> None:
    value = believable(evidence)
    assert 0 <= value <= 1
    for stronger in (
        evidence._replace(lead=evidence.lead + more),
        evidence._replace(together=max(evidence.together, more)),
        evidence._replace(coverage=max(evidence.coverage, more)),
    ):
        assert believable(stronger) >= value
