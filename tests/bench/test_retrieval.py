import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bench import tiny
from mnemark_bench.cli import app
from mnemark_bench.data import load_set
from mnemark_bench.fixture import bedded
from sampled import sampled

Run = Callable[..., Any]


@pytest.fixture
def run() -> Run:
    def call(*arguments: object) -> Any:
        done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    return call


def systems(text: str) -> dict[str, Any]:
    return {found["system"]: found for found in json.loads(text)["sets"][0]["systems"]}


def test_known_results_in_both_languages(tmp_path: Path, run: Run) -> None:
    folder = tiny.write(tmp_path / "tiny")
    out = run("retrieval", folder, "--embedder", "none", "--preset", "lexical", "--json")
    result = json.loads(out)["sets"][0]
    assert (result["set"], result["units"], result["scopes"], result["scored"]) == ("tiny", 8, 2, 4)
    found = systems(out)
    assert set(found) == {"fts5 unicode61", "fts5 pre-segmented", "bm25 plain", "lexical"}
    for name in ("lexical", "bm25 plain", "fts5 pre-segmented"):
        assert found[name]["measures"]["turn_fractional@5"] == 1.0
        assert found[name]["measures"]["session_any@5"] == 1.0
    # Without segmentation both Chinese questions miss.
    assert found["fts5 unicode61"]["measures"]["turn_any@5"] == 0.5
    assert found["lexical"]["differences"]["bm25 plain"]["turn_fractional@5"]["mean"] == 0
    assert found["lexical"]["categories"]["fact"]["n"] == 3
    assert found["lexical"]["latency"]["p50_ms"] > 0


@pytest.mark.parametrize("kind", sampled(["note", "memory", "passage"], 2))
def test_notes_are_found_as_their_units(tmp_path: Path, run: Run, kind: str) -> None:
    folder = tiny.write(tmp_path / "tiny", kind=kind)
    found = systems(run("retrieval", folder, "--embedder", "none", "--numbered", "--json"))
    assert found["lexical"]["measures"]["turn_fractional@5"] == 1.0


def test_kept_workspaces_give_the_same_answers(tmp_path: Path, run: Run) -> None:
    folder, keep = tiny.write(tmp_path / "tiny"), tmp_path / "kept"
    arguments = ("retrieval", folder, "--embedder", "hashing", "--keep", keep, "--json")
    first, again = (systems(run(*arguments)) for _ in range(2))
    assert (keep / "tiny" / "0" / "sessions").is_dir()
    assert {n: s["measures"] for n, s in first.items()} == {n: s["measures"] for n, s in again.items()}


def test_kept_workspaces_of_other_data_are_refused(tmp_path: Path, run: Run) -> None:
    folder, keep = tiny.write(tmp_path / "tiny"), tmp_path / "kept"
    run("retrieval", folder, "--embedder", "none", "--keep", keep)
    corpus = folder / "corpus.jsonl"
    corpus.write_text(corpus.read_text(encoding="utf-8").replace("boiler", "heater"), encoding="utf-8")
    with pytest.raises(Exception, match="made from other data"):
        run("retrieval", folder, "--embedder", "none", "--keep", keep)


def test_the_table_says_what_was_skipped_and_shows_baselines(tmp_path: Path, run: Run) -> None:
    folder = tiny.write(tmp_path / "tiny")
    out = run("retrieval", folder, "--embedder", "none", "--per-category", "--no-now")
    assert "not answerable: 1" in out
    assert "evidence not in the corpus: 1" in out
    assert "bm25 plain" in out
    assert "lexical, undated" in out


def test_an_unknown_preset_is_an_error(tmp_path: Path, run: Run) -> None:
    with pytest.raises(Exception, match='"nothing" is not a preset'):
        run("retrieval", tiny.write(tmp_path / "tiny"), "--preset", "nothing")


def test_questions_stay_in_their_scope(tmp_path: Path) -> None:
    data = load_set(tiny.write(tmp_path / "tiny"))
    with bedded(data, tmp_path / "work", None) as bed:
        for question in data.questions:
            units, sessions = bed.rank(question, bed.ask(question, preset="lexical").hits)
            assert {unit.split("/")[0] for unit in units} == set(question.scopes)
            assert {session.split("/")[0] for session in sessions} == set(question.scopes)
