"""A real cross-encoder of a few nodes: its logit is GAIN for each `gold` in the passage, less half of it."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest

Shape = Literal["n", "n1", "n2", "n3"]
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "gold", "alpha"]
GAIN = 8.0


def write(
    folder: Path,
    *,
    shape: Shape = "n1",
    inputs: tuple[str, ...] = INPUTS,
    integers: Literal["INT64", "INT32"] = "INT64",
    file: str = "model.onnx",
) -> Path:
    """Write model and tokenizer; skips the test where the packages are missing."""
    onnx: Any = pytest.importorskip("onnx", reason="needs onnx, to make a model")
    for package in ("onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason="needs mnemark[fastembed]")
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(_model(onnx, shape, inputs, integers), folder / file)
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()), encoding="utf-8")
    return folder


def _model(onnx: Any, shape: Shape, inputs: tuple[str, ...], integers: str) -> Any:
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    np: Any = pytest.importorskip("numpy")
    kind = getattr(onnx.TensorProto, integers)
    number = np.int64 if integers == "INT64" else np.int32
    constants = {
        "marker": np.array(WORDS.index("gold"), number),
        "axis": np.array([1], np.int64),
        "gain": np.array(GAIN, np.float32),
        "half": np.array(GAIN / 2, np.float32),
        "zero": np.array(0, np.float32),
    }
    nodes = [
        helper.make_node("Equal", [inputs[0], "marker"], ["is_gold"]),
        helper.make_node("Cast", ["is_gold"], ["counted0"], to=onnx.TensorProto.FLOAT),
    ]
    # A marker counts where the mask and the type of the token are 1: inside the passage.
    for step, name in enumerate(inputs[1:]):
        nodes.append(helper.make_node("Cast", [name], [f"float{step}"], to=onnx.TensorProto.FLOAT))
        nodes.append(helper.make_node("Mul", [f"counted{step}", f"float{step}"], [f"counted{step + 1}"]))
    last = f"counted{len(inputs) - 1}"
    keep = int(shape != "n")
    nodes += [
        helper.make_node("ReduceSum", [last, "axis"], ["sum"], keepdims=keep),
        helper.make_node("Mul", ["sum", "gain"], ["scaled"]),
        helper.make_node("Sub", ["scaled", "half"], ["logit"]),
        helper.make_node("Mul", ["logit", "zero"], ["nothing"]),
    ]
    columns = {
        "n": ["logit"],
        "n1": ["logit"],
        "n2": ["nothing", "logit"],
        "n3": ["nothing", "logit", "logit"],
    }
    if len(columns[shape]) == 1:
        nodes.append(helper.make_node("Identity", columns[shape], ["logits"]))
    else:
        nodes.append(helper.make_node("Concat", columns[shape], ["logits"], axis=1))
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, ["batch", "length"]) for name in inputs],
        [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model


def _tokenizer() -> dict[str, Any]:
    def special(word: str) -> dict[str, Any]:
        return {"id": word, "ids": [WORDS.index(word)], "tokens": [word]}

    def token(word: str, kind: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": word, "type_id": kind}}

    def part(name: str, kind: int) -> dict[str, Any]:
        return {"Sequence": {"id": name, "type_id": kind}}

    single = [token("[CLS]", 0), part("A", 0), token("[SEP]", 0)]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": single,
            "pair": [*single, part("B", 1), token("[SEP]", 1)],
            "special_tokens": {word: special(word) for word in ("[CLS]", "[SEP]")},
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: number for number, word in enumerate(WORDS)},
            "unk_token": "[UNK]",
        },
    }
