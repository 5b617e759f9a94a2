"""Score pairs of question and passage with a cross-encoder from a folder.

It runs through onnxruntime on this machine. Nothing is downloaded from here.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from mnemark.embed.base import first_line
from mnemark.errors import MnemarkError

if TYPE_CHECKING:
    # Only names in annotations: looking for a model must not import numpy.
    import numpy as np
    from numpy.typing import NDArray

BATCH: Final = 8
"""Pairs in one run of a model."""
MAX_TOKENS: Final = 512
"""Tokens of a question and a passage together, special ones included: the longest that BERT's kin read."""

PACKAGES: Final = ("onnxruntime", "tokenizers")
_MODEL_FILES: Final = ("model.onnx", "onnx/model.onnx")
_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
_INTEGERS: Final = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_PADS: Final = ("[PAD]", "<pad>")


class RerankerUnavailable(MnemarkError):  # noqa: N818 - the name says what is the matter, as callers print it
    """The reranker cannot answer now; the message gives the reason and the fix.

    Callers turn it into a `degraded` entry and keep the order they had.
    """


class Reranker(Protocol):
    """Judges passages against a question. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """What to call it in messages."""
        ...

    def logits(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Score how well each passage answers: float32 (len(passages),), log odds, any real number.

        Raises:
            RerankerUnavailable: no passage could be judged.
        """
        ...


