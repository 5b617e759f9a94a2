import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bench import tiny
from mnemark.embed.bundled import BundledEmbedder
from mnemark.errors import UsageError
from mnemark.retrieval.presets import DEFAULT
from mnemark.text.words.segment import query_terms
from mnemark_bench import duplicates, lived, record
from mnemark_bench.ablate import terms_of
from mnemark_bench.cli import app
from mnemark_bench.control import RandomWords, shuffled
from mnemark_bench.corpus import Corpus, grow
from mnemark_bench.data import load_set
from mnemark_bench.evidence import NAMES, rests_on
from mnemark_bench.exchanged import exchanged
from mnemark_bench.fixture import bedded
from mnemark_bench.logistic import fit
from mnemark_bench.removal import Removal


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def run_json(*arguments: object) -> Any:
    return json.loads(run(*arguments, "--json"))


def test_a_lived_in_memory_is_measured_beside_bare_turns(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path / "tiny")
    notes = tmp_path / "notes.jsonl"
    noted = {"scope": "ann", "text": "The owner's boiler in the cellar leaks.", "source_ids": ["ann/1"]}
    wrong = {"scope": "ann", "text": "Kowalski sold 99 boats.", "source_ids": ["ann/2"]}
    notes.write_text("".join(json.dumps(one) + "\n" for one in (noted, wrong)), "utf-8")
    keep = tmp_path / "kept"
    (result,) = run_json("lived", folder, "--embedder", "none", "--derived", notes, "--keep", keep)
    assert result["scored"] == 4
    assert list(result["states"]) == ["bare", "lived", "lived, with notes"]
    assert result["states"]["bare"]["turn_fractional@10"] == 1.0
    assert result["differences"]["lived"]["turn_fractional@10"]["mean"] == 0.0
    assert (result["notes"], result["kept"]) == (2, 0)  # sessions of two turns are too short to be noted
    table = run("lived", folder, "--embedder", "none", "--derived", notes, "--keep", keep)
    assert "lived, with notes" in table
    assert "block derived" in table


def test_sets_without_questions_or_turns_are_left_out_of_lived(tmp_path: Path) -> None:
    told: list[str] = []
    (tiny.write(tmp_path / "sets" / "tiny") / "queries.jsonl").write_text("")
    tiny.write(tmp_path / "sets" / "notes", kind="note")
    with pytest.raises(UsageError, match=r"no set of .* has turns, and questions"):
        lived.run(tmp_path / "sets", derived=None, embedder="none", keep=None, limit=None, tell=told.append)
    assert any("no questions with evidence, left out" in line for line in told)
    assert any("no turns, left out" in line for line in told)


@pytest.mark.slow
def test_every_term_that_is_on_is_ablated(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path / "tiny")
    result = run_json("ablate", folder, "--embedder", "hashing")
    terms = [effect["term"] for effect in result["effects"]]
    used = [term for term in terms_of(DEFAULT) if term != "encoder"]  # it compares no meanings
    assert terms[: len(used)] == used
    assert terms[len(used) :] == [
        "dense, random vectors",
        "dense, beyond random",
        "embedder, beyond the bundled",
    ]
    assert result["full"]["tiny"]["turn_fractional@10"] == 1.0
    assert "plain BM25" in run("ablate", folder, "--embedder", "none")


def test_terms_are_what_zero_switches_off() -> None:
    terms = terms_of(DEFAULT)
    assert {"neighbour", "head", "group", "dense", "time"} <= set(terms)
    assert not {"k1", "name", "fusion", "half_life_days", "recency"} & set(terms)


