"""The reranker moves the best hits, and nothing is lost where it is slow, broken or missing."""

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from embed.tiny_reranker import write
from mnemark.memory.health.doctor import doctor
from mnemark.memory.health.upgrades import packages
from mnemark.memory.memory import Memory
from mnemark.retrieval.stages import RERANKED
from mnemark.types import Recall
from mnemark_adapters.reranker import (
    BATCH,
    WEIGHT,
    BackgroundReranker,
    OnnxReranker,
    RerankerUnavailable,
    blend,
)

scores = st.lists(st.floats(0, 2, width=32), min_size=1, max_size=30)
logit = st.floats(-1e6, 1e6, width=32)


def column(values: Sequence[float]) -> NDArray[np.float32]:
    return np.array(values, np.float32)


@given(scores, logit)
def test_a_judge_without_an_opinion_changes_nothing(fused: list[float], same: float) -> None:
    assert blend(column(fused), column([same] * len(fused))).tolist() == column(fused).tolist()


@given(st.data(), scores)
def test_no_score_falls_and_none_gains_more_than_the_weight(data: st.DataObject, fused: list[float]) -> None:
    logits = data.draw(st.lists(logit, min_size=len(fused), max_size=len(fused)))
    gained = blend(column(fused), column(logits)) - column(fused)
    assert (gained >= 0).all()
    assert (gained <= WEIGHT + 1e-6).all()
    # Who is judged better gains no less.
    order = np.argsort(column(logits), kind="stable")
    assert (np.diff(gained[order]) >= -1e-6).all()


