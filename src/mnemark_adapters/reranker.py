"""Rerank the best candidates with a local ONNX cross-encoder, run by onnxruntime; nothing is downloaded.

It only reorders them, on a thread of its own, and is skipped when it is late.
"""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mnemark.embed import first_line
from mnemark.errors import MnemarkError
from mnemark.index.snapshot import Floats
from mnemark.retrieval.deadline import TimedOut, by_deadline
from mnemark.retrieval.stages import RERANKED
from mnemark.threads import background

BATCH: Final = 8
"""Pairs per model run."""
MAX_TOKENS: Final = 512
"""Maximum tokens of a pair, special tokens included: the maximum of BERT models."""

WEIGHT: Final = 0.5
"""Gain of probability 1 over probability 0, in shares of the attainable BM25."""
RETRY_SECONDS: Final = 30.0
"""Seconds before a failed reranker is tried again."""

PACKAGES: Final = ("onnxruntime", "tokenizers")
_MODEL_FILES: Final = ("model.onnx", "onnx/model.onnx")
_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
_INTEGERS: Final = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_PADS: Final = ("[PAD]", "<pad>")


class RerankerUnavailable(MnemarkError):  # noqa: N818 - the name says what is the matter, as callers print it
    """The reranker cannot score now; the message gives the reason and the fix.

    Callers turn it into a `degraded` entry and keep the order without reranking.
    """