def test_removed_evidence_is_gone_and_comes_back(tmp_path: Path) -> None:
    data = load_set(tiny.write(tmp_path / "tiny"))
    with bedded(data, tmp_path / "work", None) as bed:
        removal = Removal(bed.memory("li"), bed.stored("li"), data.units["li"])
        question = data.questions[2]
        before = {path: path.read_bytes() for path in bed.memory("li").root.rglob("*.jsonl")}
        with removal.without(question.gold_ids):
            units, _ = bed.rank(question, bed.ask(question, preset="lexical").hits)
            assert "li/2" not in units
        bed.memory("li").sync()
        units, _ = bed.rank(question, bed.ask(question, preset="lexical").hits)
        assert units[0] == "li/2"
        assert before == {path: path.read_bytes() for path in bed.memory("li").root.rglob("*.jsonl")}


def test_a_note_that_is_evidence_is_deleted(tmp_path: Path) -> None:
    data = load_set(tiny.write(tmp_path / "tiny", kind="note"))
    with bedded(data, tmp_path / "work", None) as bed:
        removal = Removal(bed.memory("ann"), bed.stored("ann"), data.units["ann"])
        path = bed.memory("ann").root / bed.stored("ann").path_of["ann/2"]
        with removal.without(["ann/2"]):
            assert not path.exists()
        assert path.read_text(encoding="utf-8").startswith("Call the plumber")


def test_belief_tells_there_from_gone_and_from_elsewhere(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path / "a")
    tiny.write(tmp_path / "b")
    (tiny.write(tmp_path / "c") / "queries.jsonl").write_text("", "utf-8")  # left out
    result = run_json("belief", tmp_path, "--embedder", "none", "--fit")
    found = result["sets"][0]
    assert found["scored"] == 4
    for score in ("on_topic", "believable", "bm25 share", "bm25 raw"):
        assert found["apart"]["gone"][score] > 0.6
        assert found["apart"]["elsewhere"][score] > 0.6  # set b has the same memories
    assert found["handed"]["there"] == 1
    assert found["handed"]["gone"] < 1
    assert 0 < found["by_chance"] < 0.5
    assert 0 < found["share"] <= 1
    assert sum(one["share"] for one in result["bins"]) == pytest.approx(1)
    assert set(result["fit"]["held_out"]) == {"a", "b"}
    assert "bm25 share" in run("belief", folder, "--embedder", "none")


def test_features_are_read_of_an_explained_answer(tmp_path: Path) -> None:
    data = load_set(tiny.write(tmp_path / "tiny"))
    with bedded(data, tmp_path / "work", None) as bed:
        memory = bed.memory("ann")
        found = rests_on(memory.search("plumber", explain=True))
        assert rests_on(memory.search("xylophone", explain=True)) is None
    assert found is not None
    assert len(found) == len(NAMES)
    assert dict(zip(NAMES, found, strict=True))["score"] > 0


def test_the_fit_finds_the_weights_that_made_the_labels() -> None:
    random = np.random.default_rng(5)
    x = random.standard_normal((4000, 2)) * np.array([1.0, 10.0]) + np.array([3.0, 0.0])
    chance = 1 / (1 + np.exp(-(-2.0 + 1.5 * x[:, 0] - 0.1 * x[:, 1])))
    model = fit(x, (random.random(4000) < chance).astype(float), np.ones(4000))
    assert model.intercept == pytest.approx(-2.0, abs=0.4)
    assert model.weights == pytest.approx([1.5, -0.1], abs=0.15)


def test_the_fit_survives_a_constant_feature_and_perfect_separation() -> None:
    x = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0]])
    model = fit(x, np.array([0.0, 0, 1, 1]), np.ones(4))
    assert np.isfinite(model.weights).all()
    assert model.predict(x).argsort().tolist() == [0, 1, 2, 3]


def test_tokens_are_counted_at_the_same_hit_rate(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path / "tiny")
    results = run_json("tokens", folder, "--embedder", "none")
    assert [found["budget"] for found in results] == [400, 800, 1600]
    for found in results:
        assert found["hit"] == found["opened"] == 1.0
        assert found["everything"] >= found["newest"] > 0
        assert found["saved"] == pytest.approx(1 - found["tokens"] / found["everything"])
    assert "loading everything" in run("tokens", folder, "--embedder", "none")