class OnnxReranker:
    """A sequence classifier exported to ONNX, with its fast tokenizer; loaded when first used.

    Args:
        folder: holds `tokenizer.json` and `model.onnx`, `onnx/model.onnx` or one other `.onnx` file. The
            model takes `input_ids` and, if it wants, `attention_mask` and `token_type_ids`; it gives one
            logit a pair, or two of which the second is for "relevant".

    Raises:
        RerankerUnavailable: a package or a file is missing.
    """

    def __init__(self, folder: Path) -> None:
        missing = [package for package in PACKAGES if importlib.util.find_spec(package) is None]
        if missing:
            raise RerankerUnavailable(
                f'{" and ".join(missing)} not installed; run: pip install "mnemark[fastembed]"'
            )
        self._model_path, self._tokenizer_path = _files(folder)
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def name(self) -> str:
        """The folder's name."""
        return self._folder.resolve().name

    def load(self) -> None:
        """Read the model now instead of with the first question.

        Raises:
            RerankerUnavailable: the files are not a model and its tokenizer.
        """
        self._model()

    def logits(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Log odds that each passage answers: float32 of shape (len(passages),).

        The longer of question and passage is cut until both fit into `MAX_TOKENS`.

        Raises:
            RerankerUnavailable: the model cannot be loaded or run, or gives something else.
        """
        import numpy as np

        model = self._model()
        # Tokenizers refuse lone surrogates, which come from file names that are no text.
        clean = [text.encode("utf-8", "replace").decode() for text in (question, *passages)]
        pairs = [(clean[0], passage) for passage in clean[1:]]
        found = np.zeros(len(pairs), np.float32)
        for start in range(0, len(pairs), BATCH):
            batch = pairs[start : start + BATCH]
            found[start : start + len(batch)] = self._run(model, batch)
        return found

    def _model(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> _Loaded:
        import onnxruntime
        from tokenizers import Tokenizer

        options: Any = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # an answer must not take the machine from the agent
        options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors; they are raised anyway
        try:
            session: Any = onnxruntime.InferenceSession(
                str(self._model_path), options, providers=["CPUExecutionProvider"]
            )
            tokenizer: Any = Tokenizer.from_file(str(self._tokenizer_path))
            pad = _pad(tokenizer)
            tokenizer.no_padding()  # done below, for the model's own inputs
            tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
        except Exception as error:  # onnxruntime and tokenizers raise bare Exceptions
            raise RerankerUnavailable(
                f"the reranker in {self._folder} cannot be loaded: {first_line(error)}; download it again"
            ) from error
        outputs = [str(entry.name) for entry in session.get_outputs()]
        output = "logits" if "logits" in outputs else outputs[0]
        return _Loaded(session, tokenizer, self._inputs(session), output, pad)

    def _inputs(self, session: Any) -> dict[str, str]:
        """Return the model's inputs with their number types."""
        wanted = {entry.name: entry.type for entry in session.get_inputs()}
        if "input_ids" not in wanted or any(
            name not in _INPUTS or kind not in _INTEGERS for name, kind in wanted.items()
        ):
            takes = ", ".join(f"{name} {kind}" for name, kind in wanted.items())
            raise RerankerUnavailable(
                f"{self._model_path} is not a cross-encoder: it takes {takes or 'nothing'}, not input_ids, "
                "attention_mask and token_type_ids; export a sequence classifier"
            )
        return {name: _INTEGERS[kind] for name, kind in wanted.items()}

    def _run(self, model: _Loaded, pairs: list[tuple[str, str]]) -> NDArray[np.float32]:
        import numpy as np

        try:
            encoded = model.tokenizer.encode_batch(pairs)
            [output] = model.session.run([model.output], _feed(model, encoded))
            found = np.asarray(output, np.float32)
        except Exception as error:  # bare ones here too
            raise RerankerUnavailable(
                f"the reranker in {self._folder} failed: {first_line(error)}; check its files"
            ) from error
        if found.shape not in {(len(pairs),), (len(pairs), 1), (len(pairs), 2)}:
            raise RerankerUnavailable(
                f"{self._model_path} is not a cross-encoder: for {len(pairs)} pairs it gave the shape "
                f"{found.shape} instead of one logit or two a pair; export a sequence classifier"
            )
        if not np.isfinite(found).all():
            raise RerankerUnavailable(
                f"{self._model_path} gave a value that is not a number; check its files"
            )
        logits: NDArray[np.float32]
        logits = found[:, 1] - found[:, 0] if found.shape == (len(pairs), 2) else found.reshape(len(pairs))
        return logits


class _Loaded(NamedTuple):
    session: Any
    tokenizer: Any
    inputs: dict[str, str]
    output: str
    pad: int


def _files(folder: Path) -> tuple[Path, Path]:
    if not folder.is_dir():
        raise RerankerUnavailable(
            f"the folder {folder} does not exist; set reranker to a folder with an ONNX model"
        )
    tokenizer = folder / "tokenizer.json"
    known = [folder / name for name in _MODEL_FILES if (folder / name).is_file()]
    found = known or sorted(path for path in folder.glob("*.onnx") if path.is_file())
    if not known and len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise RerankerUnavailable(
            f"{folder} has several models: {names}; rename the one to use to model.onnx"
        )
    if not found or not tokenizer.is_file():
        wanted = [*([] if found else ["model.onnx"]), *([] if tokenizer.is_file() else ["tokenizer.json"])]
        raise RerankerUnavailable(f"the folder {folder} has no usable reranker: it lacks {', '.join(wanted)}")
    return found[0], tokenizer


def _pad(tokenizer: Any) -> int:
    """Return the padding id: some models count positions by it, so that it must be theirs."""
    if tokenizer.padding is not None:
        return int(tokenizer.padding["pad_id"])
    numbers = [tokenizer.token_to_id(word) for word in _PADS]
    return next((int(number) for number in numbers if number is not None), 0)


def _feed(model: _Loaded, encoded: Sequence[Any]) -> dict[str, NDArray[Any]]:
    """Make the model's inputs, each of shape (pairs, longest pair in tokens)."""
    import numpy as np

    longest = max(len(entry.ids) for entry in encoded)
    rows = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
    feed = {}
    for name, kind in model.inputs.items():
        matrix = np.full((len(encoded), longest), model.pad if name == "input_ids" else 0, np.dtype(kind))
        for row, entry in enumerate(encoded):
            values = getattr(entry, rows[name])
            matrix[row, : len(values)] = values
        feed[name] = matrix
    return feed