class CrossEncoder(Protocol):
    """Scores passages against a question. Thread-safe."""

    @property
    def name(self) -> str:
        """The name in messages."""
        ...

    def logits(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Return the log odds that each passage answers `question`: float32 (len(passages),).

        Raises:
            RerankerUnavailable: the passages could not be scored.
        """
        ...


class OnnxReranker:
    """Reranker that runs a sequence classifier exported to ONNX, loaded at first use.

    Args:
        folder: contains `tokenizer.json` and `model.onnx`, `onnx/model.onnx` or one other `.onnx` file. The
            model's inputs are `input_ids` and optionally `attention_mask` and `token_type_ids`; its output is
            one logit per pair, or two, of which the second is for "relevant".

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
        """Load the model now instead of at the first call of `logits`.

        Raises:
            RerankerUnavailable: the files are not a valid model and tokenizer.
        """
        self._model()

    def logits(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Return the log odds that each passage answers `question`: float32 (len(passages),).

        The longer of question and passage is truncated until both fit into `MAX_TOKENS`.

        Raises:
            RerankerUnavailable: the model cannot be loaded or run, or its output has another shape.
        """
        import numpy as np

        model = self._model()
        # Tokenizers refuse lone surrogates, which come from undecodable file names.
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
        options.intra_op_num_threads = 1  # leave the other cores to the agent
        options.inter_op_num_threads = 1
        options.log_severity_level = 3  # log nothing below errors
        try:
            session: Any = onnxruntime.InferenceSession(
                str(self._model_path), options, providers=["CPUExecutionProvider"]
            )
            tokenizer: Any = Tokenizer.from_file(str(self._tokenizer_path))
            pad = _pad(tokenizer)
            tokenizer.no_padding()  # `_feed` pads
            tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
        except Exception as error:  # onnxruntime and tokenizers raise bare Exceptions
            raise RerankerUnavailable(
                f"the reranker in {self._folder} cannot be loaded: {first_line(error)}; download it again"
            ) from error
        outputs = [str(entry.name) for entry in session.get_outputs()]
        output = "logits" if "logits" in outputs else outputs[0]
        return _Loaded(session, tokenizer, self._inputs(session), output, pad)

    def _inputs(self, session: Any) -> dict[str, str]:
        """Return the model's inputs by name with their numpy types."""
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
    """Return the model's own padding id, from which some models compute positions; 0 if unknown."""
    if tokenizer.padding is not None:
        return int(tokenizer.padding["pad_id"])
    numbers = [tokenizer.token_to_id(word) for word in _PADS]
    return next((int(number) for number in numbers if number is not None), 0)


def _feed(model: _Loaded, encoded: Sequence[Any]) -> dict[str, NDArray[Any]]:
    """Return the model's inputs, each of shape (pairs, longest pair in tokens)."""
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


def blend(fused: Floats, logits: Floats) -> Floats:
    """Return scores of reranked candidates: `fused + WEIGHT * (p - min(p))`, where p = sigmoid(logits).

    Both parts have an absolute scale (the share of the attainable BM25, and a probability), so that equal
    logits change nothing and a small difference moves little. No score falls: the reranked candidates stay
    above the others.

    Args:
        fused: scores of shape (n,), n >= 0.
        logits: log odds that each candidate answers the query, shape (n,).
    """
    if not len(fused):
        return fused
    probabilities = probability(logits)
    blended: Floats = fused + np.float32(WEIGHT) * (probabilities - probabilities.min())
    return blended


def probability(logits: Floats) -> Floats:
    """Return 1 / (1 + exp(-logit)), computed by tanh, which does not overflow."""
    values: Floats = (0.5 * (1 + np.tanh(0.5 * logits.astype(np.float32)))).astype(np.float32)
    return values


def explain(logits: Floats, index: int) -> dict[str, Any]:
    """Return the reranker's part of `why`: its probability as score, its logit, its rank."""
    value = float(logits[index])
    return {
        "score": round(float(probability(logits)[index]), 4),
        "logit": round(value, 4),
        "rank": int(np.count_nonzero(logits > value)) + 1,
    }


class RerankResult(NamedTuple):
    """Logits of shape (n,), or the reason why there are none."""

    logits: Floats | None
    problem: str = ""


class BackgroundReranker:
    """A reranker on a thread of its own, so that a slow model cannot delay an answer.

    There is at most one thread: concurrent searches wait for it within their time limit. A search that timed
    out ends its thread after the current batch.

    Args:
        make: constructs the reranker; called on first use, and again after a failure.
    """

    def __init__(self, make: Callable[[], CrossEncoder]) -> None:
        self._make = make
        self._free = threading.Lock()
        self._reranker: CrossEncoder | None = None
        self._problem = ""
        self._retry_at = 0.0

    def logits(self, question: str, passages: Sequence[str], timeout: float | None = None) -> RerankResult:
        """Return the logit of each passage, or the reason why there is none within `timeout` seconds.

        Raises whatever is a bug in the reranker: anything but `MnemarkError`.
        """
        started = time.monotonic()
        if self._problem and started < self._retry_at:
            return RerankResult(None, self._problem)
        if not self._free.acquire(timeout=-1 if timeout is None else max(timeout, 0.0)):
            return RerankResult(None, "the reranker is still loading or busy with an earlier search")
        given_up = threading.Event()
        try:
            work = background(lambda: self._run(question, passages, given_up), "mnemark-rerank")
        except RuntimeError:  # no thread could be started
            self._free.release()
            raise
        left = None if timeout is None else max(started + timeout - time.monotonic(), 0.0)
        result = by_deadline(work, left)
        if isinstance(result, TimedOut):
            given_up.set()
            return RerankResult(None, "the reranker did not answer in time")
        return result

    def reranked(
        self, question: str, passages: Sequence[str], scores: Floats, timeout: float | None
    ) -> tuple[Floats, list[dict[str, Any]], str]:
        """Return the scores, shape (n,), with its part in the first `RERANKED`, reasons, and the problem."""
        logits, problem = self.logits(question, passages[:RERANKED], timeout)
        if logits is None:
            return scores, [], f"rerank: {problem}"
        count = len(logits)
        after = np.concatenate([blend(scores[:count], logits), scores[count:]])
        return after, [explain(logits, index) for index in range(count)], ""

    def load(self) -> None:
        """Load the reranker; a failure is reported by the next search."""
        self.logits("", ())

    def name(self) -> str:
        """Return the reranker's name.

        Raises:
            RerankerUnavailable: a package or file that it needs is missing.
        """
        return (self._reranker or self._make()).name

    def _run(self, question: str, passages: Sequence[str], given_up: threading.Event) -> RerankResult:
        try:
            if self._reranker is None:
                self._reranker = self._make()
            logits = _logits(self._reranker, question, passages, given_up)
        except MnemarkError as error:
            self._reranker = None
            self._problem = str(error)
            self._retry_at = time.monotonic() + RETRY_SECONDS
            return RerankResult(None, self._problem)
        else:
            self._problem = ""
            return RerankResult(logits)
        finally:
            self._free.release()


def _logits(
    reranker: CrossEncoder, question: str, passages: Sequence[str], given_up: threading.Event
) -> Floats:
    """Compute logits in batches; after a timeout the rest stays 0, as the result is dropped."""
    found = np.zeros(len(passages), np.float32)
    # Without passages one empty batch loads the model.
    for start in range(0, max(len(passages), 1), BATCH):
        if given_up.is_set():
            break
        batch = passages[start : start + BATCH]
        found[start : start + len(batch)] = reranker.logits(question, batch)
    return found