def test_the_control_keeps_spelling_and_loses_meaning(tmp_path: Path) -> None:
    control, real = shuffled(tmp_path / "control.bin"), BundledEmbedder()
    assert control.name != real.name
    assert control.dimension == real.dimension
    texts = ["the physician treats patients", "a doctor in the hospital", "the physician treats patients"]
    mixed, meant = control.passages(texts), real.passages(texts)
    assert mixed[0] @ mixed[2] == pytest.approx(1.0, abs=1e-5)
    assert meant[0] @ meant[1] > 0.3 > abs(mixed[0] @ mixed[1])


def test_random_words_are_the_same_everywhere() -> None:
    control = RandomWords(64)
    vectors = control.passages(["cat dog", "dog cat", "", "数据库"])
    assert vectors.shape == (4, 64)
    assert np.allclose(vectors[0], vectors[1])
    assert not vectors[2].any()
    assert np.linalg.norm(vectors[3]) == pytest.approx(1.0, abs=1e-6)


def test_the_corpus_is_the_same_every_time_and_mixed(tmp_path: Path) -> None:
    first, again = Corpus(), Corpus()
    texts = [first.text(30) for _ in range(60)]
    assert [text.text for text in texts] == [again.text(30).text for _ in range(60)]
    assert {text.language for text in texts} == {"en", "zh"}
    assert [first.question(text) for text in texts] == [again.question(text) for text in texts]
    grown = grow(tmp_path / "w", 120, Corpus())
    assert len(grown.texts) == 120
    assert grown.files == 2 + 12


def test_speed_prints_ratios_beside_baselines() -> None:
    found = run_json("speed", "--sizes", "200", "--embedder", "hashing")[0]
    assert 180 <= found["passages"] <= 260
    assert set(found["latency"]) == {"lexical", "hybrid", "fts5", "numpy scan"}
    assert set(found["ratios"]) == {"lexical to fts5", "hybrid to fts5 and scan"}
    assert min(found["sync_rate"], found["fts5_rate"], found["sync_ratio"], found["embed_rate"]) > 0
    assert found["index_bytes"] > 0 < found["vector_bytes"]
    assert set(found["cold"]) == {"lexical", "hybrid"}
    assert set(found["overlap"]) == {"vectors", "vectors, ties", "search"}
    assert 0.9 < found["overlap"]["vectors, ties"] <= 1


def test_sizes_are_checked() -> None:
    done = CliRunner().invoke(app, ["speed", "--sizes", "1000,many"])
    assert done.exit_code == 2


def test_facts_that_say_the_same_are_merged_and_traps_are_not() -> None:
    (row,) = duplicates.run([1_000])
    assert row.repeated == row.traps == 200
    assert (row.precision, row.trapped) == (1.0, 0)
    assert row.recall > 0.95 > row.recall_equal
    assert row.compared < row.pairs / 10


def test_recording_is_measured_beside_a_bare_write(tmp_path: Path) -> None:
    bare, *ours = record.run(20, tmp_path)
    assert bare.ratio == 1.0
    assert {one.what for one in ours} == {"a turn", "a new fact", "a newer value of a fact"}
    assert all(0 < one.p50 <= one.p99 for one in (bare, *ours))
    assert list(tmp_path.iterdir()) == []


def test_one_word_is_exchanged_for_one_that_the_evidence_does_not_have(tmp_path: Path) -> None:
    data = load_set(tiny.write(tmp_path / "tiny"))
    found = exchanged(data)
    assert found == exchanged(data), "the same each time"
    assert found
    texts = {unit.id: unit.text for units in data.units.values() for unit in units}
    for question in data.questions:
        if question.qid in found:
            changed = found[question.qid].query
            assert changed != question.query
            new = set(query_terms(changed)) - set(query_terms(question.query))
            evidence = " ".join(texts[identifier] for identifier in question.gold_ids)
            assert new
            assert new.isdisjoint(query_terms(evidence))
    assert [question.qid for question in data.unanswerable] == ["q5"]
