"""What has no vector yet is found by its words, no lower than what has one."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemark.embed.hashing import HashingEmbedder
from mnemark.memory.memory import Memory
from mnemark.retrieval.routes.dense import filled
from mnemark.types import Recall

ENGLISH = ("doctor", "knee", "marathon", "say")
CHINESE = ("医生", "膝盖", "马拉松", "休息")
QUESTION = {
    "en": "What did the doctor say about the knee after the marathon?",
    "zh": "马拉松以后医生说膝盖要怎么休息？",
}
ANSWER = {
    "en": "The doctor did say this about the knee after the marathon: rest it.",
    "zh": "马拉松以后，医生说膝盖要好好休息。",
}
OTHERS = 160


class Gated(HashingEmbedder):
    """Embeds no passage while the gate is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.gate.wait(60)
        return super().passages(texts)


@pytest.fixture
def embedder() -> Iterator[Gated]:
    gated = Gated()
    yield gated
    gated.gate.set()


def fill(memory: Memory, language: str) -> None:
    """Other turns, each with some of the question's words."""
    session = memory.session("before")
    for number in range(OTHERS):
        words = ENGLISH if language == "en" else CHINESE
        first, second = words[number % 4], words[number // 4 % 4]
        text = (
            f"The {first} and the {second} in town number {number}, then a long walk home."
            if language == "en"
            else f"{first}和{second}在第{number}个城市，然后走路回家。"
        )
        session.add("assistant", text)


def turn(memory: Memory, text: str) -> None:
    memory.session("new").add("assistant", text)


def note(memory: Memory, text: str) -> None:
    (memory.root / "new.md").write_text(f"# Visit\n\n{text}\n", encoding="utf-8")
    memory.sync(embed=False)


def fact(memory: Memory, text: str) -> None:
    memory.remember("visit", text)


def session_of_turns(memory: Memory, text: str) -> None:
    """The answer between two turns of a session that is synced, without vectors."""
    session = memory.session("new")
    for said in ("Hello.", text, "Thanks."):
        session.add("user", said)
    memory.sync(embed=False)


WRITTEN = (turn, note, fact, session_of_turns)


def place(found: Recall, text: str) -> int:
    return next((number for number, hit in enumerate(found.hits) if text in hit.text), -1)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("write", WRITTEN)
def test_what_a_slow_model_has_not_embedded_comes_first(
    tmp_path: Path, embedder: Gated, write: Callable[[Memory, str], None], language: str
) -> None:
    with Memory.open(tmp_path, embedder=embedder) as memory:
        fill(memory, language)
        memory.sync()
        assert memory.search("walk 走路").complete
        embedder.gate.clear()
        write(memory, ANSWER[language])
        found = memory.search(QUESTION[language], k=200)
        embedder.gate.set()
    assert place(found, ANSWER[language]) == 0
    assert "dense" in found.mode
    assert not found.complete
    assert any("of the passages are embedded" in reason for reason in found.degraded)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("write", WRITTEN)
def test_the_bundled_embedder_compares_it_at_once(
    tmp_path: Path, write: Callable[[Memory, str], None], language: str
) -> None:
    with Memory.open(tmp_path) as memory:
        fill(memory, language)
        memory.sync()
        assert memory.search("walk 走路").complete
        write(memory, ANSWER[language])
        found = memory.search(QUESTION[language], k=200)
        memory.sync()
        synced = memory.search(QUESTION[language], k=200)
    assert place(found, ANSWER[language]) == 0
    assert (found.complete, found.degraded) == (True, ())
    assert found.hits[0].score == pytest.approx(synced.hits[0].score, abs=0.01)
    assert found.believable == pytest.approx(synced.believable, abs=0.01)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_any_vector_words_alone_rank(tmp_path: Path, embedder: Gated, language: str) -> None:
    with Memory.open(tmp_path, embedder=embedder) as memory:
        fill(memory, language)
        embedder.gate.clear()
        memory.sync(embed=False)
        turn(memory, ANSWER[language])
        found = memory.search(QUESTION[language], k=200)
        words = memory.search(QUESTION[language], k=200, preset="lexical")
        embedder.gate.set()
    assert place(found, ANSWER[language]) == 0
    assert [hit.ref for hit in found.hits[:20]] == [hit.ref for hit in words.hits[:20]]
    assert found.mode == words.mode
    assert not found.complete
    assert any("only 0% of the passages" in reason for reason in found.degraded)


def test_a_turn_that_is_left_out_anyway_lacks_nothing(tmp_path: Path, embedder: Gated) -> None:
    with Memory.open(tmp_path, embedder=embedder) as memory:
        fill(memory, "en")
        memory.sync()
        memory.search("walk")
        embedder.gate.clear()
        written = memory.session("new")
        written.add("user", QUESTION["en"])
        found = written.recall(QUESTION["en"], deadline=20)
        embedder.gate.set()
    assert (found.complete, found.degraded) == (True, ())


def test_the_line_goes_through_what_is_known() -> None:
    words = np.array([0.0, 0.0, 0.2, 0.4, 0.6, 0.4, 0.0, 0.8], np.float32)
    cosines = np.array([0.1, 0.1, 0.2, 0.3, 0.4, 0.0, 0.0, 0.0], np.float32)
    found = filled(cosines, np.array([5, 6, 7]), words)
    assert found[:5].tolist() == cosines[:5].tolist()
    assert found[5:] == pytest.approx([0.3, 0.22, 0.5])


def test_with_all_vectors_nothing_is_filled() -> None:
    cosines = np.array([0.1, 0.0, 0.2], np.float32)
    assert filled(cosines, np.zeros(0, np.int64), np.ones(3, np.float32)) is cosines
