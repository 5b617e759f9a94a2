"""Rerank the top candidates with a cross-encoder.

It only reorders the best candidates, and is skipped when it is late.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from mnemark.embed.reranker import BATCH, Reranker
from mnemark.errors import MnemarkError
from mnemark.index.snapshot import Floats
from mnemark.retrieval.deadline import TimedOut, by_deadline
from mnemark.threads import background

DEPTH: Final = 20
"""Number of candidates that are reranked."""
WEIGHT: Final = 0.5
"""Gain of probability 1 over probability 0, in shares of the attainable BM25."""
RETRY_SECONDS: Final = 30.0
"""Seconds before a failed reranker is tried again."""


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

    def __init__(self, make: Callable[[], Reranker]) -> None:
        self._make = make
        self._free = threading.Lock()
        self._reranker: Reranker | None = None
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
        """Return the scores, shape (n,), with the reranker's part in the first `DEPTH`, reasons, problem."""
        logits, problem = self.logits(question, passages[:DEPTH], timeout)
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


def _logits(reranker: Reranker, question: str, passages: Sequence[str], given_up: threading.Event) -> Floats:
    """Compute logits in batches; after a timeout the rest stays 0, as the result is dropped."""
    found = np.zeros(len(passages), np.float32)
    # Without passages one empty batch loads the model.
    for start in range(0, max(len(passages), 1), BATCH):
        if given_up.is_set():
            break
        batch = passages[start : start + BATCH]
        found[start : start + len(batch)] = reranker.logits(question, batch)
    return found
