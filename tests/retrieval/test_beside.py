"""Among many passages, meaning is compared beside the words; the answers are the same."""

import threading
from pathlib import Path
from typing import Any

import numkong
import pytest

from mnemark import Memory
from mnemark.index.vectors import rows
from mnemark.retrieval.routes import lexical

NOTES = {
    "tea": "The cat had tea with the neighbours.",
    "boat": "We moored the boat at the western pier.",
    "猫": "猫在厨房里喝了牛奶。",
}
QUESTIONS = ("tea for the cat", "猫喝了什么", "where is our ship", "nothing of the kind, zzyx")
PATIENCE = 20.0


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    for name, text in NOTES.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    with Memory.open(tmp_path) as opened:
        opened.sync()
        yield opened


def answers(memory: Memory) -> list[Any]:
    """Return what a search shows of its hits, for each question."""
    found = [memory.search(question, explain=True) for question in QUESTIONS]
    return [(one.mode, one.degraded, one.believable, one.hits) for one in found]


def test_answers_are_the_same(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = answers(memory)
    monkeypatch.setattr(rows, "_PART", 1)
    assert answers(memory) == alone
    assert all("dense" in mode for mode, *_ in alone)


def test_meaning_is_compared_while_words_are(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    meaning_began = threading.Event()
    in_time = []
    dot, score = numkong.dot, lexical.score

    def dot_and_tell(*arguments: Any, **options: Any) -> None:
        meaning_began.set()
        dot(*arguments, **options)

    def score_after_meaning_began(*arguments: Any) -> Any:
        in_time.append(meaning_began.wait(PATIENCE))
        return score(*arguments)

    monkeypatch.setattr(rows, "_PART", 1)
    monkeypatch.setattr(numkong, "dot", dot_and_tell)
    monkeypatch.setattr(lexical, "score", score_after_meaning_began)
    assert memory.search("tea for the cat").hits[0].path == "tea.md"
    assert in_time == [True]


def test_an_error_beside_reaches_the_caller(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: Any, **_options: Any) -> None:
        raise ZeroDivisionError("a mistake in the program")

    with monkeypatch.context() as patch:
        patch.setattr(rows, "_PART", 1)
        patch.setattr(numkong, "dot", broken)
        with pytest.raises(ZeroDivisionError):
            memory.search("tea for the cat")
    assert memory.search("tea for the cat").hits[0].path == "tea.md"
