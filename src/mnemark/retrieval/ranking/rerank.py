"""Rerank the top candidates with a cross-encoder.

It never decides what is found, only in which order the best are, and it is left out when it is late.
"""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from mnemark.embed.reranker import BATCH, OnnxReranker, Reranker
from mnemark.errors import MnemarkError
from mnemark.index.snapshot import Floats

DEPTH: Final = 20
"""Candidates that are judged."""
WEIGHT: Final = 0.5
"""What a sure yes gains over a sure no: as much as half of the attainable BM25."""
RETRY_SECONDS: Final = 30.0
"""A failing reranker is left alone for this long."""


def blend(fused: Floats, logits: Floats) -> Floats:
    """Scores of judged candidates: `fused + WEIGHT * (p - min(p))`, where p = sigmoid(logits).

    Both parts have an absolute scale (the share of the attainable BM25, and a probability), so that a judge
    who sees no difference changes nothing, and one who sees a small difference moves little. No score falls:
    the judged stay above candidates below them that were not judged.

    Args:
        fused: scores of shape (n,), n >= 0.
        logits: log odds that each answers, shape (n,).
    """
    if not len(fused):
        return fused
    judged = probability(logits)
    blended: Floats = fused + np.float32(WEIGHT) * (judged - judged.min())
    return blended


def probability(logits: Floats) -> Floats:
    """1 / (1 + exp(-logit)), by tanh, which does not overflow."""
    values: Floats = (0.5 * (1 + np.tanh(0.5 * logits.astype(np.float32)))).astype(np.float32)
    return values


def explained(logits: Floats, index: int) -> dict[str, Any]:
    """The judge's part of `why`: its probability as score, its logit, its rank among the judged."""
    value = float(logits[index])
    return {
        "score": round(float(probability(logits)[index]), 4),
        "logit": round(value, 4),
        "rank": int(np.count_nonzero(logits > value)) + 1,
    }


class Verdict(NamedTuple):
    """Logits of shape (n,), or the reason why there are none."""

    logits: Floats | None
    problem: str = ""


class Judge:
    """A reranker on a thread of its own, so that a slow one cannot hold up an answer.

    There is one thread at most, however many questions come: who finds it busy waits for as long as he may.
    A question that is given up ends its thread after the batch that is under way.

    Args:
        make: makes the reranker; called when it is first needed, and again after it failed.
    """

    def __init__(self, make: Callable[[], Reranker]) -> None:
        self._make = make
        self._free = threading.Lock()
        self._reranker: Reranker | None = None
        self._problem = ""
        self._retry_at = 0.0

    def logits(self, question: str, passages: Sequence[str], timeout: float | None = None) -> Verdict:
        """The verdict on each passage, or the reason why there is none within `timeout` seconds.

        Raises whatever is a bug in the reranker: anything but `MnemarkError`.
        """
        started = time.monotonic()
        if self._problem and started < self._retry_at:
            return Verdict(None, self._problem)
        if not self._free.acquire(timeout=-1 if timeout is None else max(timeout, 0.0)):
            return Verdict(None, "the reranker is still loading or busy with an earlier search")
        task = _Task()
        work = threading.Thread(
            target=self._run, args=(task, question, passages), name="mnemark-rerank", daemon=True
        )
        try:
            work.start()
        except RuntimeError:  # no thread to be had
            self._free.release()
            raise
        left = None if timeout is None else max(started + timeout - time.monotonic(), 0.0)
        if not task.done.wait(left):
            task.given_up.set()
            return Verdict(None, "the reranker did not answer in time")
        if task.bug is not None:
            raise task.bug
        return task.verdict

    def load(self) -> None:
        """Have the reranker ready; why it is not is told with the first question."""
        self.logits("", ())

    def name(self) -> str:
        """What the reranker is called.

        Raises:
            RerankerUnavailable: a package or file that it needs is missing.
        """
        return (self._reranker or self._make()).name

    def _run(self, task: "_Task", question: str, passages: Sequence[str]) -> None:
        try:
            if self._reranker is None:
                self._reranker = self._make()
            task.verdict = Verdict(_judged(self._reranker, task, question, passages))
            self._problem = ""
        except MnemarkError as error:
            self._reranker = None
            self._problem = str(error)
            self._retry_at = time.monotonic() + RETRY_SECONDS
            task.verdict = Verdict(None, self._problem)
        except BaseException as error:  # noqa: BLE001 - a bug is raised where the answer is waited for
            task.bug = error
        finally:
            self._free.release()
            task.done.set()


def in_folder(folder: Path) -> Judge:
    """The judge that reads with the model in `folder`, which is looked at when first needed."""
    return Judge(lambda: OnnxReranker(folder))


class _Task:
    """One question under way."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.given_up = threading.Event()
        self.verdict = Verdict(None)
        self.bug: BaseException | None = None


def _judged(reranker: Reranker, task: _Task, question: str, passages: Sequence[str]) -> Floats:
    """Logits batch by batch; those after the asker has gone are left at 0, for nobody reads them."""
    found = np.zeros(len(passages), np.float32)
    # Without passages the reranker is only made ready.
    for start in range(0, max(len(passages), 1), BATCH):
        if task.given_up.is_set():
            break
        batch = passages[start : start + BATCH]
        found[start : start + len(batch)] = reranker.logits(question, batch)
    return found