def test_blend_is_on_one_scale() -> None:
    assert blend(column([]), column([])).shape == (0,)
    assert blend(column([0.5, 0.4]), column([-9, 9])).tolist() == pytest.approx([0.5, 0.4 + WEIGHT], abs=1e-3)
    # A slight leaning does not overturn what the words say clearly.
    assert np.argmax(blend(column([0.9, 0.4]), column([0.0, 0.5]))) == 0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Notes of falling lexical score; the marker that the model likes is in the eighth."""
    folder = tmp_path / "w"
    folder.mkdir()
    for number in range(30):
        mark = "gold" if number == 7 else "grey"
        text = "alpha " * (30 - number) + f"{mark} " + "word " * (number + 5)
        (folder / f"note{number:02}.md").write_text(f"{text}\n")
    return folder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write(tmp_path / "model")


def order(found: Recall) -> list[str]:
    return [hit.path for hit in found.hits]


def lexical(root: Path) -> Recall:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        return memory.search("alpha", k=30)


def test_the_judged_best_comes_first(root: Path, model: Path) -> None:
    plain = lexical(root)
    assert plain.hits[0].path != "note07.md"
    assert "note07.md" in order(plain)[:RERANKED]
    with Memory.open(root, config={"embedder": "none", "reranker": str(model)}) as memory:
        found = memory.search("alpha", k=30, explain=True)
        block = memory.recall("alpha", deadline=5)
    assert found.mode == "lexical+rerank"
    assert found.complete
    assert not found.degraded
    assert order(found)[0] == "note07.md"
    assert [path for path in order(found) if path != "note07.md"] == [
        path for path in order(plain) if path != "note07.md"
    ]
    routes = [hit.why["routes"] for hit in found.hits]
    assert routes[0]["rerank"]["rank"] == 1
    assert routes[0]["rerank"]["score"] > 0.9
    assert sum("rerank" in route for route in routes) == RERANKED
    assert block.mode == "lexical+rerank"
    assert block.hits[0].path == "note07.md"


def test_beside_the_dense_route_and_from_a_path_in_the_workspace(root: Path) -> None:
    write(root / "models/judge")
    (root / "mnemark.toml").write_text('embedder = "hashing"\nreranker = "models/judge"\n')
    with Memory.open(root) as memory:
        memory.sync()
        found = memory.search("alpha")
    assert found.mode == "lexical+dense+rerank"
    assert found.hits[0].path == "note07.md"


def test_formulas_of_others_stay_as_they_are(root: Path, model: Path) -> None:
    settings = {"embedder": "hashing", "reranker": str(model)}
    with Memory.open(root, config=settings) as memory:
        memory.sync()
        found = memory.search("alpha", preset="nanobot")
    assert found.mode == "lexical+dense"
    assert not found.degraded


def test_no_hits_are_no_work(root: Path, model: Path) -> None:
    with Memory.open(root, config={"embedder": "none", "reranker": str(model)}) as memory:
        found = memory.search("unheard")
    assert not found.hits
    assert found.mode == "lexical"
    assert not found.degraded


def test_a_folder_that_is_not_there(root: Path, tmp_path: Path) -> None:
    settings = {"embedder": "none", "reranker": str(tmp_path / "none")}
    with Memory.open(root, config=settings) as memory:
        found = memory.search("alpha", k=30)
    assert order(found) == order(lexical(root))
    assert found.mode == "lexical"
    assert not found.complete
    [reason] = found.degraded
    assert reason.startswith("rerank: ")


def test_a_model_that_is_damaged(root: Path, model: Path) -> None:
    (model / "model.onnx").write_bytes(b"nothing of the kind")
    with Memory.open(root, config={"embedder": "none", "reranker": str(model)}) as memory:
        found = memory.search("alpha", k=30)
        assert order(found) == order(lexical(root))
        assert "cannot be loaded" in found.degraded[0]
        assert memory.recall("alpha", deadline=5).hits


@pytest.mark.timed
def test_a_slow_model_is_left_out_of_a_recall(
    root: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def slow(self: OnnxReranker, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        over.wait(10)
        return np.zeros(len(passages), np.float32)

    monkeypatch.setattr(OnnxReranker, "logits", slow)
    with Memory.open(root, config={"embedder": "none", "reranker": str(model)}) as memory:
        memory.sync()
        with memory.workspace.searcher.reader.reading():
            pass  # the index is read before the clock runs
        for reason in ("did not answer in time", "busy with an earlier search"):
            started = time.monotonic()
            found = memory.recall("alpha", deadline=1.0)
            assert time.monotonic() - started < 1.5
            assert found.hits
            assert found.text
            assert found.mode == "lexical"
            assert reason in found.degraded[0]
        over.set()


class Fake:
    """A reranker that counts its runs and waits in each until it is told to go on."""

    name = "fake"

    def __init__(self) -> None:
        self.runs = 0
        self.pause = 0.0
        self.go_on = threading.Event()

    def logits(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        self.runs += 1
        self.go_on.wait(10)
        time.sleep(self.pause)
        return np.arange(len(passages), dtype=np.float32)


@pytest.fixture
def fake() -> Iterator[Fake]:
    reranker = Fake()
    yield reranker
    reranker.go_on.set()


def test_who_was_given_up_stops_after_the_batch(fake: Fake) -> None:
    judge = BackgroundReranker(lambda: fake)
    assert judge.logits("q", ["x"] * (4 * BATCH), 0.05).problem == "the reranker did not answer in time"
    fake.go_on.set()
    verdict = judge.logits("q", ["x"] * 3, 5)
    assert verdict.logits is not None
    assert verdict.logits.tolist() == [0, 1, 2]
    assert fake.runs == 2


def test_no_time_at_all(fake: Fake) -> None:
    assert BackgroundReranker(lambda: fake).logits("q", ["x"], -1.0).logits is None


def test_a_failing_reranker_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def broken() -> Fake:
        made.append(1)
        raise RerankerUnavailable("it is gone; fetch it again")

    judge = BackgroundReranker(broken)
    for _ in range(3):
        assert judge.logits("q", ["x"], 5).problem == "it is gone; fetch it again"
    assert len(made) == 1
    monkeypatch.setattr("mnemark_adapters.reranker.RETRY_SECONDS", 0.0)
    judge._retry_at = 0.0
    judge.logits("q", ["x"], 5)
    assert len(made) == 2


def test_a_bug_is_not_taken_for_a_missing_reranker() -> None:
    class Buggy(Fake):
        def logits(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
            raise ZeroDivisionError

    judge = BackgroundReranker(Buggy)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            judge.logits("q", ["x"], 5)


def told(memory: Memory) -> str:
    findings = doctor(memory.workspace).findings
    return "\n".join(f"{finding.level}: {finding.what} | {finding.fix}" for finding in findings)


def test_doctor_tells_of_the_reranker_and_its_time(root: Path, model: Path) -> None:
    with Memory.open(root, config={"embedder": "none", "reranker": str(model)}) as memory:
        memory.sync()
        said = told(memory)
        assert "ok: reranker model: about " in said
        assert " ms for 20 passages of this memory" in said
    settings = {"embedder": "hashing", "reranker": str(model), "preset": "nanobot"}
    with Memory.open(root, config=settings) as memory:
        assert "the preset 'nanobot' does not use it | set preset" in told(memory)


def test_doctor_tells_of_a_reranker_that_is_broken_or_slow(
    root: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.sync()
        assert "ok: no reranker configured" in told(memory)
        memory.workspace.searcher.reranker = BackgroundReranker(lambda: fake)
        monkeypatch.setattr("mnemark.memory.health.upgrades._PATIENCE", 0.05)
        fake.go_on.set()
        fake.pause = 0.5
        assert "warn: the reranker '' does not work: the reranker did not answer in time" in told(memory)
        monkeypatch.setattr("mnemark.memory.health.upgrades._PATIENCE", 30.0)
        assert "longer than recall_deadline_ms (150 ms) | use a smaller model" in told(memory)


def test_doctor_tells_what_another_embedder_costs(root: Path) -> None:
    for path in sorted(root.glob("note*.md"))[10:]:
        path.unlink()
    characters = sum(len(path.read_text("utf-8")) for path in root.glob("note*.md"))
    with Memory.open(root, config={"embedder": "hashing"}) as memory:
        memory.sync()
        said = told(memory)
    characters += 10 * len("note00\n")  # the title goes along
    assert f"embeds all 10 texts again ({characters:,} characters)" in said
    assert "texts per second, measured on 10)" in said


def test_doctor_does_not_send_texts_to_a_server_to_time_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMARK_HOSTS", "127.0.0.1:9")
    settings = {"embedder": "api:m", "embedder_url": "http://127.0.0.1:9/v1", "embedder_dimension": 8}
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.sync()
    with Memory.open(root, config=settings) as memory:
        assert "was not timed, because that would send texts" in told(memory)


def test_doctor_names_what_is_not_installed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    assert 'onnxruntime, tokenizers (pip install "mnemark[fastembed]")' in packages()
    assert 'sqlite_vec (pip install "mnemark[sqlite-vec]")' in packages()
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: object())
    assert packages() == "all optional packages are installed"
