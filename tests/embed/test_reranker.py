"""A cross-encoder in a folder: what it is given, what it may give, and what is said of a broken one."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embed.tiny_reranker import GAIN, INPUTS, WORDS, Shape, write
from mnemark_adapters import reranker
from mnemark_adapters.reranker import BATCH, MAX_TOKENS, OnnxReranker, RerankerUnavailable


def test_only_gold_in_the_passage_counts(tmp_path: Path) -> None:
    found = OnnxReranker(write(tmp_path)).logits("gold", ["gold here", "none here", "gold Gold", ""])
    assert found.dtype == np.float32
    assert found.tolist() == [GAIN / 2, -GAIN / 2, GAIN * 1.5, -GAIN / 2]


@pytest.mark.parametrize("shape", ["n", "n1", "n2"])
@pytest.mark.parametrize("integers", ["INT64", "INT32"])
def test_each_shape_of_output_and_both_integers(tmp_path: Path, shape: Shape, integers: Any) -> None:
    model = OnnxReranker(write(tmp_path, shape=shape, integers=integers))
    assert model.logits("q", ["gold", "x"]).tolist() == [GAIN / 2, -GAIN / 2]
    # Two pairs and two columns must not be taken for each other.
    assert model.logits("q", ["gold"]).tolist() == [GAIN / 2]


@pytest.mark.parametrize("inputs", [INPUTS[:1], INPUTS[:2], (INPUTS[0], INPUTS[2])])
def test_the_model_is_given_what_it_asks_for(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    model = OnnxReranker(write(tmp_path, inputs=inputs))
    assert model.logits("q", ["a gold", "none of it in a longer text"]).tolist() == [GAIN / 2, -GAIN / 2]


def test_more_than_a_batch_keeps_its_order(tmp_path: Path) -> None:
    model = OnnxReranker(write(tmp_path))
    passages = ["gold " * (number % 5) + "x " * (number % 7) for number in range(3 * BATCH + 1)]
    expected = [GAIN * (number % 5) - GAIN / 2 for number in range(len(passages))]
    assert model.logits("q", passages).tolist() == expected
    assert model.logits("q", []).shape == (0,)


@pytest.mark.parametrize("question", ["q", "q " * 2000])
def test_long_texts_are_cut(tmp_path: Path, question: str) -> None:
    model = OnnxReranker(write(tmp_path))
    [found] = model.logits(question, ["gold " * 2000])
    assert 0 < (found + GAIN / 2) / GAIN < MAX_TOKENS
    [late] = model.logits("q", ["x " * 600 + "gold"])
    assert late == -GAIN / 2


def test_text_that_is_none(tmp_path: Path) -> None:
    assert OnnxReranker(write(tmp_path)).logits("\ud800", ["gold \udfff"]).tolist() == [GAIN / 2]


@pytest.mark.parametrize("file", ["onnx/model.onnx", "quantized.onnx"])
def test_where_the_model_may_lie(tmp_path: Path, file: str) -> None:
    folder = write(tmp_path / "tiny", file=file)
    model = OnnxReranker(folder)
    assert model.name == "tiny"
    assert model.logits("q", ["gold"]).tolist() == [GAIN / 2]


def test_padding_is_the_tokenizers_own(tmp_path: Path) -> None:
    folder = write(tmp_path, inputs=INPUTS[:1])
    text = (folder / "tokenizer.json").read_text("utf-8")
    own = (
        '"padding": {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": null, '
        f'"pad_id": {WORDS.index("gold")}, "pad_type_id": 0, "pad_token": "gold"}}'
    )
    (folder / "tokenizer.json").write_text(text.replace('"padding": null', own), "utf-8")
    # The model has no mask, so that it counts what fills the shorter row.
    assert OnnxReranker(folder).logits("q", ["x", "x x x"]).tolist() == [GAIN * 1.5, -GAIN / 2]


def test_what_a_folder_lacks(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "tokenizer.json").rename(folder / "elsewhere")
    with pytest.raises(RerankerUnavailable, match=r"it lacks tokenizer\.json"):
        OnnxReranker(folder)
    (folder / "model.onnx").rename(folder / "a.onnx")
    (folder / "elsewhere").rename(folder / "tokenizer.json")
    (folder / "b.onnx").write_bytes(b"")
    with pytest.raises(RerankerUnavailable, match=r"a\.onnx, b\.onnx; rename the one to use to model\.onnx"):
        OnnxReranker(folder)
    (folder / "a.onnx").unlink()
    (folder / "b.onnx").unlink()
    with pytest.raises(RerankerUnavailable, match=r"it lacks model\.onnx"):
        OnnxReranker(folder)
    with pytest.raises(RerankerUnavailable, match="does not exist"):
        OnnxReranker(folder / "none")


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_files_that_are_damaged(tmp_path: Path, broken: str) -> None:
    folder = write(tmp_path)
    (folder / broken).write_bytes(b"nothing of the kind")
    with pytest.raises(RerankerUnavailable, match="cannot be loaded"):
        OnnxReranker(folder).logits("q", ["x"])


def test_models_of_another_kind(tmp_path: Path) -> None:
    other = write(tmp_path / "pixels", inputs=("pixel_values",))
    with pytest.raises(RerankerUnavailable, match="it takes pixel_values"):
        OnnxReranker(other).logits("q", ["x"])
    wide = write(tmp_path / "wide", shape="n3")
    with pytest.raises(RerankerUnavailable, match=r"for 2 pairs it gave the shape \(2, 3\)"):
        OnnxReranker(wide).logits("q", ["x", "y"])


def test_without_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RerankerUnavailable, match=r'run: pip install "mnemark\[fastembed\]"'):
        reranker.OnnxReranker(tmp_path)
